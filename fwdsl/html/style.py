"""The looks of pages and of what notebooks show: light and dark, for wide windows and narrow ones."""

from __future__ import annotations

from .markup import Html, el, joined

_LIGHT = """--fw-fg:#1c1f24;--fw-dim:#565d68;--fw-line:#d5d9e0;--fw-soft:#f4f6f8;--fw-bg:#fff;--fw-mark:#e8f1fc;\
--fw-good:#0a6b3d;--fw-warn:#8a5300;--fw-bad:#b3261e;--fw-link:#0b57b0;\
--fw-keyword:#8a1f7a;--fw-function:#0b57b0;--fw-type:#0a6b5c;--fw-number:#8a4b00;--fw-string:#3f6b12;\
--fw-0:#0b62b8;--fw-1:#b85400;--fw-2:#007a5a;--fw-3:#9a3f9a;--fw-4:#c23030;--fw-5:#6f6000;--fw-6:#3d4757;--fw-7:#0085a1"""

_DARK = """--fw-fg:#e4e7ec;--fw-dim:#a2abb8;--fw-line:#3b424d;--fw-soft:#1e232a;--fw-bg:#14171b;--fw-mark:#1f2f45;\
--fw-good:#5fd39a;--fw-warn:#f0b356;--fw-bad:#ff8f87;--fw-link:#7ab7ff;\
--fw-keyword:#e59adb;--fw-function:#7ab7ff;--fw-type:#62d0bd;--fw-number:#f0b27a;--fw-string:#a9d67a;\
--fw-0:#6cb2ff;--fw-1:#ffb057;--fw-2:#4fd1a5;--fw-3:#e08fe0;--fw-4:#ff8a8a;--fw-5:#d8c94a;--fw-6:#c3cad4;--fw-7:#5fd3ea"""

# A theme need not be the system's: JupyterLab, VS Code, marimo and sites made by Sphinx say theirs in the page. VS Code gives its light theme of high
# contrast the class of the dark one too.
_THEMES = (
    f".fw{{{_LIGHT};color-scheme:light}}"
    f"@media (prefers-color-scheme:dark){{.fw{{{_DARK};color-scheme:dark}}}}"
    f'[data-jp-theme-light="true"] .fw,.vscode-light .fw,.vscode-high-contrast-light .fw,'
    f'body.light .fw,[data-theme="light"] .fw{{{_LIGHT};color-scheme:light}}'
    f'[data-jp-theme-light="false"] .fw,.vscode-dark .fw,'
    f'.vscode-high-contrast:not(.vscode-high-contrast-light) .fw,body.dark .fw,[data-theme="dark"] .fw{{{_DARK};color-scheme:dark}}'
)

