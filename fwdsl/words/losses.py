"""The losses. Each has its mathematics in `fwdsl.atoms.losses`, in a file of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Domain, Parameter, Word


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

    @property
    def classifies(self) -> bool:
        """Whether a prediction is read as a class."""
        return self.target != "real"

    @property
    def summary(self) -> str:
        """The formula, with what its target is."""
        kind = f"; y are {self.target}" if self.classifies else ""
        return f"{self.formula.removesuffix('.')} per sample{kind}."

    @property
    def options(self) -> tuple[Parameter, ...]:
        """The parameters behind prediction and target."""
        return self.parameters[2:]


def _loss(
    name: str,
    target: Literal["real", "signs", "labels"],
    formula: str,
    option: tuple[str, Domain, float] | None = None,
    elsewhere: tuple[str, ...] = (),
    residual: bool | None = None,
) -> LossWord:
    options = () if option is None else (Parameter(*option),)
    kind = target if target != "real" else ""
    parameters = (Parameter("prediction"), Parameter("target", kind=kind), *options)
    return LossWord(
        name=name,
        formula=formula,
        parameters=parameters,
        elsewhere=elsewhere,
        target=target,
        scores=target == "labels",
        residual=target == "real" if residual is None else residual,
    )


LOSSES: dict[str, LossWord] = {
    word.name: word
    for word in (
        _loss("squared", "real", "(z - b)^2.", elsewhere=("least_squares", "mse")),
        _loss("absolute", "real", "|z - b|.", elsewhere=("mae",)),
        _loss(
            "quantile",
            "real",
            "tau max(0, b - z) + (1 - tau) max(0, z - b), tau between 0 and 1.",
            ("tau", "unit", 0.5),
        ),
        _loss(
            "huber",
            "real",
            "r^2/2 where |r| <= delta, else delta (|r| - delta/2), with r = z - b.",
            ("delta", "positive", 1.0),
        ),
        _loss("epsilon_insensitive", "real", "max(0, |z - b| - eps).", ("eps", "nonnegative", 0.1)),
        _loss(
            "squared_epsilon_insensitive",
            "real",
            "max(0, |z - b| - eps)^2.",
            ("eps", "nonnegative", 0.1),
        ),
        _loss("logistic", "signs", "log(1 + exp(-y z))."),
        _loss("hinge", "signs", "max(0, 1 - y z)."),
        _loss("squared_hinge", "signs", "max(0, 1 - y z)^2."),
        _loss(
            "smooth_hinge",
            "signs",
            "0 where y z >= 1, (1 - y z)^2/2 where 0 <= y z <= 1, else 1/2 - y z.",
        ),
        _loss("poisson", "real", "exp(z) - b z.", residual=False),
        _loss("softmax", "labels", "log sum_l exp(Z_l) - Z_y.", elsewhere=("cross_entropy",)),
        _loss(
            "multiclass_hinge",
            "labels",
            "max_l (1[l != y] + Z_l) - Z_y (Crammer-Singer).",
        ),
        _loss("weston_watkins", "labels", "sum over l != y of max(0, 1 + Z_l - Z_y)."),
    )
}
