"""
Coefficients that are not negative
==================================

Least squares over the vectors without negative entries: features that would pull down the fit are left out.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/nonnegative_least_squares.fw")
problem

# %%
# Beside it the coefficients that squares alone would choose.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
free = np.linalg.lstsq(X, y)[0]
at = np.arange(free.size)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.bar(at - 0.2, free, width=0.4, color="0.7", label="any sign")
axes.bar(at + 0.2, solution["w"], width=0.4, label="nonnegative")
axes.axhline(0, color="0.3", linewidth=0.8)
axes.set(
    xticks=at,
    xticklabels=solution.instance.maps["X.columns"],
    ylabel="coefficients",
)
axes.legend()
plt.show()
