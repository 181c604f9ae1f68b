"""
A proof that a motor is stable
==============================

One energy that falls along the states of a motor, cold and hot, so that it is stable while it warms up. The
inequalities of matrices are written as they are in books: fwdsl sees that they are symmetric.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/lyapunov.fw")
problem

# %%
solution = problem.solve()
print(solution)
P = solution["P"]

# %%
# The energy along a path that changes between cold and hot.

values = problem.instance.values
x, energies = np.array([1.0, 0.0, 0.5]), []
for k in range(400):
    energies.append(x @ P @ x)
    A = values["cold"] if (k // 50) % 2 == 0 else values["hot"]
    x = x + 0.02 * (A @ x)

plt.semilogy(0.02 * np.arange(400), energies)
plt.xlabel("time")
plt.ylabel("energy")
plt.show()
