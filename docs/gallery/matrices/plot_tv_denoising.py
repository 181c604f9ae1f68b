"""
Total variation denoising
=========================

The image close to a noisy one whose pixels change little, and where they do at once: ``tv(X)`` is the sum of the
lengths of the differences of each pixel to the one below and to the one on its right.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/tv_denoising.fw")
problem

# %%
# Edges stay sharp. With ``isotropic=false`` the sizes of both differences are added up, which favours corners.

solution = problem.solve()
print(solution)

data = np.load("../../../examples/data/scans.npz")
shown = {
    "clean": data["clean"],
    "noisy": data["noisy"],
    "denoised": solution["X"],
}
figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
for axis, (name, image) in zip(axes, shown.items(), strict=True):
    error = np.sqrt(np.mean((image - data["clean"]) ** 2))
    axis.imshow(image, cmap="gray", vmin=-0.2, vmax=1.2)
    axis.set(title=f"{name}, error {error:.2f}", xticks=[], yticks=[])
plt.show()
