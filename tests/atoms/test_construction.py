"""`build` and `build_matrix` take and refuse arguments, and say which pairs are joint."""

from __future__ import annotations

import math
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms import vectors
from fwdsl.atoms.matrices import LinesSet, build_matrix
from fwdsl.atoms.vectors import JOINTS, NORMS, SETS, Ridged, build
from fwdsl.atoms.vectors.box import Box
from tests.atoms.pairs import MATRICES, OF_VECTORS, SIZE, VECTORS, Case, norm_of


def test_build_knows_which_pairs_are_joint() -> None:
    for norm in NORMS:
        for name in OF_VECTORS:
            g = build(norm_of(norm, 1.0), (name, OF_VECTORS[name][0]), SIZE)
            assert (g is not None) == (Case(norm, name) in VECTORS)
    with pytest.raises(KeyError):
        build(("norm7", 1.0), None, 3)


def test_every_pair_is_in_the_file_of_its_name() -> None:
    told = {pair: cls for registry in (NORMS, SETS, JOINTS) for cls in registry.values() for pair in [cls.pair]}
    found = {}
    for file in iter_modules(vectors.__path__):
        module = import_module(f"{vectors.__name__}.{file.name}")
        own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
        found |= {cls.pair: cls for cls in own if isinstance(cls.__dict__.get("pair"), tuple)}
    assert found == told and len(told) > 25


def test_pairs_of_matrices_without_a_joint_prox_are_none() -> None:
    assert build_matrix(("norm_nuc", 1.0), ("nonnegative", {}), (3, 3)) is None
    assert build_matrix(("norm1", 1.0), ("psd", {}), (3, 3)) is None
    assert build_matrix(("norm21", 1.0), ("columns", {"set": ("simplex", {"r": 1.0})}), (3, 3)) is None
    joint = {case.pair for case in MATRICES}
    assert {("norm_nuc", "psd"), ("norm1", "rows"), ("norm_fro", "fro_ball")} <= joint
    assert {("norm_nuc", "spectral_ball"), ("norm1_inf", "linf_ball")} <= joint


@pytest.mark.parametrize(
    ("norm", "on"),
    [
        (("norm1", 0.0), None),
        (("norm2", -1.0), None),
        (("norm1", math.inf), None),
        (None, ("l1_ball", {"r": -1.0})),
        (None, ("l2_ball", {"r": math.nan})),
        (None, ("simplex", {"r": math.inf})),
        (None, ("box", {"lo": 1.0, "hi": 0.0})),
        (None, ("box", {"lo": math.nan, "hi": 0.0})),
        (None, ("box", {"lo": math.inf, "hi": math.inf})),
    ],
)
def test_arguments_of_vectors_are_checked(norm: Any, on: Any) -> None:
    with pytest.raises(ValueError):
        build(norm, on, 3)
    with pytest.raises(ValueError):
        Ridged(build(None, None, 3), 0.0)


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [1, 2]]}, "exactly once"),
        ("group_ball", {"r": 1.0, "groups": [[0], [2]]}, "exactly once"),
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [2]], "weights": [1.0, 0.0]}, "positive"),
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [2]], "weights": [1.0]}, "as many weights"),
        ("ksupport_ball", {"k": 0, "r": 1.0}, "whole number"),
        ("ksupport_ball", {"k": 1.5, "r": 1.0}, "whole number"),
        ("halfspace", {"a": np.zeros(3), "b": -1.0}, "empty"),
        ("halfspace", {"a": np.ones(3), "b": math.inf}, "finite"),
        ("affine", {"A": np.ones((2, 3)), "b": np.array([1.0, 2.0])}, "contradict"),
        ("affine", {"A": np.zeros((1, 3)), "b": 1.0}, "contradict"),
        ("affine", {"A": np.ones((1, 3)), "b": math.nan}, "finite"),
        ("polytope", {"V": np.zeros((0, 3))}, "at least one vertex"),
        ("permutahedron", {"c": np.array([1.0, math.inf, 0.0])}, "finite"),
    ],
)
def test_structured_sets_check_their_arguments(name: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build(None, (name, arguments), 3)


@pytest.mark.parametrize(
    ("norm", "on", "error"),
    [
        (("norm7", 1.0), None, KeyError),
        (None, ("ball", {"r": 1.0}), KeyError),
        (("norm_nuc", 0.0), None, ValueError),
        (None, ("nuclear_ball", {"r": -1.0}), ValueError),
        (None, ("psd", {}), ValueError),
        (None, ("rows", {"set": ("rows", {"set": ("simplex", {"r": 1.0})})}), KeyError),
    ],
)
def test_arguments_of_matrices_are_checked(norm: Any, on: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        build_matrix(norm, on, (3, 2))


def test_lines_are_as_long_as_their_set_is() -> None:
    with pytest.raises(ValueError, match="lines of 2"):
        LinesSet((3, 2), 0, build_matrix(None, ("rows", {"set": ("simplex", {"r": 1.0})}), (2, 3)).inner)


def test_a_function_that_says_it_is_compiled_has_a_kernel() -> None:
    """Of ours as of one from outside, where the class is made and not in a solve."""
    body = {k: v for k, v in vars(SETS["l1_ball"]).items() if not k.startswith("__")}
    with pytest.raises(TypeError, match=r"Made says that it is compiled, and has no prox_kernel"):
        type("Made", SETS["l1_ball"].__bases__, {**body, "prox_kernel": None})
    assert not type("Made", SETS["l1_ball"].__bases__, {**body, "prox_kernel": None, "compiled": False}).compiled


def test_a_matrix_without_norm_and_set_is_free() -> None:
    free = build_matrix(None, None, (3, 2))
    assert free is not None and free.size == 6 and free.describe() == "free"


def test_the_support_function_of_a_box_with_ends_of_zero_or_none() -> None:
    """sup <v, x> over x >= 0 is 0 where v <= 0, else infinite; over {0} it is 0, and over a box the sum of the ends that v points to."""
    v = np.array([-1.0, 0.0, -2.0])
    below, above = Box(3, np.zeros(3), np.full(3, np.inf)), Box(3, np.full(3, -np.inf), np.zeros(3))
    assert (below.conjugate(v), below.conjugate(-v)) == (0.0, np.inf)
    assert (above.conjugate(v), above.conjugate(-v)) == (np.inf, 0.0)
    assert Box(3, np.zeros(3), np.zeros(3)).conjugate(v - 0.5) == 0.0
    assert Box(3, np.full(3, -2.0), np.full(3, 5.0)).conjugate(np.array([1.0, 0.0, -3.0])) == 11.0
