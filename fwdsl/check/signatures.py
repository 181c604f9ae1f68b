"""The vocabulary of the language: types, losses, convex functions, functions, feature maps, sets, sources, solve options.

Adding a word is adding a line here (and its mathematics elsewhere).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Domain = Literal[
    "real",
    "positive",
    "nonnegative",
    "unit",  # strictly between 0 and 1
    "count",  # an integer of at least 1
    "seed",  # an integer of at least 0
    "base",  # 0 or 1
    "boolean",
    "string",
    "column",  # a name or a position
    "columns",  # a list of names or positions
    "path",
    "value",  # an expression (checked by whoever asks for it)
    "set",
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument, by position or by name. Without a default it is required; `optional` ones may be left out."""

    name: str
    domain: Domain = "value"
    default: float | bool | None = None
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is None and not self.optional


def _values(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name) for name in names)


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss: what its target is, its options, and whether it takes a row of scores for each sample."""

    target: Literal["real", "signs", "labels"]
    options: tuple[Parameter, ...] = ()
    scores: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Prediction, target, options."""
        return (*_values("prediction", "target"), *self.options)


LOSSES: dict[str, Loss] = {
    "squared": Loss("real"),
    "absolute": Loss("real"),
    "quantile": Loss("real", (Parameter("tau", "unit", 0.5),)),
    "huber": Loss("real", (Parameter("delta", "positive", 1.0),)),
    "epsilon_insensitive": Loss("real", (Parameter("eps", "nonnegative", 0.1),)),
    "squared_epsilon_insensitive": Loss("real", (Parameter("eps", "nonnegative", 0.1),)),
    "logistic": Loss("signs"),
    "hinge": Loss("signs"),
    "squared_hinge": Loss("signs"),
    "smooth_hinge": Loss("signs"),
    "poisson": Loss("real"),
    "softmax": Loss("labels", scores=True),
    "multiclass_hinge": Loss("labels", scores=True),
    "weston_watkins": Loss("labels", scores=True),
}

Shape = Literal["scalar", "vector", "matrix"]


