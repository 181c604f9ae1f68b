"""
Water filling
=============

How to share power among the frequencies of a line so that most bits go through: the power fills the quiet ones up
to one level, like water.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/water_filling.fw")
problem

# %%
# Noise and power end at one level wherever there is power.

solution = problem.solve()
print(solution)

noise = np.asarray(problem.instance.values["noise"])
x = solution["x"]
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
place = np.arange(noise.size)
axes.bar(place, noise, width=1.0, color="0.6", label="noise")
axes.bar(place, x, width=1.0, bottom=noise, label="power")
axes.set(xlabel="frequency", ylabel="level")
axes.legend()
plt.show()
