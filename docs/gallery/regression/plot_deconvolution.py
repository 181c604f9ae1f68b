"""
Spikes behind a blur
====================

An instrument blurs what it sees: `conv(kernel, x)` is its convolution with the answer of the instrument. Few nonnegative spikes
explain what was seen.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/deconvolution.fw")
problem

# %%
# The convolution is never written down as a matrix.

solution = problem.solve()
print(solution)

seen, x = problem.instance.values["seen"], solution["x"]
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.plot(seen, color="0.6", label="seen")
at = np.flatnonzero(x > 1e-6)
axes.stem(
    at,
    x[at],
    linefmt="C1-",
    markerfmt="C1o",
    basefmt=" ",
    label=f"{at.size} spikes",
)
axes.set(xlabel="time", ylabel="intensity")
axes.legend()
plt.show()