@dataclass(frozen=True, slots=True)
class Convex:
    """A convex function that is not a loss: what it is of, the ball of its norm form, and its further arguments.

    `what` completes "a ... is convex".
    """

    what: str
    of: tuple[Shape, ...]
    ball: str = ""
    options: tuple[Parameter, ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The argument, then the others."""
        return (Parameter("x"), *self.options)


_ANY: tuple[Shape, ...] = ("scalar", "vector", "matrix")
_GROUPS = (Parameter("groups"), Parameter("weights", optional=True))

CONVEX: dict[str, Convex] = {
    "norm1": Convex("norm", _ANY, "l1_ball"),
    "norm_inf": Convex("norm", _ANY, "linf_ball"),
    "norm2": Convex("norm", ("scalar", "vector"), "l2_ball"),
    "sum_squares": Convex("sum of squares", _ANY, "l2_ball"),
    "norm_fro": Convex("norm", ("matrix",), "fro_ball"),
    "norm_nuc": Convex("norm", ("matrix",), "nuclear_ball"),
    "norm_spec": Convex("norm", ("matrix",), "spectral_ball"),
    "norm21": Convex("norm", ("matrix",), "l21_ball"),
    "norm1_inf": Convex("norm", ("matrix",), "l1_inf_ball"),
    "group_norm": Convex("norm", ("vector",), "group_ball", _GROUPS),
    "entropy": Convex("negative entropy", ("vector", "matrix")),
    "quad_form": Convex("quadratic form with a positive semidefinite matrix", ("vector",), options=_values("P")),
}

FUNCTIONS: dict[str, tuple[Parameter, ...]] = {
    "inner": _values("D", "X"),
    "quad": _values("U", "X"),
    "eye": _values("d"),
    "ones": (Parameter("n"), Parameter("k", optional=True)),
    "zeros": (Parameter("n"), Parameter("k", optional=True)),
    "diag": _values("v"),
    "trace": _values("X"),
    "sum": _values("x"),
    "mean": _values("x"),
    "dot": _values("a", "b"),
    "dim": _values("Phi"),
}


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """A feature map over a data matrix. Of an implicit one only the Gram matrix is ever used.

    `columns` says how many it has: as many as the data ("same"), one more ("more"), its option `features`, or a number of its own.
    """

    options: tuple[Parameter, ...] = ()
    implicit: bool = False
    columns: Literal["same", "more", "features", "own"] = "own"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The data matrix, then the options."""
        return (Parameter("X"), *self.options)


_GAMMA = Parameter("gamma", "positive")
_SEED = Parameter("seed", "seed", 0.0)

FEATURE_MAPS: dict[str, FeatureMap] = {
    "rbf": FeatureMap((_GAMMA,), implicit=True),
    "polynomial": FeatureMap((Parameter("degree", "count"), Parameter("coef0", "nonnegative", 0.0)), implicit=True),
    "linear": FeatureMap(implicit=True),
    "fourier": FeatureMap((Parameter("features", "count"), _GAMMA, _SEED), columns="features"),
    "random_binning": FeatureMap((Parameter("grids", "count"), _GAMMA, _SEED)),
    "standardize": FeatureMap((Parameter("center", "boolean", True),), columns="same"),
    "normalize": FeatureMap(columns="same"),
    "intercept": FeatureMap(columns="more"),
}


@dataclass(frozen=True, slots=True)
class SetSignature:
    """A convex set: its parameters and what it is of.

    "vector": vectors only; "entrywise": vectors and, entry by entry, matrices; "matrix"; "square"; "symmetric". Entrywise sets and those
    marked `scalar` hold for a number too. `inner` sets are made of a vector set.
    """

    of: Literal["vector", "entrywise", "matrix", "square", "symmetric"]
    parameters: tuple[Parameter, ...] = ()
    scalar: bool = False
    inner: bool = False
    norm: str = ""


_R = (Parameter("r", "positive"),)
_BALL_GROUPS = (*_R, *_GROUPS)
_SET = (Parameter("set", "set"),)

SETS: dict[str, SetSignature] = {
    "l1_ball": SetSignature("entrywise", _R, norm="norm1"),
    "l2_ball": SetSignature("vector", _R, norm="norm2"),
    "linf_ball": SetSignature("entrywise", _R, norm="norm_inf"),
    "box": SetSignature("entrywise", _values("lo", "hi"), scalar=True),
    "nonnegative": SetSignature("entrywise", scalar=True),
    "simplex": SetSignature("vector", _R),
    "solid_simplex": SetSignature("vector", _R),
    "ksupport_ball": SetSignature("vector", (Parameter("k", "count"), *_R)),
    "group_ball": SetSignature("vector", _BALL_GROUPS, norm="group_norm"),
    "affine": SetSignature("vector", _values("A", "b")),
    "halfspace": SetSignature("vector", _values("a", "b")),
    "polytope": SetSignature("vector", _values("V")),
    "permutahedron": SetSignature("vector", _values("c")),
    "fro_ball": SetSignature("matrix", _R, norm="norm_fro"),
    "nuclear_ball": SetSignature("matrix", _R, norm="norm_nuc"),
    "spectral_ball": SetSignature("matrix", _R, norm="norm_spec"),
    "l21_ball": SetSignature("matrix", _R, norm="norm21"),
    "l1_inf_ball": SetSignature("matrix", _R, norm="norm1_inf"),
    "rows": SetSignature("matrix", _SET, inner=True),
    "columns": SetSignature("matrix", _SET, inner=True),
    "vec": SetSignature("matrix", _SET, inner=True),
    "simplex_product": SetSignature("matrix"),
    "birkhoff": SetSignature("square"),
    "psd": SetSignature("symmetric"),
    "spectrahedron": SetSignature("symmetric", _R),
    "solid_spectrahedron": SetSignature("symmetric", _R),
}


@dataclass(frozen=True, slots=True)
class SourceSignature:
    """A data source: its arguments, and how many names it may serve.

    "table": a matrix and a target, or either; "one": one name; "many": any number, by key; "entries": one `entries`.
    """

    parameters: tuple[Parameter, ...]
    serves: Literal["table", "one", "many", "entries"]


_PATH = Parameter("path", "path")
_TARGET = Parameter("target", "column", optional=True)
_COLUMNS = Parameter("columns", "columns", optional=True)
_BASE = Parameter("base", "base", optional=True)

SOURCES: dict[str, SourceSignature] = {
    "libsvm": SourceSignature(
        (
            _PATH,
            Parameter("features", "count", optional=True),
            Parameter("multilabel", "boolean", optional=True),
            _BASE,
        ),
        "table",
    ),
    "csv": SourceSignature((_PATH, _TARGET, _COLUMNS, Parameter("header", "boolean", optional=True)), "table"),
    "npy": SourceSignature((_PATH,), "one"),
    "npz": SourceSignature((_PATH, Parameter("key", "string", optional=True)), "many"),
    "mtx": SourceSignature((_PATH,), "one"),
    "parquet": SourceSignature((_PATH, _TARGET, _COLUMNS), "table"),
    "coo": SourceSignature((_PATH, _BASE), "entries"),
}

SCALAR_TYPES = ("real", "positive", "nonnegative", "count")


@dataclass(frozen=True, slots=True)
class TypeSignature:
    """A type: how many dimensions it takes (None: any number from two up), what may follow `of`, who may declare it."""

    dims: tuple[int, ...] | None
    of: Literal["", "signs", "dimension", "type"] = ""
    of_required: bool = False
    data: bool = True
    var: bool = False
    example: str = ""


TYPES: dict[str, TypeSignature] = {
    "real": TypeSignature((0,), var=True, example="real"),
    "positive": TypeSignature((0,), example="positive"),
    "nonnegative": TypeSignature((0,), var=True, example="nonnegative"),
    "count": TypeSignature((0,), example="count"),
    "vector": TypeSignature((1,), var=True, example="vector[n]"),
    "matrix": TypeSignature((2,), var=True, example="matrix[n, d]"),
    "tensor": TypeSignature(None, example="tensor[n, d, e]"),
    "signs": TypeSignature((1, 2), example="signs[n]"),
    "labels": TypeSignature((1, 2), example="labels[n, k]"),
    "index": TypeSignature((1,), "dimension", of_required=True, example="index[n] of T"),
    "entries": TypeSignature((2,), "signs", example="entries[n, p]"),
    "symmetric": TypeSignature((1,), var=True, example="symmetric[d]"),
    "psd": TypeSignature((1,), var=True, example="psd[d]"),
    "family": TypeSignature((1,), "type", of_required=True, data=False, var=True, example="family[T] of psd[d]"),
}

SOLVE_OPTIONS: dict[str, str] = {
    "tol": "positive",
    "gap": "gap",
    "method": "method",
    "max_iter": "seed",
    "time": "nonnegative",
    "seed": "seed",
    "threads": "seed",
}

FUNCTION_NAMES = frozenset(LOSSES) | frozenset(CONVEX) | frozenset(FUNCTIONS) | frozenset(FEATURE_MAPS)
RESERVED = FUNCTION_NAMES | frozenset(SETS) | frozenset(TYPES)


def kind_of_word(name: str) -> str:
    """What a word of the language is, for a sentence: "a loss", "a set", ...; empty for any other word."""
    if name in LOSSES:
        return "a loss"
    if name in FUNCTION_NAMES:
        return "a function"
    if name in SETS:
        return "a set"
    if name in TYPES:
        return "a type"
    return "a data source" if name in SOURCES else ""
