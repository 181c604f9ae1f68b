"""
The support vector machine
==========================

The separating plane with the widest margin, at a price ``C`` for each violation. Samples beyond the margin
cost nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/svm.fw")
problem

# %%
# The scores of the samples, by class. The margin reaches from -1 to 1.

solution = problem.solve()
print(solution)

y, score = problem.instance.values["y"], solution.predict()
bins = np.linspace(-3.5, 3.5, 36)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.axvspan(-1, 1, color="0.92")
axes.hist(
    [score[y < 0], score[y > 0]],
    bins,
    stacked=True,
    label=["no disease", "disease"],
)
axes.axvline(0, color="0.3", linewidth=0.8)
wrong = np.mean(np.sign(score) != y)
axes.set(
    xlabel="score x.w + b",
    ylabel="samples",
    title=f"{wrong:.1%} on the wrong side of 0",
)
axes.legend()
plt.show()
