"""
The least largest error
=======================

The fit that keeps its largest error as small as it can be. Several errors then are equally large: as many as
there are coefficients, and one more.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/chebyshev_fit.fw")
problem

# %%
# Errors of this fit stay in a band. Those of least squares leave it.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
ours = X @ solution["w"] + solution["b"] - y
columns = np.column_stack([X, np.ones(y.size)])
squares = columns @ np.linalg.lstsq(columns, y)[0] - y
band = np.abs(ours).max()
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.axhspan(-band, band, color="C0", alpha=0.12)
axes.plot(
    squares,
    "x",
    color="0.6",
    label=f"least squares, at most {np.abs(squares).max():.2f}",
)
touching = np.abs(ours) > band * (1 - 1e-4)
axes.plot(ours, ".", color="C0", label=f"this fit, at most {band:.2f}")
axes.plot(
    np.flatnonzero(touching),
    ours[touching],
    "o",
    mfc="none",
    color="C3",
    label=f"{touching.sum()} at the bound",
)
axes.set(xlabel="sample", ylabel="error", ylim=(-1.4, 1.4))
axes.legend(loc="upper center", ncols=3, fontsize="small")
plt.show()
