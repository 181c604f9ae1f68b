"""The conformance corpus: small programs over vectors, matrices, symmetric matrices, families and observed entries, from
fixed seeds.

Losses, regularisers, sets and maps are dealt from shuffled decks, so that every word comes up again and again, each time in other company.
All sets hold the point whose entries are alike, most of them in their relative interior, so that any of them meet; where neither a set nor
a regulariser keeps the variable bounded and the loss does not either, a small ridge is added, so that every optimum is attained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from .corners import corners
from .decks import (
    DECLARED,
    MATRIX_MAPS,
    MATRIX_REGULARISERS,
    MATRIX_SETS,
    SYMMETRIC_MAPS,
    SYMMETRIC_REGULARISERS,
    SYMMETRIC_SETS,
    VECTOR_LOSSES,
    VECTOR_MAPS,
    VECTOR_REGULARISERS,
    VECTOR_SETS,
    Deck,
)
from .problems import LAYOUTS, LOSSES, OPTIONS, SIGNED, laid_out, matrix

D, K = 4, 3

#: What keeps a variable bounded: sets by their words, and regularisers that do not.
_BOUNDED = ("ball", "simplex", "spectrahedron", "polytope", "permutahedron", "birkhoff", "box(-0")
_LOOSE = {"none", "affine", "total variation", "norm of a map", "norm of a product", "trace"}


@dataclass(frozen=True)
class CorpusProgram:
    """A program with its data; `reference` is the same program in words that the oracle has, where `text` is not."""

    name: str
    text: str
    data: dict[str, Any]
    words: frozenset[str] = field(default=frozenset())
    reference: str = ""
    reference_data: dict[str, Any] = field(default_factory=dict)


@cache
def corpus() -> tuple[CorpusProgram, ...]:
    """All programs, the same each time."""
    parts = (vectors(120), matrices(110), symmetric(36), families(14), observed(14), _corners())
    return tuple(p for part in parts for p in part)


def vectors(count: int, seed: int = 301) -> Iterator[CorpusProgram]:
    rng = np.random.default_rng(seed)
    losses, layouts = Deck(rng, LOSSES), Deck(rng, LAYOUTS)
    regularisers, sets, maps = Deck(rng, [*VECTOR_REGULARISERS]), Deck(rng, VECTOR_SETS), Deck(rng, [*VECTOR_MAPS])
    for i in range(count):
        loss, regulariser, set_, map_ = losses.deal(), regularisers.deal(), sets.deal(), maps.deal()
        second = sets.deal() if i % 4 == 3 else ""
        values = _values(rng, layouts.deal())
        score = values["A"] @ rng.standard_normal(D) + 0.7 * rng.standard_normal(_samples(values))
        target, values["y"] = _target(rng, loss, score)
        lines = [f"var x: vector[d]{f' in {set_}' if set_ else ''}{_more_variables(map_, 'vector[l]', 'real')}"]
        terms = [_loss(rng, loss, VECTOR_MAPS[map_])]
        terms += _regulariser(rng, VECTOR_REGULARISERS[regulariser])
        terms += _ridges(loss, regulariser, f"{set_} {second}", map_, "x", "z")
        lines.append("minimize " + " + ".join(terms))
        if second and second != set_:
            lines.append(f"subject to x in {second}")
        words = {loss, f"vector {regulariser}", f"vector {set_}", f"vector {map_}"}
        name = f"vector {i}: {loss}, {regulariser}, {set_ or 'free'}{f' and {second}' if second else ''}, {map_}"
        yield _program(name, target, lines, values, words)


def matrices(count: int, seed: int = 302) -> Iterator[CorpusProgram]:
    rng = np.random.default_rng(seed)
    losses, layouts = Deck(rng, (*LOSSES, *VECTOR_LOSSES)), Deck(rng, LAYOUTS)
    regularisers, sets, maps = Deck(rng, [*MATRIX_REGULARISERS]), Deck(rng, MATRIX_SETS), Deck(rng, [*MATRIX_MAPS])
    seconds = Deck(rng, ("box(-1, 1.5)", "nonnegative", "fro_ball(3)", "l1_ball(6)", "nuclear_ball(3)"))
    for i in range(count):
        loss, regulariser, set_, map_ = losses.deal(), regularisers.deal(), sets.deal(), maps.deal()
        second = seconds.deal() if i % 5 == 4 else ""
        k = D if set_ == "birkhoff" else K
        values = _values(rng, layouts.deal(), k)
        n = _samples(values)
        score = values["A"] @ rng.standard_normal((D, k)) + 0.7 * rng.standard_normal((n, k))
        target, values["y"] = _target(rng, loss, score)
        size = "matrix[d, d]" if k == D else "matrix[d, k]"
        other, row = ("matrix[l, d]", "vector[d]") if k == D else ("matrix[l, k]", "vector[k]")
        lines = [f"var W: {size}{f' in {set_}' if set_ else ''}{_more_variables(map_, other, row)}"]
        terms = [_loss(rng, loss, MATRIX_MAPS[map_])]
        terms += _regulariser(rng, MATRIX_REGULARISERS[regulariser])
        terms += _ridges(loss, regulariser, f"{set_} {second}", map_, "W", "Z")
        lines.append("minimize " + " + ".join(terms))
        if second:
            lines.append(f"subject to W in {second}")
        words = {loss, f"matrix {regulariser}", f"matrix {set_}", f"matrix {map_}"}
        name = f"matrix {i}: {loss}, {regulariser}, {set_ or 'free'}{f' and {second}' if second else ''}, {map_}"
        yield _program(name, target, lines, values, words, square=k == D)


def symmetric(count: int, seed: int = 303) -> Iterator[CorpusProgram]:
    rng = np.random.default_rng(seed)
    losses, regularisers = Deck(rng, LOSSES), Deck(rng, [*SYMMETRIC_REGULARISERS])
    sets, maps = Deck(rng, SYMMETRIC_SETS), Deck(rng, [*SYMMETRIC_MAPS])
    for i in range(count):
        loss, regulariser, set_, map_ = losses.deal(), regularisers.deal(), sets.deal(), maps.deal()
        values = _values(rng, "dense")
        score = values["T"].reshape(_samples(values), -1) @ rng.standard_normal(D * D)
        target, values["y"] = _target(rng, loss, score)
        lines = [f"var X: symmetric[d]{f' in {set_}' if set_ else ''}"]
        terms = [_loss(rng, loss, SYMMETRIC_MAPS[map_]), *_regulariser(rng, SYMMETRIC_REGULARISERS[regulariser])]
        terms += _ridges(loss, regulariser, set_, map_, "X", "")
        lines.append("minimize " + " + ".join(terms))
        words = {loss, f"symmetric {regulariser}", f"symmetric {set_}", f"symmetric {map_}"}
        yield _program(f"symmetric {i}: {loss}, {regulariser}, {set_ or 'free'}, {map_}", target, lines, values, words)


def families(count: int, seed: int = 304) -> Iterator[CorpusProgram]:
    """Two blocks, and beside them the program with two variables that it stands for."""
    rng = np.random.default_rng(seed)
    losses = Deck(rng, LOSSES)
    kinds = Deck(
        rng, ("vector", "vector l1_ball(1.5)", "vector simplex(1)", "symmetric psd", "symmetric spectrahedron(1)")
    )
    penalties = Deck(rng, ("sum_squares", "norm1"))
    for i in range(count):
        loss, kind, penalty = losses.deal(), kinds.deal(), penalties.deal()
        type_, _, set_ = kind.partition(" ")
        values = _values(rng, "dense")
        n = _samples(values)
        values["t"] = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
        values |= {"m0": (values["t"] == 0) * 1.0, "m1": (values["t"] == 1) * 1.0}
        target, values["y"] = _target(rng, loss, values["A"] @ rng.standard_normal(D))
        member = f" in {set_}" if set_ else ""
        data, map_ = ("U", "U @ {}") if type_ == "vector" else ("T", "inner(T, {})")
        masked = " + ".join(f"diag(m{j}) @ ({map_.format(f'F{j}')})" for j in (0, 1))
        line = _loss(rng, loss, "PREDICTION")
        terms = f"0.1 * {penalty}({{0}})" + ("" if penalty == "sum_squares" else " + 0.05 * sum_squares({0})")
        family = [
            f"var F: family[J] of {type_}[d]{member}",
            f"minimize {line.replace('PREDICTION', f'inner({data}, F[t])')} + {terms.format('F')}",
        ]
        blocks = [
            f"var F0: {type_}[d]{member}, F1: {type_}[d]{member}",
            f"minimize {line.replace('PREDICTION', masked)} + {terms.format('F0')} + {terms.format('F1')}",
        ]
        words = {loss, f"family {kind}"}
        name = f"family {i}: {loss}, {penalty}, {kind}"
        reference = _program(name, target, blocks, values, words)
        program = _program(name, target, family, values, words)
        yield CorpusProgram(name, program.text, program.data, program.words, reference.text, reference.data)


def observed(count: int, seed: int = 305) -> Iterator[CorpusProgram]:
    """Losses on the observed entries of a matrix: of a variable, or of a product with one."""
    rng = np.random.default_rng(seed)
    losses, maps = Deck(rng, LOSSES), Deck(rng, ("W[M]", "W[M] + b", "Product[M]"))
    penalties = Deck(rng, ("norm_nuc", "sum_squares", "norm21", "norm1"))
    sets = Deck(rng, ("", "nuclear_ball(1.5)", "fro_ball(1.5)", "box(-0.5, 0.8)", "rows(l2_ball(0.8))"))
    for i in range(count):
        loss, map_, penalty, set_ = losses.deal(), maps.deal(), penalties.deal(), sets.deal()
        values = _values(rng, "dense")
        n = _samples(values)
        rows, columns = np.nonzero(rng.random((n, K)) < 0.5)
        score = (values["A"] @ rng.standard_normal((D, K)) + 0.7 * rng.standard_normal((n, K)))[rows, columns]
        _, observed = _target(rng, loss, score)
        product = map_.startswith("Product")
        more = ", b: real" if map_.endswith("b") else ""
        declared = [
            f"M: entries[n, k]{' of signs' if loss in SIGNED else ''}",
            *(["A: matrix[n, d]"] if product else []),
        ]
        lines = [
            "data " + ", ".join(declared),
            f"var W: matrix[{'d' if product else 'n'}, k]{f' in {set_}' if set_ else ''}{more}",
            *(["let Product = A @ W"] if product else []),
            f"minimize {_loss(rng, loss, map_, weighted=False).replace(', y', ', M')} + 0.1 * {penalty}(W)",
        ]
        data: dict[str, Any] = {"M": (rows, columns, observed), **({"A": values["A"]} if product else {})}
        data |= {} if product else {"n": n, "k": K}
        name = f"observed {i}: {loss}, {penalty}, {set_ or 'free'}, {map_}"
        yield CorpusProgram(name, "\n".join(lines) + "\n", data, frozenset({loss, f"observed {map_}"}))


def _corners() -> Iterator[CorpusProgram]:
    for name, text, data, reference, reference_data in corners():
        yield CorpusProgram(f"corner: {name}", text, data, frozenset(), reference, reference_data)


# --- parts -----------------------------------------------------------------------------------------------------------


def _values(rng: np.random.Generator, layout: str, k: int = K) -> dict[str, Any]:
    """Data for every name of DECLARED."""
    n = int(rng.integers(10, 25))
    A = matrix(rng, n, D, 1.0 if layout in ("dense", "fortran", "float32") else 0.6)
    A[:, ~A.any(axis=0)] = 1.0
    S, alike = matrix(rng, D, D), np.full(D, 1.0 / D)
    H, V = matrix(rng, 2, D), 0.6 * rng.standard_normal((9, D))
    T = rng.standard_normal((n, D, D))
    return {
        "A": laid_out(A, layout),
        "B": laid_out(np.ascontiguousarray(A.T), layout),
        "L": laid_out(matrix(rng, n, 2), layout),
        "R": matrix(rng, 2, D),
        "H": H,
        "h": H @ alike,
        "V": V - V.mean(axis=0) + alike,
        "P": S @ S.T,
        "c": rng.uniform(0.3, 1.5, D) * rng.choice([-1.0, 1.0], D),
        "q": np.arange(1.0, D + 1) / np.arange(1.0, D + 1).sum(),
        "G": rng.standard_normal((D, k)),
        "E": rng.standard_normal((k, k)),
        "T": T,
        "U": rng.standard_normal((n, D)),
        "w": rng.uniform(0.2, 2.0, n),
    }


def _samples(values: dict[str, Any]) -> int:
    return int(values["A"].shape[0])


def _target(rng: np.random.Generator, loss: str, score: np.ndarray) -> tuple[str, np.ndarray]:
    """The type of a loss's target, and targets that follow a score; no class is empty."""
    dims = "[n]" if score.ndim == 1 else "[n, k]"
    if loss in VECTOR_LOSSES:
        classes = score.argmax(axis=1)
        classes[: score.shape[1]] = np.arange(score.shape[1])
        return "labels[n, k]", classes
    if loss in SIGNED:
        signs = np.where(score > np.median(score), 1.0, -1.0)
        flips = rng.random(score.shape) < 0.15
        signs = np.where(flips, -signs, signs)
        if np.ptp(signs) == 0.0:
            signs.flat[0] = -signs.flat[0]
        return f"signs{dims}", signs
    if loss == "poisson":
        return _real(dims), rng.poisson(np.exp(np.clip(0.3 * score, -2, 2))).astype(float) + 1.0
    return _real(dims), score


