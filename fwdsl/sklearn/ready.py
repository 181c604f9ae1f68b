"""Makes a class of each recipe, and of each that can be cross-validated a second one that chooses its parameter by folds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from inspect import Parameter, Signature
from itertools import pairwise
from numbers import Real
from textwrap import indent
from typing import Any, ClassVar

import numpy as np

from ..atoms.vectors.sorted_l1 import rise
from ..problem import Problem
from .completion import Completion
from .cross_validated import CrossValidated
from .estimator import ProgramEstimator
from .kinds import Classification, Regression
from .outliers import Outliers
from .program import Names, compiled
from .recipes import CONSTRAINTS, OPEN_CONSTRAINTS, OPEN_PENALTIES, PENALTIES, RANGES, RECIPES, Recipe

COMMON = (
    ("tol", None, "the relative gap to certify; None for 1e-6"),
    ("method", None, "a method of the language, or names to choose from; None for the planner's choice"),
    ("time", None, "seconds of solving at most"),
    ("threads", 1, "threads of the kernels; 0 for one a core"),
    ("seed", None, "of methods that draw samples"),
)
"""The parameters of every class: options of `Problem.solve`."""

NEIGHBOURS = "w[1:]"
"""The part of a text that compares neighbours."""

KERNELS = {"rbf": "rbf(X, gamma=gamma)", "linear": "linear(X)"}
"""The feature maps of a kernel machine."""

INTERCEPT = ("fit_intercept", True, "False for no intercept")


SUPERVISED: dict[str, type] = {"regressor": Regression, "classifier": Classification}
KINDS: dict[str, type] = {**SUPERVISED, "completion": Completion, "outliers": Outliers}
"""The class of each kind of recipe."""


class ReadyEstimator(ProgramEstimator):
    """An estimator of the table of recipes, with an attribute for each parameter."""

    recipe: ClassVar[Recipe]

    def _program(self, weighted: bool) -> Problem:
        return compiled(self.program_text(weighted), f"<{type(self).__name__}>")

    def program_text(self, weighted: bool = False) -> str:
        """The program that is solved with the parameters as they are; `weighted` where samples have weights."""
        text = self.recipe.text
        for place, filling in self._fillings(weighted).items():
            text = text.replace("{" + place + "}", filling)
        return "\n".join(["fw 1", *_used(text.strip().splitlines())]) + "\n"

    def _names(self) -> Names:
        target = "y" if self.recipe.kind in SUPERVISED else None
        return Names(type(self).__name__, "X", target, "sample_weight", "f")

    def _settings(self) -> Mapping[str, object]:
        self._check_parameters()
        known: dict[str, Any] = {n: v for n, v in vars(self).items() if n in self._get_param_names() and v is not None}
        if "l1_ratio" in known:
            known["rest"] = 1.0 - known["l1_ratio"]
        model = self._program(False).model
        named = {p.name for p in model.params} | {d.name for d in model.data}
        return {**{n: v for n, v in known.items() if n in named}, **self._other_data(named)}

    def _other_data(self, named: set[str]) -> dict[str, object]:
        """Data that are not parameters as they are given."""
        made = {"groups": self._groups, "lambdas": self._lambdas}
        return {name: make() for name, make in made.items() if name in named}

    # --- the places of a text -----------------------------------------------------------------------------------------

    def _fillings(self, weighted: bool) -> dict[str, str]:
        recipe, chosen = self.recipe, vars(self)
        wide = "vector[k]" if "var W" in recipe.text else "real"
        intercept = chosen.get("fit_intercept", False)
        return {
            "features": self._features(),
            "target": recipe.target,
            "params": recipe.params if chosen.get("kernel") != "rbf" else ", gamma: positive = 1",
            "loss": recipe.loss,
            "penalty": self._penalty(),
            "limits": self._limits(),
            "weights": ", sample_weight: vector[n] in nonnegative" if weighted else "",
            "each": "sample_weight * " if weighted else "",
            "b": f", b: {wide}" if intercept else "",
            "plus_b": " + b" if intercept else "",
            "beside": self._beside(),
            "groups": self._groups_text(),
        }

    def _penalty(self) -> str:
        """The terms of the penalty that weigh something."""
        name = self._choice("penalty", self.recipe.penalty, OPEN_PENALTIES)
        terms = [] if name is None else PENALTIES[name].split(" + ")
        shares: dict[Any, str] = {0.0: "l1_ratio", 1.0: "rest"}
        nothing = shares.get(vars(self).get("l1_ratio"))
        left_out = [word for word in (nothing, NEIGHBOURS if self._is_alone else None) if word]
        return "".join(f" + {term}" for term in terms if not any(word in term for word in left_out))

    @property
    def _is_alone(self) -> bool:
        """True if there is one feature, which has no neighbour."""
        return vars(self).get("n_features_in_") == 1

    def _choice(self, parameter: str, fixed: str | None, open_: tuple[str, ...]) -> str | None:
        """The user's parameter where there is one, else the recipe's."""
        if parameter not in vars(self):
            return fixed
        chosen: str | None = getattr(self, parameter)
        if chosen is not None and chosen not in open_:
            told = ", ".join(repr(n) for n in open_)
            raise ValueError(f"{parameter}={chosen!r} is none of {told}, or None")
        return chosen

    def _features(self) -> str:
        kernel = vars(self).get("kernel", "")
        if kernel not in ("", *KERNELS):
            raise ValueError(f"kernel={kernel!r} is none of {', '.join(repr(n) for n in KERNELS)}")
        return KERNELS.get(kernel, "")

    def _limits(self) -> str:
        chosen = vars(self)
        name = self._choice("constraint", self.recipe.constraint, OPEN_CONSTRAINTS)
        if "increasing" in chosen:
            name = "increasing" if chosen["increasing"] else "decreasing"
        found = [] if name is None else [CONSTRAINTS[name]]
        found = [line for line in found if not (self._is_alone and NEIGHBOURS in line)]
        if "lower" in chosen:
            self._check_bounds()
            found += _boxes(chosen["lower"], chosen["upper"])
        for matrix, relation, right in (("A_ub", "<=", "b_ub"), ("A_eq", "==", "b_eq")):
            if chosen.get(matrix) is not None:
                found.append(f"{matrix} @ w {relation} {right}")
        return "subject to " + ", ".join(found) if found else ""

    def _beside(self) -> str:
        chosen = vars(self)
        found = []
        if "groups" in chosen and not _are_lists(chosen["groups"]):
            found.append("groups: index[p] of G")
        if "lambdas" in chosen:
            found.append("lambdas: vector[p] in nonnegative")
        if chosen.get("group_weights") is not None:
            count = len(chosen["groups"]) if _are_lists(chosen["groups"]) else "G"
            found.append(f"group_weights: vector[{count}] in nonnegative")
        for matrix, right, rows in (("A_ub", "b_ub", "m"), ("A_eq", "b_eq", "e")):
            if chosen.get(matrix) is not None:
                found += [f"{matrix}: matrix[{rows}, p]", f"{right}: vector[{rows}]"]
        return "".join(f", {item}" for item in found)

    def _groups_text(self) -> str:
        groups = vars(self).get("groups")
        listed = str([self._positions(g) for g in groups]) if groups is not None and _are_lists(groups) else "groups"
        return f"{listed}, weights=group_weights" if vars(self).get("group_weights") is not None else listed

    def _positions(self, group: Any) -> list[int]:
        """The positions of the features of a group, which may be given by the names of the columns of the fit. Before there is one a name stands at
        any position."""
        at = {str(name): i for i, name in enumerate(vars(self).get("feature_names_in_", ()))}
        return [at.setdefault(feature, len(at)) if isinstance(feature, str) else int(feature) for feature in group]

    def _check_named_groups(self) -> None:
        """Raise `ValueError` for groups of names that are none of the columns of the fit."""
        groups: Any = vars(self).get("groups")
        names = [str(name) for name in vars(self).get("feature_names_in_", ())]
        if _are_lists(groups):
            unknown = next((f for group in groups for f in group if isinstance(f, str) and f not in names), None)
            if unknown is not None:
                why = "is no column of X" if names else "is a name, and X has none: give positions"
                raise ValueError(f"groups has the feature {unknown!r}, which {why}")

    def _groups(self) -> Any:
        """The group of each feature as a number; names of groups are taken in sorted order."""
        groups = vars(self)["groups"]
        if groups is None:
            return np.arange(self.n_features_in_)
        named = np.asarray(groups)
        if named.dtype.kind in "biuf":
            return groups
        try:
            return np.unique(named, return_inverse=True)[1]
        except TypeError:
            raise ValueError(f"groups={groups!r} has no order: they are all numbers, or all names") from None

    def _lambdas(self) -> Any:
        """The weights of ranks as they are given, or the quantiles 1 - q i / (2 p) of the normal distribution (Bogdan et al. 2015)."""
        p = self.n_features_in_
        given = vars(self)["lambdas"]
        if given is None:
            from scipy.special import ndtri

            return -ndtri(self.q * np.arange(1, p + 1) / (2.0 * p))
        lambdas = np.asarray(given, dtype=np.float64)
        if lambdas.shape != (p,):
            raise ValueError(f"lambdas has the shape {lambdas.shape}: it has a number for each of the {p} features")
        if not (np.all(np.isfinite(lambdas)) and lambdas.min() >= 0.0 and lambdas.max() > 0.0):
            raise ValueError("lambdas are finite numbers of at least 0, and the first is positive")
        if (at := rise(lambdas)) is not None:
            raise ValueError(f"lambdas do not rise: entry {at} is larger than the one before")
        return lambdas

    def _check_parameters(self) -> None:
        """Raise `ValueError` for parameters that the program would tell of by other names, or not at all."""
        given = vars(self)
        for name, (low, high, words) in RANGES.items():
            value: Any = given.get(name)
            if isinstance(value, Real) and not low <= float(value) <= high:
                raise ValueError(f"{name}={value!r} is not {words}")
        for matrix, right in (("A_ub", "b_ub"), ("A_eq", "b_eq")):
            missing = [n for n in (matrix, right) if n in given and given[n] is None]
            if len(missing) == 1:
                raise ValueError(f"{matrix} and {right} are given together: {missing[0]} is None")
        self._check_named_groups()
        if given.get("group_weights") is not None:
            self._check_weights()

    def _check_weights(self) -> None:
        """Raise `ValueError` where groups are not weighed one by one. Groups that are numbers are counted from 0, and one may have no feature."""
        groups, weights = vars(self)["groups"], np.shape(vars(self)["group_weights"])
        if _are_lists(groups):
            count = len(groups)
        elif groups is None and "n_features_in_" not in vars(self):
            return
        else:
            numbers = np.asarray(self._groups())
            if numbers.size == 0 or np.any(numbers != np.floor(numbers)) or numbers.min() < 0:
                return  # told as what is wrong with `groups`
            count = int(numbers.max()) + 1
        if weights != (count,):
            raise ValueError(f"group_weights has the shape {weights}: it has a number for each of the {count} groups")

    def _check_bounds(self) -> None:
        """Raise `ValueError` for bounds that are not one for all features, or one for each."""
        p = vars(self).get("n_features_in_")
        for name in ("lower", "upper"):
            if vars(self)[name] is None:
                raise ValueError(f"{name} is None: write {'-' if name == 'lower' else ''}numpy.inf for no bound")
            try:
                found = np.asarray(vars(self)[name], dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"{name} has what is no number: {vars(self)[name]!r}") from None
            if np.isnan(found).any():
                at = "is" if found.ndim == 0 else f"has at entry {int(np.flatnonzero(np.isnan(found))[0])}"
                raise ValueError(f"{name} {at} nan: write {'-' if name == 'lower' else ''}numpy.inf for no bound")
            shape = found.shape
            if len(shape) > 1 or (shape and p is not None and shape != (p,)):
                each = "each feature" if p is None else f"each of the {p} features"
                raise ValueError(f"{name} has the shape {shape}: it is a number, or has one for {each}")

    def _is_restricted(self) -> bool:
        return self.recipe.poor

    def _swept(self, problem: Problem) -> str:
        return self.recipe.along


def _used(lines: list[str]) -> Iterator[str]:
    """The lines of a program without the declarations that nothing else names."""
    for line in lines:
        word, _, items = line.partition(" ")
        if word not in ("data", "param"):
            yield line
            continue
        others = "\n".join(other for other in lines if other is not line)
        kept = [i for i in re.split(r", (?=\w+: )", items) if re.search(rf"\b{i.partition(':')[0]}\b", others)]
        if kept:
            yield f"{word} {', '.join(kept)}"


def _are_lists(groups: Any) -> bool:
    """True for lists of the features of each group. Raises `ValueError` for what is no list at all."""
    if groups is None:
        return False
    if isinstance(groups, Mapping):
        raise ValueError("groups is a mapping, whose names no group needs: give groups=list(groups.values())")
    if isinstance(groups, str | set | frozenset) or not np.iterable(groups):
        raise ValueError(
            f"groups={groups!r} is no list: it has the group of each feature, as in [0, 0, 1], or the features of each group, as in "
            "[[0, 1], [2]]"
        )
    return np.ndim(next(iter(groups), 0)) == 1


def _boxes(lower: Any, upper: Any) -> list[str]:
    """The bounds of coefficients as constraints: one, or one for each run of entries that are bounded on the same sides."""
    if np.ndim(lower) == np.ndim(upper) == 0:
        return [f"w in box({_bound(lower)}, {_bound(upper)})"]
    low, high = np.broadcast_arrays(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))
    sides = np.isfinite(low) * 2 + np.isfinite(high)
    starts = [0, *(np.flatnonzero(np.diff(sides)) + 1).tolist(), low.size]
    runs = [slice(a, b) for a, b in pairwise(starts) if sides[a]]
    return [f"w[{run.start}:{run.stop}] in box({_bound(low[run])}, {_bound(high[run])})" for run in runs]


def _bound(value: Any) -> str:
    """A bound as it is written in a program: a number, a list of numbers, or no bound."""
    if np.ndim(value) == 0:
        return "inf" if value == np.inf else "-inf" if value == -np.inf else repr(float(value))
    return f"[{', '.join(_bound(v) for v in value)}]" if np.isfinite(value[0]) else _bound(value[0])


def make_classes() -> dict[str, type]:
    """The classes of all recipes by name."""
    found = {}
    for recipe in RECIPES:
        found[recipe.name] = _make(recipe, recipe.name, (KINDS[recipe.kind], ReadyEstimator), recipe.parameters)
        if recipe.scale:
            name, along = f"{recipe.name}CV", recipe.along
            chosen = (
                (f"{along}s", None, f"values of `{along}` to choose from; None for 20 that the data suggest"),
                (
                    "cv",
                    None,
                    "folds: their number, a splitter of scikit-learn, or a list of splits, as one by groups of samples gives them; None for 5",
                ),
                ("criterion", "loss", "what the samples left out are scored by: 'loss', or for classifiers 'error'"),
            )
            others = tuple(p for p in recipe.parameters if p[0] != along)
            bases = (CrossValidated, KINDS[recipe.kind], ReadyEstimator)
            found[name] = _make(recipe, name, bases, (*chosen, *others))
    return found


def _make(recipe: Recipe, name: str, bases: tuple[type, ...], own: tuple[tuple[str, Any, str], ...]) -> type:
    every = (*own, *((INTERCEPT,) if recipe.has_intercept else ()), *COMMON)
    chosen = " Its parameter is chosen by folds." if CrossValidated in bases else ""
    listed = "\n".join(f"{n}: {meaning} (default {default!r})" for n, default, meaning in every)
    members = {
        "__init__": _constructor(every),
        "__doc__": f"{recipe.doc}{chosen}\n\n{listed}\n\nThe program, whose places stand for what is given:\n\n"
        + indent(recipe.text.strip("\n"), "    "),
        "__module__": __package__,
        "recipe": recipe,
    }
    return type(name, bases, members)


def _constructor(parameters: tuple[tuple[str, Any, str], ...]) -> Any:
    """A constructor with these parameters, by name alone, which keeps them as attributes."""
    own = [Parameter(n, Parameter.KEYWORD_ONLY, default=default) for n, default, _ in parameters]
    signature = Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *own])

    def __init__(self: Any, **given: Any) -> None:
        if unknown := [n for n in given if n not in signature.parameters or n == "self"]:
            close = get_close_matches(unknown[0], [p.name for p in own], n=1)
            known = f"did you mean '{close[0]}'?" if close else f"they are {', '.join(p.name for p in own)}"
            raise TypeError(f"{type(self).__name__} has no parameter '{unknown[0]}': {known}")
        bound = signature.bind(self, **given)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__
