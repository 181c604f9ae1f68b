"""`fw.register` refuses words and says what to do; kernels come from outside; the public checks find faults."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl import words
from fwdsl.atoms.losses.huber import Huber
from fwdsl.backends.kernels.compile import _is_kept, kernel
from fwdsl.extend import Loss, Parameter, SetWord, VectorSet, loss_word, register, set_word, unregister
from fwdsl.testing import check_loss, check_set, registered
from tests.plugins.ellipsoid import Ellipsoid
from tests.plugins.tweedie import Tweedie

#: What a loss without kernels is made of.
REFERENCES = {k: v for k, v in vars(Tweedie).items() if k.endswith("_naive") or k in ("smoothness", "cvxpy")}


def loss(word: Any, without: str = "", **more: Any) -> Any:
    return type("Made", (Loss,), {"word": word, **{k: v for k, v in REFERENCES.items() if k != without}, **more})


ELLIPSOID = {k: v for k, v in vars(Ellipsoid).items() if not k.startswith("__") and k not in ("pair", "polyhedral")}


def set_of(word: Any, without: str = "", field: str = "a", **more: Any) -> Any:
    """The ellipsoid under another record."""
    body = {"__annotations__": {"size": int, field: Any}, **ELLIPSOID, "word": word, **more}
    return dataclass(frozen=True, eq=False)(type("Made", (VectorSet,), {k: v for k, v in body.items() if k != without}))


A = Parameter("a", "unit", 0.5)
AXES = Parameter("a", shape="entries")


def test_the_same_class_may_be_registered_again_and_a_word_taken_back() -> None:
    before = set(words.LOSSES)
    with registered(Tweedie):
        assert fw.register(Tweedie) is Tweedie and fw.tweedie is fw.tweedie
        other = loss(Tweedie.word)
        with pytest.raises(ValueError, match=r'unregister\("tweedie"\)'):
            register(other)
    assert set(words.LOSSES) == before and not hasattr(fw, "tweedie")
    with pytest.raises(KeyError, match="no word that was registered"):
        unregister("tweedie")
    with pytest.raises(KeyError, match="`huber` is no word that was registered"):
        unregister("huber")


def test_a_text_is_read_once_and_again_when_words_have_changed() -> None:
    text = (
        "data X: matrix[n, d]\ndata y: vector[n]\nvar w: vector[d]\nminimize mean(tweedie(X @ w, y)) + sum_squares(w)\n"
    )
    with pytest.raises(fw.RejectedError, match="tweedie"):
        _ = fw.parse(text).model
    with registered(Tweedie):
        model = fw.parse(text).model
        assert fw.parse(text).model is model and fw.parse(text, "another").model is not model
    with pytest.raises(fw.RejectedError, match="tweedie"):
        _ = fw.parse(text).model


@pytest.mark.parametrize("name", ["Tweedie", "my loss", "2d", "_own", "lambda", "minimize", "in", "solve", ""])
def test_names_that_the_language_cannot_take(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a word"):
        register(loss(loss_word(name, "f.", A)))


@pytest.mark.parametrize("name", ["huber", "norm1", "simplex", "vector", "csv", "load", "session", "tol"])
def test_names_that_are_taken(name: str) -> None:
    for made in (loss(loss_word(name, "f.", A)), set_of(set_word(name, "f.", AXES))):
        with pytest.raises(ValueError, match=f"`{name}` is .* already: choose another name"):
            register(made)


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (Parameter("a"), "needs a domain"),
        (Parameter("a", "string", 1.0), "needs a domain"),
        (Parameter("a", "unit"), "needs a default"),
        (Parameter("in", "unit", 0.5), "no keyword"),
        (Parameter("target", "unit", 0.5), "a name of its own"),
        (Parameter("weights", "unit", 0.5), "means something else"),
    ],
)
def test_options_of_a_loss(parameter: Parameter, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        register(loss(loss_word("made", "f.", parameter)))


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (Parameter("a"), "or for data a shape"),
        (Parameter("a", "positive", 1.0), "takes no default"),
        (Parameter("r", shape="entries"), "is a radius"),
    ],
)
def test_parameters_of_a_set(parameter: Parameter, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        register(set_of(set_word("made", "f.", parameter)))


def test_a_class_that_lacks_something_is_told_what() -> None:
    word = loss_word("made", "f.", A)
    for part, told in (
        ("prox_naive", r"lacks prox_naive\n  prox_naive: argmin_z t_j l"),
        ("smoothness", r"lacks smoothness\n  smoothness: sup of l''"),
        ("curvature_naive", r"is smooth and lacks curvature_naive: give `curvature_naive\(z, b, p\)`"),
    ):
        with pytest.raises(TypeError, match=told):
            loss(word, without=part)
    with pytest.raises(TypeError, match="has formulas and lacks prox, conjugate: give all or none"):
        loss(word, tangent=Huber.tangent)
    with pytest.raises(TypeError, match="its record says `made`"):
        loss(word, name="other")
    with pytest.raises(TypeError, match="real or signed targets"):
        loss(loss_word("made", "f.", target="labels"))
    with pytest.raises(TypeError, match=r"lacks conjugate\n  conjugate: g\*"):
        set_of(set_word("made", "f.", AXES), without="conjugate")
    for nothing in (Ellipsoid(2, np.ones(2)), VectorSet, int):
        with pytest.raises(TypeError, match=r"word = loss_word"):
            register(nothing)  # type: ignore[type-var]


def test_a_set_that_contradicts_its_record() -> None:
    with pytest.raises(TypeError, match="differ on whether it is polyhedral"):
        set_of(set_word("made", "f.", AXES), polyhedral=True)
    with pytest.raises(TypeError, match=r"made of \(size, a\), and its record says \(size, b\)"):
        register(set_of(set_word("made", "f.", Parameter("b", shape="entries"))))
    with pytest.raises(TypeError, match=r"is bounded, and Made lacks lmo\n  lmo: argmin"):
        register(set_of(set_word("made", "f.", AXES), without="lmo"))
    with pytest.raises(TypeError, match="is not bounded, and Made lacks dual_scale, dual_project"):
        register(set_of(set_word("made", "f.", AXES, compact=False)))
    with pytest.raises(TypeError, match="says what only ours may: norm, nested"):
        word = SetWord(
            name="made", formula="f.", of="vector", parameters=(AXES,), polyhedral=False, norm="norm1", nested=True
        )
        register(set_of(word))
    with pytest.raises(TypeError, match="says what only ours may: of"):
        register(set_of(SetWord(name="made", formula="f.", of="matrix", parameters=(AXES,), polyhedral=False)))
    with pytest.raises(TypeError, match="Made says that it is compiled, and has no prox_kernel"):
        set_of(set_word("made", "f.", AXES), compiled=True)
    with pytest.raises(ValueError, match="bounds a total: it is bounded, and its one parameter is the radius"):
        register(set_of(set_word("made", "f.", AXES, total="most")))
    with pytest.raises(ValueError, match="the ends of `made` are numbers or its parameters, not `b`"):
        register(set_of(set_word("made", "f.", AXES, ends=("-a", "b"))))
    with pytest.raises(TypeError, match="must be a dataclass"):
        register(type("Plain", (Ellipsoid,), {"word": set_word("made", "f.", AXES)}))


# --- what the checks find ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"smoothness": 1.0}, "slopes change by at most `smoothness` = 1: z = "),
        ({"strong_convexity": 1.0}, "slopes change by at least `strong_convexity`"),
        ({"gradient_naive": staticmethod(lambda z, b, p: Tweedie.gradient_naive(z, b, p) + 0.1)}, "tangent"),
        ({"prox_naive": staticmethod(lambda v, t, b, p: v)}, r"l\(z\) \+ l\*\(u\) = u z"),
        (
            {"infimum_naive": staticmethod(lambda b, p: Tweedie.infimum_naive(b, p) - 1e-9)},
            r"`infimum_naive` is -l\*\(0\)",
        ),
        ({"curvature_naive": staticmethod(lambda z, b, p: np.ones_like(z))}, "`curvature` is the slope"),
        (
            {"dual_bounds_naive": staticmethod(lambda b, p: (np.full_like(b, -1.0), np.ones_like(b)))},
            "finite between `dual_bounds",
        ),
    ],
)
def test_a_wrong_loss_is_found(change: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_loss(loss(loss_word("made", "f.", A), **change))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"conjugate": lambda self, v: 1.1 * Ellipsoid.conjugate(self, v)}, r"g\(x\) \+ g\*\(u\) = <u, x>"),
        ({"prox": lambda self, v, t: v / max(1.0, self._length(v))}, r"g\(x\) \+ g\*\(u\) = <u, x>"),
        ({"prox": lambda self, v, t: 2.0 * v}, "`prox` is in the set but for"),
        ({"lmo": lambda self, c: np.zeros(self.size)}, "is minus the support function"),
        ({"radius": lambda self: 0.1}, "is at most `radius` = 0.1"),
        ({"radius": lambda self: np.inf}, "the record says compact = True"),
        ({"violation": lambda self, x, sizes=None: 0.0}, "a point that the projection moves has a violation"),
        ({"word": set_word("made", "f.", AXES, polyhedral=True)}, "`polyhedral`: the vertex stays the same"),
        ({"word": set_word("made", "f.", AXES, permutable=True)}, "`permutable`: the support function is the same"),
        ({"describe": lambda self: "nothing"}, "`describe` names the set"),
    ],
)
def test_a_wrong_set_is_found(change: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_set(set_of(**{"word": set_word("made", "f.", AXES), **change}))


def test_a_radius_scales_the_set() -> None:
    """A parameter called `r` says so; the half-axes of this one do not grow in proportion."""
    axes = property(lambda self: np.full(self.size, 1.0 + self.r))
    made = set_of(set_word("made", "f.", Parameter("r", "positive")), field="r", a=axes)
    with pytest.raises(AssertionError, match="twice that of radius r"):
        check_set(made)


def test_arguments_that_a_set_refuses_are_asked_for() -> None:
    with pytest.raises(AssertionError, match=r"give its arguments: check_set\(Ellipsoid"):
        check_set(Ellipsoid, {"a": -np.ones(5)})


# --- kernels ----------------------------------------------------------------------------------------------------------

KERNELS = '''
import math
from fwdsl.extend import Parameter, loss_word
from fwdsl.atoms.losses.huber import Huber

def half(x):
    return 0.5 * x

class Doubled(Huber):
    """Twice the Huber loss of half the slope, by a formula of its own: the Huber loss."""
    word = loss_word("doubled", "f.", Parameter("delta", "positive", 1.0), residual=True)

    @staticmethod
    def tangent(z, b, p):
        r = abs(z - b)
        s = min(r, p[0])
        return s * r - half(s * s), math.copysign(s, z - b)
'''


def test_kernels_from_outside_are_linked_into_loops(tmp_path: Path) -> None:
    """`svrg` and `sdca` take the loss; what is compiled of it is not kept, as our stamp does not see its file change."""
    path = tmp_path / "doubled.py"
    path.write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("doubled", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.Doubled.compiled
    check_loss(module.Doubled)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    program = (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(huber(X @ w, y)) + 0.1 * sum_squares(w)\n"
    )
    expected = fw.parse(program).bind(X=X, y=y).solve().objective
    with registered(module.Doubled):
        problem = fw.parse(program.replace("huber", "doubled")).bind(X=X, y=y)
        for method in ("svrg", "sdca", "apg"):
            solution = problem.solve(method=method, tol=1e-5)
            assert solution.status == "optimal" and solution.objective == pytest.approx(expected, rel=2e-5)

    def loop(z, b, w, p):  # type: ignore[no-untyped-def]
        return value(z, b, w, p)  # type: ignore[name-defined]  # noqa: F821

    doubled, huber = module.Doubled.value_gradient_loop, Huber.value_gradient_loop
    assert _is_kept(doubled) and _is_kept(kernel(loop, value=huber).py_func)  # type: ignore[attr-defined]
    assert not _is_kept(kernel(loop, value=doubled).py_func)  # type: ignore[attr-defined]
    assert module.Doubled.prox_loop is Huber.prox_loop
