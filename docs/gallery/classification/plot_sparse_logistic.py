"""
Few coefficients on a budget
============================

Logistic regression on the 32,561 rows of a9a. The l1 norm of the coefficients is at most ``delta``: a
constraint in the place of a penalty.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/sparse_logistic.fw")
problem

# %%
# More budget, more features, a lower loss. At the budget of the program 11 of 123 are in use.

path = problem.path(delta=[0.5, 1, 2, 3, 5, 8, 12, 20])
print(path[4])

used = [np.count_nonzero(np.abs(solution["beta"]) > 1e-6) for solution in path]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.6), layout="constrained"
)
left.plot(
    path.values, [solution.objective for solution in path], "o-", color="C0"
)
left.set(xlabel="delta", ylabel="mean logistic loss")
beside = left.twinx()
beside.plot(path.values, used, "s--", color="C1")
beside.set_ylabel("features in use", color="C1")
beta = path[4]["beta"]
chosen = np.argsort(-np.abs(beta))
chosen = chosen[np.abs(beta[chosen]) > 1e-6]
right.barh([f"feature {j + 1}" for j in chosen], beta[chosen])
right.axvline(0, color="0.3", linewidth=0.8)
right.tick_params(axis="y", labelsize="small")
right.set(xlabel="coefficients at delta = 5")
plt.show()
