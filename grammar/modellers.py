"""Recognises statements of CVXPY, Convex.jl and JuMP, and writes what they say as a statement of the language.

They are read as text, by the outermost commas and brackets of their calls; what is inside is left to the next look at the mended program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.words import quoted

_RULE = "A program declares data, parameters and variables, and states an objective and constraints, each on a line."
_CALL = re.compile(r"(?:([^\W\d]\w*)\s*=\s*)?(?:[^\W\d]\w*\.)*(@?[^\W\d]\w*!?)\s*\((.*)\)", re.DOTALL)
_LIST = re.compile(r"[^\W\d]\w*\s*=\s*\[(.*)\]", re.DOTALL)
_NAMED = re.compile(r"[^\W\d]\w*")
_SIZE = re.compile(r"[^\W\d]\w*|\d+")
_INDEX = re.compile(r"(?:[^\W\d]\w*\s*(?:=|in\b)\s*)?1\s*:\s*([^\W\d]\w*|\d+)")
_RELATION = re.compile(r"<=|>=|==|≤|≥|\bin\b|∈")
_KEYWORD = re.compile(r"([^\W\d]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
MACROS = frozenset(
    "variable variables constraint constraints objective expression expressions parameter parameters".split()
)
"""The macros of JuMP that stand at the start of a line."""

_WHOLE = "whole numbers make no convex program; a relaxation is a variable between bounds, as in `var x: vector[n] in box(0, 1)`"
_COMPLEX = "variables are real: a complex one is two of them, its real and its imaginary part"


def statement_of_a_modeller(source: Source, tokens: Sequence[Token]) -> Diagnostic | None:
    """The finding for a line that is a statement of another modeller, with what it is here; None for any other line."""
    span = Span(tokens[0].start, tokens[-1].end)
    text = source.slice(span).strip().rstrip(";")
    found = _list(text) if (match := _CALL.fullmatch(text)) is None else _statement(*match.groups())
    if found is None:
        return None
    mended, hint = found
    message = f"{quoted(_short(text))} is a statement of another modeller"
    fix = None if mended is None else Fix(hint or f"write {quoted(_short(mended))}", span, mended)
    return Diagnostic(
        "FW1057", message, span, source, rule=_RULE, hint=hint or (fix.description if fix else ""), fix=fix
    )


Mended = tuple[str | None, str]
"""The statement of the language, None where that is not plain; and a hint, where the text itself is none."""


def _statement(name: str | None, word: str, inside: str) -> Mended | None:
    reader = _READERS.get(word.lstrip("@").lower() if word.startswith("@") else word)
    if reader is None or (word.startswith("@") and word[1:] not in MACROS):
        return None
    return reader(name or "", _split(inside))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:40]} ... {text[-15:]}"


def _split(text: str) -> list[str]:
    """The parts of a text between its outermost commas."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _flags(parts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The positional arguments, and those by keyword."""
    plain = [p for p in parts if not _KEYWORD.fullmatch(p)]
    return plain, {m[1]: m[2].strip() for p in parts if (m := _KEYWORD.fullmatch(p)) is not None}


def _type(dims: Sequence[str], square: str = "") -> str | None:
    """The type of a variable of these sizes; None where one is no name and no number."""
    if not all(_SIZE.fullmatch(d) for d in dims):
        return None
    if square:
        return f"{square}[{dims[0]}]" if dims else None
    return {0: "real", 1: f"vector[{dims[0] if dims else ''}]", 2: f"matrix[{', '.join(dims)}]"}.get(len(dims))


def _dims(plain: Sequence[str]) -> list[str]:
    """The sizes of `Variable(n)`, `Variable((n, d))`, `Variable(n, d)`."""
    if len(plain) == 1 and plain[0].startswith("("):
        return _split(plain[0][1:-1])
    return list(plain)


def _variable(name: str, parts: list[str]) -> Mended:
    plain, flags = _flags(parts)
    plain += [flags["shape"]] if "shape" in flags else []
    on = {key for key, value in flags.items() if value in ("True", "true")} | {
        p.strip(":") for p in plain if not _SIZE.fullmatch(p)
    }
    if on & {"integer", "boolean", "Bin", "Int", "BinVar", "IntVar"}:
        return None, _WHOLE
    if on & {"complex", "imag", "hermitian"}:
        return None, _COMPLEX
    square = "psd" if on & {"PSD", "Semidefinite"} else "symmetric" if "symmetric" in on else ""
    type_ = _type([d for d in _dims(plain) if d not in ("Positive()", "Negative()")], square)
    if type_ is None or not name:
        return None, "write `var x: vector[n]`, with a name or a number for the size"
    members = (
        " in nonnegative"
        if on & {"nonneg", "pos", "Positive()"}
        else " in box(-inf, 0)"
        if on & {"nonpos", "Negative()"}
        else ""
    )
    return f"var {name}: {type_}{members}", ""


def _semidefinite(name: str, parts: list[str]) -> Mended:
    return _variable(name, [*parts[:1], "PSD=True"])


def _parameter(name: str, parts: list[str]) -> Mended:
    plain, flags = _flags(parts)
    on = {key for key, value in flags.items() if value in ("True", "true")}
    if plain or "shape" in flags:
        type_ = _type(_dims(plain), "psd" if "PSD" in on else "symmetric" if "symmetric" in on else "")
        return (f"data {name}: {type_}" if type_ and name else None), ""
    domain = "positive" if "pos" in on else "nonnegative" if "nonneg" in on else "real"
    value = f" = {flags['value']}" if "value" in flags else ""
    return (f"param {name}: {domain}{value}" if name else None), ""


