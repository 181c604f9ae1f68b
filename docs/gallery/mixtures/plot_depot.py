"""
Where to put a depot
====================

The place with the least total way to the customers, and the place among those within a given reach of all.
"""

import matplotlib.pyplot as plt

import fwdsl as fw

problem = fw.load("../../../examples/depot.fw")
problem

# %%
# ``dual`` has what a kilometre more of reach would save, customer by customer: nothing where the reach does not bind.

solution = problem.solve()
print(solution)
free = problem.bind(reach=100).solve()

P, orders = (problem.instance.values[name] for name in ("P", "orders"))
figure, axes = plt.subplots(figsize=(5.5, 5), layout="constrained")
axes.scatter(*P.T, s=8 * orders, alpha=0.6, label="customers")
axes.plot(*free["place"], "x", color="C1", label="least way")
axes.plot(*solution["place"], "*", color="C3", label="within reach of all")
reach = problem.instance.values["reach"]
axes.add_patch(plt.Circle(solution["place"], reach, fill=False, color="C3"))
axes.set(xlabel="km east", ylabel="km north", aspect="equal")
axes.legend()
plt.show()
