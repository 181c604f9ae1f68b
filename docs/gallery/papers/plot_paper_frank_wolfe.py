"""
The Frank-Wolfe family
======================

Vanilla Frank-Wolfe needs a number of steps that grows as one over the gap. Methods that keep their vertices,
and can take weight away from them, are far ahead (Lacoste-Julien and Jaggi 2015; Tsuji, Tanaka and Pokutta
2022). The experiments at their sizes are on :doc:`the page of the paper </papers/frank_wolfe>`.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/sparse_logistic.fw")
problem

# %%
# A race gives each method the same seconds, and counts what its points are certified to.

methods = [
    "frank_wolfe",
    "away_frank_wolfe",
    "pairwise_frank_wolfe",
    "blended_pairwise",
]
race = problem.race(methods, tol=1e-4, time=2)
print(race)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for entrant in race:
    moments = [m for m in entrant.moments if m.relative_gap > 0]
    axes.plot(
        [m.passes for m in moments],
        [m.relative_gap for m in moments],
        ".-",
        label=entrant.name,
    )
axes.set(
    xscale="log",
    yscale="log",
    xlabel="passes over the data",
    ylabel="certified relative gap",
)
axes.legend(fontsize="small")
plt.show()
