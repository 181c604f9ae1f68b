"""
A mix that tracks a target
==========================

Nonnegative weights that add up to one: the mix of four funds that comes closest to a target, month by month.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/portfolio.fw")
problem

# %%
# The weights, and how the mix follows its target. ``simplex`` leaves out what does not help.

solution = problem.solve()
print(solution)

R, target = (
    np.asarray(problem.instance.values["R"]),
    np.asarray(problem.instance.values["target"]),
)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.4), width_ratios=(2, 3), layout="constrained"
)
left.bar([f"fund {j}" for j in range(4)], solution["x"])
left.set(ylabel="weight")
right.plot(R, color="0.85")
right.plot(target, "k--", label="target")
right.plot(R @ solution["x"], "o-", label="mix")
right.set(xlabel="month", ylabel="return")
right.legend()
plt.show()
