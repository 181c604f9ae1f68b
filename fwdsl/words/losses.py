"""The losses. Each has its mathematics in `fwdsl.atoms.losses`, in a file of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Parameter, Word, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWord(Word):
    """A loss of a prediction z and a target b, summed or averaged over samples.

    `target` says what b is: numbers, signs (labels of two values) or labels (classes). `scores`: z is a row of scores for each sample.
    A prediction is read as a class by its sign where the target is `signs`, by its largest score where it is `labels`.
    """

    target: Literal["real", "signs", "labels"]
    scores: bool = False
    #: It depends on z - b alone, so that a shift of the targets is one of the predictions.
    residual: bool = False
    #: It is (z - b)^2.
    square: bool = False
    #: exp(-l(z; b)) is the probability of b at z, but for a factor of b alone.
    likelihood: bool = False

    @property
    def classifies(self) -> bool:
        """True if a prediction is read as a class."""
        return self.target != "real"

    @property
    def summary(self) -> str:
        """The formula, with what its target is."""
        kind = f"; y are {self.target}" if self.classifies else ""
        return f"{self.formula.removesuffix('.')} per sample{kind}."

    @property
    def options(self) -> tuple[Parameter, ...]:
        return self.parameters[2:]


def loss_word(
    name: str,
    formula: str,
    *options: Parameter,
    target: Literal["real", "signs", "labels"] = "real",
    residual: bool = False,
    square: bool = False,
    likelihood: bool = False,
    elsewhere: tuple[str, ...] = (),
) -> LossWord:
    """The record of a loss of a prediction and a target, with options behind them."""
    kind = "" if target == "real" else target
    return LossWord(
        name=name,
        formula=formula,
        parameters=(Parameter("prediction"), Parameter("target", kind=kind), *options),
        elsewhere=elsewhere,
        target=target,
        scores=target == "labels",
        residual=residual or square,
        square=square,
        likelihood=likelihood,
    )


_EPS = Parameter("eps", "nonnegative", 0.1)

LOSSES: dict[str, LossWord] = Words(
    (
        loss_word("squared", "(z - b)^2.", square=True, elsewhere=("least_squares", "mse")),
        loss_word("absolute", "|z - b|.", residual=True, elsewhere=("mae",)),
        loss_word(
            "quantile",
            "tau max(0, b - z) + (1 - tau) max(0, z - b), tau between 0 and 1.",
            Parameter("tau", "unit", 0.5),
            residual=True,
        ),
        loss_word(
            "huber",
            "r^2/2 where |r| <= delta, else delta (|r| - delta/2), with r = z - b.",
            Parameter("delta", "positive", 1.0),
            residual=True,
        ),
        loss_word("epsilon_insensitive", "max(0, |z - b| - eps).", _EPS, residual=True),
        loss_word("squared_epsilon_insensitive", "max(0, |z - b| - eps)^2.", _EPS, residual=True),
        loss_word("logistic", "log(1 + exp(-y z)).", target="signs", likelihood=True),
        loss_word("hinge", "max(0, 1 - y z).", target="signs"),
        loss_word("squared_hinge", "max(0, 1 - y z)^2.", target="signs"),
        loss_word(
            "smooth_hinge",
            "0 where y z >= 1, (1 - y z)^2/2 where 0 <= y z <= 1, else 1/2 - y z.",
            target="signs",
        ),
        loss_word("poisson", "exp(z) - b z.", likelihood=True),
        loss_word(
            "softmax",
            "log sum_l exp(Z_l) - Z_y.",
            target="labels",
            likelihood=True,
            elsewhere=("cross_entropy",),
        ),
        loss_word(
            "multiclass_hinge",
            "max_l (1[l != y] + Z_l) - Z_y (Crammer-Singer).",
            target="labels",
        ),
        loss_word("weston_watkins", "sum over l != y of max(0, 1 + Z_l - Z_y).", target="labels"),
    )
)

ABSOLUTE, QUANTILE, HUBER = "absolute", "quantile", "huber"
HINGE, SQUARED_HINGE = "hinge", "squared_hinge"
"""The losses that slack variables and norms of residuals stand for."""
