"""
A portfolio that may lose little
================================

The highest mean return among the mixes of six funds whose loss in a month is larger than a bound with a chance of at
most 5 %. With normal returns that is a second-order cone: 1.645 standard deviations below the mean must not lie lower.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/chance_constraint.fw")
problem

# %%
# ``path`` solves along the parameter ``loss``.

path = problem.path(loss=np.linspace(0.02, 0.08, 25))
print(path[-1])

names = path[0].instance.maps["R.columns"]
weights = np.array([solution["x"] for solution in path])
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained"
)
left.plot(path.values, [solution.objective for solution in path], ".-")
left.set(xlabel="loss that may be exceeded in 5 %", ylabel="mean return")
right.stackplot(path.values, weights.T, labels=names)
right.set(
    xlabel="loss that may be exceeded in 5 %",
    ylabel="weights",
    ylim=(0, 1),
    xlim=(path.values[0], path.values[-1]),
)
right.legend(fontsize="small", loc="lower left")
plt.show()
