"""Estimators over a program of the user's own: its parameters are theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from types import FunctionType, MethodType, NoneType
from typing import Any

from ..errors import FwError
from ..model import Expr, Model, once_per_model
from ..problem import Problem
from .errors import estimator_error
from .estimator import ProgramEstimator
from .kinds import Classification, Embedding, Regression, Supervised
from .program import Names, Roles, compiled, roles_of

PLAIN = (NoneType, str, bool, int, float)
"""Values that are the same in a copy; for others scikit-learn takes some microseconds each."""

METHODS = ("predict", "transform")
"""Parameters that have the names of methods, and so are not attributes."""


class ProgramParameters(ProgramEstimator):
    """The parameters of a program as parameters of its estimator.

    `get_params` has, beside the constructor's own, every parameter of the program (what a `Problem` has bound, else its default where that is a
    number, else None, which is the program's own), and the data and dimensions that were given or bound. `set_params` sets them, and they are
    attributes, but for `predict` and `transform`, which are methods.
    """

    program: Any
    X: str
    y: str | None
    weights: str

    def _take(self, hidden: str, what: str | None, given: Mapping[str, object]) -> None:
        """Keep what a constructor was given beside its plain parameters."""
        self._beside = {hidden: what, **given}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name: those of the constructor, and those of the program."""
        own = {n: self._beside[n] if n in self._beside else vars(self)[n] for n in self._get_param_names()}
        return {**own, **{n: v for n, v in self._of_program().items() if n not in own}}

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the constructor or of the program, which is the new one where that is set too. Raises `ValueError` for a name that is
        neither."""
        then = self._with_program(params["program"]) if "program" in params else self
        known = then.get_params(deep=False)
        wrong = [n for n in params if n not in known and not then._is_of_program(n)]
        if wrong:
            then._refuse_rejected(wrong[0])
            close = get_close_matches(wrong[0], known, n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"Invalid parameter {wrong[0]!r} for estimator {type(self).__name__}. Valid parameters are: {sorted(known)}.{meant}"
            )
        for name in sorted(params, key=lambda n: n != "program"):  # the program first, which says what the others are
            setattr(self, name, params[name])
        return self

    def _with_program(self, program: object) -> ProgramParameters:
        """This estimator as it is with another program; it shares all else."""
        other: ProgramParameters = object.__new__(type(self))
        other.__dict__.update(vars(self))
        other.program = program
        return other

    def _refuse_rejected(self, name: str) -> None:
        """Raise `ValueError` with the errors of a program that is not accepted: its parameters are not known."""
        try:
            _ = compiled(self.program).model
        except (FwError, OSError) as error:
            told = f"Invalid parameter {name!r} for estimator {type(self).__name__}, whose program is not accepted:\n{error}"
            raise ValueError(told) from None

    def _of_program(self) -> dict[str, Any]:
        """The values of the program's parameters, and of what else was given or is bound; `fit` gives samples, targets and weights."""
        given = {n: v for n, v in self._beside.items() if n not in METHODS}
        try:
            problem = compiled(self.program)
            model = problem.model
        except (FwError, OSError):
            return {**vars(self).get("_earlier", {}), **given}
        bound = {n: v for n, v in problem.bound.items() if n not in (self.X, self.y, self.weights)}
        return {**{p.name: _number(p.default) for p in model.params}, **bound, **given}

    def _is_of_program(self, name: str) -> bool:
        """True for parameters, data and dimensions of the program."""
        if name.startswith("_") or name.endswith("_"):
            return False
        try:
            model = compiled(self.program).model
        except (FwError, OSError):
            return False
        return name in {*(p.name for p in model.params), *(d.name for d in model.data), *map(str, model.dims)}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and not name.endswith("_") and name not in METHODS and "_beside" in vars(self):
            known = self._of_program()
            if name in known:
                return known[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        beside = vars(self).get("_beside")
        if name == "program" and beside is not None:
            # so that a program that is not accepted, which `fit` tells, takes no names away
            super().__setattr__("_earlier", dict.fromkeys(self._of_program()))
        if beside is None or name in vars(self) or not (name in beside or self._is_of_program(name)):
            super().__setattr__(name, value)
        else:
            self._beside = {**beside, name: value}

    def _program(self, weighted: bool) -> Problem:
        problem = compiled(self.program)
        own = tuple(self._get_param_names())
        _refuse_clashes(problem.model, type(self).__name__, own)
        _refuse_unknown(problem.model, type(self).__name__, own, tuple(self._settings()))
        return problem

    def _roles(self) -> Roles | None:
        if not (isinstance(self.program, str) and "\n" in self.program):
            # a file may change, and a problem may have data, which nothing is to keep
            return super()._roles()
        try:
            return _roles_of_text(self.program, tuple(self._get_param_names()), self._names())
        except TypeError:  # a name that is no text, which `fit` tells
            return super()._roles()

    def _settings(self) -> Mapping[str, object]:
        return {n: v for n, v in self._beside.items() if n not in METHODS and v is not None}

    def _names(self) -> Names:
        what: Any = next(self._beside[n] for n in METHODS if n in self._beside)
        return Names(type(self).__name__, self.X, self.y, self.weights, what)

    def __sklearn_clone__(self) -> Any:
        """A new estimator that is given what this one was; a `Problem` never changes, and is shared. What the program says it says to both."""
        from sklearn.base import clone

        shared = ("program", *(n for n in self._beside if n in METHODS))
        params = {**{n: vars(self)[n] for n in self._get_param_names() if n not in self._beside}, **self._beside}
        copied = {n: v if n in shared or isinstance(v, PLAIN) else clone(v, safe=False) for n, v in params.items()}
        other = type(self)(**copied)
        for name in ("_metadata_request", "_sklearn_output_config"):
            if name in vars(self):
                other.__dict__[name] = clone(vars(self)[name], safe=False)
        return other


@lru_cache(maxsize=256)
def _roles_of_text(text: str, own: tuple[str, ...], names: Names) -> Roles | None:
    """The roles of a program's names: scikit-learn asks for tags, and so for them, several times in a fit."""
    try:
        model = compiled(text).model
        _refuse_clashes(model, names.call, own)
        return roles_of(model, names)
    except FwError:
        return None


@once_per_model
def _refuse_clashes(model: Model, call: str, own: tuple[str, ...]) -> None:
    """Raise FW0220 where a parameter of the program has the name of one of the constructor."""
    for param in model.params:
        if param.name in own or param.name in METHODS:
            raise estimator_error(
                "FW0220",
                f"the program's parameter `{param.name}` has the name of a parameter of {call}",
                rule="The parameters of the program and of the estimator have different names.",
                hint=f"call it otherwise in the program, for instance `{param.name}_`",
            )


_ELSEWHERE = {
    "random_state": "write `seed=`",
    "n_jobs": "write `threads=`",
    "max_iter": "write `time=`, seconds at most",
    "class_weight": "give `fit` a `sample_weight`, as `sklearn.utils.class_weight.compute_sample_weight` makes",
    "fit_intercept": "the program says it: `var b: real`, and `X @ w + b`",
}
"""The words for parameters that estimators of scikit-learn have."""


def _refuse_unknown(model: Model, call: str, own: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Raise FW0220 for what a constructor was given and the program does not take."""
    params = tuple(p.name for p in model.params)
    known = {*params, *(d.name for d in model.data)}
    name = next((n for n in given if n not in known and n not in model.dims), None)
    if name is None:
        return
    close = get_close_matches(name, [*own, *known], n=1)
    raise estimator_error(
        "FW0220",
        f"{call} was given `{name}`, which neither it nor its program has",
        rule=f"The program has the parameters {', '.join(f'`{n}`' for n in params) or 'none'}, and {call} "
        f"{', '.join(f'`{n}`' for n in own if n != 'program')}; data and dimensions of the program are taken too.",
        hint=_ELSEWHERE.get(name)
        or (
            f"did you mean `{close[0]}`?"
            if close
            else f"leave `{name}` out (`set_params({name}=None)`), or declare it in the program"
        ),
    )


def _number(default: Expr | None) -> float | None:
    """The default of a parameter where it is a plain number."""
    return default.value if default is not None and default.op == "const" else None  # type: ignore[return-value]


class FitOfProgram:
    """The method `fit`. Its signature has `sample_weight` where the program has data for it: scikit-learn's ensembles look for it there, and do
    without it where it is not. What is given all the same goes to `fit`, which says what to declare."""

    def __init__(self, fit: Callable[..., Any]) -> None:
        self._fit = fit

    def __get__(self, estimator: Any, owner: type) -> Callable[..., Any]:
        if estimator is None:
            return self._fit
        bound: Callable[..., Any] = MethodType(self._fit, estimator)
        roles = estimator._roles()
        if roles is None or roles.weights is not None:
            return bound

        def fit(X: Any, y: Any = None, **weights: Any) -> Any:
            return bound(X, y, **weights)

        fit.__doc__ = self._fit.__doc__
        return fit


class Predicting(ProgramParameters):
    """A program's estimator with targets."""

    _is_for_any_samples = True

    def __init__(
        self,
        program: Any,
        *,
        predict: str | None = None,
        X: str = "X",
        y: str = "y",
        weights: str = "sample_weight",
        tol: float | None = None,
        method: Any = None,
        time: float | None = None,
        threads: int = 1,
        seed: int | None = None,
        **parameters: Any,
    ) -> None:
        self.program, self.X, self.y, self.weights = program, X, y, weights
        self.tol, self.method, self.time, self.threads, self.seed = tol, method, time, threads, seed
        self._take("predict", predict, parameters)


_SHARED = f"""
    program: a text, the path of a `.fw` file, or a `fw.Problem`. Each text is compiled once in a process.
    X, y, weights: how the program calls the samples, the targets, and the weights of samples, which it need not have.
    tol, method, time, threads, seed: options of `Problem.solve`.
    parameters: values of the program's parameters, of its dimensions, and of its other data, by name.

    {(ProgramEstimator.__doc__ or "").partition("certified solution of a program.")[2].strip()}
    """


def _named(of: Any, name: str) -> Any:
    """A copy of a function by another qualified name."""
    made = FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)
    made.__kwdefaults__, made.__annotations__ = of.__kwdefaults__, of.__annotations__
    made.__qualname__, made.__module__ = name, of.__module__
    return made


class FwRegressor(Regression, Predicting):
    """A regressor that is the certified solution of a program: `FwRegressor("lasso.fw", mu=0.1)`.

    predict: the `let` that is predicted; None for the argument of the program's losses.
    """

    fit = FitOfProgram(Supervised.fit)


class FwClassifier(Classification, Predicting):
    """A classifier that is the certified solution of a program: `FwClassifier("svm.fw", C=0.5)`.

    The targets are declared `signs[n]` (two classes) or `labels[n, k]`; `classes_` has the labels. `predict_proba` is there where the program's
    loss is a likelihood of classes: `logistic`, `softmax`.

    predict: the `let` that has the scores; None for the argument of the program's losses.
    """

    fit = FitOfProgram(Supervised.fit)


class FwTransformer(Embedding, ProgramParameters):
    """A transformer that is the certified solution of a program: `FwTransformer("factors.fw", transform="Z")`.

    transform: the `let` whose rows are the new features, such as `let Z = X @ V`; None for the argument of the program's losses.
    y: None where the program has no targets.
    """

    fit = FitOfProgram(Embedding.fit)

    def __init__(
        self,
        program: Any,
        *,
        transform: str | None = None,
        X: str = "X",
        y: str | None = None,
        weights: str = "sample_weight",
        tol: float | None = None,
        method: Any = None,
        time: float | None = None,
        threads: int = 1,
        seed: int | None = None,
        **parameters: Any,
    ) -> None:
        self.program, self.X, self.y, self.weights = program, X, y, weights
        self.tol, self.method, self.time, self.threads, self.seed = tol, method, time, threads, seed
        self._take("transform", transform, parameters)


for _cls in (FwRegressor, FwClassifier):  # of their own names, which Python says where an argument is missing
    _cls.__init__ = _named(Predicting.__init__, f"{_cls.__name__}.__init__")  # type: ignore[method-assign]
for _cls in (FwRegressor, FwClassifier, FwTransformer):
    _cls.__doc__ = f"{(_cls.__doc__ or '').rstrip()}{_SHARED}"
