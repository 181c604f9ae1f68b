"""
Basis pursuit
=============

Four equations in ten unknowns have many solutions. That of the least l1 norm has few nonzeros; that of the
least Euclidean norm has them everywhere.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/basis_pursuit.fw")
problem

# %%
# Both meet the four equations.

solution = problem.solve()
print(solution)

X, y = problem.instance.values["X"][:4], problem.instance.values["y"][:4]
euclidean = np.linalg.pinv(X) @ y
print(
    np.abs(X @ solution["w"] - y).max() < 1e-6,
    np.abs(X @ euclidean - y).max() < 1e-6,
)

figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.2), sharey=True, layout="constrained"
)
named = (("least l1 norm", solution["w"]), ("least Euclidean norm", euclidean))
for axes, (name, w) in zip(panels, named, strict=True):
    axes.stem(w, basefmt="C7")
    axes.set(
        title=f"{name}: {(np.abs(w) > 1e-3).sum()} of {w.size} not zero",
        xticks=range(w.size),
        xlabel="unknown",
    )
plt.show()
