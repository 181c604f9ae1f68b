"""
Where to measure
================

Settings of temperature and pressure for the most exact coefficients of a quadratic model: a D-optimal design
(largest determinant of the information) and an A-optimal one (least sum of variances), here with at most a tenth
of all measurements at one setting.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/optimal_design.fw")
problem

# %%
# ``log_det`` is concave and is maximised; the information matrix is written as it is in books.

solution = problem.solve()
print(solution)

# %%
# The A-optimal design.

other = fw.load("../../../examples/robust_design.fw")
print(other.solve())

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.8), layout="constrained")
for axis, program, title in (
    (axes[0], problem, "log_det"),
    (axes[1], other, "tr_inv, at most 0.1 each"),
):
    V, w = program.instance.values["V"], program.solve()["w"]
    axis.scatter(V[:, 1], V[:, 2], s=10 + 2000 * w.clip(0), alpha=0.6)
    axis.set(title=title, xlabel="temperature", ylabel="pressure")
plt.show()
