"""Small programs with one word each, that methods are asked about: what takes a word is what its method says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import fwdsl as fw
from fwdsl.backends.registry import METHODS
from fwdsl.words import CONVEX, LOSSES, NUMBERS, SETS, TYPES
from fwdsl.words.base import Parameter

if TYPE_CHECKING:
    from fwdsl.plan import Plan

#: How an argument is declared, by what its record says it is: its shape, its kind, its domain.
_DECLARED = {
    "entries": "data {name}: vector[{p}]",
    "columns": "data {name}: matrix[m, {p}]",
    "right": "data {name}: vector[m]",
    "number": "param {name}: real",
    "bound": "param {name}: real",
    "index": "data {name}: index[{p}] of G",
    "psd": "data {name}: psd[{p}]",
}


@dataclass(frozen=True)
class Standard:
    """A program that stands for a use of a word; `says` completes "least squares with ..."."""

    says: str
    text: str

    @property
    def plan(self) -> Plan:
        """The plan, from the text alone."""
        return plan(self.text)

    @property
    def takers(self) -> tuple[str, ...]:
        """The methods that apply."""
        return tuple(c.name for c in self.plan.candidates if c.applies)


@cache
def plan(text: str) -> Plan:
    """The plan of a program, from its text alone."""
    return fw.parse(text)._session.plan(with_data=False)


@cache
def of_loss(name: str) -> tuple[Standard, ...]:
    """Programs with a loss: with a ridge, an l1 penalty, that and an equation, within an l1 ball, and alone."""
    word = LOSSES[name]
    w = "matrix[p, k]" if word.scores else "vector[p]"
    if word.entrywise:
        options = {p.name: NUMBERS[p.domain].example for p in word.options}
        call = ", ".join([f"{name}(X @ w", *(f"{key}={value:g}" for key, value in options.items())]) + ")"
        data, goal = (
            "data X: matrix[n, p]\n",
            f"var w: {w}\nminimize {'-' if word.is_concave(options) else ''}mean({call})",
        )
    else:
        target = {"real": "vector[n]", "signs": "signs[n]", "labels": "labels[n, k]"}[word.target]
        target += " in nonnegative" if word.nonnegative_target else ""
        data, goal = f"data X: matrix[n, p], y: {target}\n", f"var w: {w}\nminimize mean({name}(X @ w, y))"
    head = f"{data}param mu: positive\n{goal}"
    return (
        Standard("a ridge", f"{head} + mu * sum_squares(w)\n"),
        Standard("an l1 penalty", f"{head} + mu * norm1(w)\n"),
        Standard("an l1 penalty and an equation", f"{head} + mu * norm1(w)\nsubject to sum(w) == 0\n"),
        Standard("an l1 ball", f"{head}\nsubject to norm1(w) <= mu\n"),
        Standard("neither penalty nor constraint", f"{data}{goal}\n"),
    )


@cache
def of_convex(name: str) -> tuple[Standard, ...]:
    """Programs with a convex function as a penalty of least squares, of each shape that it takes."""
    word = CONVEX[name]
    if word.of_eigenvalues:
        shapes = (("a symmetric matrix", "matrix", "symmetric[p]", "matrix[n, p]"),)
    else:
        shapes = (
            ("a vector", "vector", "vector[p]", "vector[n]"),
            ("a matrix", "matrix", "matrix[p, k]", "matrix[n, k]"),
        )
    found = []
    for says, shape, kind, target in shapes:
        if shape in word.of:
            declared, call = _call(word.options)
            head = f"data X: matrix[n, p], y: {target}{declared}\nparam mu: positive\nvar w: {kind}"
            second = "S" if word.of_joint_matrix else "t"
            if word.joint:
                head += f", {second}: {'symmetric[p]' if word.of_joint_matrix else 'real'}"
                call.insert(0, second)
            inside = f"{name}({', '.join(('w', *call))})"
            inside = f"sum({inside})" if word.by_rows else inside
            goal = f"minimize mean(squared(X @ w, y)) {'-' if word.is_concave else '+'} mu * "
            found.append(Standard(says, f"{head}\n{goal}{inside}\n"))
            if word.of_determinant:
                text = f"data S: psd[p]\nparam mu: positive\nvar w: {kind}\nminimize trace(S @ w) - {name}(w) + mu * norm1(w)\n"
                found.append(Standard("an inverse covariance, with its likelihood in place of least squares", text))
            if shape == "vector" and word.is_norm and not word.options:
                found.append(Standard("the differences of neighbours", f"{head}\n{goal}{name}(w[1:] - w[:-1])\n"))
    return tuple(found)


@cache
def of_set(name: str) -> tuple[Standard, ...]:
    """Programs with a set as a constraint of least squares, of each shape that it takes."""
    word = SETS[name]
    fits = "minimize mean(squared(X @ w, y))"
    shapes = {
        "vector": (("a vector", "X: matrix[n, p], y: vector[n]", "vector[p]", fits),),
        "matrix": (("a matrix", "X: matrix[n, p], y: matrix[n, k]", "matrix[p, k]", fits),),
        "square": (("a square matrix", "X: matrix[n, p], y: matrix[n, p]", "matrix[p, p]", fits),),
        "symmetric": (("a symmetric matrix", "y: matrix[p, p]", "symmetric[p]", "minimize sum_squares(w - y)"),),
    }
    kinds = (*shapes["vector"], *shapes["matrix"]) if word.of == "entrywise" else shapes[word.of]
    declared, call = _call(word.parameters)
    members = f"{name}({', '.join(call)})" if call else name
    found = []
    for says, data, kind, goal in kinds:
        head, rest = f"data {data}{declared}\n", f"\nsubject to w in {members}\n"
        found.append(Standard(says, f"{head}var w: {kind}\n{goal}{rest}"))
        ridged = f"{head}param mu: positive\nvar w: {kind}\n{goal} + mu * sum_squares(w){rest}"
        found.append(Standard(f"{says}, with a ridge", ridged))
    return tuple(found)


def _call(parameters: tuple[Parameter, ...]) -> tuple[str, list[str]]:
    """The declarations of what a word's required arguments are given, and the arguments."""
    declared, call = "", []
    for p in parameters:
        if not p.required:
            continue
        if p.domain == "set":
            call.append("simplex(1)")
            continue
        if p.domain in NUMBERS and p.domain not in TYPES:  # such as at least 1: no type of a parameter says that
            call.append(f"{NUMBERS[p.domain].example:g}")
            continue
        form = _DECLARED.get(p.shape) or _DECLARED.get(p.kind) or f"param {{name}}: {p.domain}"
        form += " in nonnegative" if p.falls else ""
        name = f"{p.name}0" if p.name in ("n", "p", "k") else p.name
        declared += "\n" + form.format(name=name, p="p")
        call.append(name)
    return declared, call


