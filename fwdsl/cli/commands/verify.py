"""`fwdsl verify FILE [--solution S.npz]`, `fwdsl verify S.npz`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser, add_bindings, add_file, add_json, add_solve, add_strict, seconds
from ..exits import INTERRUPTED, LIMIT, OF_STATUS, USAGE, CommandStop
from ..opening import bindings_of, opened_answer, opened_to_solve, solve
from ..output import Output

if TYPE_CHECKING:
    from ...bind import Bindings
    from ...bind.instance import Instance
    from ...oracle import Verdict
    from ...results.solution import Solution
    from ...session import Session

ORACLE_SECONDS = 60.0


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "verify",
        "Solve, then check the certificate independently and compare with cvxpy. "
        "Where FILE is a saved answer (.npz), what it claims is checked, from the program in it and the data.",
    )
    add_file(made)
    add_bindings(made)
    add_solve(made)
    made.add_argument("--solution", metavar="S.npz", help="a solution saved by `fwdsl run --out`, instead of solving")
    made.add_argument(
        "--oracle-time",
        type=seconds("--oracle-time"),
        default=ORACLE_SECONDS,
        metavar="S",
        help=f"seconds that cvxpy's solvers may take (default {ORACLE_SECONDS:g})",
    )
    add_json(made)
    add_strict(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Solve, or take a saved solution; recompute its certificate by other means, and ask cvxpy for its answer.

    Each result is printed as it is known. Where cvxpy does not answer in its time there is neither agreement nor
    disagreement: a limit was reached.
    """
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = arguments.files(known)
    bindings = bindings_of(known)
    from ...extras import require
    from ...oracle.refusals import quiet

    answer, session = _opened(name, known, bindings, output)
    instance, form = session.bind(), session.canonicalise()
    require("oracle")
    if answer is None:
        solution = solve(session, output)
    else:
        from ...results.loading import solution_of

        solution = solution_of(answer, form)
    from ...oracle import check_certificate
    from ...results.json_form import solution_json
    from ..report import one_line

    output.text(one_line(solution))
    output.note("checking the certificate")
    with quiet():
        recheck = check_certificate(instance, solution)
    output.text(f"certificate: {_word(recheck.agrees)}: {recheck.text}\n")
    output.note(f"asking cvxpy, for at most {known.oracle_time:g} s")
    # a file may claim any size of its terms; what it is compared with is what the check believes
    believed = replace(solution, certificate=replace(solution.certificate, scale=recheck.scale))
    verdict, unanswered = _ask(instance, believed, known.oracle_time)
    output.text(f"cvxpy: {_word(verdict.agrees)}: {verdict.text}\n")
    agrees = verdict.agrees if recheck.agrees else False
    output.finish(
        {
            **solution_json(solution),
            "agrees": agrees,
            "recheck": {"agrees": recheck.agrees, "text": recheck.text},
            "oracle": {"agrees": verdict.agrees, "text": verdict.text},
        }
    )
    if agrees is None:
        return unanswered
    return OF_STATUS[solution.status] if agrees else USAGE


def _opened(name: str, known: argparse.Namespace, bindings: Bindings, output: Output) -> tuple[str | None, Session]:
    """The file of the answer to check, None where the program is to be solved, and the session of its program."""
    if not name.endswith(".npz"):
        return known.solution, opened_to_solve(name, known, bindings, output)
    if known.solution is not None:
        hint = f"write `fwdsl verify {name}`, or name the program: `fwdsl verify FILE.fw --solution {name}`"
        raise CommandStop([Diagnostic("FW0007", f"`{name}` and `--solution` both name an answer", hint=hint)])
    return name, opened_answer(name, bindings, output)


def _ask(instance: Instance, solution: Solution, limit: float) -> tuple[Verdict, int]:
    """The verdict of cvxpy on a solution, and the exit code where cvxpy does not answer."""
    from ...oracle import Verdict, compare, solve_oracle
    from ...oracle.refusals import quiet

    try:
        with quiet():
            return compare(solution, solve_oracle(instance, limit)), LIMIT
    except KeyboardInterrupt:
        return Verdict(None, "interrupted before cvxpy answered"), INTERRUPTED


def _word(agrees: bool | None) -> str:
    return "not known" if agrees is None else "agrees" if agrees else "DISAGREES"
