"""Primal-dual block Frank-Wolfe (Lei, Zhuo, Caramanis, Dhillon, Dimakis 2019): sparse or low-rank primal steps, greedy dual ones."""
