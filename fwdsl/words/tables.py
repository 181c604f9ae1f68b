"""The tables of words in docs/language.md: `python -m fwdsl.words.tables` writes them anew from the records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from .base import Parameter, Word
from .columns import COLUMN_WORDS
from .constants import CONSTANTS
from .features import FEATURE_MAPS
from .functions import CONVEX, FUNCTIONS
from .keywords import KEYWORDS
from .losses import ENTRYWISE, LOSSES, LossWord
from .options import SOLVE_OPTIONS
from .set_word import SetWord
from .sets import SETS
from .sources import SOURCES
from .types import TYPES, TypeWord

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"

_MARKED = re.compile(r"(<!-- words: (\w+) -->\n).*?(<!-- end of words -->\n)", re.DOTALL)


def written(page: str) -> str:
    """A page with the tables of today between its markers, `<!-- words: losses -->` and `<!-- end of words -->`."""
    return _MARKED.sub(lambda m: f"{m[1]}{TABLES[m[2]]()}{m[3]}", page)


def _table(*rows: Iterable[str]) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *body]
    return "".join("|" + "".join(f" {cell} |" if cell else " |" for cell in line) + "\n" for line in lines)


def _call(name: str, first: Iterable[str], rest: Iterable[Parameter]) -> str:
    written_as = [*first, *(_argument(p) for p in rest)]
    return f"`{name}({', '.join(written_as)})`" if written_as else f"`{name}`"


def _argument(p: Parameter) -> str:
    if p.default is not None:
        return f"{p.name}={str(p.default).lower() if isinstance(p.default, bool) else f'{p.default:g}'}"
    return "SET" if p.domain == "set" else f"{p.name}=" if p.optional else p.name


def _named(p: Parameter) -> str:
    return _argument(p) if p.default is not None else f"{p.name}="


def _clause(sentence: str) -> str:
    return sentence.removesuffix(".")


def _losses() -> str:
    return _table(
        ("loss", "of one sample", "target"),
        *((_of_loss(w), _clause(w.formula), target_of(w)) for w in LOSSES.values() if not w.entrywise),
    )


def _entrywise() -> str:
    """The functions of entries: first those that are losses at a constant target."""
    alone = (_alone(w) for w in LOSSES.values() if w.alone is not None)
    own = (w for w in LOSSES.values() if w.entrywise)
    calls = ((f"`{w.call}`", _clause(w.formula)) for w in (*ENTRYWISE.values(), *own))
    return _table(("function", "of one entry"), *sorted((*calls, *alone)))


def _alone(word: LossWord) -> tuple[str, str]:
    return _call(word.name, ("z",), word.options), f"`{word.name}({word.parameters[0].name}, {word.alone:g})`"


def _of_loss(word: LossWord) -> str:
    return _call(word.name, ("Z" if word.scores else "z", "y" if word.classifies else "b"), word.options)


def target_of(word: LossWord) -> str:
    """The kind of the targets of a loss, for a table."""
    return "numbers" if word.target == "real" else word.target


_ARGUMENTS = {"scalar": "numbers", "vector": "vectors", "matrix": "matrices"}


def _convex() -> str:
    return _table(
        ("function", "of", "value"),
        *(
            (
                _call(w.name, ("X" if w.of == ("matrix",) else "x",), w.options),
                "symmetric matrices" if w.of_eigenvalues else ", ".join(_ARGUMENTS[shape] for shape in w.of),
                _clause(w.formula),
            )
            for w in CONVEX.values()
        ),
    )


def _sets() -> str:
    rows = ((_call(w.name, (), w.parameters), _of_set(w), _clause(w.formula)) for w in SETS.values())
    return _table(("set", "of", "points"), *rows)


def _of_set(word: SetWord) -> str:
    if word.of == "entrywise":
        return f"{'numbers, ' if word.scalar else ''}vectors, matrices"
    of = {"vector": "vectors", "matrix": "matrices", "square": "square matrices", "symmetric": "symmetric matrices"}
    return of[word.of]


def _maps() -> str:
    return _table(
        ("map", "rows"),
        *(
            (f"`{w.name}({', '.join([w.parameters[0].name, *(_named(p) for p in w.options)])})`", _clause(w.formula))
            for w in FEATURE_MAPS.values()
        ),
    )


def _functions() -> str:
    return _table(("function", "value"), *((_calls(w), _clause(w.formula)) for w in FUNCTIONS.values()))


def _constants() -> str:
    rows = ((_calls(w), _clause(w.formula), w.domain) for w in CONSTANTS.values())
    return _table(("function of constants", "value", "of"), *rows)


def _calls(word: Word) -> str:
    """The call without the parameters that may be left out, and the one with them."""
    calls = (
        _call(word.name, (p.name for p in word.parameters if p.required), ()),
        _call(word.name, ("..." if p.repeated else p.name for p in word.parameters), ()),
    )
    return ", ".join(dict.fromkeys(calls))


def _types() -> str:
    yes = {True: "yes", False: ""}
    return _table(
        ("type", "data", "param", "var", "meaning"),
        *((_forms(n, w), yes[w.data], yes[w.of_parameters], yes[w.var], w.meaning) for n, w in TYPES.items()),
    )


def _forms(name: str, word: TypeWord) -> str:
    forms = [word.example]
    if word.dims is not None and len(word.dims) > 1:
        other = f"{name}[n]" if "," in word.example else f"{name}[n, k]"
        forms.append(other)
    if word.of == "signs":
        forms.append(f"{word.example} of signs")
    return ", ".join(f"`{form}`" for form in forms)


_SERVES = {
    "table": "one matrix, one target, or both",
    "one": "one name",
    "many": "any number of names, each under its own key",
    "entries": "one `entries`",
}


def _sources() -> str:
    rows = []
    for name, word in SOURCES.items():
        options = "; ".join(f"`{p.name}`: {p.meaning}" for p in word.parameters[1:])
        serves = f"{_SERVES[word.serves]} ({word.meaning})" if word.meaning else _SERVES[word.serves]
        rows.append((f"`{name}({word.parameters[0].name})`", options, serves))
    return _table(("source", "options", "serves"), *rows)


def _columns() -> str:
    rows = []
    for word in COLUMN_WORDS.values():
        options = "; ".join(f"`{p.name}`: {p.meaning}" for p in word.parameters[1:])
        rows.append((f"`{word.name}({word.parameters[0].name})`", options, _clause(word.formula)))
    return _table(("column", "options", "gives"), *rows)


def _options() -> str:
    rows = []
    for name, word in SOLVE_OPTIONS.items():
        default = f"`{word.default}`" if isinstance(word.default, str) else f"{word.default}".replace("e-0", "e-")
        rows.append((f"`{name}`", word.meaning, word.otherwise or default))
    return _table(("option", "value", "default"), *rows)


TABLES: dict[str, Callable[[], str]] = {
    "losses": _losses,
    "entrywise": _entrywise,
    "convex": _convex,
    "sets": _sets,
    "maps": _maps,
    "functions": _functions,
    "constants": _constants,
    "types": _types,
    "sources": _sources,
    "columns": _columns,
    "options": _options,
}

_SECTIONS: dict[str, tuple[str, ...]] = {
    "losses": tuple(name for name, w in LOSSES.items() if not w.entrywise),
    "functions-of-entries": (*ENTRYWISE, *(name for name, w in LOSSES.items() if w.entrywise or w.alone is not None)),
    "convex-functions": tuple(CONVEX),
    "constraints": tuple(SETS),
    "feature-maps": tuple(FEATURE_MAPS),
    "expressions": tuple(FUNCTIONS),
    "functions-of-constants": tuple(CONSTANTS),
    "types": tuple(TYPES),
    "data": tuple(SOURCES),
    "columns-of-categories": tuple(COLUMN_WORDS),
    "options": tuple(SOLVE_OPTIONS),
    "programs": tuple(KEYWORDS),
}


def sections_of(name: str) -> list[str]:
    """The sections of docs/language.md that tell of a word, as in links to them."""
    return [section for section, names in _SECTIONS.items() if name in names]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
