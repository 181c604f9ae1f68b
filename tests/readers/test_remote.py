"""Files at URLs are pulled by fsspec into a temporary folder; what goes wrong is told of the URL."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite, savemat

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.diagnostics.secrets import veiled
from fwdsl.readers import remote
from fwdsl.readers.files import Unreadable
from fwdsl.readers.findings import FileFindings
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import (
    SourceSpec,
    file_part,
    infer_format,
    is_url,
    of_list,
    parse_data_argument,
    without_secrets,
)
from fwdsl.words.sources import SourceWord

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
CSV = b"a,b,y\n1,2,3\n4,5,6\n7,8,10\n"
PROGRAM = """\
data X: matrix[n, p], y: vector[n] from csv("{}", target="y")
var w: vector[p]
minimize mean(squared(X @ w, y)) + 0.1 * sum_squares(w)
"""


class Site(ThreadingHTTPServer):
    """A server of a few files, some of which it serves badly."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.files: dict[str, bytes] = {}
        self.turns = 0
        self.released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Page(BaseHTTPRequestHandler):
    server: Site

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path, _, _query = self.path.partition("?")
        content = self.server.files.get(path, CSV)
        if path == "/silent.csv":
            self.server.released.wait()
            return
        if path == "/away.csv":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
            return
        if path == "/turning.csv":
            self.server.turns += 1
            self.send_response(302)
            self.send_header("Location", f"/turning.csv?{self.server.turns}")
            self.end_headers()
            return
        if path == "/moved.csv":
            self.send_response(302)
            self.send_header("Location", "/train.csv")
            self.end_headers()
            return
        status = {"/no.csv": 404, "/secret.csv": 403, "/broken.csv": 500}.get(path, 200)
        if status != 200:
            self.send_error(status)
            return
        self.send_response(200)
        if path == "/packed.csv":
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        if path != "/endless.csv":
            size = 0 if path == "/hidden.csv" and not body else len(content)
            self.send_header("Content-Length", str(size))
        if path != "/bare.csv":
            self.send_header("ETag", '"v1"')
            self.send_header("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
        self.end_headers()
        if body:
            self.wfile.write(content[:5] if path in ("/short.csv", "/interrupted.csv") else content)
            self.wfile.flush()
        if body and path == "/interrupted.csv":
            os.kill(os.getpid(), signal.SIGINT)
            self.server.released.wait()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    served = Site()
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    yield served
    served.released.set()
    served.shutdown()
    served.server_close()


@pytest.fixture
def memory() -> Iterator[Callable[..., None]]:
    """Puts files into fsspec's memory."""
    fs: Any = pytest.importorskip("fsspec").filesystem("memory")

    def put(**files: bytes) -> None:
        for name, content in files.items():
            fs.pipe(f"/{name}", content)

    yield put
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Temporary files are in a folder of the test, and none is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def found(url: str, **options: object) -> tuple[str, str, str]:
    """The code, the message and the hint of the only finding."""
    arrays, diagnostics = read(SourceSpec("csv", url, {"target": "y", **options}), (MATRIX, VECTOR))
    assert arrays == {}
    (only,) = diagnostics
    assert only.place is not None
    return only.code, only.message, only.hint


# --- what a URL is ---------------------------------------------------------------------------------------------------


def test_what_a_url_is() -> None:
    for url in ("https://h/a.csv", "s3://b/a.csv", "memory://a.csv", "filecache::https://h/a.csv"):
        assert is_url(url)
    for path in ("C://a.csv", "a.csv", "/a//b.csv", "./https:a.csv", "-"):
        assert not is_url(path)
    assert file_part("https://h/a.csv.gz?raw=1#top") == "https://h/a.csv.gz"
    assert file_part("s3://b/what?.csv?versionId=7") == "s3://b/what?.csv"
    assert file_part("what?.csv") == "what?.csv"
    assert infer_format("https://h/a.svm.gz?token=a.csv") == "libsvm"


def test_urls_on_the_command_line() -> None:
    for url in ("https://h:80/a.csv?x=1", "s3://b/part-*.csv", "filecache::https://h/a.csv", "memory://a.csv"):
        names, spec = parse_data_argument(f"X,y={url}")
        assert names == ("X", "y") and (spec.format, spec.path) == ("csv", url)
        _, spec = parse_data_argument(f"X=libsvm:{url}")
        assert (spec.format, spec.path) == ("libsvm", url)
    _, spec = parse_data_argument("A=https://h/a.npz:key")
    assert (spec.path, spec.options) == ("https://h/a.npz", {"key": "key"})


def test_secrets_are_not_told() -> None:
    assert without_secrets("https://u:pw@h/a.csv") == "https://u:***@h/a.csv"
    assert without_secrets("https://h/a?n=1&X-Amz-Signature=ab&m=2") == "https://h/a?n=1&X-Amz-Signature=***&m=2"
    assert without_secrets("https://h/a?sig=ab#x") == "https://h/a?sig=***#x"
    assert without_secrets("s3://bucket/key=1/a.csv") == "s3://bucket/key=1/a.csv"
    assert without_secrets("a?token=1") == "a?token=1"
    assert without_secrets("https://token@h/a.csv") == "https://***@h/a.csv"
    assert without_secrets("https://u:p@s@h/a@b.csv") == "https://u:***@h/a@b.csv"
    assert without_secrets("https://u:p/s@h/a.csv") == "https://u:***@h/a.csv"
    assert without_secrets("https://h:8080/a@b.csv?page=2") == "https://h:8080/a@b.csv?page=2"
    assert without_secrets("https://h/a@b.csv") == "https://h/a@b.csv"
    assert without_secrets("sftp://me@h/a.csv") == "sftp://me@h/a.csv"
    assert without_secrets("abfs://box@h/a.csv?author=x&code=a&pwd=b") == "abfs://box@h/a.csv?author=x&code=***&pwd=***"
    assert veiled("sftp://u:pass@h/a") == "sftp://u:****@h/a"


def test_nothing_that_is_shown_or_kept_has_a_secret(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    host = site.url.removeprefix("http://")
    Path("fit.fw").write_text(PROGRAM.format(f"http://me:s3cret1@{host}/train.csv?sig=s3cret2"))
    Path("absent.fw").write_text(PROGRAM.format(f"http://me:s3cret1@{host}/no.csv?sig=s3cret2"))
    assert main(["run", "fit.fw", "--out", "fit.npz", "--html", "fit.html"]) == 0
    assert main(["plan", "fit.fw", "--html", "plan.html"]) == 0
    assert main(["new", f"http://me:s3cret1@{host}/train.csv?sig=s3cret2", "--out", "new.fw"]) == 0
    assert "s3cret1" in Path("new.fw").read_text()
    assert main(["info", "fit.fw"]) == 0
    assert main(["info", "fit.fw", "--json"]) == 0
    assert main(["run", "absent.fw"]) == 1
    assert main(["run", "absent.fw", "--json"]) == 1
    problem = fw.load("fit.fw")
    told = [*capsys.readouterr(), repr(problem), problem._repr_html_(), problem.solve()._repr_html_()]
    told += [Path(name).read_text() for name in ("fit.html", "plan.html")]
    with np.load("fit.npz") as kept:
        told += [str(kept[name]) for name in kept.files]
    assert not [text for text in told if "s3cret" in text]
    assert "s3cret1" in problem.to_fw()


# --- reading ---------------------------------------------------------------------------------------------------------


def test_a_program_reads_a_url_and_its_answer_has_the_etag(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{site.url}/train.csv?token=abc"
    Path("fit.fw").write_text(PROGRAM.format("train.csv"))
    argv = ["run", "fit.fw", "--data", f"X,y={url}", "--out", "fit.npz", "--html", "fit.html", "--json"]
    assert main(argv) == 0
    assert "abc" not in Path("fit.html").read_text() + capsys.readouterr().out
    told = f"{site.url}/train.csv?token=***"
    record = json.loads(np.load("fit.npz")["record"].item())
    mark = {"url": told, "size": len(CSV), "etag": "v1", "modified": "Tue, 24 Nov 2026 00:00:00 GMT"}
    assert record["pulled"] == {"X": [mark], "y": [mark]} and record["origins"]["X"] == told
    assert "etag v1" in Path("fit.html").read_text()
    Path("train.csv").write_bytes(CSV)
    expected = fw.parse(PROGRAM.format("train.csv")).solve(threads=1)
    assert "pulled" not in json.loads(expected_record(expected))
    np.testing.assert_allclose(np.load("fit.npz")["w"], expected["w"], rtol=1e-9)


def expected_record(solution: fw.Solution) -> str:
    solution.save("local.npz")
    return str(np.load("local.npz")["record"].item())


def test_a_server_without_an_etag(site: Site) -> None:
    pulled: list[Any] = []
    arrays, _ = read(SourceSpec("csv", f"{site.url}/bare.csv", {"target": "y"}), (MATRIX, VECTOR), None, pulled)
    np.testing.assert_array_equal(arrays["y"], [3, 6, 10])
    assert pulled == [{"url": f"{site.url}/bare.csv", "size": len(CSV)}]


@pytest.mark.parametrize("name", ["moved", "packed", "endless", "hidden", "a%20b"])
def test_servers_answer_in_many_ways(site: Site, name: str) -> None:
    arrays, diagnostics = read(SourceSpec("csv", f"{site.url}/{name}.csv", {"target": "y"}), (MATRIX, VECTOR))
    assert diagnostics == ()
    np.testing.assert_array_equal(arrays["y"], [3, 6, 10])


def test_a_long_name(site: Site) -> None:
    arrays, _ = read(SourceSpec("csv", f"{site.url}/{'x' * 300}.csv", {"target": "y"}), (MATRIX, VECTOR))
    np.testing.assert_array_equal(arrays["y"], [3, 6, 10])


def of_every_format() -> dict[str, bytes]:
    A = np.arange(6.0).reshape(3, 2) + 1
    made: dict[str, bytes] = {"svm": b"1 1:1 2:2\n-1 1:3 2:4\n1 1:5 2:6\n", "coo": b"0,0,1\n1,1,2\n"}
    writers: dict[str, Callable[[Any], object]] = {
        "npy": lambda f: np.save(f, A),
        "npz": lambda f: np.savez(f, X=A),
        "mat": lambda f: savemat(f, {"X": A}),
        "mtx": lambda f: mmwrite(f, sp.csr_array(A)),
    }
    for name, write in writers.items():
        stream = io.BytesIO()
        write(stream)
        made[name] = stream.getvalue()
    made["csv.gz"] = gzip.compress(b"a,b\n1,2\n3,4\n5,6\n")
    return made


@pytest.mark.parametrize("suffix", ["svm", "npy", "npz", "mat", "mtx", "csv.gz"])
def test_every_format_is_read_from_a_url(memory: Callable[..., None], suffix: str) -> None:
    memory(**{f"d.{suffix}": of_every_format()[suffix]})
    url = f"memory://d.{suffix}"
    arrays, diagnostics = read(SourceSpec(str(infer_format(url)), url), (MATRIX,))
    assert diagnostics == ()
    X: Any = arrays["X"]
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, [[1, 2], [3, 4], [5, 6]])


def test_triplets_and_tables_of_arrow_from_a_url(memory: Callable[..., None]) -> None:
    memory(**{"d.coo": of_every_format()["coo"]})
    arrays, diagnostics = read(SourceSpec("coo", "memory://d.coo"), (Role("M", "entries", (None, None)),))
    assert diagnostics == () and arrays["M"].values.tolist() == [1.0, 2.0]
    pa = pytest.importorskip("pyarrow")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    table = pa.table({"a": [1.0, 2.0], "y": [3.0, 4.0]})
    for name, write in (("parquet", parquet.write_table), ("feather", feather.write_feather)):
        stream = io.BytesIO()
        write(table, stream)
        memory(**{f"d.{name}": stream.getvalue()})
        arrays, diagnostics = read(SourceSpec(name, f"memory://d.{name}", {"target": "y"}), (MATRIX, VECTOR))
        assert diagnostics == () and arrays["y"].tolist() == [3.0, 4.0]


def test_hdf5_from_a_url(memory: Callable[..., None]) -> None:
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["X"] = [[1.0, 2.0]]
    memory(**{"d.h5": stream.getvalue()})
    arrays, _ = read(SourceSpec("hdf5", "memory://d.h5"), (MATRIX,))
    np.testing.assert_array_equal(arrays["X"], [[1, 2]])


@pytest.mark.parametrize("url", ["memory://d", "memory://d/", "memory://d/p-*.csv", "memory://*/p-[12].csv"])
def test_several_files_at_a_url(memory: Callable[..., None], url: str) -> None:
    memory(**{"d/p-1.csv": b"a,y\n1,2\n", "d/p-2.csv": b"y,a\n4,3\n", "d/notes.txt": b"no data"})
    pulled: list[Any] = []
    arrays, diagnostics = read(SourceSpec("csv", url, {"target": "y"}), (MATRIX, VECTOR), None, pulled)
    assert diagnostics == ()
    np.testing.assert_array_equal(arrays["X"], [[1], [3]])
    np.testing.assert_array_equal(arrays["y"], [2, 4])
    assert [mark["url"].rpartition("/")[2] for mark in pulled] == ["p-1.csv", "p-2.csv"]


def test_members_of_a_list_are_files_and_urls(memory: Callable[..., None], tmp_path: Path) -> None:
    """Also folders and patterns of URLs, in the order of the list; what is wrong with a member is told of its URL or path."""
    memory(
        **{"d/p-1.csv": b"a,y\n1,2\n", "d/p-2.csv": b"y,a\n4,3\n", "e.csv": b"a,y\n5,6\n", "w.csv": b"a,y\n5,6\n7,x\n"}
    )
    (tmp_path / "here.csv").write_bytes(b"a,y\n7,8\n")
    here = str(tmp_path / "here.csv")

    def listed(*paths: str) -> tuple[Any, Any, list[Any]]:
        pulled: list[Any] = []
        spec = replace(of_list(paths), options={"target": "y"})
        return *read(spec, (MATRIX, VECTOR), None, pulled), pulled

    arrays, diagnostics, pulled = listed("memory://e.csv", here, "memory://d/p-*.csv")
    assert diagnostics == () and [mark["url"] for mark in pulled] == [
        "memory://e.csv",
        "memory://d/p-1.csv",
        "memory://d/p-2.csv",
    ]
    np.testing.assert_array_equal(arrays["X"], [[5], [7], [1], [3]])
    np.testing.assert_array_equal(arrays["y"], [6, 8, 2, 4])
    _, (wrong,), _ = listed(here, "memory://w.csv")
    assert (wrong.place.file, wrong.place.row) == ("memory://w.csv", 3)
    _, (absent,), _ = listed(here, "memory://none.csv")
    assert (absent.code, absent.place.file) == ("FW4081", "memory://none.csv") and "none.csv" in absent.message
    _, (twice,), _ = listed(here, "memory://e.csv", "memory://e.csv")
    assert twice.message == "`memory://e.csv` stands twice in the list"


def test_folders_in_a_folder_keep_their_places(memory: Callable[..., None]) -> None:
    memory(**{"d/y=1/p.csv": b"a,y\n1,2\n", "d/y=2/p.csv": b"a,y\n3,4\n"})
    arrays, _ = read(SourceSpec("csv", "memory://d", {"target": "y"}), (MATRIX, VECTOR))
    np.testing.assert_array_equal(arrays["X"], [[1], [3]])


def test_a_folder_with_a_suffix_is_pulled_whole(memory: Callable[..., None]) -> None:
    memory(**{"x.store/.meta": b"1", "x.store/c/0": b"2"})
    word = SourceWord(("npy", "read_npy"), (".store",), (), "many")
    with remote.copied("memory://x.store", word, FileFindings("memory://x.store")) as copy:
        assert (Path(copy.path) / ".meta").read_bytes() == b"1" and (Path(copy.path) / "c" / "0").read_bytes() == b"2"


def test_a_copy_may_be_kept_by_fsspec(memory: Callable[..., None], tmp_path: Path) -> None:
    import fsspec

    memory(**{"a.csv": CSV})
    conf: dict[str, Any] = fsspec.config.conf
    conf["filecache"] = {"cache_storage": str(tmp_path / "kept")}
    try:
        arrays, _ = read(SourceSpec("csv", "filecache::memory://a.csv", {"target": "y"}), (MATRIX, VECTOR))
    finally:
        del conf["filecache"]
    np.testing.assert_array_equal(arrays["y"], [3, 6, 10])
    assert CSV in [path.read_bytes() for path in (tmp_path / "kept").iterdir()]


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_findings_are_of_the_url(memory: Callable[..., None]) -> None:
    memory(**{"d/p-1.csv": b"a,y\n1,2\n", "d/p-2.csv": b"a,y\n1,x\n", "t.csv": b"a,y\n"})
    _, (only,) = read(SourceSpec("csv", "memory://d/p-*.csv", {"target": "y"}), (MATRIX, VECTOR))
    assert only.place is not None and only.place.file == "memory://d/p-2.csv" and only.place.row == 2
    assert found("memory://t.csv")[1] == "`memory://t.csv` has no rows"
    assert found("memory://d/q-*.csv")[:2] == ("FW4002", "no file matches `memory://d/q-*.csv`")
    _, (only,) = read(SourceSpec("npy", "memory://d"), (MATRIX,))
    assert (only.code, only.message) == ("FW4002", "`memory://d` has no file to read")


def test_what_servers_answer(site: Site) -> None:
    code, message, hint = found(f"{site.url}/no.csv")
    assert code == "FW4081" and message.startswith(f"`{site.url}/no.csv` cannot be read: the server answers 404")
    assert hint == "check the URL"
    assert "the server answers 403" in found(f"{site.url}/secret.csv")[1]
    assert "try again later" in found(f"{site.url}/broken.csv")[2]
    assert "leads from one address to the next" in found(f"{site.url}/turning.csv")[1]
    assert "not of the web" in found(f"{site.url}/away.csv")[1]


@pytest.mark.parametrize("url", ["http://", "http:///x.csv"])
def test_an_address_without_a_host(url: str) -> None:
    assert found(url)[1:] == (
        f"`{url}` cannot be read: it is no whole address: a host is missing, or not one",
        "write `https://HOST/PATH`",
    )


def test_what_a_server_sends_is_not_quoted_at_length() -> None:
    class Odd(Exception):
        status = 400
        message = "Data after the end:\n\n  " + "1,2,3\n" * 1000

    findings = FileFindings("http://h/a.csv")
    with pytest.raises(Unreadable):
        remote._failed(findings, Odd())
    (only,) = findings.result()
    assert (
        only.message
        == "`http://h/a.csv` cannot be read: what the server sends is not what it announced (Data after the end:)"
    )


def test_a_server_that_cannot_be_joined_is_told_with_its_reason(site: Site) -> None:
    assert "does not exist" not in found(site.url.replace("http", "https") + "/a.csv")[1]
    assert "does not exist" not in found("http://127.0.0.1:99999/a.csv")[1]


def test_the_beginning_of_a_url_may_be_in_capitals(site: Site) -> None:
    arrays, diagnostics = read(SourceSpec("csv", f"HTTP{site.url[4:]}/train.csv", {"target": "y"}), (MATRIX, VECTOR))
    assert diagnostics == () and arrays["y"].tolist() == [3, 6, 10]


def test_a_page_of_links_is_a_folder(site: Site) -> None:
    names = [f"p-{i:02}.csv" for i in range(6)]
    site.files["/d/"] = "".join(f'<a href="{name}">' for name in [*names, "notes.txt"]).encode()
    for i, name in enumerate(names):
        site.files[f"/d/{name}"] = f"a,y\n{i},{2 * i}\n".encode()
    for url in (f"{site.url}/d/", f"{site.url}/d/p-*.csv"):
        pulled: list[Any] = []
        arrays, diagnostics = read(SourceSpec("csv", url, {"target": "y"}), (MATRIX, VECTOR), None, pulled)
        assert diagnostics == ()
        np.testing.assert_array_equal(arrays["y"], 2 * np.arange(6))
        assert [mark["url"] for mark in pulled] == [f"{site.url}/d/{name}" for name in names]
    site.files["/d/"] += b'<a href="../no.csv"><a href="zz.csv">'
    site.files["/d/zz.csv"] = b"a,b\n1,2\n"
    _, (only,) = read(SourceSpec("csv", f"{site.url}/d/", {"target": "y"}), (MATRIX, VECTOR))
    assert only.place is not None and only.place.file == f"{site.url}/d/zz.csv"


def test_a_file_cut_short(site: Site) -> None:
    code, message, _ = found(f"{site.url}/short.csv")
    assert code == "FW4082" and message.startswith(f"`{site.url}/short.csv` is cut short")


def test_a_server_that_says_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SILENCE", 0.05)
    assert found(f"{site.url}/silent.csv")[:2] == (
        "FW4081",
        f"`{site.url}/silent.csv` cannot be read: no byte came for 0.05 s",
    )


def test_a_refused_connection(site: Site) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    code, message, _ = found(f"http://u:secret@127.0.0.1:{port}/a.csv")
    assert code == "FW4081" and "the connection is refused" in message and "secret" not in message


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_pull(site: Site) -> None:
    with pytest.raises(KeyboardInterrupt):
        read(SourceSpec("csv", f"{site.url}/interrupted.csv", {"target": "y"}), (MATRIX, VECTOR))


def test_no_room(memory: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    memory(**{"a.csv": CSV})

    class Full:
        free = 3

    monkeypatch.setattr("shutil.disk_usage", lambda _: Full)
    code, message, hint = found("memory://a.csv")
    assert code == "FW4081" and "has no room for" in message and "TMPDIR" in hint


def test_missing_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    registry: Any = import_module("fsspec.registry")
    monkeypatch.setitem(registry.known_implementations, "elsewhere", {"class": "no_such_driver.Fs", "err": "Install"})
    assert found("elsewhere://a.csv") == (
        "FW4080",
        "`elsewhere://a.csv` cannot be read: its driver no_such_driver is not installed",
        "pip install no_such_driver",
    )
    assert found("unheard://a.csv")[1].endswith("fsspec knows no `unheard://`")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert found("https://h/a.csv")[1:] == (
        "`https://h/a.csv` cannot be read: fsspec is not installed",
        "pip install 'fwdsl[remote]'",
    )


def test_a_name_cannot_lead_out_of_the_folder(memory: Callable[..., None], tmp_path: Path) -> None:
    import fsspec

    fs: Any = fsspec.filesystem("memory")
    memory(**{"d/a.csv": CSV})
    fs.store["/d/../../out.csv"] = fs.store["/d/a.csv"]
    code, message, _ = found("memory://d")
    assert code == "FW4081" and "has a file of the name" in message
    assert not (tmp_path / "out.csv").exists()


def test_an_error_stands_at_the_source(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("fit.fw").write_text(PROGRAM.format(f"{site.url}/no.csv"))
    assert main(["run", "fit.fw"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"{site.url}/no.csv is pulled\n")
    assert "error[FW4081]" in told and "fit.fw:1:" in told and "read for `X` and `y`" in told


@pytest.mark.parametrize("path", ["/no.csv", "refused"])
def test_a_plan_without_a_url_that_is_there(site: Site, capsys: pytest.CaptureFixture[str], path: str) -> None:
    url = site.url + path if path != "refused" else "http://127.0.0.1:9/a.csv"
    Path("fit.fw").write_text(PROGRAM.format(url))
    assert main(["plan", "fit.fw"]) == 0
    out, told = capsys.readouterr()
    assert out.startswith("canonical form") and told.count("warning[FW4081]") == 1
    assert "fit.fw:1:" in told and "planned without them" in " ".join(told.split())
    assert main(["plan", "fit.fw", "--analyze"]) == 1
    assert "error[FW4081]" in capsys.readouterr().err


def test_nothing_is_asked_for_without_a_need(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(remote, "_opened", lambda *_: pytest.fail("the URL is opened"))
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM.format("https://h/a.csv"))
    assert main(["check", "fit.fw"]) == 0
    Path("here.csv").write_bytes(CSV)
    assert main(["run", "fit.fw", "--data", "X,y=here.csv"]) == 0


def test_a_first_program_for_a_url(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", f"{site.url}/train.csv"]) == 0
    text = Path("train.fw").read_text()
    assert f'csv("{site.url}/train.csv", target="y")' in text
    assert main(["new", f"{site.url}/no.csv"]) == 1
    assert "404" in capsys.readouterr().err


def test_a_map_outlives_the_copy(memory: Callable[..., None]) -> None:
    memory(**{"a.npy": of_every_format()["npy"]})
    arrays, _ = read(SourceSpec("npy", "memory://a.npy"), (MATRIX,))
    assert os.listdir(tempfile.gettempdir()) == []
    np.testing.assert_array_equal(arrays["X"], [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(
    "url", ["reference://h/a.csv", "reference::https://h/a.json", "filecache::reference::memory://a.csv"]
)
def test_file_systems_that_run_what_they_read_are_refused(url: str) -> None:
    _, found = read(SourceSpec("csv", url, {"target": "y"}), (MATRIX, VECTOR))
    assert [d.code for d in found] == ["FW4080"] and "may hold code" in found[0].message
