"""Ways to spoil a text: of a program, or of a file."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from fwdsl.words import CONVEX, FEATURE_MAPS, FUNCTIONS, LOSSES, SETS

Mutation = Callable[[random.Random, str], str]

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[^\W\d]\w*")

FOREIGN = (
    "st s.t. such that for while if else lambda import def return not and or is None True False np.sum torch cvx "
    "cp.Variable quad_over_lin argmin minimise maximise min max forall exists sum_{i} \\sum ∑ ∀ ∈ ≤ ≥ ≠ · × ⊤ ² √ ‖ → λ "
    "' '' \" \"\"\" ` ; ;; :: := => -> <- <> != !== ** // %% %*% .* .^ .' ^ ^T ^-1 @@ && || ! ~ ? ?? $ $x {} [[]] () (( )) ... .. . , ,, "
    "# #{ /* */ // -- <!-- \\ \\\n end begin let var data param fw problem minimize maximize subject to solve in of from family "
    "binary integer variables dual free sdp psd symmetric entries index signs labels count true false inf nan eye zeros ones diag rbf"
).split(" ")
NUMBERS = (
    "0 -0 1e308 -1e308 1e309 1e400 1e-308 5e-324 1e-400 1e99999999999 9007199254740993 18446744073709551616 4294967296 2147483648 "
    "99999999999999999999999999999999 1_000 1__0 _1 1_ 007 0x10 0b1 1.2.3 5e 5e+ .5 5. . 1e5.5 inf -inf nan NaN Infinity 1j 1/0 0/0 ١٢ ½ ² 1e-17 "
    "-1 -3 2.5 1000000"
).split(" ")
ODD = (
    "\0 \ufeff \u202e \u200b \u00a0 \u2028 \u2029 \x0b \x0c \x1b[31m \x7f \u0301 \U0001f600 變 ﬁ ℝ ｘ ‘ ’ “ ” – − ″ \ufffd \ud7ff \uffff \x85 \t "
    "ı ſ K"
).split(" ")


def _spot(rng: random.Random, text: str) -> int:
    return rng.randrange(len(text) + 1)


def _span(rng: random.Random, text: str, longest: int) -> tuple[int, int]:
    start = _spot(rng, text)
    return start, min(len(text), start + rng.randint(1, longest))


def delete_characters(rng: random.Random, text: str) -> str:
    start, stop = _span(rng, text, rng.choice((1, 1, 3, 30)))
    return text[:start] + text[stop:]


def insert_characters(rng: random.Random, text: str) -> str:
    at = _spot(rng, text)
    what = "".join(chr(rng.randrange(32, 127)) for _ in range(rng.randint(1, 4)))
    return text[:at] + what + text[at:]


def insert_odd(rng: random.Random, text: str) -> str:
    at = _spot(rng, text)
    return text[:at] + rng.choice(ODD) + text[at:]


def swap_characters(rng: random.Random, text: str) -> str:
    i = _spot(rng, text)
    return text[:i] + text[i + 1 : i + 2] + text[i : i + 1] + text[i + 2 :]


def repeat_span(rng: random.Random, text: str) -> str:
    start, stop = _span(rng, text, 60)
    return text[:stop] + text[start:stop] * rng.choice((1, 1, 2, 20)) + text[stop:]


def cut_off(rng: random.Random, text: str) -> str:
    return text[: _spot(rng, text)] if rng.random() < 0.7 else text[_spot(rng, text) :]


def _tokens(text: str) -> tuple[list[str], list[int]]:
    parts = _TOKEN.findall(text)
    return parts, [i for i, part in enumerate(parts) if not part.isspace()]


def change_token(rng: random.Random, text: str) -> str:
    """Delete, double, swap or replace a token by another of the text, a foreign word or a number."""
    parts, solid = _tokens(text)
    if not solid:
        return text
    i, j = rng.choice(solid), rng.choice(solid)
    match rng.randrange(6):
        case 0:
            parts[i] = ""
        case 1:
            parts[i] += " " + parts[i]
        case 2:
            parts[i], parts[j] = parts[j], parts[i]
        case 3:
            parts[i] = parts[j]
        case 4:
            parts[i] = rng.choice(FOREIGN)
        case _:
            parts[i] = parts[i] + " " + rng.choice(FOREIGN)
    return "".join(parts)


def change_number(rng: random.Random, text: str) -> str:
    places = list(_NUMBER.finditer(text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(NUMBERS) + text[place.end() :]


def mix_names(rng: random.Random, text: str) -> str:
    """One name stands for another, at one place or everywhere; or two change places."""
    names = sorted({m[0] for m in _NAME.finditer(text)})
    if len(names) < 2:
        return text
    a, b = rng.sample(names, 2)
    if rng.random() < 0.4:
        places = [m for m in _NAME.finditer(text) if m[0] == a]
        place = rng.choice(places)
        return text[: place.start()] + b + text[place.end() :]
    swapped = {a: b, b: a} if rng.random() < 0.5 else {a: b}
    return _NAME.sub(lambda m: swapped.get(m[0], m[0]), text)


def change_lines(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            lines[i] = lines[i].rstrip("\r\n") + " "
        case _:
            lines[i] = " " * rng.randint(0, 9) + lines[i].lstrip()
    return "".join(lines)


def change_line_ends(rng: random.Random, text: str) -> str:
    ends = rng.choice(
        (("\r\n",), ("\r",), ("\r\n", "\n"), ("\r", "\n", "\r\n"), ("\n\n",), ("\u2028", "\n"), ("\x0b",), ("\x85",))
    )
    return "".join(rng.choice(ends) if c == "\n" else c for c in text)


def nest(rng: random.Random, text: str) -> str:
    """Something in the text stands in very many brackets, signs or calls; closed, or not."""
    parts, solid = _tokens(text)
    if not solid:
        return text
    i = rng.choice(solid)
    depth = rng.choice((3, 40, 150, 1000, 5000))
    left, right = rng.choice(
        (
            ("(", ")"),
            ("[", "]"),
            ("-", ""),
            ("norm1(", ")"),
            ("(1 + ", ")"),
            ("", ".T"),
            ("2 * (", ")"),
            ("", "[0]"),
            ("|", "|"),
        )
    )
    closed = depth if rng.random() < 0.8 else depth - 1
    parts[i] = left * depth + parts[i] + right * closed
    return "".join(parts)


def lengthen(rng: random.Random, text: str) -> str:
    """A very long line, name, text, number or comment."""
    parts, solid = _tokens(text)
    if not solid:
        return text
    i, n = rng.choice(solid), rng.choice((100, 1000, 20_000))
    kind = rng.randrange(6)
    made = (
        parts[i] * n,
        (" + " + parts[i]) * n,
        '"' + "a" * n + '"',
        "9" * n,
        " # " + "word " * n + "\n",
        "[" + ", ".join(["1"] * n) + "]",
    )[kind]
    parts[i] = made if kind != 1 else parts[i] + made
    return "".join(parts)


MUTATIONS: tuple[Mutation, ...] = (
    delete_characters,
    insert_characters,
    insert_odd,
    swap_characters,
    repeat_span,
    cut_off,
    change_token,
    change_token,
    change_token,
    change_number,
    change_number,
    mix_names,
    mix_names,
    change_lines,
    change_line_ends,
    nest,
    lengthen,
)


# --- what leaves a program one that parses ---------------------------------------------------------------------------

_KINDS = (
    (*LOSSES,),
    (*CONVEX, *FUNCTIONS),
    (*SETS,),
    (*FEATURE_MAPS,),
    ("real", "nonnegative", "positive", "count"),
    ("vector", "matrix", "symmetric", "psd", "tensor", "signs", "labels", "index", "entries", "family"),
    ("minimize", "maximize"),
    ("sum", "mean"),
    ("+", "-", "*", "/", "@"),
    ("==", "<=", ">="),
)
_VALID_NUMBERS = (
    "0 1 2 3 5 0.5 1e-9 1e9 1e-300 1e300 1e308 5e-324 1000000 99999999999 9007199254740993 inf 0.1 7".split(" ")
)
_WRAPS = (
    "({})",
    "-({})",
    "2 * ({})",
    "({}) / 2",
    "({})[0]",
    "({}).T",
    "({}) + 1",
    "norm2({})",
    "sum({})",
    "sum_squares({})",
    "inf * ({})",
)


def change_word(rng: random.Random, text: str) -> str:
    """A word or sign of the language becomes another of its kind."""
    parts = re.split(r"(\w+|[=<>]=|[-+*/@])", text)
    places = [(i, kind) for i, part in enumerate(parts) for kind in _KINDS if part in kind]
    if not places:
        return text
    i, kind = rng.choice(places)
    parts[i] = rng.choice(kind)
    return "".join(parts)


def change_value(rng: random.Random, text: str) -> str:
    """A number becomes another that may be written."""
    places = list(_NUMBER.finditer(text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(_VALID_NUMBERS) + text[place.end() :]


def change_name(rng: random.Random, text: str) -> str:
    """A name of the program stands where another one did."""
    declared = [m[1] for m in re.finditer(r"(\w+) *:", text)] or ["x"]
    places = [m for m in _NAME.finditer(text) if m[0] in declared]
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(declared) + text[place.end() :]


def wrap(rng: random.Random, text: str) -> str:
    """A name or a call is put into an expression around it."""
    places = [
        m
        for m in re.finditer(r"\b[^\W\d]\w*(?:\([^()]*\))?", text)
        if m[0] not in ("minimize", "maximize", "data", "var")
    ]
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(_WRAPS).format(place[0]) + text[place.end() :]


def change_dimension(rng: random.Random, text: str) -> str:
    """A dimension becomes another one, or a number."""
    places = list(re.finditer(r"(?<=[\[,])\s*(\w+)(?=\s*[,\]])", text))
    if not places:
        return text
    place = rng.choice(places)
    other = rng.choice([m[1] for m in places] + ["1", "2", "4", "0", "100000", "99999999999", "n + 1", "2 * d"])
    return text[: place.start()] + other + text[place.end() :]


_GENTLE: tuple[Mutation, ...] = (
    change_word,
    change_word,
    change_word,
    change_value,
    change_value,
    change_name,
    wrap,
    wrap,
    change_dimension,
)


def mutate_gently(rng: random.Random, text: str) -> str:
    """One to three mutations that most often leave a program that parses: what it says is another matter."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(_GENTLE)(rng, text)
    return text


# --- what does not ---------------------------------------------------------------------------------------------------


def mutate(rng: random.Random, text: str) -> str:
    """One to four mutations after another, most often one."""
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(MUTATIONS)(rng, text)
    return text
