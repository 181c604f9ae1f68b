"""
What moves, and what stays
==========================

A matrix as the sum of one of low rank, which the columns share, and one with few entries, which they do not.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/robust_pca.fw")
problem

# %%
# The three matrices.

solution = problem.solve()
print(solution)

M = problem.instance.values["M"]
ranks = np.linalg.matrix_rank(solution["Low"], tol=1e-3)
few = np.count_nonzero(np.abs(solution["Sparse"]) > 1e-3)
titles = ("M", f"low rank: {ranks}", f"sparse: {few} of {M.size} entries")
figure, panels = plt.subplots(1, 3, figsize=(9, 4.4), layout="constrained")
for axes, title, table in zip(
    panels, titles, (M, solution["Low"], solution["Sparse"]), strict=True
):
    image = axes.imshow(table, cmap="RdBu_r", vmin=-6, vmax=6, aspect="auto")
    axes.set(title=title, xticks=[], yticks=[])
figure.colorbar(image, ax=panels, shrink=0.8)
plt.show()
