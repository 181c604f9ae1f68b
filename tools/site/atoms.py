"""A page for each word that is called like a function or named as a set, from its record, its mathematics and its methods; and the list of them.

The record says its formula, arguments and facts; the file of its mathematics says derivatives, conjugate and prox; what methods take it, methods say.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fwdsl.atoms import losses as loss_atoms
from fwdsl.atoms.loss import Loss
from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.vector_loss import VectorLoss
from fwdsl.atoms.vectors import NORMS
from fwdsl.atoms.vectors import SETS as SET_ATOMS
from fwdsl.words import CONSTANTS, CONVEX, ENTRYWISE, FEATURE_MAPS, FUNCTIONS, LOSSES, NUMBERS, SETS
from fwdsl.words.base import Parameter, Word
from fwdsl.words.tables import target_of

from . import pictures, standard
from .links import ROOT, slug
from .programs import bearers, links_to, users
from .text import ALONE, listed, md, paragraphs, table

#: The kinds of words with a page each, as the list of them has them: all of them, one of them, what they are, the words.
KINDS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Losses", "loss", "Functions of predictions and targets, summed or averaged over samples.", dict(LOSSES)),
    (
        "Norms and other regularisers",
        "regulariser",
        "Convex functions of a variable or an expression, in the objective.",
        dict(CONVEX),
    ),
    (
        "Functions of entries",
        "function of entries",
        "Functions of one number, summed or averaged over the entries of an expression, and values of numbers without variables.",
        {name: word for name, word in {**CONSTANTS, **ENTRYWISE}.items() if name not in LOSSES and name not in CONVEX},
    ),
    ("Sets", "set", "What a variable or an expression is to be in: `w in simplex(1)`.", dict(SETS)),
    ("Feature maps", "feature map", "New columns from those of a data matrix.", dict(FEATURE_MAPS)),
    ("Functions", "function", "Algebra.", dict(FUNCTIONS)),
)

#: The operations that a page shows as they are written, those of losses first. `_naive` are the references that the verifier uses.
_OPERATIONS = {
    "value_naive": "value",
    "gradient_naive": "derivative, or a subgradient",
    "conjugate_naive": "conjugate",
    "prox_naive": "prox",
    "value": "value",
    "prox": "prox, or projection",
    "lmo": "linear minimisation (LMO)",
    "conjugate": "conjugate, or support function",
}


def atom_pages() -> dict[str, str]:
    """The pages by their paths below `docs/reference`."""
    found = {f"atoms/{name}.md": page(word) for *_, words in KINDS for name, word in words.items()}
    return {**found, "atoms/index.md": _index()}


def page(word: Word) -> str:
    """The page of a word."""
    cls = atom_of(word.name)
    parts = [
        f"{ALONE}# `{word.name}`\n",
        f"{_kind(word)}: `{word.call}`\n",
        f"> {md(word.formula)}\n",
        pictures.of_word(word.name),
        _arguments(word),
        _facts(word, cls),
        _mathematics(word, cls),
        _methods(word),
        _examples(word),
    ]
    return "\n".join(part for part in parts if part)


def _kind(word: Word) -> str:
    title, one = next((title, one) for title, one, _, words in KINDS if word.name in words)
    said = CONVEX[word.name].what if word.name in CONVEX else one
    return f"{said.capitalize()} ([all {title.lower()}](index.md#{slug(title)}))"


def _arguments(word: Word) -> str:
    rows = [(f"`{p.name}`", _is(p), _default(p)) for p in word.parameters]
    return f"## Arguments\n\n{table(('argument', 'is', 'unless given'), rows)}" if rows else ""


def _is(p: Parameter) -> str:
    if p.domain in NUMBERS and p.domain != "real":
        return NUMBERS[p.domain].told
    shapes = {
        "number": "a number",
        "bound": "a number or an array of the shape of what is bounded",
        "entries": "a vector with an entry for each entry",
        "columns": "a matrix with a column for each entry",
        "right": "a number, or a vector with an entry for each row",
    }
    kinds = {"index": "a group for each entry, or lists of entries", "psd": "a positive semidefinite matrix"}
    named = {"prediction": "the predictions, an expression", "target": f"the targets{f', {p.kind}' if p.kind else ''}"}
    plain = {"real": "a number", "boolean": "`true` or `false`", "set": "a set of vectors"}
    return shapes.get(p.shape) or named.get(p.name) or kinds.get(p.kind) or plain.get(p.domain, "an expression")


def _default(p: Parameter) -> str:
    if p.default is None:
        return "left out" if p.optional else ""
    return f"`{str(p.default).lower()}`" if isinstance(p.default, bool) else f"`{p.default:g}`"


# --- facts -----------------------------------------------------------------------------------------------------------


def _facts(word: Word, cls: Any) -> str:
    rows = [(name, said) for name, said in (*_record_facts(word), *_atom_facts(word, cls)) if said]
    return f"## Facts\n\n{table(('fact', 'value'), rows)}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _record_facts(word: Word) -> Iterator[tuple[str, str]]:
    """The facts of the record, in words."""
    if word.name in LOSSES:
        loss = LOSSES[word.name]
        yield "target", target_of(loss)
        yield "predictions", "a row of scores a sample" if loss.scores else "a number a sample"
        yield "depends on z - b alone", _yes(loss.residual)
        yield "likelihood", "exp(-loss) is the probability of the target: `predict_proba`" if loss.likelihood else ""
    elif word.name in CONVEX:
        convex = CONVEX[word.name]
        yield "of", ", ".join(convex.of)
        yield "is", convex.what
        yield "ball", listed([convex.ball], "atoms") if convex.ball else ""
        yield "of the singular values", listed([convex.spectrum], "atoms") if convex.spectrum else ""
        yield "sum over rows of", listed([convex.rows], "atoms") if convex.rows not in ("", word.name) else ""
        yield "the same for matrices", listed([convex.of_matrices], "atoms") if convex.of_matrices else ""
        yield "finite on", listed([convex.domain], "atoms") if convex.domain else ""
        yield "certificate", f"{convex.certificate}: how its conjugate is known"
    elif word.name in SETS:
        on = SETS[word.name]
        yield (
            "of",
            "vectors; matrices entry by entry"
            if on.of == "entrywise"
            else f"{on.of}s"
            if on.of in ("vector", "matrix")
            else f"{on.of} matrices",
        )
        yield "bounded", _yes(on.compact)
        yield "polyhedral", _yes(on.polyhedral)
        yield "ball of", listed([on.norm], "atoms") if on.norm else ""
        yield "within", listed([on.cone], "atoms") if on.cone else ""
        yield "within, of the same radius", listed(on.within, "atoms")
        yield "of the spectrum", listed([on.spectrum], "atoms") if on.spectrum else ""
        yield "the same for matrices", listed([on.of_matrices], "atoms") if on.of_matrices else ""
        yield "the same for vectors", f"`{on.of_vectors}`" if on.of_vectors else ""
        yield "solved as", on.written_as
        yield "certificate", f"{on.certificate}: how its support function is known"
    elif word.name in FEATURE_MAPS:
        yield "implicit", _yes(FEATURE_MAPS[word.name].implicit)
        yield "affine in the row", _yes(FEATURE_MAPS[word.name].affine)
    elif word.name in FUNCTIONS:
        yield "reduces a loss over samples", _yes(FUNCTIONS[word.name].reduces)
    yield "called elsewhere", ", ".join(f"`{name}`" for name in word.elsewhere)


def _atom_facts(word: Word, cls: Any) -> Iterator[tuple[str, str]]:
    """The facts of the class of its mathematics."""
    if cls is None:
        return
    if issubclass(cls, Loss | VectorLoss):
        smooth = cls.smoothness
        yield "smoothness, the largest second derivative", "not differentiable" if smooth is None else f"{smooth:g}"
        yield "strong convexity", f"{getattr(cls, 'strong_convexity', 0.0):g}"
        flags = ("piecewise_linear", "piecewise_quadratic", "quadratic")
        yield "is", ", ".join(flag.replace("_", " ") for flag in flags if getattr(cls, flag, False))
    yield "written in", f"`{_home(cls)}`"


def _home(cls: type) -> str:
    return Path(inspect.getsourcefile(cls) or "").resolve().relative_to(ROOT).as_posix()


# --- mathematics -----------------------------------------------------------------------------------------------------


def atom_of(name: str) -> Any:
    """The class of a word's mathematics; None where it has none of its own (functions of algebra, what is written with other words)."""
    if name in LOSSES:
        return loss_atoms.class_of(name)
    if name in NORMS:
        return NORMS[name]
    if name in SET_ATOMS:
        return SET_ATOMS[name]
    if name in CONVEX and "matrix" in CONVEX[name].of:
        options = {p.name: 1 for p in CONVEX[name].options if p.required}
        made = build_matrix((name, 1.0, options) if options else (name, 1.0), None, (2, 2))
        return None if made is None else type(made)
    if name in SETS and SETS[name].of != "vector":
        arguments: dict[str, Any] = {"r": 1.0, "set": ("simplex", {"r": 1.0})}
        made = build_matrix(None, (name, {p.name: arguments[p.name] for p in SETS[name].parameters}), (2, 2))
        return None if made is None else type(made)
    return None


