"""
Support vector regression
=========================

Errors up to ``eps`` are free. Samples within this tube have no part in the answer; it rests on the others,
the support vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/support_vector_regression.fw")
problem

# %%
# The errors, sorted by what is predicted.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
predicted = X @ solution["w"] + solution["b"]
error = y - predicted
inside = np.abs(error) < 0.5 - 1e-6
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.axhspan(-0.5, 0.5, color="C0", alpha=0.12, label="the tube")
axes.plot(
    predicted[inside],
    error[inside],
    ".",
    color="0.5",
    label=f"{inside.sum()} free",
)
axes.plot(
    predicted[~inside],
    error[~inside],
    "o",
    color="C1",
    label=f"{(~inside).sum()} support vectors",
)
axes.set(xlabel="prediction", ylabel="error")
axes.legend()
plt.show()
