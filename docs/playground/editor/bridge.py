"""The playground's questions to fwdsl, and the answers, as JSON: runs in the browser, in a worker of the page (`worker.js`), and in the tests.

A request is `{"action": ..., "text": ..., "name": ..., "seconds": ...}`. Each answer has `ok`, and `diagnostics` as `fwdsl check --json` gives them,
with their text in `html`. What needs a package that is not there is answered by `missing`, its name.
"""

import json
import sys
import traceback
from dataclasses import replace
from pathlib import Path

from fwdsl import FwError
from fwdsl.diagnostics.html_form import diagnostics_block
from fwdsl.diagnostics.jsonform import to_json
from fwdsl.session import Raising, Session

FOLDER = Path("work")
"""The folder that paths of programs are relative to."""


def answer(request, tell=None):
    """The answer to a request, both as JSON. `tell` is called with the progress of a solve, as JSON too."""
    asked = json.loads(request)
    try:
        return json.dumps(ACTIONS[asked["action"]](asked, tell))
    except FwError as error:
        return json.dumps({"ok": False, **_found(error.diagnostics)})
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        return json.dumps({"ok": False, **_found(()), "missing": name})
    except RecursionError:
        told = "the program is nested more deeply than Python can follow in a browser"
        return json.dumps({"ok": False, **_found(()), "limit": told})
    except MemoryError:
        return json.dumps({"ok": False, **_found(()), "limit": "the memory of this page ran out"})
    except Exception as error:
        # a bug of fwdsl: the page shows it whole
        return json.dumps({"ok": False, **_found(()), "failure": "".join(traceback.format_exception(error))})


def _found(diagnostics):
    """Diagnostics as JSON and as HTML."""
    found = tuple(diagnostics)
    return {"diagnostics": [to_json(d) for d in found], "html": str(diagnostics_block(found)) if found else ""}


def _session(asked):
    session = Session(asked["text"], asked.get("name", "program.fw"), FOLDER, Raising())
    session.compile()
    if asked.get("seconds"):
        session.options = replace(session.options, time=min(session.options.time, float(asked["seconds"])))
    return session


def _state(asked, tell):
    """Versions. No array is needed for that, nor to check."""
    from fwdsl import __version__

    return {"ok": True, "fwdsl": __version__, "python": ".".join(map(str, sys.version_info[:3]))}


def _check(asked, tell):
    """Syntax, names, shapes, convexity; data are not looked at."""
    return {"ok": True, **_found(_session(asked).found())}


def _format(asked, tell):
    """The program as `fwdsl fmt` writes it."""
    from fwdsl.grammar import format_source

    text, found = format_source(asked["text"], asked.get("name", "program.fw"))
    return {"ok": not any(d.severity == "error" for d in found), "text": text, **_found(found)}


def _explain(asked, tell):
    """The long form of a diagnostic."""
    from fwdsl.diagnostics.explain import explain

    text = explain(asked["code"], 76)
    return {"ok": text is not None, "text": text or ""}


def _complete(asked, tell):
    """The words that may stand at an offset, in code points, and what they replace."""
    from fwdsl.lsp.analysis import Analysis
    from fwdsl.lsp.completion import complete

    found = complete(Analysis(asked["text"], folder=FOLDER), asked["offset"])
    typed = asked["text"][found.span.start : asked["offset"]].lower()
    offers = sorted((o for o in found.items if o.text.lower().startswith(typed)), key=lambda o: o.rank)
    told = [{"text": o.text, "kind": o.kind, "detail": o.detail, "call": o.call} for o in offers[:60]]
    return {"ok": True, "start": found.span.start, "end": found.span.end, "offers": told}


def _plan(asked, tell):
    """The methods with their reasons; on the data where they are at hand."""
    session = _session(asked)
    from fwdsl.reports.parts import of_plan
    from fwdsl.reports.report import Report

    plan = session.plan()
    instance = session.bind()
    report = Report("a plan", session.name, of_plan(plan), session, ("plan", session.name), instance)
    return {"ok": True, "method": plan.method, "why": plan.why, "report": str(report.html()), **_found(session.found())}


def _solve(asked, tell):
    """The answer with its certificate."""
    session = _session(asked)
    from fwdsl.reports.parts import of_solution
    from fwdsl.reports.report import Report
    from fwdsl.results.json_form import dumps, solution_json

    def progress(now):
        if tell is not None:
            tell(
                dumps(
                    {"seconds": now.elapsed, "gap": now.relative_gap, "method": now.method, "iteration": now.iteration}
                )
            )

    solution = session.solve(on_progress=progress)
    argv = ("run", session.name, *(("--time", f"{asked['seconds']:g}") if asked.get("seconds") else ()))
    report = Report("a run", session.name, of_solution(solution), session, argv, session.bind())
    return {
        "ok": True,
        "solution": json.loads(dumps(solution_json(solution))),
        "report": str(report.html()),
        **_found(session.found()),
    }


ACTIONS = {
    "state": _state,
    "check": _check,
    "format": _format,
    "explain": _explain,
    "complete": _complete,
    "plan": _plan,
    "solve": _solve,
}