def _mathematics(word: Word, cls: Any) -> str:
    module = _map_module(word.name) if word.name in FEATURE_MAPS else None if cls is None else inspect.getmodule(cls)
    if module is None:
        return ""
    code = "" if cls is None else "\n".join(_operations(cls))
    if code:
        code = (
            "### As code\n\nThe references in NumPy, which the verifier uses"
            f"{'; `p` are the options in their order' if word.name in LOSSES else ''}.\n\n{code}"
        )
    return f"## Mathematics\n\n{paragraphs(module.__doc__)}\n\n{code}"


def _map_module(name: str) -> Any:
    """The module of a feature map: the one of its name, or that of all maps used through their Gram matrix."""
    own = f"fwdsl.features.{name}"
    return import_module(own if find_spec(own) else "fwdsl.features.gram")


def _operations(cls: type) -> Iterator[str]:
    """The operations that the class, or what it is made of, writes out; not those that only say what an operation is."""
    for name, title in _OPERATIONS.items():
        found = inspect.getattr_static(cls, name, None)
        function = getattr(found, "__func__", found)
        if not inspect.isfunction(function) or getattr(function, "__isabstractmethod__", False):
            continue
        if issubclass(cls, Loss) and not name.endswith("_naive"):
            continue
        lines = textwrap.dedent(inspect.getsource(function)).rstrip()
        yield f"{title[:1].upper()}{title[1:]}:\n\n```python\n{lines}\n```\n"


