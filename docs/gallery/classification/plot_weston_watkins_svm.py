"""
Classes by their scores
=======================

The machine of Weston and Watkins adds up the violations of all other classes. Here three classes are told
apart by two differences of their scores.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/weston_watkins_svm.fw")
problem

# %%
# Only differences of scores matter, so three classes can be shown in the plane, and the regions are exact.

solution = problem.solve()
print(solution)

names = solution.instance.maps["kind"]
kind = np.asarray(problem.instance.values["kind"], dtype=int)
scores = solution.predict()
across, up = scores[:, 1] - scores[:, 0], scores[:, 2] - scores[:, 0]

u, v = np.meshgrid(np.linspace(-3, 3, 300), np.linspace(-3, 3, 300))
region = np.stack([np.zeros_like(u), u, v]).argmax(axis=0)
figure, axes = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
axes.contourf(
    u,
    v,
    region,
    levels=[-0.5, 0.5, 1.5, 2.5],
    colors=["C0", "C1", "C2"],
    alpha=0.2,
)
for k, name in enumerate(names):
    axes.plot(
        across[kind == k],
        up[kind == k],
        "o",
        color=f"C{k}",
        markersize=4,
        label=name,
    )
axes.set(
    xlabel=f"score of {names[1]} less that of {names[0]}",
    ylabel=f"score of {names[2]} less that of {names[0]}",
)
axes.set(xlim=(-3, 3), ylim=(-3, 3))
axes.legend()
plt.show()
