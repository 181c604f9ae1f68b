"""The state of the checker while it reads a program: declared names, dimensions and diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from types import MappingProxyType
from typing import Literal

from ..grammar import tree
from ..grammar.diagnostic import Diagnostic, Fix, Label
from ..grammar.source import Source, Span
from ..light_dataclass import light_dataclass
from ..model import Dim, Expr
from ..words import NUMBERS_BY_NAME, SETS, is_taken, kind_of_word
from . import shapes, signs
from .budget import ExpressionLimits
from .values import Nested, Value

ERRORS_AT_MOST = 20
_RECORDED_AT_MOST = 200
_SLIP = 0.8
"""The least similarity of two words that differ by one wrong, missing or extra letter."""

EntryKind = Literal["data", "param", "var", "let", "dimension"]


@light_dataclass
class Entry:
    """A declared name. `value` is the meaning of its uses, or None after an error that was reported.

    `literal` holds the numbers that the program gives to data.
    """

    name: str
    kind: EntryKind
    span: Span
    value: Value | None = None
    type_text: str = ""
    type_span: Span | None = None
    literal: Nested | None = None


IS = {"data": "data", "param": "a parameter", "var": "a variable", "let": "a `let`", "dimension": "a dimension"}


@dataclass
class Context:
    """One run of the checker.

    `partial` says that statements are missing because they could not be parsed. Errors that may follow from that are not reported.
    `lost` holds the names that the missing statements may declare. `known` has the meanings of nodes by their identity, with the nodes, which
    keeps them: a rule that looks at an argument before it decides what the argument is to be asks for it twice. `weights` are names without a
    declaration that multiply losses or convex functions. `offered` has the names that helps give to new variables, by the place of the finding.
    """

    source: Source
    infer: Callable[[Context, tree.Expr], Value | None]
    partial: bool = False
    lost: frozenset[str] = frozenset()
    entries: dict[str, Entry] = field(default_factory=dict)
    coming: dict[str, Span] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    weights: set[str] = field(default_factory=set)
    found: list[Diagnostic] = field(default_factory=list)
    let_names: dict[int, str] = field(default_factory=dict)
    naming: str = ""
    known: dict[int, tuple[tree.Expr, Value | None]] = field(default_factory=dict)
    depth: int = 0
    too_deep: bool = False
    budget: ExpressionLimits = field(default_factory=ExpressionLimits)
    implicit: dict[Dim, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, Span]] = field(default_factory=dict)
    offered: dict[Span, str] = field(default_factory=dict)

    # --- reporting

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        labels: Iterable[Label] = (),
        rule: str = "",
        hint: str = "",
        fix: Fix | None = None,
        choices: Iterable[Fix] = (),
    ) -> None:
        """Report an error. A second error with the same code at the same place is dropped."""
        labels, choices = tuple(labels), tuple(choices)
        self._report(Diagnostic(code, message, span, self.source, label, labels, rule, hint, fix, choices=choices))

    def warn(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        labels: Iterable[Label] = (),
        rule: str = "",
        hint: str = "",
    ) -> None:
        labels = tuple(labels)
        self._report(Diagnostic(code, message, span, self.source, "", labels, rule, hint, severity="warning"))

    def _report(self, diagnostic: Diagnostic) -> None:
        if len(self.found) < _RECORDED_AT_MOST and not any(
            d.code == diagnostic.code and d.span == diagnostic.span for d in self.found
        ):
            self.found.append(diagnostic)

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.found)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The errors in the order of the text, or the warnings where there is no error, since warnings may follow from an error."""
        found = [d for d in self.found if d.severity == "error"] or self.found
        return tuple(sorted(found, key=lambda d: d.span or tree.NOWHERE)[:ERRORS_AT_MOST])

    # --- the text

    def text(self, node: tree.Node | Span) -> str:
        """The program's text at a place, on one line. A long text is shortened in the middle."""
        text = " ".join(self.source.slice(node if isinstance(node, Span) else node.span).split())
        return text if len(text) <= 60 else f"{text[:40]} ... {text[-15:]}"

    def new_name(self, span: Span) -> str:
        """A name for a further variable in the help of a finding at a place: `t` where the program has none, and no other help offers it."""
        if span not in self.offered:
            taken = {*self.entries, *self.coming, *self.offered.values()}
            names = chain("tsr", (f"t{k}" for k in count(1)))
            self.offered[span] = next(name for name in names if name not in taken)
        return self.offered[span]

    def declared(self, *nodes: tree.Node) -> list[Label]:
        """A label at the declaration of each name in these places, with its type."""
        labels = []
        for node in nodes:
            entry = self.entry_of(node)
            if entry is not None and entry.kind != "dimension" and entry.value is not None:
                what = f"`{entry.name}` is {entry.type_text}" if entry.type_text else f"`{entry.name}` is defined here"
                label = Label(entry.type_span or entry.span, what)
                if label not in labels:
                    labels.append(label)
        return labels

    def entry_of(self, node: tree.Node) -> Entry | None:
        """The entry of the name that a node is, or is a transpose or a slice of."""
        while isinstance(node, tree.Transpose | tree.Index | tree.Neg):
            node = node.base if isinstance(node, tree.Index) else node.operand
        if isinstance(node, tree.Ident):
            return self.entries.get(node.name)
        return self.entries.get(node.id) if isinstance(node, tree.Name) else None

    # --- names

    def declare(self, entry: Entry) -> bool:
        """Enter a name. Reports a name that is taken or reserved; the first declaration counts."""
        word = kind_of_word(entry.name) if is_taken(entry.name) else ""
        if word:
            self.error(
                "FW2003",
                f"`{entry.name}` is {word} of the language and cannot be declared",
                entry.span,
                rule="Names of types, functions and sets are reserved.",
                hint=f"choose another name, for example `{entry.name}_`",
            )
        earlier = self.entries.get(entry.name)
        if earlier is None:
            self.entries[entry.name] = entry
            return not word
        self.error(
            "FW2002",
            f"`{entry.name}` is declared twice: it is already {IS[earlier.kind]}",
            entry.span,
            labels=[Label(earlier.span, f"`{entry.name}` is {IS[earlier.kind]} since here")],
            rule="A name stands for one thing; data, parameters, variables, lets and dimensions share their names.",
            hint="rename one of them",
        )
        return False

    def use_dimension(self, name: str, span: Span) -> None:
        """Enter a dimension at its first use in a type. Reports a name that is declared as something else."""
        earlier = self.entries.get(name)
        if earlier is None:
            self.declare(Entry(name, "dimension", span, dimension_expr(name, span)))
        elif earlier.kind != "dimension":
            self.error(
                "FW2002",
                f"`{name}` is {IS[earlier.kind]} and cannot be a dimension",
                span,
                labels=[Label(earlier.span, f"`{name}` is {IS[earlier.kind]}")],
                rule="A name stands for one thing; data, parameters, variables, lets and dimensions share their names.",
                hint="a dimension is bound by the data that has it, or given with `--dim`; rename one of them",
            )

    def lookup(self, name: str, span: Span) -> Value | None:
        """The meaning of a use of a name; None where the name is unknown or had an error."""
        entry = self.entries.get(name)
        if entry is not None:
            self.used.add(name)
            value = entry.value
            return value.at(span) if isinstance(value, Expr) and entry.kind != "let" else value
        if name in self.coming:
            self.error(
                "FW2004",
                f"`{name}` is used before it is declared",
                span,
                labels=[Label(self.coming[name], f"`{name}` is declared here")],
                rule="A name is declared before its use.",
                hint=f"move the declaration of `{name}` up",
            )
        elif name in NUMBERS_BY_NAME:
            return Expr(
                "const",
                shapes.REAL,
                value=NUMBERS_BY_NAME[name],
                sign=signs.sign_of_value(NUMBERS_BY_NAME[name]),
                span=span,
            )
        elif word := kind_of_word(name):
            example = f"`x in {name}`" if name in SETS else f"`{name}(...)`"
            self.error(
                "FW2005",
                f"`{name}` is {word} and not a value",
                span,
                rule="A value is a number, a declared name, or an expression of these.",
                hint=f"write {example}" if word != "a type" else f"a type stands behind a declared name: `x: {name}`",
            )
        elif name not in self.lost:
            self.undeclared(name, span)
        return None

    def undeclared(self, name: str, span: Span) -> None:
        """Report a name that nothing declares. It is reported once, but a misspelling at each place, so that each gets its fix."""
        if name in self.missing:
            return
        if not similar(name, [*self.entries, *self.coming]):
            self.missing.add(name)
        from ..words.foreign import foreign

        record = foreign(name, "value")
        self.unknown(
            "FW2001",
            f"`{name}` is not declared",
            name,
            span,
            [*self.entries, *self.coming],
            rule="Every name is declared by `data`, `param`, `var` or `let`, or is a dimension of a declared type.",
            otherwise=record.why
            if record
            else f"declare it first, for example `param {name}: {'nonnegative' if name in self.weights else 'real'}`",
        )

    def unknown(
        self,
        code: str,
        message: str,
        name: str,
        span: Span,
        known: Iterable[str],
        *,
        elsewhere: Mapping[str, str] = MappingProxyType({}),
        fits: Callable[[str], bool] = lambda word: True,
        labels: Iterable[Label] = (),
        rule: str,
        otherwise: str = "",
    ) -> None:
        """Report an unknown word, and suggest a known one: the equivalent of that name `elsewhere`, or the most similar word.
        The hint is `otherwise` where there is neither. A word that does not fit the place is only suggested for a typing error."""
        known, other = list(known), elsewhere.get(name.lower(), "")
        same = bool(other) and fits(other)
        guess = other if same else similar(name, [k for k in known if fits(k)]) or similar(name, known, _SLIP)
        hint = f"did you mean `{guess}`?" if guess else otherwise
        fix = Fix(f"replace `{name}` by `{guess}`", span, guess, guess=not same) if guess else None
        self.error(code, message, span, labels=labels, rule=rule, hint=hint, fix=fix)


def dimension_expr(name: str, span: Span) -> Expr:
    """A dimension as a number."""
    return Expr("dim", shapes.REAL, name=name, sign="positive", span=span)


def similar(name: str, known: Iterable[str], least: float = 0.0) -> str:
    """The known name most similar to a misspelt one, or an empty text where none reaches the least similarity."""
    from difflib import get_close_matches

    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.casefold(), k)
    least = least or (0.75 if len(name) > 3 else 0.6)
    matches: Sequence[str] = get_close_matches(name.casefold(), folded, n=1, cutoff=least)
    return folded[matches[0]] if matches else ""
