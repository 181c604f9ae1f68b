"""
A machine with few features
===========================

Squared hinge and an l1 penalty. How many features are worth having is a question for samples that are left
out.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/sparse_svm.fw")
problem

# %%
# Ten folds: the error rate on what is left out, with its standard error, and how many features are in use.

mus = np.geomspace(0.5, 0.002, 15)
found = problem.path(mu=mus, folds=10, score="error")
print(found)

path = problem.path(mu=mus)
used = [np.count_nonzero(np.abs(solution["w"]) > 1e-8) for solution in path]
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.errorbar(mus, found.mean, found.standard_error, fmt="o-", capsize=3)
axes.axvline(found.best["mu"], color="C2", linestyle="-", label="best")
axes.axvline(
    found.one_se["mu"],
    color="C2",
    linestyle=":",
    label="within one standard error",
)
axes.set(xscale="log", xlabel="mu", ylabel="error rate")
axes.invert_xaxis()
axes.legend(loc="center right")
beside = axes.twinx()
beside.step(mus, used, where="mid", color="C1", alpha=0.7)
beside.set_ylabel("features in use", color="C1")
plt.show()
