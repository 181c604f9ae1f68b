"""
The smallest ball around points
===============================

By its dual: weights mix the points into the centre, and the optimal value is the squared radius. Only points
on the sphere have weights.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/enclosing_ball.fw")
problem

# %%
# The ball, and the points that it rests on.

solution = problem.solve()
print(solution)

P, a = problem.instance.values["P"], solution["a"]
centre, radius = P.T @ a, np.sqrt(solution.objective)
touching = a > 1e-4
figure, axes = plt.subplots(figsize=(5, 4.8), layout="constrained")
axes.add_patch(plt.Circle(centre, radius, fill=False, color="C0"))
axes.scatter(*P.T, s=16, color="0.4")
axes.scatter(
    *P[touching].T,
    s=60,
    facecolors="none",
    edgecolors="C3",
    label=f"{touching.sum()} points with weights",
)
axes.plot(*centre, "+", color="C0", markersize=12)
axes.set(aspect="equal", xlabel="u", ylabel="v", title=f"radius {radius:.3f}")
axes.legend(loc="upper right")
plt.show()
