"""
What insured cars cost
======================

Most cars cost nothing in a year, and some a sum. Tweedie regression fits the logarithm of the mean to both at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/claims.fw")
problem

# %%
# The cars by what they are expected to cost, in ten groups: the mean of each group is near the expected one.

solution = problem.solve()
print(solution)

X, cost = (np.asarray(problem.instance.values[name]) for name in ("X", "cost"))
expected = np.exp(X @ solution["w"] + solution["b"])
groups = np.array_split(np.argsort(expected), 10)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(
    [expected[g].mean() for g in groups], [cost[g].mean() for g in groups], "o"
)
ends = [expected.min(), expected.max()]
axes.plot(ends, ends, "k--")
axes.set(xlabel="expected cost", ylabel="mean cost of a group")
plt.show()
