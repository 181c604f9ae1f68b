"""
The dual machine
================

The dual of the support vector machine has a multiplier for each sample. It says what the sample does in the
answer: nothing beyond the margin, all it can within it.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/svm_dual.fw")
problem

# %%
# The plane is the samples mixed by their multipliers, ``X' (y a)``; its intercept is the multiplier of the
# constraint ``balance``.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
a = solution["a"]
w = X.T @ (y * a)
free = (a > 1e-4) & (a < 0.1 - 1e-4)
b = solution.dual["balance"]
margin = y * (X @ w + b)

figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
colours = np.where(free, "C1", np.where(a > 0.05, "C3", "C0"))
axes.scatter(margin, a, s=14, c=colours)
axes.axvline(1, color="0.5", linewidth=0.8)
axes.text(1.1, 0.05, "on the margin", color="C1")
axes.text(-1.6, 0.092, "within it, or wrong", color="C3")
axes.text(1.6, 0.004, "beyond it", color="C0")
axes.set(xlabel="margin y (x.w + b)", ylabel="multiplier a")
plt.show()
