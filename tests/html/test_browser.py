"""Pages in a real browser: nothing is loaded, nothing runs over the edge, contrast is enough, and the keyboard reaches every value."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

ROOT = Path(__file__).resolve().parents[2]

#: The least contrast of every text with what is behind it, by the formula of WCAG 2, and the text that has it.
CONTRAST = """() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c; }
    return [255, 255, 255, 1]; };
  let worst = [99, ""];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || e.closest("style,title,desc")) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parse(e.closest("svg") ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < worst[0]) worst = [ratio, walk.currentNode.data];
  }
  return worst;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def opened(browser: Any, path: Path, width: int = 1200, scheme: str = "light") -> Any:
    """The page of a file; it fails where anything is asked from elsewhere, or the browser complains."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("request", lambda request: request.url.startswith("file:") or page.problems.append(request.url))
    page.goto(path.as_uri())
    return page


def looked_at(browser: Any, path: Path) -> None:
    """Fail where a page is too wide, too pale, or misses what screen readers need."""
    for width, scheme in ((400, "dark"), (1600, "light")):
        page = opened(browser, path, width, scheme)
        assert page.problems == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        ratio, text = page.evaluate(CONTRAST)
        assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f} in {scheme}"
        levels = [
            int(tag[1]) for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => e.tagName)")
        ]
        assert levels[0] == 1 and levels.count(1) == 1 and max(b - a for a, b in pairwise(levels)) <= 1
        assert page.evaluate(
            "[...document.querySelectorAll('table')].every(t => t.caption && t.querySelector('th[scope=col]'))"
        )
        page.context.close()


def the_values(page: Any) -> list[str]:
    """The words that are seen in the charts."""
    seen: list[str] = page.evaluate(
        "[...document.querySelectorAll('.tip')].filter(e => getComputedStyle(e).visibility === 'visible').map(e => e.textContent)"
    )
    return seen


def test_the_page_of_a_run(browser: Any, tmp_path: Path):
    path = tmp_path / "run.html"
    assert main(["run", str(ROOT / "examples" / "elastic_net.fw"), "--html", str(path), "--quiet"]) == 0
    looked_at(browser, path)
    page = opened(browser, path)
    assert the_values(page) == []
    points = page.locator(".pt")
    label = points.nth(2).get_attribute("aria-label")
    points.nth(2).focus()
    assert the_values(page) == [label]
    page.locator(".hit").nth(4).hover()
    assert points.nth(4).get_attribute("aria-label") in the_values(page)
    # every point of the chart is on the way of the keyboard, and so are the parts that open
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 1
    tree = page.get_by_role("heading", name="Certificate")
    assert tree.count() == 1 and page.get_by_role("table", name="w: 9 of 13 entries are not zero").count() == 1


def test_the_methods_of_a_plan_fit_a_narrow_notebook(browser: Any, tmp_path: Path):
    rng = np.random.default_rng(0)
    text = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * norm1(w)"
    plan = fw.parse(text).bind(X=rng.normal(size=(200, 20)), y=rng.normal(size=200)).plan()
    path = tmp_path / "plan.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{plan._repr_html_()}", encoding="utf-8")
    page = opened(browser, path, 600)
    table = page.get_by_role("region", name="Methods that apply", exact=True)
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth") and table.locator("tr").count() > 3


def test_the_key_of_a_curve_stands_beside_its_name(browser: Any, tmp_path: Path):
    # marimo's page makes every picture a block of its own
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: positive\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)"
    X = np.eye(3)
    path = tmp_path / "path.html"
    shown = fw.parse(text).bind(X=X, y=X @ [1.0, 2.0, 3.0]).path(mu=[0.1, 1.0])._repr_html_()
    path.write_text(f"<!doctype html><meta charset=utf-8><style>svg{{display:block}}</style>{shown}", encoding="utf-8")
    page = opened(browser, path)
    keys = page.locator(".legend li")
    assert keys.count() == 3
    for key in keys.all():
        assert key.evaluate("""e => {
          const text = document.createRange(); text.selectNodeContents(e.lastChild);
          const [a, b] = [e.firstChild.getBoundingClientRect(), text.getBoundingClientRect()];
          return a.top < b.bottom && b.top < a.bottom && a.right <= b.left;
        }""")
    page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv",
    [
        ("race", "elastic_net.fw", "--time", "1"),
        ("path", "elastic_net.fw", "--set", "mu=logspace(0.001,1,12)"),
        ("path", "elastic_net.fw", "--set", "mu=logspace(0.001,1,6)", "--folds", "3"),
        ("grid", "elastic_net.fw", "--set", "mu=0.1,0.01", "--set", "nu=0.1,1"),
        ("plan", "elastic_net.fw", "--analyze"),
        ("run", "ratings.fw"),
        ("run", "sparse_multiclass.fw"),
        ("run", "max_cut.fw"),
    ],
    ids=" ".join,
)
def test_the_other_pages(argv: tuple[str, ...], browser: Any, tmp_path: Path):
    path = tmp_path / "page.html"
    assert main([argv[0], str(ROOT / "examples" / argv[1]), *argv[2:], "--html", str(path)]) == 0
    looked_at(browser, path)


def in_a_notebook() -> list[Any]:
    """Objects that a notebook shows."""
    problem = fw.parse(
        "data a: vector[n]\nparam mu: nonnegative = 0.1\nvar x: vector[n]\nminimize sum_squares(x - a) + mu * norm1(x)"
    ).bind(a=np.linspace(0, 1, 20))
    return [problem, problem.plan(), problem.solve(), problem.path(mu=[0.1, 1.0])]


@pytest.mark.slow
@pytest.mark.parametrize("theme", ['data-jp-theme-light="false"', 'class="dark"', 'data-theme="dark"'])
def test_notebooks_in_their_own_themes(theme: str, browser: Any, tmp_path: Path):
    path = tmp_path / "notebook.html"
    parts = "<hr>".join(value._repr_html_() for value in in_a_notebook())
    path.write_text(
        f'<!doctype html><html lang="en"><body {theme} style="background:#111">{parts}</body></html>', encoding="utf-8"
    )
    page = opened(browser, path, 1000, "light")
    ratio, text = page.evaluate(CONTRAST)
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"
    assert page.problems == []


#: What the renderer that VS Code has for outputs takes (`extensions/notebook-renderers/package.json` of its repository, but for its own kinds).
VS_CODE_RENDERS = {
    *("image/gif", "image/png", "image/jpeg", "image/git", "image/svg+xml"),
    *("text/html", "application/javascript", "text/plain"),
}

#: As that renderer does (`src/index.ts` beside it): HTML is set through a policy, and its scripts, of which there are none here, are run.
VS_CODE_SHOWS = """([items, policy]) => {
  const trusted = window.trustedTypes.createPolicy(policy, { createHTML: html => html });
  for (const html of items) {
    const element = document.createElement("div");
    element.innerHTML = trusted.createHTML(html);
    if (element.getElementsByTagName("script").length) throw new Error("there is a script");
    document.getElementById("container").appendChild(element);
  }
}"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theme", "background", "system"),
    [
        ("vscode-dark", "#1e1e1e", "light"),
        ("vscode-light", "#ffffff", "dark"),
        ("vscode-high-contrast", "#000000", "light"),
        ("vscode-high-contrast vscode-high-contrast-light", "#ffffff", "dark"),
    ],
)
def test_vs_code_shows_it_in_its_theme(theme: str, background: str, system: str, browser: Any, tmp_path: Path):
    """Whatever the system's scheme is, and with the rules of its web views: nothing but what is in the page, and no HTML from elsewhere."""
    path, shown = tmp_path / "outputs.html", in_a_notebook()
    policy = "default-src 'none'; style-src 'unsafe-inline'; require-trusted-types-for 'script'"
    path.write_text(
        f'<!doctype html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="{policy}"></head>'
        f'<body class="{theme}" style="background:{background}"><div id="container"></div></body></html>',
        encoding="utf-8",
    )
    page = opened(browser, path, 1000, system)
    bundles = [value._repr_mimebundle_() for value in shown]
    assert all(set(bundle) <= VS_CODE_RENDERS and "text/html" in bundle for bundle in bundles)
    page.evaluate(VS_CODE_SHOWS, [[bundle["text/html"] for bundle in bundles], "notebookRenderer"])
    assert page.locator("#container .fw").count() == len(shown)
    ratio, text = page.evaluate(CONTRAST)
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"
    assert page.problems == []
