"""A plan as HTML: the canonical form, the choice, and every method with its prediction or the reason against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..html.markup import Html, el, facts, folded, joined, listed, table
from ..html.style import fragment
from .plan import grouped, price_texts

if TYPE_CHECKING:
    from .plan import Plan
    from .weigh import Candidate

_HEAD = ("method", "passes", "time", "memory", "what it is, and why")


def plan_html(plan: Plan) -> Html:
    """The plan as a notebook shows it."""
    return fragment(*plan_parts(plan), label=f"plan: {plan.method}")


def plan_parts(plan: Plan) -> Sequence[Html]:
    """The choice, the form that is solved, and the tables of methods; those that do not apply are folded."""
    freely, named, others = grouped(plan)
    return [
        el("p", el("span", plan.method, class_="badge good"), " ", plan.chosen.title, class_="verdict"),
        facts([("why", plan.why), ("certificate", plan.certificate)]),
        el("pre", el("code", "\n".join(plan.structure)), tabindex=0, role="region", aria_label="canonical form"),
        *([listed(plan.facts)] if plan.facts else []),
        _able("Methods that apply", freely, plan.method),
        *(
            [folded(f"{len(named)} more that apply where they are named", _able("Applied by name", named, ""))]
            if named
            else []
        ),
        *([folded(f"{len(others)} methods that do not apply", _unable(others))] if others else []),
        *([] if plan.bound else [el("p", "With data bound, passes, time and memory are predicted.", class_="dim")]),
    ]


def _able(caption: str, candidates: Sequence[Candidate], chosen: str) -> Html:
    at = [i for i, c in enumerate(candidates) if c.name == chosen]
    return table(_HEAD, (_row(c, c.name == chosen) for c in candidates), caption, numbers=(1, 2, 3), marked=at)


def _row(c: Candidate, is_chosen: bool) -> Iterable[object]:
    name = joined(el("code", c.name), el("span", " (chosen)", class_="wraps") if is_chosen else "")
    why = el("div", c.estimate.why, class_="dim") if c.estimate is not None else ""
    title = f"{c.title} ({c.by_name_only})" if c.by_name_only else c.title
    # under each other, as beside each other they are wider than the columns of marimo
    return (name, *price_texts(c.estimate), el("div", title, why, class_="wraps"))


def _unable(candidates: Sequence[Candidate]) -> Html:
    rows = ((el("code", c.name), c.title, "; ".join(c.reasons)) for c in candidates)
    return table(("method", "", "reasons"), rows, "Methods that do not apply")
