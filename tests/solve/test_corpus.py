"""The conformance corpus: every loss, regulariser, set and map in changing company, certified and equal to cvxpy."""

from __future__ import annotations

import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from tests import decks
from tests.corpus import CorpusProgram, corpus
from tests.problems import LOSSES

pytest.importorskip("cvxpy")

TOL = 1e-6
PROGRAMS = corpus()
#: Every seventh is in the default run; seven is coprime to the lengths of the decks.
QUICK = PROGRAMS[::7]
REST = [p for i, p in enumerate(PROGRAMS) if i % 7]


def check(program: CorpusProgram) -> None:
    """Certified to 1e-6, and within 1e-6 of the oracle, or so narrow that the oracle's own residual explains the difference."""
    bound = fw.parse(program.text).bind(**program.data)
    solution = bound.solve(tol=TOL, threads=1, time=30)
    assert solution.status == "optimal", f"{program.text}\n{solution.reason} {solution.certificate}"
    certificate = solution.certificate
    assert certificate.relative_gap <= TOL
    assert certificate.infeasibility <= 1e-7
    assert foreseen(solution.plan.certificate, certificate.kind), f"{program.text}\n{solution.plan.certificate}"
    if program.reference:
        bound = fw.parse(program.reference).bind(**program.reference_data)
    oracle = solve_oracle(bound.instance)
    assert oracle.status == "optimal", f"{program.text}\nthe oracle says {oracle.status}"
    off = abs(solution.objective - oracle.value) / max(1.0, abs(oracle.value))
    narrow = certificate.relative_gap <= 1e-8 and oracle.residual >= 0.1 * off
    assert off <= 1e-6 or narrow, (
        f"{program.text}\n{solution.objective!r} against {oracle.value!r} ({oracle.residual:.1e})"
    )


def foreseen(expected: str, kind: str) -> bool:
    """True if a plan's sentence on the certificate covers what the verifier said: `exact` where nothing takes a decomposition."""
    if kind == "exact":
        return "rigorous" not in expected
    return kind in expected


@pytest.mark.parametrize("program", QUICK, ids=lambda p: p.name)
def test_a_sample_of_the_corpus(program: CorpusProgram) -> None:
    check(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", REST, ids=lambda p: p.name)
def test_the_rest_of_the_corpus(program: CorpusProgram) -> None:
    check(program)


def test_the_corpus_is_large_and_has_every_word() -> None:
    assert len(PROGRAMS) >= 250
    assert len(QUICK) >= 40
    assert len({p.text for p in PROGRAMS}) >= 250
    words = frozenset[str]().union(*(p.words for p in PROGRAMS))
    expected = {
        *LOSSES,
        *decks.VECTOR_LOSSES,
        *(f"vector {w}" for w in (*decks.VECTOR_REGULARISERS, *decks.VECTOR_SETS, *decks.VECTOR_MAPS)),
        *(f"matrix {w}" for w in (*decks.MATRIX_REGULARISERS, *decks.MATRIX_SETS, *decks.MATRIX_MAPS)),
        *(f"symmetric {w}" for w in (*decks.SYMMETRIC_REGULARISERS, *decks.SYMMETRIC_SETS, *decks.SYMMETRIC_MAPS)),
    }
    assert sorted(expected - words) == []


def test_the_corpus_is_the_same_each_time() -> None:
    assert [(p.name, p.text) for p in corpus.__wrapped__()] == [(p.name, p.text) for p in PROGRAMS]
