"""
Transport, spread by entropy
============================

An entropy term spreads the plan: the higher its temperature, the more targets each source sends to.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/entropic_transport.fw")
problem

# %%
# Four temperatures. Each plan has the same supply and demand.

temperatures = [0.01, 0.05, 0.1, 1.0]
path = problem.path(temperature=temperatures)
print(path[2])

figure, panels = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for axes, temperature, solution in zip(panels, temperatures, path, strict=True):
    plan = solution["plan"]
    image = axes.imshow(plan, cmap="viridis", vmin=0, vmax=0.3)
    for i in range(3):
        for j in range(4):
            axes.text(
                j,
                i,
                f"{plan[i, j]:.2f}",
                ha="center",
                va="center",
                color="white" if plan[i, j] < 0.2 else "black",
            )
    axes.set(
        title=f"temperature {temperature}", xticks=range(4), yticks=range(3)
    )
plt.show()
