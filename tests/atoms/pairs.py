"""Every norm, set and pair of both registries, with arguments and points to try them at, for the tests of this folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fwdsl import words
from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.vectors import JOINTS, NORMS, SETS, ConvexSet, Ridged, build
from fwdsl.testing.functions import FunctionCase, Tolerances

#: The norms and sets of matrices, and the sets of symmetric ones.
MATRIX_NORMS = [
    name
    for name, word in words.CONVEX.items()
    if "matrix" in word.of and not word.negative_of and name != "sum_squares"
]
MATRIX_SETS = [name for name, word in words.SETS.items() if word.of != "vector"]
OF_EIGENVALUES = [name for name, word in words.CONVEX.items() if word.of_eigenvalues and not word.negative_of]
SYMMETRIC = [name for name, word in words.SETS.items() if word.of == "symmetric"]

GROUPS = {"groups": [[0, 3], [4, 2], [1]], "weights": [1.0, 2.0, 0.5]}
LAMBDAS = {"lambdas": np.array([2.0, 1.5, 1.5, 0.25, 0.0])}
VERTICES = np.round(2.0 * np.random.default_rng(20).normal(size=(9, 5)), 1)

#: Ways to draw the arguments of each set of vectors; the first is the plainest.
OF_VECTORS: dict[str, list[dict[str, Any]]] = {
    "nonnegative": [{}],
    "box": [
        {"lo": -0.5, "hi": 2.0},
        {"lo": np.array([-np.inf, -1.0, 0.0, -2.0, 0.5]), "hi": np.array([1.0, np.inf, np.inf, -2.0, 0.75])},
        {"lo": -np.inf, "hi": np.inf},
        {"lo": 1.0, "hi": 1.0},
    ],
    **{
        ball: [{"r": 1.5}, {"r": 0.0}, {"r": 20.0}, {"r": 1e-6}]
        for ball in ("l1_ball", "l2_ball", "linf_ball", "simplex", "solid_simplex")
    },
    "ksupport_ball": [{"k": k, "r": r} for k, r in ((2, 1.5), (1, 1.5), (3, 20.0), (5, 1.5), (4, 1e-6), (2, 0.0))],
    "group_ball": [
        {"r": 1.5, **GROUPS},
        {"r": 4.0, "groups": np.array([0, 1, 0, 2, 1])},
        {"r": 0.0, "groups": [[0, 1, 2, 3, 4]]},
    ],
    "sorted_l1_ball": [
        *({"r": r, "lambdas": LAMBDAS["lambdas"]} for r in (1.5, 0.0, 20.0, 1e-6)),
        {"r": 1.5, "lambdas": np.ones(5)},
    ],
    "lp_ball": [
        {"p": p, "r": r}
        for p, r in ((1.5, 1.5), (3.0, 1.5), (1.0, 1.5), (2.0, 1.5), (1.2, 20.0), (7.0, 1e-6), (1.05, 0.7), (4.0, 0.0))
    ],
    "halfspace": [
        {"a": np.array([1.0, -2.0, 0.0, 0.5, 3.0]), "b": 1.0},
        {"a": np.array([1.0, -2.0, 0.0, 0.5, 3.0]), "b": -1.0},
        {"a": 1.0, "b": 0.0},
        {"a": 0.0, "b": 1.0},
    ],
    "affine": [
        {"A": np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, -2.0, 0.0, 0.5, 3.0]]), "b": np.array([2.0, 1.0])},
        {"A": csr_array(np.array([[1.0, 0.0, 2.0, 0.0, 0.0], [2.0, 0.0, 4.0, 0.0, 0.0]])), "b": np.array([1.0, 2.0])},
        {"A": np.eye(5) + 0.1, "b": 1.0},
        {"A": np.zeros((1, 5)), "b": 0.0},
    ],
    "polytope": [{"V": VERTICES}, {"V": VERTICES[:1]}, {"V": csr_array(np.vstack([np.eye(5), np.zeros((1, 5))]))}],
    "permutahedron": [
        {"c": np.array([0.5, -1.0, 3.0, 0.5, 2.0])},
        {"c": np.array([1.0, -2.0, 1.0, 0.0, 0.0])},
        {"c": 2.0},
    ],
}
#: The same for sets of matrices.
OF_MATRICES: dict[str, list[dict[str, Any]]] = {
    **{name: [{"r": 1.5}, {"r": 0.0}, {"r": 20.0}] for name in MATRIX_SETS if name.endswith(("ball", "spectrahedron"))},
    **{name: [{}] for name in ("nonnegative", "psd", "simplex_product", "birkhoff")},
    "box": [{"lo": -0.5, "hi": 2.0}],
    "vec": [{"set": ("simplex", {"r": 2.0})}, {"set": ("l2_ball", {"r": 2.0})}],
    **{
        name: [
            {"set": ("simplex", {"r": 1.0})},
            {"set": ("solid_simplex", {"r": 1.5})},
            {"set": ("l1_ball", {"r": 1.5})},
            {"set": ("l2_ball", {"r": 0.5})},
            {"set": ("linf_ball", {"r": 0.5})},
            {"set": ("box", {"lo": -1.0, "hi": np.array([0.0, 0.5, 1.0])})},
            {"set": ("nonnegative", {})},
        ]
        for name in ("rows", "columns")
    },
}
#: Arguments of the sets that may be of no entries at all; of those with a radius it is 0.
OF_NOTHING: dict[str, dict[str, Any]] = {
    **{name: {"r": 0.0} for name, word in words.SETS.items() if [p.name for p in word.parameters] == ["r"]},
    **{name: {} for name in ("nonnegative", "psd", "simplex_product")},
    "box": {"lo": 0.0, "hi": 1.0},
    "ksupport_ball": {"k": 2, "r": 0.0},
    "group_ball": {"r": 0.0, "groups": []},
    "sorted_l1_ball": {"r": 0.0, "lambdas": np.zeros(0)},
    "lp_ball": {"p": 3.0, "r": 0.0},
    "halfspace": {"a": 1.0, "b": 0.0},
    "affine": {"A": np.zeros((0, 0)), "b": 0.0},
    "polytope": {"V": np.zeros((1, 0))},
    "permutahedron": {"c": 0.0},
    **{name: {"set": ("simplex", {"r": 0.0})} for name in ("rows", "columns", "vec")},
}
SIZE = 5
#: The same of a function of pairs.
OF_PAIRS = 6


@dataclass(frozen=True)
class Case:
    """A norm, a set, or a norm on a set."""

    norm: str | None
    on: str | None
    matrix: bool = False

    def __str__(self) -> str:
        return f"{'matrix' if self.matrix else 'vector'} {self.norm} on {self.on}"

    @property
    def pair(self) -> tuple[str | None, str | None]:
        """The names, as `build` would find them."""
        return self.norm, self.on

    @property
    def arguments(self) -> list[dict[str, Any]]:
        """The ways to draw the set's arguments."""
        return (OF_MATRICES if self.matrix else OF_VECTORS)[self.on] if self.on else [{}]

    @property
    def shape(self) -> tuple[int, ...]:
        """Matrices have rows shorter than columns, but for square ones and for bounds of lines, which are vectors of three."""
        if not self.matrix:
            return (OF_PAIRS if self.norm == "joint_kl_div" else SIZE,)
        if self.norm in OF_EIGENVALUES:
            return (3, 3)
        return (3, 3) if self.on in (*SYMMETRIC, "birkhoff") else ((4, 3) if self.on != "columns" else (3, 4))

    @property
    def symmetric(self) -> bool:
        """True if it is a function of symmetric matrices."""
        return self.matrix and (self.on in SYMMETRIC or self.norm in OF_EIGENVALUES)

    def build(self, c: float, arguments: dict[str, Any]) -> VectorFunction | None:
        """c times the norm on the set with these arguments; None where there is no joint prox."""
        on = (self.on, arguments) if self.on else None
        if self.matrix:
            return build_matrix(norm_of(self.norm, c), on, self.shape)
        return build(norm_of(self.norm, c), on, self.shape[0])


