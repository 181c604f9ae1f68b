"""
Rows and coordinates together
=============================

Where data are a product ``U V`` that nobody wants to form, sampling both rows and coordinates can pay (Yu,
Lin and Yang 2015). The experiments at their sizes are on :doc:`the page of the paper </papers/dspdc>`.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.parse("""
fw 1
problem factors

# Yu et al. 2015, (19): data known as a product U V, which nobody has to form.
data U: matrix[n, r], V: matrix[r, p], y: signs[n]
param l1: nonnegative = 0.001
param l2: positive = 0.1
var x: vector[p]

minimize mean(smooth_hinge(U @ (V @ x), y)) + l1 * norm1(x) + l2/2 * sum_squares(x)
""")
problem

# %%
# Random factors: 2,000 rows and 200 columns of rank 20.

rng = np.random.default_rng(0)
U, V = rng.normal(size=(2000, 20)), rng.normal(size=(20, 200)) / np.sqrt(20)
y = np.sign(U @ V @ rng.normal(size=200) + rng.normal(size=2000))
race = problem.bind(U=U, V=V, y=y).race(
    ["dspdc", "dspdc(m=30, q=10)", "apg", "pdhg"], time=1
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
