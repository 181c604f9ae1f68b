"""
Features for all targets, or for none
=====================================

The penalty is the sum of the norms of rows, so that a feature is used by all five regressions or by none of
them.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/joint_selection.fw")
problem

# %%
# The norm of each feature's row along ``mu``, and the coefficients at the value of the program.

path = problem.path(mu=np.geomspace(2.5, 0.02, 25))
norms = np.array([np.linalg.norm(solution["W"], axis=1) for solution in path])
solution = problem.solve()
print(solution)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained"
)
left.plot(
    path.values, norms, label=[f"feature {j}" for j in range(norms.shape[1])]
)
left.axvline(0.4, color="0.3", linestyle=":")
left.set(xscale="log", xlabel="mu", ylabel="norm of the row")
left.invert_xaxis()
left.legend(fontsize="small")
size = np.abs(solution["W"]).max()
image = right.imshow(
    solution["W"], cmap="RdBu_r", vmin=-size, vmax=size, aspect="auto"
)
right.set(xlabel="target", ylabel="feature", title="mu = 0.4")
figure.colorbar(image, ax=right)
plt.show()