@cache
def of_word(name: str) -> tuple[Standard, ...]:
    """The programs that stand for a loss, a convex function or a set."""
    return of_loss(name) if name in LOSSES else of_convex(name) if name in CONVEX else of_set(name)


@cache
def words_of_method(name: str) -> dict[str, list[str]]:
    """The words that a method takes in one of their programs, by kind."""
    kinds = {"losses": LOSSES, "regularisers": CONVEX, "sets": SETS}
    return {kind: [w for w in words if any(name in s.takers for s in of_word(w))] for kind, words in kinds.items()}


@cache
def refusals(method: str) -> tuple[str, ...]:
    """The reasons of a method where it does not apply, over all programs here; of those that differ in names only the first."""
    every = (s for words in (LOSSES, CONVEX, SETS) for w in words for s in of_word(w))
    found = (r for s in every for c in s.plan.candidates if c.name == method for r in c.reasons)
    first: dict[str, str] = {}
    for reason in found:
        first.setdefault(re.sub(r"`[^`]*`", "", reason), reason)
    return tuple(first.values())


def methods_taking(word: str) -> tuple[str, ...]:
    """The methods that take one of the programs of a word, in the registry's order."""
    able = {name for s in of_word(word) for name in s.takers}
    return tuple(name for name in METHODS if name in able)