#: The options of the functions that have some.
OPTIONS: dict[str, dict[str, Any]] = {
    "group_norm": GROUPS,
    "sorted_l1": LAMBDAS,
    "sum_largest": {"k": 2},
    "norm_p": {"p": 1.5},
    "sum_largest_eigs": {"k": 2},
}


def norm_of(name: str | None, c: float) -> Any:
    """The norm as `build` takes it."""
    return None if name is None else ((name, c, OPTIONS[name]) if name in OPTIONS else (name, c))


def is_joint(norm: str | None) -> bool:
    """True if a function is of a number and a vector together, and never of no entries."""
    return norm is not None and bool(words.CONVEX[norm].joint)


#: Functions of a vector and a matrix together are of other sizes, and have tests of their own.
VECTORS = [
    *(Case(norm, None) for norm in NORMS if not words.CONVEX[norm].of_joint_matrix),
    *(Case(None, name) for name in SETS),
    *(Case(*pair) for pair in JOINTS),
]
MATRICES = [
    case
    for norm, name in itertools.product([None, *MATRIX_NORMS], [None, *MATRIX_SETS])
    if (norm or name) and (case := Case(norm, name, matrix=True)).build(1.0, case.arguments[0]) is not None
]
PROXIMABLE = [case for case in MATRICES if case.on != "birkhoff"]
SETS_OF_VECTORS = [case for case in VECTORS if case.norm is None]
SETS_OF_MATRICES = [case for case in MATRICES if case.norm is None]

