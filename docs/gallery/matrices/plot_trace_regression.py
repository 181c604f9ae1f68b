"""
A matrix from inner products
============================

Fifty noisy inner products with known matrices, and an answer of low rank in a trace-norm ball.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/trace_regression.fw")
problem

# %%
# The answer, its singular values, and how it fits what was measured.

solution = problem.solve()
print(solution)

X = solution["X"]
D, b = problem.instance.values["D"], problem.instance.values["b"]
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 3.2), layout="constrained"
)
size = np.abs(X).max()
left.imshow(X, cmap="RdBu_r", vmin=-size, vmax=size)
left.set(title="X", xticks=[], yticks=[])
middle.bar(range(1, 6), np.linalg.svd(X)[1])
middle.set(title="singular values")
right.plot(np.tensordot(np.asarray(D), X, 2), b, ".")
right.axline((0, 0), slope=1, color="0.6", linewidth=0.8)
right.set(xlabel="<D, X>", ylabel="measured")
plt.show()
