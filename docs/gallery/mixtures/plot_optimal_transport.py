"""
Transport without splitting
===========================

The cheapest plan between sources and targets of the same mass is a vertex of the Birkhoff polytope: a
permutation.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/optimal_transport.fw")
problem

# %%
# The costs, with the plan around the entries that it uses.

solution = problem.solve()
print(solution)

cost, plan = np.asarray(problem.instance.values["cost"]), solution["plan"]
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
axes.imshow(cost, cmap="Blues", vmax=8)
for i in range(5):
    for j in range(5):
        used = plan[i, j] > 0.5
        axes.text(
            j,
            i,
            f"{cost[i, j]:.0f}",
            ha="center",
            va="center",
            weight="bold" if used else "normal",
        )
        if used:
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.45, i - 0.45),
                    0.9,
                    0.9,
                    fill=False,
                    edgecolor="C1",
                    linewidth=2.5,
                )
            )
axes.set(
    xlabel="target",
    ylabel="source",
    title=f"total cost {solution.objective:.0f}",
)
plt.show()
