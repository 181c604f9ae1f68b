"""The state of a run of coordinate descent."""

from __future__ import annotations

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.coordinates import Indices
from fwdsl.backends.method import State
from fwdsl.light_dataclass import light_state


@light_state
class CoordinateState(State):
    """The state of a run of `coordinate_descent`."""

    x: Array  # the iterate
    z: Array  # its predictions K x + b
    y: Array  # f'(z)
    kty: Array  # K'y
    loss: float  # f(z)
    value: float  # P(x)
    best_bound: float  # the best bound so far
    dual: Array  # its dual point
    misses: Array  # violations of optimality at x, over the lengths of columns
    work: Indices  # the last working set
    multiplier: float  # of the ball, 0 where there is none
    least: float  # what it falls to at most in a step
    slope: float  # how fast h falls as it grows, in the last model
    whole: bool  # it is everything
    grams: bool  # the models of a quadratic loss are solved on the Gram matrix from now on
    gram: Array  # this matrix, without ridges; of classes that of the last model
    gram_of: Indices  # of classes, the coordinates that it has
    gram_at: float  # and the violation that this model began with; inf where it is not known
    length: float  # of the last move along a model
    epochs: float  # epochs over columns that a model took of late
    tight: float  # how much further than by the share of the gap models are solved
    floor: float  # the share of the largest f'' that h has at least
    level: float  # within which a length is smoothed; 0 of losses
    phase: str = "coordinate descent"  # of the last step
