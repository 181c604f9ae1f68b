"""
Emission tomography
===================

How brightly the points of a picture glow, by the flashes that detectors around it count: a Poisson likelihood whose rates
are linear in the picture.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/tomography.fw")
problem

# %%
# The picture that is found beside the one that the counts were drawn from.

solution = problem.solve()
print(solution)

truth = np.load("../../../examples/data/scanner.npz")["picture"]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(7, 3.4), layout="constrained"
)
for axes, picture, title in (
    (left, truth, "truth"),
    (right, solution["glow"], "found"),
):
    axes.imshow(np.reshape(picture, (12, 12)), vmin=0.0, vmax=12.0)
    axes.set(title=title, xticks=[], yticks=[])
plt.show()
