"""The saved tables: current, read without lark, and made anew where they are not current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fwdsl.grammar import tables as module
from fwdsl.grammar.build import ACTIONS
from fwdsl.grammar.tables import SAVED, build, dumps, loads, stamp
from fwdsl.grammar.words import SPELLING


def test_the_saved_tables_are_not_stale():
    assert loads(SAVED.read_text("ascii")).stamp == stamp(), "run: python -m fwdsl.grammar.tables"
    assert SAVED.read_text("ascii") == dumps(build()), "run: python -m fwdsl.grammar.tables"


def test_tables_that_do_not_match_the_grammar_are_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    saved = tmp_path / "fw.tables"
    monkeypatch.setattr(module, "SAVED", saved)
    for text in (None, "no json", "{}", SAVED.read_text("ascii").replace(stamp(), "0" * 64)):
        if text is not None:
            saved.write_text(text, "ascii")
        assert module.tables.__wrapped__() == build()


def test_every_alias_has_its_function_and_every_function_its_rule():
    assert {rule.action for rule in build().rules} - {None} == set(ACTIONS)


def test_every_terminal_of_the_rules_has_a_spelling():
    used = {symbol for row in build().states for symbol in row if symbol.isupper()}
    assert used <= set(SPELLING)
    assert not any(re.search("[A-Z_]{2}", text) for text in SPELLING.values())


def test_importing_loads_nothing_and_parsing_loads_no_lark(root: Path):
    code = (
        "import sys, fwdsl.grammar as g; before = set(sys.modules)\n"
        "assert not any(m.startswith('fwdsl.grammar.') for m in before)\n"
        "assert g.parse('var x: real')[1] == ()\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'lark', 'numpy', 'scipy', 'numba', 'rich'}))"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout
    assert out == "[]\n"


def test_a_name_that_is_not_there():
    import fwdsl.grammar

    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = fwdsl.grammar.nothing_like_it
