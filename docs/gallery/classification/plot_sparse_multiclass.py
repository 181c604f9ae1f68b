"""
Features of each class
======================

Multinomial logistic regression with an l1 penalty: each class keeps the features that it needs.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/sparse_multiclass.fw")
problem

# %%
# The paths of the coefficients, a panel for each class.

path = problem.path(mu=np.geomspace(0.4, 0.004, 25))
print(path[-1])

names, columns = (
    path[0].instance.maps["kind"],
    path[0].instance.maps["X.columns"],
)
weights = np.array([solution["W"] for solution in path])
figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.4), sharey=True, layout="constrained"
)
for k, axes in enumerate(panels):
    axes.plot(path.values, weights[:, :, k], label=columns)
    axes.axvline(0.02, color="0.3", linestyle=":")
    axes.set(xscale="log", xlabel="mu", title=names[k])
    axes.invert_xaxis()
panels[0].set_ylabel("coefficients")
panels[2].legend(fontsize="small")
plt.show()
