"""
Views for advertisers
=====================

Advertisers pay for clicks until their budget is spent. The views of each hour are shared out so that least is left unspent.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/advertising.fw")
problem

# %%
# Who is shown when, and what is paid beside the budgets.

solution = problem.solve()
print(solution)

worth, budget = (
    np.asarray(problem.instance.values[name]) for name in ("worth", "budget")
)
views = solution["views"]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.4), width_ratios=(3, 2), layout="constrained"
)
left.stackplot(
    np.arange(24), views, labels=[f"advertiser {j}" for j in range(5)]
)
left.set(xlabel="hour", ylabel="views")
left.legend(fontsize="small", loc="upper right")
place = np.arange(5)
right.bar(place - 0.2, budget, width=0.4, color="0.75", label="budget")
right.bar(
    place + 0.2,
    np.minimum((worth * views).sum(axis=1), budget),
    width=0.4,
    label="paid",
)
right.set(xlabel="advertiser")
right.legend()
plt.show()
