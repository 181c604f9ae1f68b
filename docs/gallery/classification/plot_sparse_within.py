"""
As few coefficients as a fit allows
===================================

Instead of a weight between fit and penalty, a bound on the mean loss: the smallest coefficients of all models that fit so well.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/sparse_within.fw")
problem

# %%
# The multiplier of the bound is the slope of the curve.

losses = np.linspace(0.37, 0.65, 6)
answers = [problem.bind(loss=loss).solve() for loss in losses]
print(answers[1], answers[1].dual["fit"])

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained"
)
left.plot(losses, [answer.objective for answer in answers], ".-")
left.set(xlabel="mean loss allowed", ylabel="sum of sizes of coefficients")
right.plot(losses, np.array([answer["w"] for answer in answers]))
right.set(xlabel="mean loss allowed", ylabel="coefficients")
plt.show()