def _macro_variable(name: str, parts: list[str]) -> Mended:
    del name
    if len(parts) < 2:
        return None, "write `var x: vector[n]`"
    text, rest = parts[1], parts[2:]
    if set(rest) & {"Bin", "Int", "binary=true", "integer=true"}:
        return None, _WHOLE
    sides = [side.strip() for side in re.split(r"<=|>=|==|≤|≥", text)]
    signs = re.findall(r"<=|>=|==|≤|≥", text)
    at = next(
        (i for i, side in enumerate(sides) if re.match(r"[^\W\d]\w*\s*(?:\[|$)", side) and side not in ("Inf", "inf")),
        None,
    )
    if at is None or len(sides) > 3:
        return None, "write `var x: vector[n]`, and bounds as `in box(lo, hi)`"
    match = re.fullmatch(r"([^\W\d]\w*)\s*(?:\[(.*)\])?", sides[at], re.DOTALL)
    sizes = [] if match is None or match[2] is None else [_INDEX.fullmatch(part) for part in _split(match[2])]
    square = "psd" if "PSD" in rest else "symmetric" if "Symmetric" in rest else ""
    type_ = None if not all(sizes) else _type([size[1] for size in sizes if size is not None], square)
    if match is None or type_ is None:
        return None, "write `var x: vector[n]`: an index runs from 0 to n - 1"
    low, high = "-inf", "inf"
    for i, sign in enumerate(signs):
        below = (sign in ("<=", "≤")) == (i < at)  # the other side stands below the variable
        other = sides[i] if i < at else sides[i + 1]
        if sign == "==":
            low = high = other
        elif below:
            low = other
        else:
            high = other
    member = " in nonnegative" if (low, high) == ("0", "inf") else f" in box({low}, {high})" if signs else ""
    return f"var {match[1]}: {type_}{member}", ""


def _objective(name: str, parts: list[str]) -> Mended:
    del name
    sense = {"Min": "minimize", "Max": "maximize", "MIN_SENSE": "minimize", "MAX_SENSE": "maximize"}.get(
        parts[1] if len(parts) > 2 else ""
    )
    return (f"{sense} {', '.join(parts[2:])}" if sense else None), "" if sense else "write `minimize EXPR`"


def _macro_constraint(name: str, parts: list[str]) -> Mended:
    del name
    relations = [p for p in parts[1:] if _RELATION.search(p)]
    named = [p for p in parts[1:-1] if _NAMED.fullmatch(p)]
    if len(relations) != 1 or relations[0].startswith("[") or len(parts) - 1 - len(named) != 1:
        return None, "constraints are of whole vectors and matrices: `A @ x <= b` under `subject to`"
    return f"subject to\n  {f'{named[0]}: ' if named else ''}{relations[0]}", ""


def _expression(name: str, parts: list[str]) -> Mended:
    del name
    return (f"let {parts[1]} = {parts[2]}" if len(parts) == 3 and _NAMED.fullmatch(parts[1]) else None), ""


def _program(sense: str, objective: str, constraints: Sequence[str]) -> str:
    lines = [f"{sense} {objective}", *(["subject to"] if constraints else []), *(f"  {c}" for c in constraints)]
    return "\n".join(lines)


def _constraints(parts: Sequence[str]) -> list[str]:
    return [c for p in parts for c in (_split(p[1:-1]) if p.startswith("[") and p.endswith("]") else [p])]


def _sense(sense: str) -> Callable[[str, list[str]], Mended]:
    def read(name: str, parts: list[str]) -> Mended:
        del name
        plain, _ = _flags(parts)
        rest = [p for p in _constraints(plain[1:]) if _RELATION.search(p)]
        return (_program(sense, plain[0], rest) if plain else None), ""

    return read


def _problem(name: str, parts: list[str]) -> Mended:
    del name
    plain, _ = _flags(parts)
    if plain and all(_NAMED.fullmatch(p) for p in plain):
        return "", "delete the line: the objective and the constraints are the program"
    match = _CALL.fullmatch(plain[0]) if plain else None
    sense = {"Minimize": "minimize", "Maximize": "maximize"}.get(match[2] if match else "")
    constraints = _constraints(plain[1:])
    if match is None or sense is None or not all(_RELATION.search(c) for c in constraints):
        return None, "write `minimize EXPR`, then `subject to` and the constraints"
    return _program(sense, match[3].strip(), constraints), ""


def _step(name: str, parts: list[str]) -> Mended:
    del name, parts
    return "", "delete the line: `fwdsl run` solves the program and prints the answer"


def _list(text: str) -> Mended | None:
    """`constraints = [x >= 0, sum(x) == 1]`"""
    match = _LIST.fullmatch(text)
    parts = _split(match[1]) if match else []
    if not parts or not all(_RELATION.search(p) for p in parts):
        return None
    return "\n".join(["subject to", *(f"  {p}" for p in parts)]), ""


_READERS: dict[str, Callable[[str, list[str]], Mended]] = {
    "Variable": _variable,
    "Semidefinite": _semidefinite,
    "Parameter": _parameter,
    "variable": _macro_variable,
    "objective": _objective,
    "constraint": _macro_constraint,
    "expression": _expression,
    "Minimize": _sense("minimize"),
    "Maximize": _sense("maximize"),
    "minimize": _sense("minimize"),
    "maximize": _sense("maximize"),
    "Problem": _problem,
    **dict.fromkeys(
        ("Model", "solve", "solve!", "optimize!", "set_silent", "set_optimizer", "print", "println"), _step
    ),
}
