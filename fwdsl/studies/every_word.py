"""Small programs that use every loss, function and set of the language: what `fwdsl warm --all` compiles for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..atoms.vectors import JOINTS
from ..words import CONVEX, LOSSES, SETS, LossWord
from ..words.base import GROUPS, Parameter

DIMS = {"n": 40, "p": 12, "k": 3, "v": 2, "G": 4, "m": 400, "q": 300}

_DATA = {
    "X": "matrix[n, p]",
    "Y": "matrix[n, k]",
    "T": "matrix[p, p]",
    "y": "vector[n] in nonnegative",  # counts for `poisson`
    "s": "signs[n]",
    "l": "labels[n, k]",
    "g": "index[p] of G",
    "V": "matrix[v, p]",
    "h": "vector[v]",
    "c": "vector[p]",
    "P": "psd[p]",
    "d": "vector[p] in nonnegative",
    "M": "entries[m, q]",  # too large for dense singular values
}

_TARGETS = {"real": "y", "signs": "s", "labels": "l"}
"""The targets of a loss, by what it is of."""

_ARGUMENTS = {"columns": "V", "right": "h", "entries": "c", "number": "1"}
"""The argument of a set, by its shape."""

_OF_LINES = ("l1_ball(1.5)", "l2_ball(1.5)", "linf_ball(1.5)", "simplex(1.5)", "ksupport_ball(2, 1.5)")
"""The sets of each row, of each column, or of all entries."""


def programs() -> Iterator[str]:
    """The texts. Matrices of data have no source, so that they may be dense or sparse."""
    for word in LOSSES.values():
        if word.entrywise:
            yield from _of_entries(word)
            continue
        scores, target = word.scores, _TARGETS[word.target]
        x, shape = ("W", "matrix[p, k]") if scores else ("w", "vector[p]")
        loss = f"mean({word.name}(X @ {x}, {target}))"
        yield _program(f"{x}: {shape}", f"{loss} + 0.1 * sum_squares({x})")
        yield _program(f"{x}: {shape}", f"{loss} + 0.1 * sum_squares({x})", f"{x} in l1_ball(2)")
        if not scores:
            yield _program(f"{x}: {shape}, b: real", f"mean({word.name}(X @ w + b, {target})) + 0.05 * norm1(w)")
    for function in CONVEX.values():
        for kind in ("vector", "matrix"):
            if kind in function.of:
                yield _fitted("symmetric" if function.of_eigenvalues else kind, term=_term(function.name))
    for of in SETS.values():
        kind = {"entrywise": "vector"}.get(of.of, of.of)
        for inner in _OF_LINES if of.inner else ("",):
            yield _fitted(kind, member=f"{of.name}({inner})" if inner else _set(of.name))
            if of.of == "entrywise":
                yield _fitted("matrix", member=_set(of.name))
    for norm, set_ in JOINTS:
        if norm is not None and set_ is not None:
            yield _fitted("vector", _term(norm), _set(set_))
            if "matrix" in CONVEX[norm].of:
                yield _fitted("matrix", _term(norm), f"rows({_set(set_)})")
    yield _program("Z: matrix[m, q]", "mean(squared(Z[M], M))", "Z in nuclear_ball(2)")


def _of_entries(word: LossWord) -> Iterator[str]:
    """Programs with a function of entries."""
    options = "".join(f", {p.name}={p.default or 1.5:g}" for p in word.options)
    values = {p.name: p.default or 1.5 for p in word.options}
    sign = "-" if word.is_concave(values) else ""
    for constraint in ("w in box(1, 2)", "w in simplex(1)", "w >= 1"):
        yield _program("w: vector[p]", f"{sign}sum({word.name}(w{options})) + mean(squared(X @ w, y))", constraint)


def _term(name: str) -> str:
    """A tenth of a function of `{}`, or of the negative of a concave one."""
    word = CONVEX[name]
    arguments = ["{}", *(_argument(p) for p in word.parameters[1:] if p.required)]
    call = f"{name}({', '.join(arguments)})"
    share = "-0.1" if word.is_concave else "0.1"
    return f"{share} * {f'sum({call})' if word.by_rows else call}"


def _set(name: str) -> str:
    arguments = [_argument(p) for p in SETS[name].parameters if not p.optional]
    return f"{name}({', '.join(arguments)})" if arguments else name


def _argument(p: Parameter) -> str:
    if p.name == GROUPS[0].name:
        return "g"
    if p.kind == "psd":
        return "P"
    if p.falls:
        return "d"
    if p.shape == "bound":
        return "-1" if p.name == "lo" else "1"
    return _ARGUMENTS.get(p.shape) or ("2" if p.domain == "count" else "1.5")


def _fitted(kind: str, term: str = "", member: str = "") -> str:
    """Least squares over a vector, a matrix, a square or a symmetric one, with a term or a set of its own."""
    x, variable, fit = {
        "vector": ("w", "w: vector[p]", "mean(squared(X @ w, y))"),
        "matrix": ("W", "W: matrix[p, k]", "mean(squared(X @ W, Y))"),
        "square": ("S", "S: matrix[p, p]", "sum_squares(S - T)"),
        "symmetric": ("S", "S: symmetric[p]", "sum_squares(S - T)"),
    }[kind]
    return _program(variable, " + ".join(filter(None, [fit, term.format(x)])), f"{x} in {member}" if member else "")


def _program(variables: str, objective: str, constraint: str = "") -> str:
    """The program, with a declaration for the data that it names."""
    used = set(re.findall(r"\w+", f"{objective} {constraint}"))
    data = ", ".join(f"{name}: {type_}" for name, type_ in _DATA.items() if name in used)
    tail = f"subject to {constraint}\n" if constraint else ""
    return f"data {data}\nvar {variables}\nminimize {objective}\n{tail}"
