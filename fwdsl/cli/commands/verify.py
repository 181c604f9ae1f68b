"""`fwdsl verify FILE [--solution S.npz]`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ..arguments import Parser, add_bindings, add_file, add_json, add_solve, add_strict
from ..exits import OF_STATUS, USAGE
from ..output import Output
from ..stages import (
    Clock,
    bind_model,
    bindings_of,
    canonicalise_instance,
    compile_file,
    options_for,
    plan_for,
    solve_plan,
)


def run(argv: Sequence[str], output: Output) -> int:
    """Solve, or take a saved solution; recompute its certificate by other means, and ask cvxpy for its answer."""
    parser = Parser("verify", "Solve, then compare with cvxpy and check the certificate independently.")
    add_file(parser)
    add_bindings(parser)
    add_solve(parser)
    parser.add_argument("--solution", metavar="S.npz", help="a solution saved by `fwdsl run --out`, instead of solving")
    add_json(parser)
    add_strict(parser)
    known = parser.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = parser.files(known)
    given = bindings_of(known)
    from ...oracle.require import require_cvxpy

    clock = Clock()
    model = clock.measure("compile", lambda: compile_file(name, output))
    require_cvxpy()
    options = options_for(model, known)
    instance = clock.measure("load", lambda: bind_model(model, given, name, output, options.tol))
    canonical = clock.measure("plan", lambda: canonicalise_instance(instance, output))
    if known.solution is None:
        plan = clock.measure("plan", lambda: plan_for(canonical, options, known, output))
        solution = solve_plan(canonical, plan, options, clock, output)
    else:
        from ..save import load_solution

        solution = load_solution(known.solution, canonical)
    from ...oracle import check_certificate, compare, solve_oracle

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's, of an inaccurate answer: the comparison says how inaccurate
        recheck, verdict = check_certificate(instance, solution), compare(solution, solve_oracle(instance))
    agrees = recheck.agrees and verdict.agrees

    from ..report import one_line, solution_json

    output.text(one_line(solution))
    output.text(f"certificate: {_word(recheck.agrees)}: {recheck.text}\n")
    output.text(f"cvxpy: {_word(verdict.agrees)}: {verdict.text}\n")
    output.finish(
        {
            **solution_json(solution),
            "agrees": agrees,
            "recheck": {"agrees": recheck.agrees, "text": recheck.text},
            "oracle": {"agrees": verdict.agrees, "text": verdict.text},
        }
    )
    return OF_STATUS[solution.status] if agrees else USAGE


def _word(agrees: bool) -> str:
    return "agrees" if agrees else "DISAGREES"
