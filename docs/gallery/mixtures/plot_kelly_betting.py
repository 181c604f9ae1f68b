"""
The bets of Kelly
=================

Shares of the money at hand that are bet, day after day, so that it grows fastest in the long run.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwdsl as fw

problem = fw.load("../../../examples/kelly_betting.fw")
problem

# %%
# The shares beside those of the largest mean, which puts all on one bet and loses all before long.

solution = problem.solve()
print(solution)

chance, paid = (
    np.asarray(problem.instance.values[name]) for name in ("chance", "paid")
)
greedy = np.eye(paid.shape[1])[np.argmax(chance @ paid)]
rng = np.random.default_rng(1)
days = rng.choice(chance.size, 300, p=chance / chance.sum())
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.4), width_ratios=(2, 3), layout="constrained"
)
left.bar([*(f"bet {j}" for j in range(5)), "kept"], solution["share"])
left.set(ylabel="share")
left.tick_params(axis="x", rotation=45)
for share, label in ((solution["share"], "Kelly"), (greedy, "largest mean")):
    money = np.cumprod(paid[days] @ share)
    right.semilogy(np.maximum(money, 1e-6), label=label)
right.set(xlabel="day", ylabel="money")
right.legend()
plt.show()
