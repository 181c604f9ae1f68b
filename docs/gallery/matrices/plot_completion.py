"""
Films and viewers, 174 million entries
======================================

100,000 ratings of 10,506 films by 16,554 viewers. The completed matrix would have 174 million entries; it is
kept as two thin factors.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/completion.fw")
problem

# %%
# ``B`` is a ``LowRank``: products of its factors give the entries that are asked for.

solution = problem.solve()
print(solution)

B, R = solution["B"], problem.instance.values["R"]
print(B.shape, B.rank)
fitted = 7.3 + B.at(R.rows, R.columns)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained"
)
left.bar(np.arange(1, B.rank + 1), B.singular_values)
left.set(xlabel="rank", ylabel="singular values", title=f"rank {B.rank}")
ratings = np.arange(1, 11)
parts = [fitted[np.asarray(R.values) == k] for k in ratings]
right.plot(ratings, [part.mean() for part in parts], "o-", label="mean")
right.fill_between(
    ratings,
    *np.transpose([np.quantile(part, [0.1, 0.9]) for part in parts]),
    alpha=0.2,
    label="8 of 10",
)
right.set(xlabel="rating", ylabel="fitted", xticks=ratings)
right.legend()
plt.show()
