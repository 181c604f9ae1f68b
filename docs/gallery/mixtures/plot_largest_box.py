"""
A geometric program
===================

The box of largest volume whose walls and floor have bounded areas. In logarithms a product is a sum, and a sum of products is
at most 1 where ``log_sum_exp`` of its logarithms is at most 0.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/largest_box.fw")
problem

# %%
# The multiplier of a bound is the share by which the volume grows when the bound grows by one percent, in percent.

solution = problem.solve()
height, width, depth = np.exp(solution["x"])
print(
    f"{height:.2f} x {width:.2f} x {depth:.2f} m, {height * width * depth:.0f} cubic metres"
)

names = ("wall_area", "floor_area")
figure, axes = plt.subplots(figsize=(4, 3), layout="constrained")
axes.bar(names, [float(np.max(np.abs(solution.dual[name]))) for name in names])
axes.set(ylabel="multiplier")
plt.show()
