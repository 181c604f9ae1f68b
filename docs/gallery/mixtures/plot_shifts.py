"""
Who takes which shift
=====================

Twelve people, 21 shifts: everybody works as gladly as can be, no shift lacks people. `sum(take, axis=0)` are the people of each
shift, `sum(take, axis=1)` the shifts of each person.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/shifts.fw")
problem

# %%
# No whole numbers are asked for; the corners of this set have them anyway.

solution = problem.solve()
print(solution)

take = np.asarray(solution["take"])
print(np.abs(take - take.round()).max())
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.imshow(take, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set(xlabel="shift", ylabel="person")
plt.show()
