"""
The elastic net
===============

Logistic regression of heart disease with an l1 penalty, which selects, and a ridge, which shares weight among
features that go together. The intercept is a variable of its own, and nothing penalises it.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/elastic_net.fw")
problem

# %%
# The coefficients along ``mu``.

FEATURES = [
    "age",
    "sex",
    "chest pain",
    "pressure",
    "cholesterol",
    "sugar",
    "ecg",
    "heart rate",
    "angina",
    "st depression",
]
FEATURES += ["st slope", "vessels", "thallium"]
path = problem.path(mu=np.geomspace(0.3, 0.002, 30))
weights = np.array([solution["w"] for solution in path])
print(path[-1])

figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
largest = np.argsort(-np.abs(weights[-1]))
for rank, j in enumerate(largest):
    axes.plot(
        path.values,
        weights[:, j],
        color=f"C{rank}" if rank < 6 else "0.8",
        label=FEATURES[j] if rank < 6 else None,
    )
axes.axvline(0.02, color="0.3", linestyle=":")
axes.set(xscale="log", xlabel="mu", ylabel="coefficients of scaled features")
axes.invert_xaxis()
axes.legend(fontsize="small")
plt.show()
