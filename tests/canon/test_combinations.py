"""Every function and every set on every kind of variable, bare and under maps: what the checker accepts has a canonical form and a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.words import CONVEX, SETS

RNG = np.random.default_rng(15)
SHAPES = {
    "vector[4]": ("x", "2 * x", "x - 1", "x[1:]", "M @ x", "x[0:3] - x[1:4]"),
    "matrix[4, 3]": ("x", "-x", "M @ x", "x.T", "x[0]", "x[:, 1]", "inner(x, ones(3))"),
    "symmetric[4]": ("x", "x - eye(4)", "M @ x", "diag(x)", "x[1:3]", "quad(M, x)", "inner(x, ones(4))"),
    "psd[4]": ("x", "2 * x", "inner(T, x)"),
    "family[2] of vector[4]": ("x", "0.5 * x", "x[0]", "x - 1", "inner(x, ones(4))"),
    "family[2] of matrix[4, 3]": ("x", "x[1]", "-x"),
    "family[2] of psd[4]": ("x", "x[0] - x[1]", "inner(x, M)"),
}
DATA = {
    "M": ("matrix[4, 4]", RNG.standard_normal((4, 4))),
    "T": ("tensor[4, 4, 4]", RNG.standard_normal((4, 4, 4))),
    **{f"V{k}": (f"matrix[v, {k}]", RNG.standard_normal((3, k))) for k in (3, 4, 12, 16)},
}
SIZES = (3, 4, 12, 16)


def groups(k: int, overlap: bool = False) -> str:
    half = list(range(k // 2 + overlap))
    return str([half, list(range(k // 2, k))])


def of_vectors(k: int) -> Iterator[str]:
    """Sets of vectors of k entries."""
    special = {
        "box": ("-1, 2", "-inf, 1"),
        "nonnegative": ("",),
        "ksupport_ball": ("2, 1",),
        "affine": (f"V{k}, 0",),
        "halfspace": (f"ones({k}), 1",),
        "polytope": (f"V{k}",),
        "permutahedron": (f"ones({k})",),
        "group_ball": tuple(
            f"1, {groups(k, overlap)}{weights}" for overlap in (False, True) for weights in ("", ", weights=[0, 1]")
        ),
    }
    for name, signature in SETS.items():
        if signature.of in ("vector", "entrywise"):
            yield from (f"{name}({a})" if a else name for a in special.get(name, ("1",)))


def every_set() -> Iterator[str]:
    for k in SIZES:
        yield from of_vectors(k)
        yield from (f"{outer}({inner})" for outer in ("rows", "columns", "vec") for inner in of_vectors(k))
    for name, signature in SETS.items():
        if signature.of not in ("vector", "entrywise") and not signature.inner:
            yield f"{name}(1)" if signature.parameters else name


def every_function() -> Iterator[str]:
    for name in CONVEX:
        if name == "group_norm":
            yield from (f"{name}({{}}, {groups(4, o)}{w})" for o in (False, True) for w in ("", ", weights=[0, 1]"))
        elif name == "quad_form":
            yield f"{name}({{}}, eye(4))"
        elif name == "joint_kl_div":
            continue  # of pairs: written as `kl_div(x, y)`
        elif name == "quad_over_lin":
            yield f"{name}({{}}, 2)"
        else:
            yield f"{name}({{}})"


def canonical(text: str) -> Any:
    """The canonical form with its plan; None where the checker or the binding refuses the program."""
    used = {n: v for n, v in DATA.items() if n in "".join(c if c.isalnum() else " " for c in text).split()}
    head = "data " + ", ".join(f"{n}: {t}" for n, (t, _) in used.items()) + "\n" if used else ""
    try:
        bound = fw.parse(head + text).bind(**{n: v for n, (_, v) in used.items()})
        assert bound.plan().method in (
            "apg",
            "newton",
            "pdhg",
            "lines",
            "interior",
            "coordinate_descent",
            "frank_wolfe",
            "dual_gradient",
            "highs",
        )
    except fw.FwError as error:
        assert error.code < "FW5", error
        return None
    return bound.canonical


@pytest.mark.parametrize("kind", SHAPES)
def test_every_function_has_a_place(kind: str) -> None:
    found = 0
    for argument in SHAPES[kind]:
        for function in every_function():
            form = canonical(f"var x: {kind}\nminimize sum_squares(x) + 0.5 * {function.format(argument)}\n")
            found += form is not None
    assert found >= 10


@pytest.mark.parametrize("kind", SHAPES)
def test_every_set_has_a_place(kind: str) -> None:
    found = 0
    sets = list(dict.fromkeys(every_set()))
    for i, argument in enumerate(SHAPES[kind]):
        # all of the variable itself, and of each expression every sixth, others each time
        for set_ in sets if argument == "x" else sets[i % 6 :: 6]:
            form = canonical(f"var x: {kind}\nminimize sum_squares(x)\nsubject to {argument} in {set_}\n")
            found += form is not None
    assert found >= 20
