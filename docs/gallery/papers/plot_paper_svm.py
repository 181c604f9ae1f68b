"""
Frank-Wolfe for support vector machines
=======================================

Steps on the whole dual against steps on one row of it after the other, for a machine of several classes
(Kang, Cao and Liu 2025). The experiments at their sizes are on :doc:`the page of the paper </papers/svm>`:
there, as here, steps row by row are ahead where they are exact or optimal.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/multiclass_svm.fw")
problem

# %%
# ``matrix_fw`` steps on all rows together, ``bcfw`` on one row after the other, with exact steps unless told
# otherwise.

race = problem.race(
    ["matrix_fw", "bcfw(step=optimal)", "bcfw(step=oblivious)", "bcfw"],
    tol=1e-4,
    time=1,
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
