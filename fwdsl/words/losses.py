"""The losses, and the functions of one number at a time. Each has its mathematics in `fwdsl.atoms.losses`, in a file of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from .base import Parameter, Word, Words

Target = Literal["real", "signs", "labels", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWord(Word):
    """A loss of a prediction z and a target b, summed or averaged over samples; or, without a target, a function of one number.

    `target` says what b is: numbers, signs (labels of two values), labels (classes), or none. `scores`: z is a row of scores for each sample.
    A prediction is read as a class by its sign where the target is `signs`, by its largest score where it is `labels`.
    """

    target: Target
    #: The target that stands for one which is left out; None where it must be given.
    alone: float | None = None
    #: The function of this name is concave, and the loss is its negative: where its option lies between these two numbers.
    concave: tuple[float, float] | None = None
    #: The loss without a target that it is for some values of its option; empty for the others.
    instead: Callable[[float], str] | None = None
    #: The word for it of another function of entries: `power(abs(z), p)` is `abs_power(z, p)`.
    around: tuple[tuple[str, str], ...] = ()
    #: What to write for it of a convex sum: `log` of "sum exp" is `log_sum_exp`. A function alone, its "sum", "1 +" it; `{}` is its argument.
    of_sums: tuple[tuple[str, str], ...] = ()
    #: Without a target it rises with its argument.
    rises: bool = False
    #: The loss that it is where the constant comes first and the prediction second.
    turned_round: str = ""
    #: The convex function of pairs that it is where both of its sides depend on variables.
    jointly: str = ""
    #: Its targets are not negative.
    nonnegative_target: bool = False
    #: Of two numbers it is a term by itself, without `mean` or `sum`.
    of_numbers: bool = False
    scores: bool = False
    #: It depends on z - b alone, so that a shift of the targets is one of the predictions.
    residual: bool = False
    #: It is (z - b)^2.
    square: bool = False
    #: exp(-l(z; b)) is the probability of b at z, but for a factor of b alone.
    likelihood: bool = False
    #: The norm that its sum is where all targets are 0.
    as_norm: str = ""
    #: The option that CVXPY has in the place of the target.
    option_elsewhere: str = ""

    @property
    def classifies(self) -> bool:
        """True if a prediction is read as a class."""
        return self.target in ("signs", "labels")

    @property
    def is_concave_function(self) -> bool:
        """True if the function of this name is concave, whatever its options."""
        return self.concave == (-inf, inf)

    @property
    def entrywise(self) -> bool:
        """True if it is a function of one number, without a target."""
        return self.target == "none"

    @property
    def by_option(self) -> bool:
        """True if its option decides whether it is convex or concave: a number that is written in the program."""
        return self.concave is not None and bool(self.options)

    def is_concave(self, options: Mapping[str, float]) -> bool:
        """True if the function of this name is concave for these options, and the loss its negative."""
        if self.concave is None or not self.options:
            return self.concave is not None
        lo, hi = self.concave
        return lo < options[self.options[0].name] < hi

    @property
    def summary(self) -> str:
        """The formula, with what its target is."""
        kind = f"; y are {self.target}" if self.classifies else ""
        return f"{self.formula.removesuffix('.')} per {'entry' if self.entrywise else 'sample'}{kind}."

    @property
    def options(self) -> tuple[Parameter, ...]:
        return self.parameters[1 if self.entrywise else 2 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryWord(Word):
    """A function of one number that is a loss of ours: f(z) = l(factor z + shift; target) + residual (z - target), with these options.

    Without a `target` of its record it takes one where the loss does.
    """

    loss: str
    target: float | None = None
    factor: float = 1.0
    shift: float = 0.0
    residual: float = 0.0
    fixed: tuple[tuple[str, float], ...] = ()
    #: The word for it of another function of entries: `square(pos(z))` is `square_pos(z)`.
    around: tuple[tuple[str, str], ...] = ()
    #: What to write for it of a convex sum, as of a `LossWord`.
    of_sums: tuple[tuple[str, str], ...] = ()
    #: It rises with its argument.
    rises: bool = False

    @property
    def is_concave_function(self) -> bool:
        """True if the function is concave."""
        return LOSSES[self.loss].is_concave(dict(self.fixed))

    @property
    def summary(self) -> str:
        """The formula."""
        return f"{self.formula.removesuffix('.')} per entry."


def loss_word(
    name: str,
    formula: str,
    *options: Parameter,
    target: Literal["real", "signs", "labels"] = "real",
    residual: bool = False,
    square: bool = False,
    likelihood: bool = False,
    as_norm: str = "",
    alone: float | None = None,
    turned_round: str = "",
    jointly: str = "",
    nonnegative_target: bool = False,
    of_numbers: bool = False,
    rises: bool = False,
    elsewhere: tuple[str, ...] = (),
    option_elsewhere: str = "",
) -> LossWord:
    """The record of a loss of a prediction and a target, with options behind them."""
    # the constants of a loss with nonnegative targets are promised to be so, on whichever side they stand
    kind = "weights" if nonnegative_target else "" if target == "real" else target
    first = Parameter("prediction", kind="weights" if turned_round else "")
    return LossWord(
        name=name,
        formula=formula,
        parameters=(first, Parameter("target", kind=kind, optional=alone is not None), *options),
        elsewhere=elsewhere,
        target=target,
        scores=target == "labels",
        residual=residual or square,
        square=square,
        likelihood=likelihood,
        as_norm=as_norm,
        alone=alone,
        turned_round=turned_round,
        jointly=jointly,
        nonnegative_target=nonnegative_target,
        of_numbers=of_numbers,
        rises=rises,
        option_elsewhere=option_elsewhere,
    )


def _function(
    name: str,
    formula: str,
    *options: Parameter,
    concave: tuple[float, float] | None = None,
    instead: Callable[[float], str] | None = None,
    around: tuple[tuple[str, str], ...] = (),
    of_sums: tuple[tuple[str, str], ...] = (),
    rises: bool = False,
    elsewhere: tuple[str, ...] = (),
) -> LossWord:
    """The record of a function of one number with mathematics of its own."""
    return LossWord(
        name=name,
        formula=formula,
        parameters=(Parameter("z"), *options),
        elsewhere=elsewhere,
        target="none",
        concave=concave,
        instead=instead,
        around=around,
        of_sums=of_sums,
        rises=rises,
    )


def _even(p: float) -> str:
    """The loss that a power of an even exponent is, which is finite for all numbers."""
    return "" if p <= 0.0 or p % 2.0 else "squared" if p == 2.0 else "abs_power"


_Z = (Parameter("z"),)
_EPS = Parameter("eps", "nonnegative", 0.1)

LOSSES: dict[str, LossWord] = Words(
    (
        loss_word("squared", "(z - b)^2.", square=True, elsewhere=("least_squares", "mse")),
        loss_word("absolute", "|z - b|.", residual=True, as_norm="norm1", elsewhere=("mae",)),
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
            alone=0.0,
            option_elsewhere="delta",
        ),
        loss_word("epsilon_insensitive", "max(0, |z - b| - eps).", _EPS, residual=True),
        loss_word("squared_epsilon_insensitive", "max(0, |z - b| - eps)^2.", _EPS, residual=True),
        loss_word("logistic", "log(1 + exp(-y z)).", target="signs", likelihood=True, alone=-1.0, rises=True),
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
            elsewhere=("cross_entropy", "crossentropy"),
        ),
        loss_word(
            "multiclass_hinge",
            "max_l (1[l != y] + Z_l) - Z_y (Crammer-Singer).",
            target="labels",
        ),
        loss_word("weston_watkins", "sum over l != y of max(0, 1 + Z_l - Z_y).", target="labels"),
        loss_word(
            "gamma_loss",
            "z + b exp(-z), b >= 0: gamma or exponential b with mean exp(z).",
            nonnegative_target=True,
            likelihood=True,
            elsewhere=("gamma_deviance", "exponential_loss"),
        ),
        loss_word(
            "tweedie_loss",
            "b exp(-a z)/a + exp((1 - a) z)/(1 - a), a = power - 1, b >= 0: compound Poisson b with mean exp(z).",
            Parameter("power", "between_1_and_2", 1.5),
            nonnegative_target=True,
            elsewhere=("tweedie_deviance", "tweedie"),
        ),
        loss_word(
            "poisson_rate",
            "z - b + b log(b/z), z >= 0, b >= 0: counts b with mean z.",
            nonnegative_target=True,
            of_numbers=True,
            likelihood=True,
        ),
        loss_word(
            "kl_div",
            "z log(z/b) - z + b, z >= 0, b >= 0.",
            turned_round="poisson_rate",
            jointly="joint_kl_div",
            nonnegative_target=True,
            of_numbers=True,
            elsewhere=("kullback_leibler", "kl"),
        ),
        _function(
            "log",
            "log(z), concave, z > 0.",
            concave=(-inf, inf),
            of_sums=(("sum exp", "log_sum_exp({})"), ("1 + exp", "logistic(-({}))")),
            rises=True,
            elsewhere=("ln",),
        ),
        _function(
            "power",
            "z^p, z >= 0: convex for p >= 1 and for p < 0 (z > 0), concave for 0 < p < 1; |z|^p for even p.",
            Parameter("p", "exponent"),
            concave=(0.0, 1.0),
            instead=_even,
            around=(("abs", "abs_power"),),
            elsewhere=("pow",),
        ),
        _function("abs_power", "|z|^p, p >= 1.", Parameter("p", "at_least_1")),
    )
)

ENTRYWISE: dict[str, EntryWord] = {
    word.name: word
    for word in (
        EntryWord(name="abs", formula="|z|.", parameters=_Z, loss="absolute", target=0.0, elsewhere=("fabs",)),
        EntryWord(
            name="square",
            formula="z^2.",
            parameters=_Z,
            loss="squared",
            target=0.0,
            around=(("abs", "square"), ("pos", "square_pos")),
        ),
        EntryWord(
            name="square_pos",
            formula="max(0, z)^2.",
            parameters=_Z,
            loss="squared_hinge",
            target=1.0,
            factor=-1.0,
            shift=1.0,
            rises=True,
        ),
        EntryWord(
            name="pos",
            formula="max(0, z).",
            parameters=_Z,
            loss="hinge",
            target=1.0,
            factor=-1.0,
            shift=1.0,
            rises=True,
            elsewhere=("relu", "positive_part"),
        ),
        EntryWord(name="exp", formula="exp(z).", parameters=_Z, loss="poisson", target=0.0, rises=True),
        EntryWord(
            name="sqrt",
            formula="sqrt(z), concave, z >= 0.",
            parameters=_Z,
            loss="power",
            fixed=(("p", 0.5),),
            of_sums=(("sum square", "norm2({})"), ("sum_squares", "norm2({})"), ("square", "abs({})")),
            rises=True,
        ),
        EntryWord(
            name="inv_pos",
            formula="1/z, z > 0.",
            parameters=_Z,
            loss="power",
            fixed=(("p", -1.0),),
            elsewhere=("reciprocal",),
        ),
        EntryWord(
            name="rel_entr",
            formula="x log(x/b) or b log(b/x), for a constant b >= 0 on one side and x >= 0 on the other.",
            parameters=(Parameter("x", kind="weights"), Parameter("b", kind="weights")),
            loss="kl_div",
            residual=1.0,
            elsewhere=("relative_entropy",),
        ),
        EntryWord(
            name="log1p",
            formula="log(1 + z), concave, z > -1.",
            parameters=_Z,
            loss="log",
            shift=1.0,
            of_sums=(("exp", "logistic(-({}))"),),
            rises=True,
        ),
    )
}
"""The functions of one number that are spelled otherwise: as losses at a constant target."""

ABSOLUTE, QUANTILE, HUBER = "absolute", "quantile", "huber"
HINGE, SQUARED_HINGE = "hinge", "squared_hinge"
"""The losses that slack variables and norms of residuals stand for."""
