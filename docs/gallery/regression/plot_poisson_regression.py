"""
Counts
======

Poisson regression: the logarithm of the expected count is linear in the features. Its loss is a likelihood,
and not the square of an error.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/poisson_regression.fw")
problem

# %%
# Each count against its expected value exp(x.w + b). Two in three should lie in the grey band, a root of the
# mean wide.

solution = problem.solve()
print(solution)

visits = problem.instance.values["visits"]
mean = np.exp(solution.predict())
line = np.linspace(0.05, mean.max(), 200)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), width_ratios=(3, 2), layout="constrained"
)
left.fill_between(
    line, line - np.sqrt(line), line + np.sqrt(line), color="0.85"
)
left.plot(line, line, color="0.4", linewidth=0.8)
left.plot(mean, visits, ".")
left.set(xlabel="expected", ylabel="counted")
right.barh(solution.instance.maps["X.columns"], solution["w"])
right.axvline(0, color="0.3", linewidth=0.8)
right.set(xlabel="coefficients")
plt.show()
