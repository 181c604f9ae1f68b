"""
Several regressions that share directions
=========================================

Five regressions at once. The trace norm makes their coefficients a matrix of low rank: two directions of the
features explain all targets.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/multitask.fw")
problem

# %%
# Singular values with the penalty and without it.

solution = problem.solve()
print(solution)

X, Y = problem.instance.values["X"], problem.instance.values["Y"]
squares = np.linalg.lstsq(X, Y)[0]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), width_ratios=(2, 3), layout="constrained"
)
at = np.arange(1, 6)
left.bar(
    at - 0.2,
    np.linalg.svd(squares)[1],
    width=0.4,
    color="0.7",
    label="least squares",
)
left.bar(
    at + 0.2, np.linalg.svd(solution["W"])[1], width=0.4, label="trace norm"
)
left.set(xlabel="rank", ylabel="singular values")
left.legend()
size = np.abs(solution["W"]).max()
image = right.imshow(
    solution["W"], cmap="RdBu_r", vmin=-size, vmax=size, aspect="auto"
)
right.set(xlabel="target", ylabel="feature", title="coefficients")
figure.colorbar(image, ax=right)
plt.show()
