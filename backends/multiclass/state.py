"""The state of a run of a mirror method, and the numbers of its certificates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.method import State
from fwdsl.backends.multiclass.game import EVEN, Game
from fwdsl.light_dataclass import light_state

BOUND = 0.75
"""The radius seems not to bind where |U|_1 is less than this part of it."""

SOLVED = 0.1
"""The radius does bind where the gap within it is this part of the problem's: means of noisy iterates are smaller than these."""

OUTSIDE = 1e-9
"""The share of the radius by which a point may be outside of the set, and P still counts as at the nearest point inside."""


def nothing() -> Array:
    """The value of a state's array before the first step."""
    return np.zeros(0)


@light_state
class GameState(State):
    """The state of a run on the game."""

    radius: float  # of the ball or simplex that U is in, in the units of x
    k: int = 0  # iterations of the method
    began: int = 0  # k as of the last change of the radius
    value: float = math.inf  # P at the last certificate
    best_value: float = math.inf  # the least P of all certificates
    best_bound: float = -math.inf  # the best bound of all certificates
    best_x: Array = field(default_factory=nothing)  # the point of the least P
    best_u: Array = field(default_factory=nothing)  # the multipliers of the best bound
    stage_value: float = math.inf  # the least P since the radius was set
    stage_bound: float = -math.inf  # the best D of the game within it
    stage_size: float = 0.0  # |U|_1 at the least P


@dataclass
class MirrorState(GameState):
    """The state of a run with both points written out."""

    U: Array = field(
        default_factory=nothing
    )  # (parts, d k), the primal point: nonnegative parts, with a total of at most `radius`
    V: Array = field(default_factory=nothing)  # (n, k), the dual point: a row of the simplex for each sample
    log_u: Array = field(default_factory=nothing)  # (parts, d k), log U, which multiplicative steps add to
    log_v: Array = field(default_factory=nothing)  # (n, k), log V
    mean_x: Array = field(default_factory=nothing)  # the weighted mean of U, flat
    mean_z: Array = field(default_factory=nothing)  # the same mean of the predictions z
    mean_u: Array = field(default_factory=nothing)  # the same mean of the multipliers u
    mean_slope: Array = field(default_factory=nothing)  # the same mean of q + G
    total: float = 0.0  # the sum of the weights in these means
    late: list[Array] = field(default_factory=list)  # the same means since the iteration `tail`
    late_total: float = 0.0  # the sum of the weights in those
    tail: int = 0  # the iteration at which `late` began
    gamma: float = 0.0  # the step, which the adaptive rule changes


def judge(game: Game, s: GameState, x: Array, z: Array, u: Array, slope: Array) -> None:
    """Note P at x, with z = c X U + o, and D at u, with q + G of it; the best of each are kept."""
    inside = game.problem.prox_g(x, 0.0) if math.isfinite(game.ball) else x.copy()
    # a mean of the set's points is in it, but for rounding, of which large steps make much
    if not float(np.abs(inside - x).sum()) <= OUTSIDE * s.radius:
        x, z = inside, game.forward(inside)
    s.value = game.value(x, z)
    if s.value < s.best_value or not s.best_x.size:
        s.best_value, s.best_x = s.value, inside
    u = game.settle(u)
    bound, found, within = game.bound(u, slope, s.radius)
    if bound > s.best_bound or not s.best_u.size:
        s.best_bound, s.best_u = bound, found.reshape(-1)
    if s.value < s.stage_value:
        s.stage_value, s.stage_size = s.value, float(np.abs(x).sum())
    s.stage_bound = max(s.stage_bound, within)


def grown(game: Game, s: GameState) -> bool:
    """Double the radius of a penalty where it keeps the gap from closing; True where it did, and a new stage begins.

    It is where |U|_1 comes near it and the game within it is better solved than the problem: P - D_R of the stage is at most P - D; or
    much better, whatever |U|_1 is.
    """
    if math.isfinite(game.ball):
        return False
    safe = game.safe_radius(s.best_value)
    solved = 1.0 if s.stage_size >= BOUND * s.radius else SOLVED
    if s.radius >= safe or s.stage_value - s.stage_bound > solved * (s.best_value - s.best_bound):
        return False
    s.radius = min(2.0 * s.radius, safe)
    s.began = s.k
    s.stage_value, s.stage_bound, s.stage_size = math.inf, -math.inf, 0.0
    return True


def mixed(log_v: Array, classes: float) -> Array:
    """log((1 - EVEN) V + EVEN / k)."""
    return np.asarray(np.logaddexp(log_v + math.log(1.0 - EVEN), math.log(EVEN) - classes))
