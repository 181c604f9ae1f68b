"""
Rows and columns that stand for all
===================================

M is close to M B M. Budgets for the rows and the columns of B press those that are not needed to zero: the
others name the columns and rows of M that stand for the table.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/cur.fw")
problem

# %%
# B, and what it makes of M.

solution = problem.solve()
print(solution)

M, B = problem.instance.values["M"], solution["B"]
columns = np.flatnonzero(np.abs(B).max(axis=1) > 1e-4)
rows = np.flatnonzero(np.abs(B).max(axis=0) > 1e-4)
error = np.linalg.norm(M @ B @ M - M) / np.linalg.norm(M)
print("columns", columns, "rows", rows)
figure, panels = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
titles = (
    "M",
    f"B: {columns.size} of {B.shape[0]} rows, {rows.size} of {B.shape[1]} columns in use",
    f"M B M: {error:.0%} away",
)
for axes, title, table in zip(panels, titles, (M, B, M @ B @ M), strict=True):
    size = np.abs(table).max()
    axes.imshow(table, cmap="RdBu_r", vmin=-size, vmax=size)
    axes.set(title=title, xticks=[], yticks=[])
    axes.title.set_fontsize("medium")
plt.show()
