"""
What to make each week
======================

Four products with seasons of their own, one shop: `cumsum(make - demand) + stock` is what is left of each at the end of each week,
and never below 0.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/production.fw")
problem

# %%
# The weekly total stays level; stock takes the seasons.

solution = problem.solve()
print(solution)

make, demand = solution["make"], problem.instance.values["demand"]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), layout="constrained"
)
left.stackplot(
    np.arange(len(make)), *make.T, labels=[f"product {i + 1}" for i in range(4)]
)
left.plot(demand.sum(axis=1), color="black", linestyle="--", label="orders")
left.set(xlabel="week", ylabel="pieces made")
left.legend()
right.plot(np.cumsum(make - demand, axis=0) + problem.instance.values["stock"])
right.set(xlabel="week", ylabel="pieces in stock")
plt.show()
