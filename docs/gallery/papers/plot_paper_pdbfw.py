"""
Primal-dual block Frank-Wolfe
=============================

Sparse solutions make Frank-Wolfe steps on a block of entries, with greedy updates of the dual (Lei, Zhuo,
Caramanis, Dhillon and Dimakis 2019). Here the paper's problem on a small set; the experiments at their sizes
are on :doc:`the page of the paper </papers/pdbfw>`.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.parse("""
fw 1
problem hinge

# Lei et al. 2019, figure 1: a smooth hinge and a ridge on the l1 ball.
data A: matrix[n, p], y: signs[n] from libsvm("../../../examples/data/heart_scale.svm.gz")
param r: positive = 5
param mu: positive = 0.01
var x: vector[p]

minimize mean(smooth_hinge(A @ x, y)) + mu/2 * sum_squares(x)
subject to norm1(x) <= r
""")
problem

# %%
# ``pdbfw(eta=0.5)`` takes the constant steps of the paper, ``pdbfw`` steps that adapt.

race = problem.race(
    ["pdbfw", "pdbfw(eta=0.5)", "apg_fixed", "frank_wolfe", "svrg"], time=1
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


# %%
# The smaller the ball, the fewer entries the solution has, and the smaller the blocks can be.

path = problem.path(r=[0.25, 0.5, 1, 2, 5, 10])
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(
    path.values, [(abs(solution["x"]) > 1e-6).sum() for solution in path], "o-"
)
axes.set(xscale="log", xlabel="radius r", ylabel="entries that are not zero")
plt.show()
