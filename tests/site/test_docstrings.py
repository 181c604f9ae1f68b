"""Docstrings as reStructuredText: signs of mathematics stay, code is code, names with meanings are lists, indented parts are programs."""

from __future__ import annotations

import pytest

docstrings = pytest.importorskip("tools.site.docstrings")


def shown(text: str) -> str:
    return "\n".join(docstrings.rst(text.splitlines())).rstrip()


def test_signs_of_mathematics_stay():
    assert shown("f*(u) = |u|_1 where `a * b` is") == r"f\*(u) = \|u\|\_1 where ``a * b`` is"


def test_code_ends_before_a_letter():
    assert shown("`names`s and `f`(x)") == r"``names``\ s and ``f``\ (x)"


def test_names_with_meanings_are_a_list():
    assert shown("Text.\n\nx: one\ny, z: `two`") == "Text.\n\n* ``x``: one\n* ``y, z``: ``two``"


def test_one_line_with_a_colon_is_text():
    assert shown("Raises: nothing") == "Raises: nothing"


def test_indented_parts_are_programs_of_their_language():
    program = shown("The program:\n\n    data X: matrix[n, p]\n\n    var w: vector[p]")
    assert ".. code-block:: fw" in program and program.endswith("    data X: matrix[n, p]\n\n    var w: vector[p]")
    assert ".. code-block:: python" in shown("Use:\n\n    import fwdsl as fw")