each = pytest.mark.parametrize("case", [*VECTORS, *PROXIMABLE], ids=str)
each_of_nothing = pytest.mark.parametrize(
    "case",
    [
        case
        for case in (*VECTORS, *PROXIMABLE)
        if (case.on is None and not is_joint(case.norm)) or case.on in OF_NOTHING
    ],
    ids=str,
)
each_vector = pytest.mark.parametrize("case", VECTORS, ids=str)
each_matrix = pytest.mark.parametrize("case", PROXIMABLE, ids=str)
each_set = pytest.mark.parametrize("case", [*SETS_OF_VECTORS, *SETS_OF_MATRICES], ids=str)
each_vector_set = pytest.mark.parametrize("case", SETS_OF_VECTORS, ids=str)
each_matrix_set = pytest.mark.parametrize("case", SETS_OF_MATRICES, ids=str)


def functions(case: Case, ridge: bool = True) -> Iterator[VectorFunction]:
    """The function of this case with each way to draw arguments, plain and with a ridge."""
    for arguments in case.arguments:
        for c in (0.7, 4.0) if case.norm else (0.0,):
            g = case.build(c, arguments)
            if g is None:
                # the group norm on the ball of other groups, or a norm on lines in a set that it has no joint prox with
                assert case.pair == ("group_norm", "group_ball") or case.on in ("rows", "columns", "vec")
                continue
            yield g
            if ridge:
                yield Ridged(g, 0.3)


def checked(case: Case, ridge: bool = True) -> Iterator[FunctionCase]:
    """The functions of this case, as the public checks take them."""
    for g in functions(case, ridge):
        yield FunctionCase(g, case.shape, case.symmetric, tolerances(case))


def sets(case: Case) -> Iterator[ConvexSet]:
    """The set of this case with each way to draw arguments."""
    for g in functions(case, ridge=False):
        assert isinstance(g, ConvexSet)
        yield g


def points(case: Case, seed: int) -> Iterator[Array]:
    """Vectors and flat matrices of all sizes, with ties, zeros and entries that are equal; some matrices are of low rank."""
    return FunctionCase(next(functions(case)), case.shape, case.symmetric).points(seed)


def tolerances(case: Case) -> Tolerances:
    """Products with a matrix, and spectra, round more."""
    if case.matrix:
        return Tolerances(inside=5e-15, near=1e-11, equal=2e-11, nearest=1e-11)
    inside = 2e-14 if case.on in ("affine", "polytope") else 1e-15
    return Tolerances(inside, inside)


def set_within(g: VectorFunction) -> Any:
    """The set of a function that may be a norm on it, with a ridge."""
    g = g.inner if isinstance(g, Ridged) else g
    return getattr(g, "on", g)
