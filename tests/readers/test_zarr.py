"""zarr stores of both versions: arrays by name and by path through groups, each read once, and what is no store is told."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.readers import keyed
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec, infer_format, parse_data_argument

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("kind", "labels", (None, None))

zarr = pytest.importorskip("zarr", minversion="3.1", reason="zarr stores are read by zarr")


@pytest.fixture(params=[2, 3])
def store(request: pytest.FixtureRequest, folder: Path) -> Any:
    """A store of each version, with arrays of the three roles, one of them in a group."""
    group = zarr.open_group("d.zarr", mode="w", zarr_format=request.param)
    group.create_array("X", data=np.arange(6, dtype=np.float32).reshape(2, 3), chunks=(1, 2))
    group.create_array("group/y", data=np.array([1, 2]))
    group.create_array("kind", shape=(2,), dtype=str)[:] = np.array(["u", "long"])
    return group


def served(path: str, *roles: Role, **options: Any) -> dict[str, Any]:
    arrays, found = read(SourceSpec("zarr", path, options), roles)
    assert found == ()
    return arrays


def refused(path: str, *roles: Role, **options: Any) -> tuple[str, str]:
    arrays, (found,) = read(SourceSpec("zarr", path, options), roles or (MATRIX,))
    assert arrays == {}
    return found.code, found.message


def test_arrays_are_served_by_name_and_path(store: Any) -> None:
    arrays = served("d.zarr", MATRIX, LABELS)
    assert arrays["X"].dtype == np.float32 and arrays["X"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert arrays["kind"].tolist() == ["u", "long"]
    assert served("d.zarr", VECTOR, key="group/y")["y"].tolist() == [1, 2]
    assert served("d.zarr/group", VECTOR)["y"].tolist() == [1, 2]
    assert served("d.zarr/group/y", VECTOR)["y"].tolist() == [1, 2]


def test_an_array_is_read_once(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pulled: list[str] = []
    get = zarr.Array.__getitem__

    def noted(self: Any, selection: Any) -> Any:
        pulled.append(self.path)
        return get(self, selection)

    monkeypatch.setattr(zarr.Array, "__getitem__", noted)
    program = "data X: matrix[n, p], kind: labels[n, k] from zarr('d.zarr')\nvar W: matrix[p, k]\n".replace("'", '"')
    sol = fw.parse(program + "minimize mean(softmax(X @ W, kind)) + norm_fro(W)").solve()
    assert sol.status == "optimal" and sorted(pulled) == ["X", "kind"]


def test_a_column_serves_a_vector_and_bytes_are_in_the_machines_order(store: Any) -> None:
    store.create_array("y", data=np.array([[1.0], [2.0]], dtype=">f8"))
    array = served("d.zarr", VECTOR)["y"]
    assert array.dtype.isnative and array.tolist() == [1, 2]


def test_a_store_of_one_array_serves_one_name(folder: Path) -> None:
    zarr.save_array("one.zarr", np.eye(2))
    assert served("one.zarr", MATRIX)["X"].tolist() == [[1, 0], [0, 1]]
    assert refused("one.zarr", MATRIX, VECTOR)[0] == "FW4030"
    assert refused("one.zarr", MATRIX, key="X")[0] == "FW4030"


def test_stores_of_a_pattern_stand_under_each_other(folder: Path) -> None:
    for i in range(3):
        zarr.save_array(f"part-{i}.zarr", np.full((2, 2), i))
    assert served("part-*.zarr", MATRIX)["X"][:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_what_is_not_there_is_told(store: Any) -> None:
    _, (found,) = read(SourceSpec("zarr", "d.zarr"), (VECTOR,))
    assert found.code == "FW4045" and found.hint == "its arrays are `X`, `group/y`, `kind`"
    assert refused("e.zarr") == ("FW4001", "`e.zarr` does not exist")
    assert refused("d.zarr", MATRIX, key="kind") == (
        "FW4044",
        "`kind` in `d.zarr` holds text, where real numbers were expected",
    )
    store.create_array("Z", data=np.ones((2, 2)) * 1j)
    assert refused("d.zarr", MATRIX, key="Z")[0] == "FW4044"
    store.create_array("none", shape=(0, 3), dtype=float)
    assert refused("d.zarr", MATRIX, key="none")[0] == "FW4004"


def test_what_is_no_store_is_told(store: Any) -> None:
    Path("empty.zarr").mkdir()
    Path("text.zarr").write_text("no store")
    told = "is no zarr store, or a damaged one: it has no `zarr.json`, `.zgroup` or `.zarray`"
    assert refused("empty.zarr") == ("FW4073", f"`empty.zarr` {told}")
    assert refused("text.zarr") == ("FW4073", f"`text.zarr` {told}")
    metadata = next(path for path in Path("d.zarr/X").iterdir() if path.name in ("zarr.json", ".zarray"))
    metadata.write_text(metadata.read_text()[:-20])
    assert refused("d.zarr")[0] == "FW4073"


def test_other_files_in_the_folder_are_no_matter(store: Any, recwarn: pytest.WarningsRecorder) -> None:
    Path("d.zarr/notes.txt").write_text("no array")
    recwarn.clear()
    assert served("d.zarr", MATRIX)["X"].shape == (2, 3)
    assert [str(w.message) for w in recwarn] == []


def test_a_damaged_chunk_is_told(store: Any) -> None:
    for path in Path("d.zarr/X").rglob("*"):
        if path.is_file() and path.name not in ("zarr.json", ".zarray", ".zattrs"):
            path.write_bytes(b"\x01" * 5)
    code, message = refused("d.zarr")
    assert code == "FW4073" and message.startswith("`d.zarr` is no zarr store, or a damaged one: ")


def test_nothing_is_unpickled(folder: Path) -> None:
    ran = Path("ran").absolute()

    class Harmful:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(ran),)

    Path("d.zarr/X").mkdir(parents=True)
    Path("d.zarr/.zgroup").write_text('{"zarr_format": 2}')
    held = {"shape": [1], "chunks": [1], "fill_value": None, "order": "C", "zarr_format": 2, "compressor": None}
    for dtype in ("<f8", "|O"):
        text = json.dumps({**held, "dtype": dtype, "filters": [{"id": "pickle", "protocol": 5}]})
        Path("d.zarr/X/.zarray").write_text(text)
        Path("d.zarr/X/0").write_bytes(pickle.dumps(Harmful()))
        code, _ = refused("d.zarr")
        assert code in ("FW4041", "FW4073") and not ran.exists()


def test_what_memory_cannot_hold_is_refused_before_it_is_read(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.create_array("H", shape=(10**9, 10**9), chunks=(1000, 1000), dtype=float)
    assert refused("d.zarr", MATRIX, key="H")[0] == "FW4007"
    monkeypatch.setattr(keyed, "most_memory", lambda: 23)
    assert refused("d.zarr", MATRIX)[0] == "FW4007"


@pytest.mark.parametrize(
    ("version", "told"),
    [(None, "zarr is not installed"), ("2.18.3", "zarr 2.18.3 is too old"), ("3.0.1", "zarr 3.0.1 is too old")],
)
def test_without_zarr_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, told: str
) -> None:
    Path("d.zarr").mkdir()
    Path("d.zarr/.zgroup").write_text('{"zarr_format": 2}')
    if version is None:
        monkeypatch.setitem(sys.modules, "zarr", None)
    else:
        monkeypatch.setattr(zarr, "__version__", version)
    _, (found,) = read(SourceSpec("zarr", "d.zarr"), (MATRIX,))
    assert (found.code, found.message) == ("FW4075", f"`d.zarr` cannot be read: {told}")
    assert found.hint == "pip install 'fwdsl[zarr]'"


@pytest.mark.parametrize(
    ("text", "path", "key"),
    [("X=a.zarr:group/X", "a.zarr", "group/X"), ("X=a.zarr/:X", "a.zarr/", "X"), ("X=zarr:store:X", "store:X", None)],
)
def test_sources_on_the_command_line(text: str, path: str, key: str | None) -> None:
    parsed = parse_data_argument(text)
    assert isinstance(parsed, tuple) and (parsed[1].format, parsed[1].path) == ("zarr", path)
    assert parsed[1].options == ({} if key is None else {"key": key})


def test_a_slash_behind_a_folder_is_no_matter() -> None:
    assert infer_format("a.zarr/") == "zarr" and infer_format("a.parquet/") == "parquet"
