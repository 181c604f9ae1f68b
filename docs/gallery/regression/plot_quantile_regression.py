"""
A quantile, not a mean
======================

The loss ``quantile`` with ``tau=0.9`` finds the line below which nine of ten values lie.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/quantile_regression.fw")
problem

# %%
# Values against what is predicted for them: at most one in ten is above the diagonal, and some lie on it.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"], problem.instance.values["y"]
predicted = X @ solution["w"] + solution["b"]
over = y > predicted + 1e-6
figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained")
axes.plot(
    predicted[~over],
    y[~over],
    ".",
    label=f"{(~over).sum()} at the quantile or below",
)
axes.plot(
    predicted[over], y[over], "^", color="C3", label=f"{over.sum()} above"
)
axes.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
axes.set(xlabel="predicted quantile", ylabel="value")
axes.legend()
plt.show()
