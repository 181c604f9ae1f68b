"""
The loaded die
==============

Of a die it is known that its mean is 4.5 and not 3.5. Of all distributions with that mean Jaynes takes the
one of the largest entropy.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/maximum_entropy.fw")
problem

# %%
# Its probabilities grow from face to face by a constant factor.

solution = problem.solve()
print(solution)

x = solution["x"]
print((x[1:] / x[:-1]).round(3))
figure, axes = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
axes.bar(range(1, 7), x, label="mean 4.5")
axes.axhline(1 / 6, color="0.5", linestyle="--", label="a fair die")
axes.set(xlabel="face", ylabel="probability")
axes.legend()
plt.show()
