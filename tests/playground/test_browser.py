"""The playground in a real browser, with the Python that it loads. What it needs from npm and PyPI is fetched once, into the build of the site.

With `FWDSL_PYODIDE_PACKAGES`, the folder of packages of Pyodide's release, programs are planned and solved too.
"""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tools.playground.__main__ import CACHE, build
from tools.playground.assets import Absent

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PACKAGES = os.environ.get("FWDSL_PYODIDE_PACKAGES")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
solving = pytest.mark.skipif(PACKAGES is None, reason="FWDSL_PYODIDE_PACKAGES names no folder with NumPy for Pyodide")

PATIENCE = 60_000
"""Milliseconds for Python to start in the page, or for a solve."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the playground."""
    folder = tmp_path_factory.mktemp("site")
    try:
        build(folder / "playground" / "editor", CACHE, Path(PACKAGES) if PACKAGES else None)
    except Absent as error:
        pytest.skip(str(error))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/playground/editor/index.html"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, site: str) -> Iterator[Any]:
    """The page, ready; it fails where anything is asked from elsewhere, or the browser complains."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = context.new_page()
    found.set_default_timeout(PATIENCE)
    problems: list[str] = []
    home = site.partition("/playground")[0]
    found.on("request", lambda r: r.url.startswith((home, "data:", "about:", "blob:")) or problems.append(r.url))
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.goto(site)
    found.wait_for_selector("html[data-ready=true]")
    yield found
    assert problems == []
    context.close()


def write(page: Any, text: str) -> None:
    page.fill("#text", text)


def test_mistakes_are_underlined_told_and_fixed(page: Any) -> None:
    page.select_option("#example", "mistakes")
    page.wait_for_selector("#findings pre")
    assert "".join(e.inner_text() for e in page.query_selector_all("#paint .wrong")) == "sqaredX @ w"
    assert "there is no function `sqared`" in page.inner_text("#paint .lens.error")
    assert "^^^^^^" in page.inner_text("#findings pre")
    page.click("#findings button:has-text('squared')")
    page.wait_for_selector("#findings:not(:has-text('FW2006'))")
    assert "mean(squared(X @ w, y))" in page.input_value("#text")
    page.click("#findings button:has-text('Explain FW2032')")
    assert page.inner_text("dialog pre").startswith("FW2032: ")
    page.click("dialog button")
    page.select_option("#example", "lasso")
    page.click("#check")
    page.wait_for_selector("#result .badge.good:has-text('checked')")


def test_words_have_colours_and_are_completed_by_keys(page: Any) -> None:
    assert page.inner_text("#paint .keyword >> nth=0") == "fw"
    assert "norm1" in [e.inner_text() for e in page.query_selector_all("#paint .function")]
    write(page, "fw 1\n# \N{GRINNING FACE}\nvar x: vector[3]\n")
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type("minimize no")
    page.wait_for_selector("#offers li:has-text('norm_inf')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#offers", state="hidden")
    page.keyboard.press("Control+ ")
    page.wait_for_selector("#offers li:has-text('norm1')")
    page.keyboard.press("Enter")
    assert page.input_value("#text").endswith("minimize norm1(")


def test_a_program_is_formatted(page: Any) -> None:
    write(page, "fw 1\nvar x:vector[3]\nminimize   sum_squares(x-1)\n")
    page.click("#format")
    page.wait_for_selector("#paint:has-text('minimize sum_squares(x - 1)')")


def test_a_program_is_shared_by_its_address(page: Any, site: str) -> None:
    text = "fw 1\n# shared \N{GRINNING FACE}\nvar x: vector[3]\nminimize sum_squares(x - 1)\n"
    write(page, text)
    page.set_input_files("#upload", {"name": "own.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"})
    page.wait_for_selector("#files:has-text('own.csv')")
    page.click("#share")
    page.wait_for_selector("#result .badge:has-text('shared')")
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#files:has-text('own.csv')", timeout=PATIENCE)
    assert other.input_value("#text") == text
    other.goto(f"{site}#p=damaged")
    other.reload()
    other.wait_for_selector("#result:has-text('damaged')", timeout=PATIENCE)
    assert "problem lasso" in other.input_value("#text")


def test_the_page_fits_narrow_windows(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.skipif(PACKAGES is not None, reason="NumPy is there")
def test_a_site_without_packages_says_what_it_cannot(page: Any) -> None:
    assert "numpy and scipy not on this site" in page.inner_text("#state")
    page.click("#solve")
    page.wait_for_selector("#result:has-text('This needs numpy')")
    page.wait_for_selector("#stop:disabled")


@solving
def test_examples_are_planned_and_solved(page: Any) -> None:
    page.click("#plan")
    page.wait_for_selector("#result:has-text('coordinate_descent')")
    assert "Methods" in page.frame_locator("#result iframe").locator("body").inner_text()
    for name in ("lasso", "group_lasso", "fused_lasso", "portfolio", "multiclass_svm"):
        page.select_option("#example", name)
        page.click("#solve")
        page.wait_for_selector("#result .badge.good:has-text('optimal')")
        told = page.inner_text("#result .verdict")
        assert float(told.rpartition(" ")[2]) <= 1e-6, (name, told)
        report = page.frame_locator("#result iframe").locator("body").inner_text()
        assert "Certificate" in report and "Answer" in report


@solving
def test_a_solve_is_stopped_and_the_page_goes_on(page: Any) -> None:
    text = (
        'fw 1\ndata A: matrix[400, 300] from csv("A.csv")\nvar x: vector[300]\n'
        "minimize norm1(A @ x - 1) + norm_inf(x)\nsolve tol = 1e-12, method = pdhg\n"
    )
    head = ",".join(f"a{j}" for j in range(300)) + "\n"
    rows = head + "\n".join(",".join(str((i * j * 7919) % 101 - 50) for j in range(1, 301)) for i in range(1, 401))
    write(page, text)
    page.set_input_files("#upload", {"name": "A.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    page.fill("#seconds", "600")
    page.click("#solve")
    page.wait_for_selector("#state:has-text('solving: pdhg')")
    page.click("#stop")
    page.wait_for_selector("#result .badge:has-text('stopped')")
    page.wait_for_selector("#state:has-text('ready')")
    page.fill("#seconds", "1")
    page.click("#solve")
    page.wait_for_selector("#result .badge:has-text('tolerance not reached')")
    assert page.input_value("#text") == text
