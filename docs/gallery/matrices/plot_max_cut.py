"""
A cut, relaxed
==============

The relaxation of Goemans and Williamson gives each vertex a unit vector; a random plane then cuts the graph.
Its value bounds every cut from above.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/max_cut.fw")
problem

# %%
# The certified value is a bound for every cut. The best of fifty random planes gives one; where the bound
# leaves no room for another edge, it is the largest.

solution = problem.solve()
print(solution)

X, L = solution["X"], np.asarray(problem.instance.values["L"])
values, vectors = np.linalg.eigh(X)
unit = vectors * np.sqrt(np.maximum(values, 0))
planes = np.random.default_rng(0).normal(size=(6, 50))
sides = np.where(unit @ planes >= 0, 1.0, -1.0)
sizes = 0.25 * np.einsum("ik,ij,jk->k", sides, L, sides)
side = sides[:, sizes.argmax()]

angle = 2 * np.pi * np.arange(5) / 5 + np.pi / 2
place = np.vstack([[0, 0], np.column_stack([np.cos(angle), np.sin(angle)])])
figure, axes = plt.subplots(figsize=(5, 4.6), layout="constrained")
for i, j in zip(*np.nonzero(np.triu(L, 1)), strict=True):
    cut = side[i] != side[j]
    axes.plot(
        *place[[i, j]].T,
        color="C3" if cut else "0.75",
        linewidth=2 if cut else 1,
        zorder=1,
    )
axes.scatter(*place.T, s=350, c=np.where(side > 0, "C0", "C1"), zorder=2)
for i in range(6):
    axes.text(*place[i], i, ha="center", va="center", color="white")
axes.set(
    title=f"a cut of {sizes.max():.0f} edges; none has more than {solution.dual_bound:.3f}",
    aspect="equal",
)
axes.axis("off")
plt.show()
