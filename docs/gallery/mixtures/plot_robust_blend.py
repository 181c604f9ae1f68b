"""
A ration whose feeds vary
=========================

The cheapest ration of eight feeds that is short of no nutrient but rarely. The contents of feeds vary, so that what a ration holds
has a standard deviation, the length of a row: `rownorm2` has one for each nutrient.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/robust_blend.fw")
problem

# %%
# Without a margin each nutrient that is just met is short every other day.

plain, robust = (problem.bind(sigmas=s).solve() for s in (1e-9, 1.96))
print(f"{plain.objective:.2f} without a margin, {robust.objective:.2f} with")

data = problem.instance.values
rng = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
for k, (name, solution) in enumerate(
    {"plain": plain, "robust": robust}.items()
):
    days = data["content"] + data["spread"] * rng.normal(
        size=(4000, *data["spread"].shape)
    )
    short = (days @ solution["x"] < data["need"]).mean(axis=0)
    axes.bar(np.arange(short.size) + 0.4 * k, 100 * short, 0.4, label=name)
axes.set(xlabel="nutrient", ylabel="% of days that lack it")
axes.legend()
plt.show()
