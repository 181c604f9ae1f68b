"""
Several classes at once
=======================

The machine of Crammer and Singer has a column of coefficients for each class; a sample goes to the class of
the largest score.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/multiclass_svm.fw")
problem

# %%
# The coefficients, and what the trees are taken for.

solution = problem.solve()
print(solution)

names = solution.instance.maps["kind"]
kind = np.asarray(problem.instance.values["kind"], dtype=int)
taken = solution.predict().argmax(axis=1)
counts = np.zeros((3, 3), dtype=int)
np.add.at(counts, (kind, taken), 1)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), layout="constrained"
)
size = np.abs(solution["W"]).max()
image = left.imshow(
    solution["W"], cmap="RdBu_r", vmin=-size, vmax=size, aspect="auto"
)
left.set(
    xticks=range(3),
    xticklabels=names,
    yticks=range(6),
    yticklabels=solution.instance.maps["X.columns"],
)
left.set_title("coefficients")
figure.colorbar(image, ax=left)
right.imshow(counts, cmap="Blues")
for i in range(3):
    for j in range(3):
        right.text(
            j,
            i,
            counts[i, j],
            ha="center",
            va="center",
            color="white" if counts[i, j] > 12 else "black",
        )
right.set(
    xticks=range(3),
    xticklabels=names,
    yticks=range(3),
    yticklabels=names,
    xlabel="taken for",
    ylabel="is",
)
plt.show()
