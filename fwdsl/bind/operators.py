"""Binds operators: the checks in place of a pass over entries, and what a program may not do with operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..model import DataDecl, Expr, Model
from .arrays import Unfit
from .data_operator import DataOperator, NormBound, ProductError, Source
from .features import expressions
from .findings import Findings
from .instance import DataStats

PROBES = 3
"""The number of random pairs of vectors that check the adjoint. Each pair shows a wrong adjoint with probability 1."""

ADJOINT_TOLERANCE = 1e-6
"""The relative difference of <A x, y> and <x, A'y> that is allowed, for operators in single precision."""

NORM_TOLERANCE = 0.05
"""How far the bound may lie above |A|. It scales steps and measures rounding, so a closer bound would not pay."""

FAILURE = 1e-9
"""The probability with which the bound of |A| may be false."""

SEED = 20210


def refuse_types(decl: DataDecl, A: DataOperator) -> DataOperator:
    """The operator, if its declaration promises nothing of its entries; else `Unfit` (FW4528)."""
    if decl.type.kind != "matrix" or decl.type.domain == "nonnegative":
        promise = "in nonnegative" if decl.type.kind == "matrix" else decl.type.kind
        raise Unfit(
            "FW4528",
            f"is an operator, whose entries are not known: `{promise}` cannot be checked",
            f"declare `{decl.name}: matrix[m, n]`, or give an array",
        )
    return A


def attach(A: DataOperator) -> DataStats:
    """Check the products of an operator and bound its norm, once. Raises `Unfit` (FW4526, FW4527, FW4529)."""
    if not A.source.checked:
        try:
            _check_adjoint(A)
            _bound_norm(A.source)
        except ProductError as error:
            raise Unfit("FW4527", "", diagnostic=error.first) from error
        A.source.checked = True
    assert A.bound is not None
    return DataStats(
        A.shape, "operator", "float64", A.size, 0, largest_row_norm=A.bound.value, norm_statement=A.bound.statement
    )


def _check_adjoint(A: DataOperator) -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(PROBES):
        x, y = rng.standard_normal(A.shape[1]), rng.standard_normal(A.shape[0])
        Ax, Aty = A.matvec(x), A.rmatvec(y)
        left, right = float(Ax @ y), float(x @ Aty)
        # both are sums of terms of random signs, which cancel: the terms give the size to compare with
        size = float(np.linalg.norm(Ax) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(Aty))
        if abs(left - right) > ADJOINT_TOLERANCE * size / np.sqrt(max(A.shape)) or not np.isfinite(size):
            raise Unfit(
                "FW4526",
                f"has an adjoint that is not its own: <A x, y> is {left:.6g} and <x, A'y> is {right:.6g} for random x and y",
                "mend `rmatvec`: its matrix is the transpose of that of `matvec`",
            )


def _bound_norm(source: Source) -> None:
    """Bound |A| by Lanczos, or look for a vector that refutes the norm that the user states."""
    from ..spectral.bounds import largest_singular_bound

    A = DataOperator(source)
    if source.norm is None:
        found = largest_singular_bound(A, FAILURE, rtol=NORM_TOLERANCE, method="lanczos", seed=SEED)
        source.bound = NormBound(found.value_upper, found.statement)
        return
    x = np.random.default_rng(SEED).standard_normal(A.shape[1])
    for _ in range(PROBES):
        x /= max(float(np.linalg.norm(x)), 1e-300)
        Ax = A.matvec(x)
        reached = float(np.linalg.norm(Ax))
        if reached > source.norm * (1.0 + 1e-9):
            raise Unfit(
                "FW4529",
                f"has a norm of at least {reached:.6g}, but `norm={source.norm:g}` is stated",
                "state a larger bound, or leave `norm` out: it is then found by some products",
            )
        x = A.rmatvec(Ax)
        if not x.any():
            return


def check_uses(model: Model, values: Mapping[str, Any], findings: Findings) -> set[str]:
    """Note where a program needs the entries of data that are bound to operators (FW4528), and return their names."""
    names = {name for name, value in values.items() if isinstance(value, DataOperator)}
    if not names:
        return set()
    found: dict[str, Expr] = {}
    for expr in expressions(model):
        _visit(expr, False, expr, names, found)
    for name, at in found.items():
        what = f"`{at.name}`" if at.op == "features" else "what is written here"
        findings.add(
            "FW4528",
            f"`{name}` is an operator, whose entries are not known: {what} needs them",
            span=at.span,
            rule="An operator stands in products with vectors and matrices: `A @ x`, `A.T @ y`, `2 * A @ x`.",
            hint=f"write products with `{name}` alone, or give it as an array",
        )
    return set(found)


def _visit(expr: Expr, product: bool, parent: Expr, names: set[str], found: dict[str, Expr]) -> None:
    """Enter the data of `names` that are used other than as a factor of a product into `found`, with what uses them."""
    if expr.op == "data" and expr.name in names:
        if not product:
            found.setdefault(expr.name, parent)
        return
    for arg in expr.args:
        scales = expr.op == "mul" and any(a is not arg and not a.type.array_shape for a in expr.args)
        keeps = expr.op in ("transpose", "neg") or scales
        _visit(arg, expr.op == "matmul" or (keeps and product), parent if keeps else expr, names, found)
    for _, option in expr.options:
        _visit(option, False, expr, names, found)
