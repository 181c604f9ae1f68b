"""
The analytic centre of a room
=============================

The point with the largest product of distances from the walls ``A x <= b``: it is where ``-sum(log(b - A @ x))`` is
least.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/analytic_centre.fw")
problem

# %%
# Level curves of the sum of logarithms: they take the shape of the room towards its walls.

solution = problem.solve()
print(solution)

A, b = (np.asarray(problem.instance.values[name]) for name in ("A", "b"))
u, v = np.meshgrid(np.linspace(-4, 6, 400), np.linspace(-4, 6, 400))
left = b - np.stack([u, v], axis=-1) @ A.T
inside = (left > 0).all(axis=-1)
level = np.where(
    inside, -np.log(np.where(left > 0, left, 1.0)).sum(axis=-1), np.nan
)
figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
axes.contour(
    u, v, level, levels=solution.objective + np.array([0.2, 1, 3, 6, 12])
)
axes.contour(u, v, inside, levels=[0.5], colors="k")
axes.plot(*solution["x"], "o", color="C3")
rows, columns = np.nonzero(inside)
axes.set(
    xlim=(u[0, columns.min()] - 0.3, u[0, columns.max()] + 0.3),
    ylim=(v[rows.min(), 0] - 0.3, v[rows.max(), 0] + 0.3),
    aspect="equal",
)
plt.show()
