"""
A fair division
===============

Nash's bargain: what there is is shared such that the product of what the shares are worth to each is largest, which is
the geometric mean. Nobody is left with nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/fair_division.fw")
problem

# %%
# Beside it the division of the largest sum, which gives each hour to who values it most.

solution = problem.solve()
print(solution)

U, hours = problem.instance.values["U"], problem.instance.values["hours"]
fair = (U * solution["X"]).sum(axis=1)
most = np.bincount(
    U.argmax(axis=0), weights=U.max(axis=0) * hours, minlength=len(U)
)
groups = np.arange(len(U))
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.bar(groups - 0.2, fair, 0.4, label="largest product")
axes.bar(groups + 0.2, most, 0.4, label="largest sum")
axes.set(xlabel="group", ylabel="worth of its hours")
axes.legend()
plt.show()
