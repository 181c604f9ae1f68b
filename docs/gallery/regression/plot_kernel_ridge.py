"""
Kernel ridge regression
=======================

A polynomial kernel of degree two fits squares and products of the features without ever writing them down:
the answer is kept by samples.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/kernel_ridge.fw")
problem

# %%
# ``predict`` takes new rows: a grid in two of the features, the others being zero.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
u, v = np.meshgrid(np.linspace(-2.5, 2.5, 60), np.linspace(-2.5, 2.5, 60))
rows = np.zeros((u.size, X.shape[1]))
rows[:, 0], rows[:, 4] = u.ravel(), v.ravel()
surface = solution.predict(X=rows).reshape(u.shape)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 4), layout="constrained"
)
left.plot(solution.predict(), y, ".")
left.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
left.set(xlabel="prediction", ylabel="target", title="the samples of the fit")
heights = right.contourf(u, v, surface, levels=15, cmap="RdBu_r")
right.set(xlabel="x0", ylabel="x4", title="predictions where the others are 0")
figure.colorbar(heights, ax=right)
plt.show()
