"""
The least regret
================

A field is shared among crops before the year's weather is known. ``max(best - Y @ x)`` is the largest regret:
what the best crop of the year would have brought more.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/least_regret.fw")
problem

# %%
# The mixture beside single crops, year by year.

solution = problem.solve()
print(solution)

Y, best, x = (
    problem.instance.values["Y"],
    problem.instance.values["best"],
    solution["x"],
)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for j in range(Y.shape[1]):
    axes.plot(
        best - Y[:, j], color="0.8", label="single crops" if j == 0 else None
    )
axes.plot(best - Y @ x, "o-", color="C1", label="the mixture")
axes.axhline(np.max(best - Y @ x), color="C1", linestyle=":")
axes.set(xlabel="kind of year", ylabel="regret")
axes.legend()
plt.show()
