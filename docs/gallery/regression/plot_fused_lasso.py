"""
The fused lasso
===============

A noisy signal as a few constant pieces: the l1 norm of differences of neighbours makes most of them exactly
zero.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/fused_lasso.fw")
problem

# %%
# The answer has pieces of one value each; the second penalty draws the small ones to zero.

solution = problem.solve()
print(solution)

y, x = problem.instance.values["y"], solution["x"]
jumps = np.flatnonzero(np.abs(np.diff(x)) > 1e-8)
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.plot(y, ".", color="0.6", label="signal")
axes.step(
    np.arange(x.size),
    x,
    where="mid",
    color="C1",
    linewidth=2,
    label=f"answer: {jumps.size} jumps",
)
axes.set(xlabel="position", ylabel="value")
axes.legend()
plt.show()
