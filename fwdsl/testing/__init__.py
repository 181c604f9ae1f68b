"""The conformance tests of losses and sets, yours and ours. A failure is an `AssertionError` that names the property and the numbers.

from fwdsl.testing import check_loss, check_set

def test_my_loss():
    check_loss(MyLoss)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..atoms.loss import Loss
from ..atoms.vectors.common import ConvexSet
from ..extend import Parameter, SetWord, VectorSet, register, unregister
from ..words import SETS
from .compare import close, fail, require
from .functions import FUNCTION_CHECKS, FunctionCase, Tolerances
from .losses import LOSS_CHECKS, cases_of
from .sets import SET_CHECKS, is_permutable, is_polyhedral

__all__ = ["check_loss", "check_set", "registered"]

SIZE = 5


def check_loss(cls: type[Loss], *, targets: ArrayLike | None = None, slack: float = 1.0) -> None:
    """Check a loss, with the defaults of its options and with each moved.

    `targets` are numbers that the loss takes as b, from which samples are drawn; without them signs where the record says so,
    real numbers where the loss is one of z - b, counts else. `slack` multiplies the tolerances, which are those of formulas
    that are exact to rounding. Kernels are compared with the references. Of the references are checked: Fenchel's equality at
    the prox, tangents, the conjugate against a numeric supremum and outside its domain, the infimum, the curvature against
    differences, `smoothness`, `strong_convexity` and the pieces against samples, `dual_kink` against the conjugate, `conic` and
    (where cvxpy is installed) `cvxpy` against the value. No function may write into its arguments.
    """
    given = None if targets is None else np.asarray(targets, dtype=np.float64)
    for case in cases_of(cls, given, slack):
        for check in LOSS_CHECKS:
            check(case)


def check_set(cls: type[ConvexSet], *arguments: Mapping[str, object], size: int = SIZE, slack: float = 1.0) -> None:
    """Check a set of vectors, made as `cls(size, **a)` for each of the `arguments`; without them with some that fit the record.

    `slack` multiplies the tolerances. The kernel is compared with the reference. Of the references are checked: projections
    (Fenchel's equality, Moreau's identity), the support function and its domain, linear minimisation (also by a linear program
    and by projections), the size of violations, faces, the radius, `conic` and (where cvxpy is installed) `cvxpy`, and the
    facts of class and record. No method may write into its argument.
    """
    word = cls.word if issubclass(cls, VectorSet) else SETS[str(cls.pair[1])]
    for given in arguments or (_drawn(word, size),):
        try:
            on = cls(size, **given)  # type: ignore[call-arg]
        except ValueError as error:
            hint = f"give its arguments: check_set({cls.__name__}, {{...}})"
            fail(f"{cls.__name__} does not take {dict(given)}", f"{error}; {hint}")
        _check(on, word, size, slack)
        if word.scaled:
            _check_radius(cls, on, given, size)


def _check(on: ConvexSet, word: SetWord, size: int, slack: float) -> None:
    defaults = Tolerances(2e-14, 2e-14)
    scaled = {name: slack * getattr(defaults, name) for name in Tolerances.__dataclass_fields__}
    case = FunctionCase(on, (size,), tolerances=Tolerances(**scaled))
    require(word.name in on.describe(), f"`describe` names the set `{word.name}`, not {on.describe()}")
    require(on.polyhedral == word.polyhedral, "class and record agree on `polyhedral`")
    bounded = bool(np.isfinite(on.radius()))
    # of a box the bounds decide
    require(
        bounded == word.compact or word.bounds,
        f"`radius` = {on.radius():g}, and the record says compact = {word.compact}",
    )
    for check in (*FUNCTION_CHECKS, *SET_CHECKS):
        check(case)
    if word.permutable:
        is_permutable(case)
    if word.polyhedral:
        is_polyhedral(case)


def _check_radius(cls: type[ConvexSet], on: ConvexSet, given: Mapping[str, Any], size: int) -> None:
    """r times the set of radius 1."""
    twice = cls(size, **{**given, "r": 2.0 * given["r"]})  # type: ignore[call-arg]
    for v in FunctionCase(on, (size,)).points(13):
        what = "the set of radius 2 r is twice that of radius r, as a parameter named `r` says"
        close(twice.conjugate(v), 2.0 * on.conjugate(v), what, rtol=1e-9, atol=1e-12)


def _drawn(word: SetWord, size: int) -> dict[str, object]:
    """Arguments that fit the domains and shapes of a record."""
    rng = np.random.default_rng(20)
    lower = next((p for p in word.parameters if p.shape == "bound"), None)
    return {p.name: (-1.0 if p is lower else 1.0) * _argument(p, size, rng) for p in word.parameters}


def _argument(p: Parameter, size: int, rng: np.random.Generator) -> Any:
    if p.domain != "value":
        return {"positive": 1.5, "nonnegative": 0.5, "unit": 0.4, "count": 2}.get(p.domain, -0.5)
    if p.shape == "columns":
        return rng.normal(size=(size + 2, size))
    return 1.0 if p.shape == "number" else rng.uniform(0.5, 2.0, size)


@contextmanager
def registered(*classes: type[Loss] | type[VectorSet]) -> Iterator[None]:
    """A context in which the classes are words of the language: for tests, which should leave none behind."""
    made: list[str] = []
    try:
        for cls in classes:
            register(cls)
            made.append(cls.word.name)
        yield
    finally:
        for name in made:
            unregister(name)
