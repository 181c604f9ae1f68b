"""
Iterations that do not read the data
====================================

An iteration that samples rows and columns takes time for the samples and for the features, not for their
product; it suits gaps that need not be small (Babichev, Ostrovskii and Bach 2019). The experiments at their
sizes are on :doc:`the page of the paper </papers/sublinear>`.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.parse("""
fw 1
problem classes

# Babichev et al. 2019, (1): a hinge of several classes with an l1 penalty.
data X: matrix[n, p], kind: labels[n, k] from csv("../../../examples/data/classes.csv", target="kind")
param lam: positive = 0.05
var U: matrix[p, k]

minimize mean(multiclass_hinge(X @ U, kind)) + lam * norm1(U)
""")
problem

# %%
# Beside it the methods that read all data in each iteration, to a gap of ten percent.

race = problem.race(
    ["sublinear", "mirror_descent", "mirror_prox", "pdhg"], tol=0.1, time=1
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
