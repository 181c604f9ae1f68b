"""
The nearest correlation matrix
==============================

A table of estimated correlations need not be positive semidefinite. The nearest one that is, with ones on the
diagonal, is a projection.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/nearest_correlation.fw")
problem

# %%
# The table, what it becomes, and the eigenvalues of both.

solution = problem.solve()
print(solution)

C, X = np.asarray(problem.instance.values["C"]), solution["X"]
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 3.3), layout="constrained"
)
for axes, title, table in ((left, "estimated", C), (middle, "nearest", X)):
    axes.imshow(table, cmap="RdBu_r", vmin=-1, vmax=1)
    for i in range(4):
        for j in range(4):
            axes.text(
                j,
                i,
                f"{table[i, j]:.2f}",
                ha="center",
                va="center",
                color="white" if table[i, j] > 0.65 else "black",
            )
    axes.set(title=title, xticks=[], yticks=[])
at = np.arange(1, 5)
right.bar(
    at - 0.2,
    np.linalg.eigvalsh(C)[::-1],
    width=0.4,
    color="0.7",
    label="estimated",
)
right.bar(at + 0.2, np.linalg.eigvalsh(X)[::-1], width=0.4, label="nearest")
right.axhline(0, color="0.3", linewidth=0.8)
right.set(title="eigenvalues", xticks=at)
right.legend()
plt.show()
