"""
The lasso
=========

Least squares with few coefficients: the weight ``mu`` of the l1 norm says how few. Of the ten features three
make the target.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/lasso.fw")
problem

# %%
# The solutions along ``mu``, each from its neighbour and each with its certificate.

path = problem.path(mu=np.geomspace(2.5, 0.005, 30))
print(max(solution.relative_gap for solution in path))

columns = path[0].instance.maps["X.columns"]
weights = np.array([solution["w"] for solution in path])
figure, axes = plt.subplots(figsize=(7, 4))
for j, name in enumerate(columns):
    large = abs(weights[-1, j]) > 0.4
    axes.plot(
        path.values,
        weights[:, j],
        color=None if large else "0.7",
        label=name if large else None,
    )
axes.axvline(0.1, color="0.3", linestyle=":", label="mu of the program")
axes.set(
    xscale="log",
    xlabel="mu",
    ylabel="coefficients",
    title="Three features come first, and stay large",
)
axes.invert_xaxis()
axes.legend(loc="lower left")
plt.show()
