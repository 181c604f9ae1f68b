"""
Which sensors depend on each other
==================================

The inverse of the covariance of 12 sensors, with few entries off its diagonal: where an entry is zero, two
sensors tell nothing of each other once all others are known.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/sparse_covariance.fw")
problem

# %%
# The method is a proximal Newton one of its own, and zeros are exact.

solution = problem.solve()
print(solution)

P = solution["P"]
X = problem.instance.values["X"]
plain = np.linalg.inv(X.T @ X / len(X))

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.8), layout="constrained")
most = np.abs(plain - np.diag(np.diag(plain))).max()
for axis, matrix, title in (
    (axes[0], plain, "inverse of the covariance"),
    (axes[1], P, "with a price on entries"),
):
    image = axis.imshow(matrix, cmap="RdBu", vmin=-most, vmax=most)
    axis.set(title=title, xlabel="sensor", ylabel="sensor")
figure.colorbar(image, ax=axes, shrink=0.8)
plt.show()

# %%
# A larger price leaves fewer links.

for lam in (0.05, 0.1, 0.2, 0.4):
    links = np.count_nonzero(np.triu(problem.bind(lam=lam).solve()["P"], 1))
    print(f"lam = {lam}: {links} links")
