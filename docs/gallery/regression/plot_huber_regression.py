"""
Regression that outliers do not carry away
==========================================

The Huber loss is quadratic for small errors and linear for large ones, so that a wrong target counts little.
Here one target in eight is spoiled.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/huber_regression.fw")
problem

# %%
# ``bind`` gives the program other data: the targets with ten of them spoiled. Squares are solved beside it.

X, y = problem.instance.values["X"], np.array(problem.instance.values["y"])
spoiled = np.random.default_rng(0).choice(y.size, 10, replace=False)
seen = y.copy()
seen[spoiled] += 15

robust = problem.bind(y=seen).solve()
squares = (
    fw.parse("""
data X: matrix[n, p], y: vector[n]
var w: vector[p], b: real
minimize mean(squared(X @ w + b, y)) + 0.01 * sum_squares(w)
""")
    .bind(X=X, y=seen)
    .solve()
)
print(robust)

figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.8), sharex=True, sharey=True, layout="constrained"
)
for axes, name, solution in zip(
    panels, ("squared", "huber"), (squares, robust), strict=True
):
    predicted = X @ solution["w"] + solution["b"]
    error = np.abs(predicted - y).mean()
    axes.plot(y, predicted, ".", label="targets as they are")
    axes.plot(
        y[spoiled],
        predicted[spoiled],
        "o",
        mfc="none",
        color="C3",
        label="seen with 15 added",
    )
    axes.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
    axes.set(xlabel="true target", title=f"{name}: mean error {error:.2f}")
panels[0].set_ylabel("prediction")
panels[0].legend()
plt.show()
