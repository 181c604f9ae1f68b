"""Every norm, set and pair knows its size, its properties, its words."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np

from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.vectors import Ridged, build
from tests.atoms.pairs import OF_EIGENVALUES, Case, each_matrix, each_vector, functions, points

#: Functions without a kernel of their own, and pairs whose vector kernels have no version along lines.
UNCOMPILED = [
    f"{c:g} * {norm}"
    for c in (0.7, 4.0)
    for norm in (
        "log_sum_exp",
        "max_rownorm1",
        "max_rownorm2",
        "norm21 on rows(nonnegative)",
        *(f"norm1 on {on}(l2_ball(0.5))" for on in ("rows", "columns")),
    )
]


@each_vector
def test_facts_of_vectors(case: Case) -> None:
    for g in functions(case, ridge=False):
        assert g.pair == case.pair and g.curvature == 0.0
        for word in case.pair:
            assert word is None or word in g.describe()
        ridged = Ridged(g, 0.3)
        assert ridged.curvature == 0.6 and not ridged.polyhedral
        assert "0.3 * sum_squares" in ridged.describe()


@each_matrix
def test_facts_of_matrices(case: Case) -> None:
    for g in functions(case, ridge=False):
        spectral = any("nuc" in str(p) or "spec" in str(p) or p == "psd" for p in case.pair)
        spectral = spectral or case.norm in OF_EIGENVALUES
        assert g.size == math.prod(case.shape) and g.proximable and g.curvature == 0.0
        assert (g.certificate == "rigorous") == spectral
        assert g.compiled == (not spectral and g.describe() not in UNCOMPILED)
        for word in case.pair:
            assert word in (None, "vec", "simplex_product") or word in g.describe()
        ridged = Ridged(g, 0.3)
        assert (ridged.compiled, ridged.proximable, ridged.certificate) == (g.compiled, True, g.certificate)
        if case.symmetric:
            for v in points(case, 15):
                for x in (g.prox(v, 0.3), g.lmo(v)):
                    assert x is None or np.array_equal(x.reshape(case.shape), x.reshape(case.shape).T)


def test_descriptions_of_vectors_in_the_words_of_the_language() -> None:
    assert build(("norm1", 0.1), None, 3).describe() == "0.1 * norm1"
    assert build(None, ("l1_ball", {"r": 5}), 3).describe() == "l1_ball(5)"
    assert build(("norm1", 0.1), ("nonnegative", {}), 3).describe() == "0.1 * norm1 on nonnegative"
    assert build(None, ("box", {"lo": 0.0, "hi": np.arange(3.0)}), 3).describe() == "box(0, hi)"
    assert Ridged(build(("norm1", 0.1), None, 3), 2.0).describe() == "0.1 * norm1 + 2 * sum_squares"
    assert Ridged(build(None, None, 3), 2.0).describe() == "2 * sum_squares"


def test_descriptions_of_matrices_in_the_words_of_the_language() -> None:
    simplex = {"set": ("simplex", {"r": 1})}
    for norm, on, text in [
        (("norm_nuc", 0.1), None, "0.1 * norm_nuc"),
        (("norm_nuc", 0.1), ("psd", {}), "0.1 * norm_nuc on psd"),
        (None, ("spectrahedron", {"r": 5}), "spectrahedron(5)"),
        (("norm_fro", 2.0), ("fro_ball", {"r": 5}), "2 * norm_fro on fro_ball(5)"),
        (("norm1", 2.0), ("rows", simplex), "2 * norm1 on rows(simplex(1))"),
        (("norm21", 2.0), None, "2 * norm21"),
        (None, ("simplex_product", {}), "rows(simplex(1))"),
        (None, ("columns", {"set": ("l2_ball", {"r": 0.5})}), "columns(l2_ball(0.5))"),
    ]:
        g = build_matrix(norm, on, (3, 3))
        assert g is not None and g.describe() == text
        assert g.pair[0] == (norm and norm[0])


def test_importing_loads_neither_numba_nor_scipy() -> None:
    code = "import sys, fwdsl.atoms.matrices, fwdsl.atoms.losses; print({'numba', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
