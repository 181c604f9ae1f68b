"""Prints the syntax tree."""

from __future__ import annotations

from dataclasses import fields

from fwdsl.grammar.tree import Node, Program


def dump_tree(program: Program) -> str:
    """The tree with one node a line, its children indented below, and its place (`line:column-line:column`) if it has one.

    Nodes of different fields are told apart by the field's name in front of them.
    """
    lines: list[str] = []
    todo: list[tuple[int, str, Node]] = [(0, "", program)]
    while todo:
        depth, role, node = todo.pop()
        values = {
            f.name: getattr(node, f.name)
            for f in fields(node)
            if f.name not in ("span", "comments", "source", "lost")
            or (not isinstance(node, Program) and f.name != "span")
        }
        nested: list[tuple[str, Node]] = []
        plain = []
        for name, value in values.items():
            if isinstance(value, Node):
                nested.append((name, value))
            elif isinstance(value, tuple) and any(isinstance(v, Node) for v in value):
                nested += [(name, v) for v in value]
            elif value not in (None, (), ""):
                plain.append(
                    f"{name}={value!r}" if not isinstance(value, tuple) else f"{name}={' '.join(map(str, value))}"
                )
        place = ""
        if program.source.text and not isinstance(node, Program):
            (line, column), (end, last) = (program.source.position(at) for at in (node.span.start, node.span.end))
            place = f"  @{line}:{column}-{end}:{last}"
        label = f"{role}: " if role else ""
        lines.append("  " * depth + label + " ".join([type(node).__name__, *plain]) + place)
        several = len({name for name, _ in nested}) > 1
        todo += [(depth + 1, name if several else "", child) for name, child in reversed(nested)]
    return "\n".join(lines) + "\n"
