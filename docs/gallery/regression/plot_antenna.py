"""
An array that hears one direction
=================================

Twelve aerials on a line, with complex weights: gain 1 towards 20 degrees, little noise, and side lobes below a bound.
The size of a complex number is the length of a row of two.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/antenna.fw")
problem

# %%
# Lower side lobes cost noise.

figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
angles = np.linspace(-90, 90, 721)
phases = np.pi * np.outer(np.sin(np.deg2rad(angles)), np.arange(12) - 5.5)
for lobe in (0.3, 0.1, 0.05):
    solution = problem.bind(lobe=lobe).solve()
    print(f"side lobes of {lobe}: noise {solution.objective:.4f}")
    gain = np.abs(np.exp(1j * phases) @ (solution["a"] + 1j * solution["b"]))
    axes.plot(angles, 20 * np.log10(gain), label=f"at most {lobe}")
axes.set(xlabel="angle", ylabel="gain in dB", ylim=(-50, 3))
axes.legend(title="side lobes")
plt.show()
