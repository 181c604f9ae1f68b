"""
Weights for the fastest average
===============================

Eight computers average their numbers with their neighbours. The weights of the links decide how fast all of them
come to the average: the norm of a step beside the mean of all is to be least.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/fastest_mixing.fw")
solution = problem.solve()
print(solution)

# %%
# The usual weights, one over the larger number of neighbours plus one, are slower.

B = problem.instance.values["B"]
neighbours = np.abs(B).sum(axis=0)
usual = 1 / (1 + (np.abs(B) * neighbours).max(axis=1))


def step(w):
    return np.eye(B.shape[1]) - B.T @ np.diag(w) @ B


def distances(w, steps=40):
    x = np.eye(B.shape[1])[0]
    found = []
    for _ in range(steps):
        found.append(np.linalg.norm(x - 1 / x.size))
        x = step(w) @ x
    return found


plt.semilogy(distances(usual), label="usual weights")
plt.semilogy(distances(solution["w"]), label="best weights")
plt.xlabel("step")
plt.ylabel("distance from the average")
plt.legend()
plt.show()
