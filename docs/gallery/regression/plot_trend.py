"""
A trend with few bends
======================

Straight lines with few bends: second differences, `diff(x, 2)`, are 0 but at some years.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/trend.fw")
problem

# %%
# The penalty sets how many bends there are.

solution = problem.solve()
print(solution)

y, x = problem.instance.values["y"], solution["x"]
bends = np.flatnonzero(np.abs(np.diff(x, 2)) > 1e-4) + 1
years = 1900 + np.arange(y.size)
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.plot(years, y, ".", color="0.6", label="temperature")
axes.plot(years, x, color="C1", linewidth=2, label="trend")
axes.plot(years[bends], x[bends], "o", color="C1", label=f"{bends.size} bends")
axes.set(xlabel="year", ylabel="degrees")
axes.legend()
plt.show()
