"""
One class, and what is unlike it
================================

A half-space that holds all but a fraction ``nu`` of the points and is as far from the origin as it can be:
points outside are unlike the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/one_class_svm.fw")
problem

# %%
# The boundary x.w = rho for three values of ``nu``.

points = problem.instance.values["X"]
path = problem.path(nu=[0.2, 0.35, 0.5])
print(path[0])

figure, axes = plt.subplots(figsize=(6, 4.6), layout="constrained")
axes.scatter(*points.T, s=20, color="0.4")
axes.plot(0, 0, "k+", markersize=12)
for k, (nu, solution) in enumerate(zip(path.values, path, strict=True)):
    w, rho = solution["w"], solution["rho"]
    foot = rho * w / (w @ w)
    out = np.mean(points @ w < rho - 1e-7)
    axes.axline(
        foot,
        foot + np.array([-w[1], w[0]]),
        color=f"C{k}",
        label=f"nu = {nu}: {out:.0%} outside",
    )
axes.set(
    xlabel="u",
    ylabel="v",
    xlim=(-0.5, points[:, 0].max() + 0.5),
    ylim=(points[:, 1].min() - 0.5, points[:, 1].max() + 0.5),
)
axes.legend()
plt.show()
