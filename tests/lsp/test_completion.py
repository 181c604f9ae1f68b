from __future__ import annotations

from pathlib import Path

import pytest

from fwdsl.backends.registry import METHODS
from fwdsl.grammar import parse
from fwdsl.lsp.completion import complete
from fwdsl.words import LOSSES, SETS, SOLVE_OPTIONS, SOURCES, TYPES
from fwdsl.words.keywords import KEYWORDS

from .cursors import LASSO, MARK, line, marked


def offered(text: str, folder: Path | None = None) -> list[str]:
    analysis, offset = line(text, folder)
    return [offer.text for offer in complete(analysis, offset).items]


STATEMENTS = {name for name, word in KEYWORDS.items() if word.starts}


@pytest.mark.parametrize(
    ("text", "there", "absent"),
    [
        (MARK, STATEMENTS, {"huber", "w"}),
        (f"mini{MARK}", STATEMENTS, {"huber"}),
        (f"minimize {MARK}", {"fit", "w", "n", *LOSSES}, {"in", "data"}),
        (f"minimize fit + {MARK}", {"w", *LOSSES}, set()),
        (f"minimize fit {MARK}", set(), {"w", "huber"}),
        (f"minimize mean(squared(X @ w, {MARK}", {"y", "b"}, set()),
        (f"minimize mean(huber(X @ w, y, {MARK}", {"delta=", "y"}, set()),
        (f"minimize mean(huber(X @ w, y, delta=1, {MARK}", {"y"}, {"delta="}),
        (f"var z: {MARK}", {n for n, w in TYPES.items() if w.var}, {"labels", "w"}),
        (f"param z: {MARK}", {"positive", "count", "vector"}, {"psd", "labels"}),
        (f"data z: {MARK}", {"labels", "vector"}, {"family"}),
        (f"data z: vector[{MARK}", {"n", "p"}, {"w", "vector"}),
        (f"data z: index[n] {MARK}", {"of", "in", "from"}, {"w"}),
        (f"data z: index[n] of {MARK}", {"n", "p"}, {"w", "vector"}),
        (f"data z: entries[n, p] of {MARK}", {"signs"}, {"vector"}),
        (f"var z: family[n] of {MARK}", {"psd", "vector"}, {"real", "labels"}),
        (f"var z: vector[p] in {MARK}", set(SETS), {"huber", "w"}),
        (f"var z: vector[p] in l1_ball({MARK}", {"mu"}, set()),
        (f"data z: vector[n] from {MARK}", set(SOURCES), {"w"}),
        (f'data z: vector[n] from csv("a.csv", {MARK}', {"target=", "header="}, {"w", "key="}),
        (f'data z: vector[n] from csv("a.csv", header={MARK}', {"true", "false"}, {"w"}),
        (f"minimize fit\nsubject to {MARK}", {"w", *STATEMENTS}, set()),
        (f"minimize fit\nsubject to w {MARK}", {"in"}, {"w"}),
        (f"minimize fit\nsubject to w in {MARK}", set(SETS), {"w"}),
        (f"solve {MARK}", {f"{o} = " for o in SOLVE_OPTIONS}, {"w"}),
        (f"solve tol = 1e-3, {MARK}", {"method = "}, {"tol = "}),
        (f"solve gap = {MARK}", {"relative", "absolute"}, {"w"}),
        (f"solve method = {MARK}", {"auto", *METHODS}, {"w"}),
        (f"solve method = pdhg({MARK}", {f"{o}=" for o in METHODS["pdhg"].options}, {"w"}),
        (f"minimize fit # {MARK}", set(), {"w"}),
    ],
)
def test_what_may_stand_is_offered(text: str, there: set[str], absent: set[str]) -> None:
    found = set(offered(text))
    assert there <= found
    assert not absent & found


def test_columns_and_files_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").write_text('price,"a, b",size\n1,2,3\n')
    (tmp_path / "other.npy").write_bytes(b"")
    (tmp_path / "data" / "d.zarr").mkdir()
    source = 'data z: vector[n] from csv("data/train.csv"'
    columns = ["price", "a, b", "size"]
    assert offered(f'{source}, target="{MARK}")', tmp_path) == columns
    assert offered(f'{source}, target="{MARK}', tmp_path) == columns
    assert offered(f'{source}, columns=["price", "{MARK}"])', tmp_path) == columns
    assert offered(f"{source}, target={MARK}", tmp_path) == [f'"{c}"' for c in columns]
    assert offered(f'data z: vector[n] from csv("{MARK}")', tmp_path) == ["data/train.csv"]
    assert offered(f'data z: vector[n] from zarr("{MARK}")', tmp_path) == ["data/d.zarr"]
    assert offered(f'data z: vector[n] from csv("none.csv", target="{MARK}")', tmp_path) == []
    assert offered(f'{source}, target="{MARK}")') == []
    assert offered(f"{source}, columns=[{MARK}])", tmp_path) == [*(f'"{c}"' for c in columns), "onehot"]
    assert offered(f'{source}, columns=["price", onehot("{MARK}")])', tmp_path) == columns
    assert set(offered(f'{source}, columns=[onehot("price", {MARK})])', tmp_path)) == {"drop=", "unknown="}


def test_columns_of_parquet(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"u": [1.0], "v": [2.0]}).to_parquet(tmp_path / "t.parquet")
    assert offered(f'data z: vector[n] from parquet("t.parquet", target="{MARK}")', tmp_path) == ["u", "v"]


def test_the_word_at_the_cursor_is_replaced() -> None:
    analysis, offset = line(f"minimize mean(hu{MARK}b(X @ w, y))")
    span = complete(analysis, offset).span
    assert analysis.source.slice(span) == "hub"


def test_every_place_of_every_text_has_an_answer() -> None:
    for cut in range(len(LASSO) + 1):
        analysis, offset = marked(LASSO[:cut] + MARK)
        complete(analysis, offset)


def test_calls_that_are_offered_parse() -> None:
    for name in SETS:
        assert not parse(f"fw 1\nvar x: vector[n] in {SETS[name].call}\nminimize norm1(x)\n")[1]
