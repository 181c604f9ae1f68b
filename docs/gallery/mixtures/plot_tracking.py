"""
Following a path
================

A cart is pushed so that it stays near a figure of eight. Its states stand at T + 1 times, its pushes between them: the size of
one dimension is that of another plus 1.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/tracking.fw")
problem

# %%
# The pushes are at most 1 along each axis, and change smoothly: `diff(U)` are their changes.

solution = problem.solve()
print(solution)

path, X, U = problem.instance.values["path"], solution["X"], solution["U"]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), layout="constrained"
)
left.plot(*path.T, color="0.6", linestyle="--", label="path")
left.plot(*X[:, :2].T, color="C0", label="cart")
left.set(xlabel="east", ylabel="north", aspect="equal")
left.legend()
right.step(np.arange(len(U)), U, where="post", label=["east", "north"])
right.set(xlabel="time", ylabel="push")
right.legend()
plt.show()
