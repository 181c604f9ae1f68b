"""The kind of certificate that a structure allows, before anything is solved; `certify.verify` then says the same."""

from __future__ import annotations

import math

from ..atoms.base import VectorFunction
from ..canon.arrange import Arrangement, BlockPlan
from ..canon.forms import Form
from ..canon.kinds import FormKind
from ..canon.pairs import is_compact, words_of
from ..words import CONVEX, SETS

UNBOUNDED = "an equality of the dual: exact where met to rounding, else conditional"


def expected_certificate(arrangement: Arrangement, form: Form | None = None, kind: FormKind = "dense") -> str:
    """The grounds of the dual bound to come: a clause a block, and one for each term of the sum whose conjugate takes a dense decomposition.

    With a `form` it is told from its functions, numbers included, else from the records of the words; `kind` is that of the form that the
    method works on.
    """
    if kind == "expansion":
        return f"{next(b.name for b in arrangement.blocks if b.implicit)}: exact, its quadratic term has a finite conjugate"
    if kind == "factored":
        name = arrangement.blocks[0].name
        return f"{name}: rigorous where it is small, else probabilistic, by a bound of the gradient's largest singular value"
    form = None if form is None else form.dense
    functions = {} if form is None else {block.name: block.g for block in form.blocks}
    # a norm bounds its variable by the objective of a feasible point, where the rest of the objective is bounded below
    certain = not arrangement.linear and not any(s.is_constraint for s in arrangement.sums)
    bare = {s.bare for s in arrangement.sums if s.bare is not None}
    clauses = [_of_block(b, functions.get(b.name), b.name in bare, certain) for b in arrangement.blocks]
    if form is None:
        dense = [s.text for s in arrangement.sums if s.kind != "loss" and _known(s.atom) == "rigorous"]
    else:
        dense = [t.text for t in form.terms if isinstance(t.f, VectorFunction) and t.f.certificate == "rigorous"]
    return "; ".join([*clauses, *(f"{text}: rigorous, by its singular values or eigenvalues" for text in dense)])


def _known(*keys: str | None) -> str:
    """The certificate kind of the conjugates of norms and sets together, sets by their keys: `rows(simplex)`."""
    named = [key for key in keys if key is not None and (key in CONVEX or key.partition("(")[0] in SETS)]
    # an epigraph, which has no name in a program, is of what its terms are
    words = [CONVEX[key] if key in CONVEX else words_of(key)[1] for key in named]
    return "rigorous" if any(word.certificate == "rigorous" for word in words) else "exact"


def _of_block(plan: BlockPlan, g: VectorFunction | None, has_bare_term: bool, certain: bool) -> str:
    known, norm, ridge = _known(plan.norm, plan.set), plan.norm, bool(plan.ridges)
    bounded = is_compact(plan.set)
    clause = UNBOUNDED
    if g is not None:
        known, ridge = g.certificate, g.curvature > 0.0
        norm = None if g.pair[0] is None else plan.norm
        bounded = plan.set is not None and math.isfinite(g.radius())
    elif bounded and words_of(str(plan.set))[1].given_bounds:
        # whose bounds are not known
        bounded, clause = (
            False,
            "exact where its bounds are finite or the dual meets an equality to rounding, else conditional",
        )
    if bounded:
        clause = f"{known}, by the support function of its {plan.set}"
    elif ridge:
        clause = f"{known}, its quadratic term has a finite conjugate"
    elif norm is not None and CONVEX[norm].sublinear:
        clause = f"{known} where the dual meets the equation of its {norm} to rounding, else conditional"
    elif norm is not None and not CONVEX[norm].is_norm:
        clause = f"{known}, its {norm} has a finite conjugate"
    elif norm is not None:
        clause = f"{known}, by scaling the dual into the ball of its {norm} or its implied bound"
        clause += "" if certain else ", else conditional"
    elif has_bare_term:
        clause = f"{known} where a penalty or a bounded set bounds it, else conditional"
    elif known == "rigorous":
        clause = UNBOUNDED.replace("exact", "rigorous")
    return f"{plan.name}: {clause}"