_COMMON = """
.fw{color:var(--fw-fg);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;text-align:left;max-width:72rem}
.fw *{box-sizing:border-box}
.fw h1{font-size:1.6rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
.fw h2{font-size:1.15rem;line-height:1.3;margin:2rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--fw-line)}
.fw h3{font-size:1rem;margin:1.2rem 0 .3rem}
.fw p{margin:.4rem 0}
.fw ul{margin:.3rem 0;padding-left:1.3rem}
.fw pre{margin:.5rem 0;padding:.6rem .8rem;background:var(--fw-soft);color:var(--fw-fg);border:1px solid var(--fw-line);border-radius:6px;\
overflow-x:auto;white-space:pre;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;tab-size:4}
.fw code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.93em;overflow-wrap:anywhere}
.fw .keyword{color:var(--fw-keyword);font-weight:600}.fw .function{color:var(--fw-function)}.fw .type{color:var(--fw-type)}
.fw .number{color:var(--fw-number)}.fw .string{color:var(--fw-string)}.fw .comment{color:var(--fw-dim);font-style:italic}
.fw .error{color:var(--fw-bad);font-weight:600}.fw .warning{color:var(--fw-warn);font-weight:600}
.fw .quiet{color:var(--fw-link)}.fw .strong{font-weight:600}.fw .good{color:var(--fw-good)}.fw .dim{color:var(--fw-dim)}
.fw .verdict{font-size:1.05rem;margin:.2rem 0 .5rem}
.fw .badge{display:inline-block;padding:0 .55em;border:1px solid currentColor;border-radius:1em;font-weight:600}
.fw .scroll{overflow-x:auto;margin:.5rem 0;max-width:100%}
.fw table{border-collapse:collapse;border:0;margin:0;font-size:13px;color:inherit;width:auto;table-layout:auto}
.fw caption{caption-side:top;text-align:left;color:var(--fw-dim);padding:.1rem 0 .3rem}
.fw caption.short,.fw th,.fw td,.fw th code,.fw td code{white-space:nowrap;overflow-wrap:normal}
.fw caption.long{min-width:min(28rem,calc(100vw - 3rem))}
.fw td.long{white-space:normal;min-width:15rem}
.fw .wraps{white-space:normal}.fw div.wraps{min-width:11rem}
.fw tr{background:none}
.fw code{background:none;color:inherit;padding:0;border:0}
.fw th,.fw td{padding:.22rem .8rem .22rem 0;border:0;border-bottom:1px solid var(--fw-line);text-align:left;vertical-align:top;\
font-weight:400;color:inherit;background:none;max-width:44rem}
.fw thead th{font-weight:600;white-space:nowrap;vertical-align:bottom}
.fw .num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.fw tr.marked th,.fw tr.marked td{background:var(--fw-mark)}
.fw th:first-child,.fw td:first-child{padding-left:.4rem}
.fw dl{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr);gap:.15rem 1rem;margin:.5rem 0}
.fw dt{color:var(--fw-dim);float:none;width:auto;font-weight:400;overflow-wrap:break-word}.fw dd{margin:0;padding:0;overflow-wrap:anywhere}
.fw details{margin:.5rem 0}.fw summary{cursor:pointer;color:var(--fw-link)}
.fw :focus-visible{outline:2px solid var(--fw-link);outline-offset:2px}
.fw .charts{display:flex;flex-wrap:wrap;gap:1rem}
.fw figure{margin:0;flex:1 1 20rem;min-width:0;max-width:34rem}
.fw figcaption{color:var(--fw-dim);font-size:13px}
.fw svg.chart{display:block;width:100%;height:auto;overflow:visible}
.fw svg text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--fw-dim)}
.fw .grid{stroke:var(--fw-line);stroke-width:1}.fw .axis{stroke:var(--fw-dim);stroke-width:1}
.fw .curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.fw .thin{stroke-width:1}
.fw .hit{fill:transparent;stroke:none}.fw .pt{outline:none}
.fw svg .tip{visibility:hidden;pointer-events:none;fill:var(--fw-fg);font-weight:600}
.fw .pt:hover .tip,.fw .pt:focus .tip{visibility:visible}
.fw .pt:hover .dot,.fw .pt:focus .dot{stroke:var(--fw-fg);stroke-width:2;r:5px}
.fw .legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;list-style:none;padding:0;margin:.3rem 0}
.fw .legend li{display:flex;align-items:center}.fw .legend svg{flex:none;width:26px;height:10px;margin-right:.4em}
.fw .bar{width:9rem;height:.9rem;display:block}
"""

_SERIES = "".join(
    f".fw .c{i}{{stroke:var(--fw-{i})}}.fw .dot.c{i},.fw .fill.c{i}{{fill:var(--fw-{i})}}" for i in range(8)
)

# On paper everything is open, and nothing is asked to scroll.
_PAGE = """
html{background:#fff}@media (prefers-color-scheme:dark){html{background:#14171b}}
body{margin:0}
main.fw{margin:0 auto;padding:1.5rem 1.25rem 3rem;font-size:15px}
@media (max-width:36rem){main.fw{padding:1rem .8rem 2rem}.fw.fw.fw dl{grid-template-columns:minmax(0,1fr);gap:0}.fw.fw.fw dd{margin:0 0 .4rem}}
@media print{main.fw{max-width:none}.fw.fw.fw pre{white-space:pre-wrap}}
"""


#: The rules of what is within `.fw`. A notebook has rules of its own for tables, lists and code; three times the class outweighs them.
CSS = _THEMES + (_COMMON + _SERIES).replace(".fw ", ".fw.fw.fw ")


def fragment(*children: object, label: str) -> Html:
    """Wrap what a notebook shows of an object: a part of a page, with its looks. `label` names it to a screen reader."""
    return el("div", el("style", Html(CSS)), *children, class_="fw", role="group", aria_label=label)


def page(title: str, *children: object) -> Html:
    """A page that stands alone: it loads nothing."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # whatever is in it, nothing of it is run, loaded or sent
        el("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", Html(CSS + _PAGE)),
    )
    whole = el("html", head, el("body", el("main", *children, class_="fw")), lang="en")
    return joined(Html("<!doctype html>\n"), whole, Html("\n"))