def _real(dims: str) -> str:
    return f"vector{dims}" if dims == "[n]" else f"matrix{dims}"


def _loss(rng: np.random.Generator, loss: str, prediction: str, weighted: bool = True) -> str:
    options = f", {OPTIONS[loss]}" if loss in OPTIONS else ""
    weights = "w * " if weighted and rng.random() < 0.25 else ""
    reduce = "mean" if rng.random() < 0.7 else "sum"
    return f"{reduce}({weights}{loss}({prediction}, y{options}))"


def _regulariser(rng: np.random.Generator, words: str) -> list[str]:
    weight = round(float(rng.uniform(0.02, 0.3)), 3)
    return [f"{weight} * ({words})"] if words else []


def _ridges(loss: str, regulariser: str, sets: str, map_: str, x: str, z: str) -> list[str]:
    """Ridges that bound variables that nothing else does: x where need be, and always the second variable."""
    bounded = any(word in sets for word in _BOUNDED)
    # residual losses attain their minimum without help; margins, and counts off the range of the map, may not
    helped = loss in SIGNED or loss in VECTOR_LOSSES or loss == "poisson" or regulariser in ("affine", "trace")
    out = [f"0.05 * sum_squares({x})"] if regulariser in _LOOSE and not bounded and helped else []
    return [*out, f"0.1 * sum_squares({z})"] if map_ == "two variables" else out


def _more_variables(map_: str, second: str, intercept: str) -> str:
    name = "Z" if second.startswith("matrix") else "z"
    return {"two variables": f", {name}: {second}", "intercept": f", b: {intercept}"}.get(map_, "")


def _program(
    name: str, target: str, lines: list[str], values: dict[str, Any], words: set[str], square: bool = False
) -> CorpusProgram:
    """The program, with a declaration for what its lines use."""
    tokens = set("".join(c if c.isalnum() or c == "_" else " " for c in "\n".join(lines)).split())
    used = [n for n in DECLARED if n in tokens]
    declared = [f"y: {target}", *(DECLARED[n] for n in used)]
    if square:
        declared = [d.replace("k]", "d]").replace("[k,", "[d,") for d in declared]
    text = "\n".join(["data " + ", ".join(declared), *lines]) + "\n"
    return CorpusProgram(name, text, {n: values[n] for n in ("y", *used)}, frozenset(words))
