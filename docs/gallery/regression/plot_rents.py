"""
Columns of categories
=====================

Rents by area, rooms, district and heating. ``onehot`` makes a column of 0 and 1 for each level, the fit keeps the
levels, and the penalty draws those that tell nothing to 0.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/rents.fw")
problem

# %%
# The coefficients of the levels carry their names.

solution = problem.solve()
weights = solution.to_frame("w")["w"]
print(weights.round(1))

places = np.arange(weights.size)
figure, axes = plt.subplots(figsize=(7, 4))
axes.barh(places, weights, color=np.where(weights < 0, "C3", "C0"))
axes.axvline(0, color="0.3", linewidth=0.8)
axes.set(
    yticks=places,
    yticklabels=weights.index,
    xlabel="rent for one more",
    title="Districts and heating at which rents differ",
)
axes.invert_yaxis()
figure.tight_layout()
plt.show()
