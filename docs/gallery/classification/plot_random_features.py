"""
Random features for a kernel
============================

Random Fourier features stand for a Gaussian kernel, and make a linear model of a bent boundary.
``standardize`` brings the columns to one scale first, with statistics that stay with the answer.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/random_features.fw")
problem

# %%
# The same program on samples within a ring and around it. ``predict`` takes new rows through both feature
# maps.

rng = np.random.default_rng(0)
inside = np.repeat([True, False], 150)
angle, radius = (
    rng.uniform(0, 2 * np.pi, 300),
    np.where(inside, 1.0, 2.2) + 0.35 * rng.normal(size=300),
)
X = 5 * np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

solution = problem.bind(
    X=X, y=np.where(inside, "inside", "outside"), mu=1e-5
).solve()
print(solution)

u, v = np.meshgrid(np.linspace(-16, 16, 120), np.linspace(-16, 16, 120))
score = solution.predict(X=np.column_stack([u.ravel(), v.ravel()])).reshape(
    u.shape
)
figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
chance = axes.contourf(
    u,
    v,
    1 / (1 + np.exp(-score)),
    levels=np.linspace(0, 1, 11),
    cmap="RdBu_r",
    alpha=0.6,
)
axes.scatter(*X.T, c=np.where(inside, "C0", "C3"), s=10)
figure.colorbar(chance, ax=axes, label="probability of `outside`")
plt.show()
