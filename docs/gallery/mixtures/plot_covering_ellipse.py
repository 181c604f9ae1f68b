"""
The smallest ellipse around points
==================================

The ellipse of least area that holds 30 points of the plane. Its area is pi over the determinant of A, and the
logarithm of a determinant is concave.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/covering_ellipse.fw")
solution = problem.solve()
print(solution)

# %%
# The boundary is where ``A x + b`` has length 1.

A, b = solution["A"], solution["b"]
angles = np.linspace(0.0, 2.0 * np.pi, 200)
circle = np.column_stack([np.cos(angles), np.sin(angles)])
boundary = np.linalg.solve(A, (circle - b).T)
points = problem.instance.values["points"]

plt.plot(*boundary)
plt.plot(*np.transpose(points), "o")
plt.axis("equal")
plt.show()