# --- who takes it, who uses it ---------------------------------------------------------------------------------------


def _methods(word: Word) -> str:
    if word.name not in LOSSES and word.name not in CONVEX and word.name not in SETS:
        return ""
    programs = standard.of_word(word.name)
    if not programs:
        return ""
    beside = "With" if word.name in LOSSES else "Least squares with this of"
    if word.name in SETS:
        beside = "Least squares, of"
    rows = [(s.says, listed([s.plan.method], "methods"), listed(s.takers, "methods")) for s in programs]
    grounds = dict.fromkeys(s.plan.certificate for s in programs)
    return (
        "## Methods and certificate\n\nWhat methods say of small programs with this word, from the text alone; data and their sizes then decide. "
        f"[All methods](../methods/index.md).\n\n{table((beside, 'first choice', 'methods that take it'), rows)}\n"
        f"The dual bound of these rests on:\n\n{''.join(f'- {md(clause)}{chr(10)}' for clause in grounds)}\n"
        f"For example\n\n```fw\n{programs[0].text}```\n"
    )


def _examples(word: Word) -> str:
    named, meant = users(word.name), bearers(word.name)
    parts = [f"{links_to(named)}.\n"] if named else []
    if meant:
        parts.append(f"In other words, by their canonical forms: {links_to(meant)}.\n")
    return "## Programs that use it\n\n" + "\n".join(parts) if parts else ""


# --- the list --------------------------------------------------------------------------------------------------------


def _index() -> str:
    parts = [
        "# Words of the language\n",
        "A page for each: its formula, domain, prox, conjugate, linear minimisation, certificate, the methods that take it and programs with it. "
        "[The language](/language.md) has their tables with their grammar; [a loss or a set of your own](/extending.md) gets all of these too.\n",
    ]
    for title, _, what, words in KINDS:
        rows = [(f"[`{n}`]({n}.md)", md(w.formula)) for n, w in words.items()]
        parts += [f"## {title}\n\n{what}\n", table(("word", "is"), rows)]
    return "\n".join(parts)
