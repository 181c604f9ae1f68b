"""
SLOPE
=====

Least squares whose coefficients are weighed by the rank of their sizes. Markers that go together get one
coefficient, and most get none. ``fwdsl.sklearn.SlopeRegression`` is the same as an estimator.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/slope.fw")
problem

# %%
# The lasso takes one marker of a block; SLOPE takes the block.

solution = problem.solve()
print(solution)

lasso = fw.parse("""
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize 1/2 * mean(squared(X @ w, y)) + 0.2 * norm1(w)
""").bind(X=problem.instance.values["X"], y=problem.instance.values["y"])
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(lasso.solve()["w"], "x", color="0.5", label="lasso")
axes.plot(solution["w"], "o", label="SLOPE")
axes.set(xlabel="marker", ylabel="coefficient")
axes.legend()
plt.show()
