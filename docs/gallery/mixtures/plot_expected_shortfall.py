"""
A portfolio of least expected shortfall
=======================================

The mean loss on the 5 % worst days, the conditional value at risk, is the mean of the largest losses:
``sum_largest(-(R @ x), 20) / 20`` of 400 days.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/expected_shortfall.fw")
problem

# %%
# What a larger mean return costs.

wanted = np.linspace(0.0002, 0.0009, 8)
path = problem.path(wanted=wanted)
shortfall = [solution.objective for solution in path]
print(path[-1])

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(100 * np.array(shortfall), 100 * wanted, "o-")
axes.set(xlabel="mean loss on the 20 worst days (%)", ylabel="mean return (%)")
plt.show()
