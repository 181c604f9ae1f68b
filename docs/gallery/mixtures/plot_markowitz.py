"""
The efficient frontier
======================

The least variance among the mixes with at least a given mean return. A path along that return is the frontier
of Markowitz.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/markowitz.fw")
problem

# %%
# ``path`` solves along the parameter ``target``.

returns = problem.instance.values["R"]
means = returns.mean(axis=0)
path = problem.path(target=np.linspace(means.min(), means.max() - 1e-5, 25))
print(path[0])

names = path[0].instance.maps["R.columns"]
weights = np.array([solution["x"] for solution in path])
risk = [np.sqrt(max(solution.objective, 0)) for solution in path]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained"
)
left.plot(risk, weights @ means, ".-", label="frontier")
left.plot(returns.std(axis=0), means, "x", color="C3", label="single funds")
for name, x, y in zip(names, returns.std(axis=0), means, strict=True):
    left.annotate(
        name, (x, y), textcoords="offset points", xytext=(4, 4), fontsize=8
    )
left.set(xlabel="standard deviation a month", ylabel="mean return a month")
left.legend()
right.stackplot(path.values, weights.T, labels=names)
right.set(
    xlabel="mean return asked for",
    ylabel="weights",
    ylim=(0, 1),
    xlim=(path.values[0], path.values[-1]),
)
right.legend(fontsize="small", loc="lower left")
plt.show()
