"""The built site in a browser: nothing is loaded from elsewhere, nothing runs over the edge, text is legible, the cheat sheet is one page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.html.test_browser import CONTRAST
from tools.site.__main__ import build

pytest.importorskip("furo", reason="the extra `docs` is not installed")
pytest.importorskip("myst_parser", reason="the extra `docs` is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]

PAGES = ("index", "python", "reference/atoms/index", "reference/atoms/huber", "reference/atoms/group_norm")
PAGES += ("reference/methods/apg", "reference/errors/FW2", "reference/benchmarks/general", "reference/api/sklearn")
PAGES += ("reference/cheat-sheet", "reference/programs/lasso", "cheat-sheet")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build("html", folder=folder) == 0
    return folder / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def opened(browser: Any, path: Path, width: int, scheme: str) -> Any:
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda r: r.url.startswith(("file:", "data:")) or page.problems.append(r.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_alone_fits_and_is_legible(browser: Any, site: Path, name: str, width: int, scheme: str):
    page = opened(browser, site / f"{name}.html", width, scheme)
    assert page.problems == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    worst, words = page.evaluate(CONTRAST)
    assert worst >= 4.5, words
    page.context.close()


def test_the_cheat_sheet_is_one_page(browser: Any, site: Path):
    page = opened(browser, site / "cheat-sheet.html", 1000, "light")
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.context.close()


def test_a_word_is_found_by_the_search(browser: Any, site: Path):
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q=huber")
    page.wait_for_selector("#search-results a[href*='atoms/huber']")
    page.close()
