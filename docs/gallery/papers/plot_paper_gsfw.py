"""
Stochastic Frank-Wolfe with a substitute gradient
=================================================

With linear predictions a stochastic Frank-Wolfe method can keep a gradient of samples that it has seen, and
needs few new ones (Lu and Freund 2018). The experiments at their sizes are on :doc:`the page of the paper </papers/gsfw>`.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/sparse_logistic.fw")
problem

# %%
# The paper's problem and data. A step of ``gsfw(batch=0.1)`` reads a tenth of the rows. Its bounds lag behind
# its points, so that what is certified comes late; the page of the paper counts gradients of samples too.

race = problem.race(
    ["gsfw(batch=0.1)", "svrf", "frank_wolfe", "blended_pairwise"],
    tol=1e-2,
    time=2,
)
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
