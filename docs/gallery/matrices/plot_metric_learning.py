"""
A distance that is learned
==========================

Pairs of a kind are to be nearer than a radius, others farther: the matrix of the distance is positive
semidefinite, and the radius is learned with it.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/metric_learning.fw")
problem

# %%
# Squared distances of the pairs before, as Euclid has them, and after.

solution = problem.solve()
print(solution)

U, similar = (
    problem.instance.values["U"],
    problem.instance.values["similar"] > 0,
)
before = (U**2).sum(axis=1)
after = np.einsum("id,de,ie->i", U, solution["X"], U)
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for axes, title, distance in zip(
    panels, ("Euclid", "learned"), (before, after), strict=True
):
    bins = np.linspace(0, distance.max(), 20)
    axes.hist(
        [distance[similar], distance[~similar]],
        bins,
        label=["alike", "not alike"],
    )
    axes.set(title=title, xlabel="squared distance")
panels[1].axvline(
    solution["radius"], color="0.2", linestyle="--", label="radius"
)
panels[1].legend()
panels[0].set_ylabel("pairs")
plt.show()
