"""
The group lasso
===============

Features that belong together are taken or left together: the penalty is the sum of the Euclidean norms of the
groups' coefficients.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/group_lasso.fw")
problem

# %%
# The norm of each group along ``mu``. A group leaves as a whole.

groups = [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
path = problem.path(mu=np.geomspace(3, 0.01, 30))
norms = np.array(
    [
        [np.linalg.norm(solution["w"][group]) for group in groups]
        for solution in path
    ]
)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), layout="constrained"
)
left.plot(
    path.values,
    norms,
    label=[", ".join(f"x{j}" for j in group) for group in groups],
)
left.axvline(0.3, color="0.3", linestyle=":")
left.set(xscale="log", xlabel="mu", ylabel="norm of the group")
left.invert_xaxis()
left.legend()

solution = problem.solve()
for k, group in enumerate(groups):
    right.bar(group, solution["w"][group], color=f"C{k}")
right.axhline(0, color="0.3", linewidth=0.8)
right.set(
    xticks=range(10),
    xticklabels=[f"x{j}" for j in range(10)],
    ylabel="coefficients",
    title="mu = 0.3",
)
print(solution)
plt.show()
