"""
A table of ratings, filled in
=============================

Half of the ratings of fifteen films by twenty users are known. A matrix of low rank, in a trace-norm ball,
fills in the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/ratings.fw")
problem

# %%
# What is known, and what it is completed to.

solution = problem.solve()
print(solution)

R = problem.instance.values["R"]
known = np.full(solution["B"].shape, np.nan)
known[R.rows, R.columns] = R.values
limits = {"vmin": np.nanmin(known), "vmax": np.nanmax(known), "cmap": "viridis"}
figure, panels = plt.subplots(1, 2, figsize=(8.5, 4.6), layout="constrained")
for axes, title, table in zip(
    panels, ("known", "completed"), (known, solution["B"]), strict=True
):
    image = axes.imshow(table, **limits)
    axes.set(xlabel="film", ylabel="user", title=title)
figure.colorbar(image, ax=panels)
plt.show()
