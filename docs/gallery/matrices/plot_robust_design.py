"""
Measurements spread out
=======================

The settings whose coefficients have the least sum of variances (an A-optimal design), when no setting may have more
than a tenth of all measurements: how much exactness the spreading costs.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/robust_design.fw")
problem

# %%
# ``tr_inv`` is the trace of the inverse of the information matrix, which is written as it is in books.

solution = problem.solve()
print(solution)

# %%
# The variance of each coefficient, beside that of measurements shared out evenly.

V, w = problem.instance.values["V"], solution["w"]
even = np.full(w.size, 1 / w.size)
variances = [
    np.diag(np.linalg.inv(V.T @ np.diag(share) @ V)) for share in (w, even)
]

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.5, 3.8), layout="constrained"
)
left.scatter(V[:, 1], V[:, 2], s=10 + 2000 * w.clip(0), alpha=0.6)
left.set(
    title="shares of the measurements", xlabel="temperature", ylabel="pressure"
)
at = np.arange(V.shape[1])
right.bar(at - 0.2, variances[0], 0.4, label="the design")
right.bar(at + 0.2, variances[1], 0.4, label="evenly")
right.set(title="variances", xlabel="coefficient")
right.legend()
plt.show()
