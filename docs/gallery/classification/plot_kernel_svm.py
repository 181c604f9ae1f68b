"""
A kernel machine
================

With a Gaussian kernel the boundary bends. ``rbf(X)`` stands for features that are never written down: the
answer has a coefficient for each sample.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/kernel_svm.fw")
problem

# %%
# The program is the same for any samples with two classes: here two moons in the plane.

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 200)
side = np.repeat([1.0, -1.0], 100)
X = np.column_stack(
    [np.cos(angle) + 0.5 * (side < 0), np.sin(angle) * side + 0.25 * side]
)
X = 4 * (X - [0.25, 0.25] + 0.14 * rng.normal(size=X.shape))
X[:, 1] -= X[:, 1].mean()

solution = problem.bind(X=X, y=side).solve()
print(solution)

u, v = np.meshgrid(np.linspace(-6.5, 7.5, 120), np.linspace(-7, 7, 120))
score = solution.predict(X=np.column_stack([u.ravel(), v.ravel()])).reshape(
    u.shape
)
support = np.abs(solution["w"]) > 1e-6
figure, axes = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
axes.contourf(
    u,
    v,
    score,
    levels=np.linspace(-2.5, 2.5, 11),
    cmap="RdBu",
    alpha=0.5,
    extend="both",
)
axes.contour(
    u,
    v,
    score,
    levels=[-1, 0, 1],
    colors="0.3",
    linestyles=["--", "-", "--"],
    linewidths=1,
)
axes.scatter(*X.T, c=np.where(side > 0, "C0", "C3"), s=12)
axes.scatter(
    *X[support].T,
    s=50,
    facecolors="none",
    edgecolors="0.2",
    label=f"{support.sum()} support vectors",
)
axes.legend(loc="lower right")
plt.show()
