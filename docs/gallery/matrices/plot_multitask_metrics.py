"""
Distances for two tasks
=======================

What two tasks share of a distance, and a correction for each; every block is positive semidefinite.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/multitask_metrics.fw")
problem

# %%
# The three matrices. A ``family`` comes back with a block for each task.

solution = problem.solve()
print(solution)

tables = {
    "common": solution["Common"],
    "task 0": solution["Own"][0],
    "task 1": solution["Own"][1],
}
size = max(np.abs(table).max() for table in tables.values())
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axes, (title, table) in zip(panels, tables.items(), strict=True):
    image = axes.imshow(table, cmap="RdBu_r", vmin=-size, vmax=size)
    axes.set(
        title=f"{title}: trace {np.trace(table):.2f}",
        xticks=range(4),
        yticks=range(4),
    )
figure.colorbar(image, ax=panels)
plt.show()
