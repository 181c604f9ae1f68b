"""Terms, constraints and sets in cvxpy's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import words
from ..atoms.losses import LOSSES
from ..atoms.vectors import SETS
from ..bind.instance import Instance
from ..errors import RunError
from ..extras import require
from ..grammar.diagnostic import Diagnostic
from ..model import ConstraintDecl, Expr, SetRef, Term, Type, evaluate_dim, sizes_of
from .blocks import FamilyExpression, blocks_of
from .expressions import ExpressionTranslator, dense
from .refusals import cannot


def to_cvxpy(instance: Instance) -> tuple[Any, dict[str, Any]]:
    """The instance as a `cvxpy.Problem`, and its variables by name. `RunError` FW0312 for what cvxpy cannot express."""
    translator = Translator(instance)
    variables = {n: v.blocks if isinstance(v, FamilyExpression) else v for n, v in translator.variables.items()}
    return translator.problem(), variables


_NORM_OF = {
    "l1_ball": "norm1",
    "l2_ball": "norm2",
    "linf_ball": "norm_inf",
    "fro_ball": "norm_fro",
    "nuclear_ball": "norm_nuc",
    "spectral_ball": "norm_spec",
    "l21_ball": "norm21",
    "l1_inf_ball": "norm1_inf",
    "group_ball": "group_norm",
    "sorted_l1_ball": "sorted_l1",
    "lp_ball": "norm_p",
}

_OF_MARGIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "logistic": lambda cp, margin: cp.logistic(-margin),
    "hinge": lambda cp, margin: cp.pos(1.0 - margin),
    "squared_hinge": lambda cp, margin: cp.square(cp.pos(1.0 - margin)),
    "smooth_hinge": lambda cp, margin: cp.huber(cp.pos(1.0 - margin), 1.0) / 2.0,
}

_OF_RESIDUAL: Mapping[str, Callable[[Any, Any, Mapping[str, float]], Any]] = {
    "squared": lambda cp, r, p: cp.square(r),
    "absolute": lambda cp, r, p: cp.abs(r),
    "quantile": lambda cp, r, p: p.get("tau", 0.5) * cp.pos(-r) + (1.0 - p.get("tau", 0.5)) * cp.pos(r),
    "huber": lambda cp, r, p: cp.huber(r, p.get("delta", 1.0)) / 2.0,
    "epsilon_insensitive": lambda cp, r, p: cp.pos(cp.abs(r) - p.get("eps", 0.1)),
    "squared_epsilon_insensitive": lambda cp, r, p: cp.square(cp.pos(cp.abs(r) - p.get("eps", 0.1))),
}

_OF_ENTRIES: Mapping[str, Callable[[Any, Any, Mapping[str, float]], Any]] = {
    "log": lambda cp, z, p: -cp.log(z),
    "power": lambda cp, z, p: -cp.power(z, p["p"]) if 0.0 < p["p"] < 1.0 else cp.power(z, p["p"]),
    "abs_power": lambda cp, z, p: cp.power(cp.abs(z), p["p"]),
}

_OF_TARGETS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "kl_div": lambda cp, z, b: cp.kl_div(z, b),
    "poisson_rate": lambda cp, z, b: cp.kl_div(b, z),
    "gamma_loss": lambda cp, z, b: z + cp.multiply(b, cp.exp(-z)),
}

_WITH_TARGETS_AND_NUMBERS: Mapping[str, Callable[[Any, Any, Any, Mapping[str, float]], Any]] = {
    "tweedie_loss": lambda cp, z, b, p: (
        cp.multiply(b / (p["power"] - 1.0), cp.exp(-(p["power"] - 1.0) * z))
        + cp.exp((2.0 - p["power"]) * z) / (2.0 - p["power"])
    ),
}

_FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "norm1": lambda cp, x: cp.sum(cp.abs(x)),
    "norm_inf": lambda cp, x: cp.max(cp.abs(x)),
    "norm2": lambda cp, x: cp.norm(cp.vec(x, order="C"), 2),
    "norm_fro": lambda cp, x: cp.norm(cp.vec(x, order="C"), 2),
    "sum_squares": lambda cp, x: cp.sum_squares(x),
    "norm_nuc": lambda cp, x: cp.normNuc(x),
    "norm_spec": lambda cp, x: cp.sigma_max(x),
    "matrix_frac": lambda cp, x: _matrix_frac(cp, x),
    "quad_over_lin": lambda cp, x: cp.quad_over_lin(x[1:], x[0]),
    "rownorm2": lambda cp, x: cp.norm(x, 2, axis=1),
    "norm21": lambda cp, x: cp.sum(cp.norm(x, 2, axis=1)),
    "norm1_inf": lambda cp, x: cp.sum(cp.max(cp.abs(x), axis=1)),
    "max_rownorm2": lambda cp, x: cp.max(cp.norm(x, 2, axis=1)),
    "max_rownorm1": lambda cp, x: cp.max(cp.sum(cp.abs(x), axis=1)),
    "entropy": lambda cp, x: -cp.sum(cp.entr(x)),
    "max": lambda cp, x: cp.max(x),
    "log_sum_exp": lambda cp, x: cp.log_sum_exp(x),
    "joint_kl_div": lambda cp, x: cp.sum(cp.kl_div(x[0::2], x[1::2])),
    "lambda_max": lambda cp, x: cp.lambda_max((x + x.T) / 2),
    "log_det": lambda cp, x: -cp.log_det((x + x.T) / 2),
    "tr_inv": lambda cp, x: cp.tr_inv((x + x.T) / 2),
}

_WITH_NUMBERS: Mapping[str, Callable[[Any, Any, Mapping[str, float]], Any]] = {
    "norm_p": lambda cp, x, p: cp.pnorm(x, p["p"]),
    "sum_largest": lambda cp, x, p: cp.sum_largest(x, int(p["k"])),
    "sum_largest_eigs": lambda cp, x, p: cp.lambda_sum_largest((x + x.T) / 2, int(p["k"])),
}


def _matrix_frac(cp: Any, x: Any) -> Any:
    """The fraction of a vector and a matrix, the matrix first, row after row."""
    n = (math.isqrt(4 * x.shape[0] + 1) - 1) // 2
    P = cp.reshape(x[: n * n], (n, n), order="C")
    return cp.matrix_frac(x[n * n :], (P + P.T) / 2)


class Translator(ExpressionTranslator):
    """Translates one instance: its variables once, its terms and constraints as asked.

    With `units` a variable is its unit times a variable of cvxpy's, whose solvers have tolerances for numbers of about 1; it takes no value then.
    """

    def __init__(self, instance: Instance, units: Mapping[str, float] | None = None) -> None:
        super().__init__(require("oracle"), instance, {})
        self.units = units or {}
        self.variables = {v.name: self._variable(v.name, v.type) for v in instance.model.variables}

    def put(self, values: Mapping[str, Any]) -> None:
        for name, variable in self.variables.items():
            if name not in values:
                continue  # no term has it, so cvxpy's problem does not know it
            value = values[name]
            # symmetric but for rounding, which cvxpy does not forgive
            mends = not isinstance(variable, FamilyExpression) and value.ndim == 2 and variable.is_symmetric()
            variable.value = 0.5 * (value + value.T) if mends else value

    def problem(self) -> Any:
        """The whole problem in the user's sense."""
        model = self.instance.model
        constraints = [c for constraint in model.constraints for c in self.constraint(constraint)]
        return self.optimum(model.sense, self.total(model.terms), [*constraints, *self.domains()])

    def optimum(self, sense: str, objective: Any, constraints: list[Any]) -> Any:
        direction = self.cp.Minimize if sense == "minimize" else self.cp.Maximize
        return self.cp.Problem(direction(objective), constraints)

    def total(self, terms: Iterable[Term]) -> Any:
        """The sum of terms, in the user's sense."""
        total: Any = 0.0
        for term in terms:
            total = total + self._term(term)
        return total

    def domains(self) -> list[Any]:
        """The constraints that the variables' types state, `psd[d]`, `nonnegative`, and those of functions that cvxpy takes beyond their domains.

        It leaves entries of a geometric mean that have no weight free.
        """
        terms = (*self.instance.model.terms, *(t for c in self.instance.model.constraints for t in c.terms))
        means = [t for t in terms if t.atom == "geo_mean" and t.kind == "function" and t.options]
        blocks = [block for t in means if t.argument.variables for block in blocks_of(self.expr(t.argument))]
        declared = [
            (block, v.type.block) for v in self.instance.model.variables for block in blocks_of(self.variables[v.name])
        ]
        return [
            *(block >> 0 for block, type_ in declared if type_.kind == "psd"),
            *(block >= 0 for block, type_ in declared if type_.domain in ("nonnegative", "positive")),
            *(block >= 0 for block in blocks),
        ]

    def _variable(self, name: str, type_: Type) -> Any:
        if type_.kind == "family":
            count = evaluate_dim(type_.shape[0], self.dims)
            unit = self.units.get(name)
            blocks = [self._variable(f"{name}[{t}]", type_.block) for t in range(count)]
            return FamilyExpression(self.cp, blocks if unit is None else [unit * b for b in blocks])
        if type_.kind not in ("real", "vector", "matrix", "symmetric", "psd"):
            raise cannot(f"the variable `{name}` of type {type_.kind}")
        shape = sizes_of(type_, self.dims)
        variable = self.cp.Variable(shape, name=name, symmetric=type_.kind in ("symmetric", "psd"))
        return self.units[name] * variable if name in self.units else variable

    # --- terms and constraints -----------------------------------------------------------------------------------------

    def _term(self, term: Term, argument: Any = None) -> Any:
        """A term, of another argument where one is given."""
        coefficient = self.number(term.coefficient)
        if coefficient == 0.0:
            return 0.0
        options = dict(term.options)
        if term.kind == "affine":
            return coefficient * self.expr(term.argument)
        if term.kind == "function":
            z = self.expr(term.argument) if argument is None else argument
            if term.of_rows and term.weights is not None:
                weights = self.expr(term.weights)
                return coefficient * sum(w * self._function(term.atom, z[i, :], {}) for i, w in enumerate(weights))
            return coefficient * sum(
                self._function(term.atom, x, options) for x in blocks_of(z)
            )  # over a family it adds up
        z = self.expr(term.argument) if argument is None else argument
        samples = self._samples(term, z)
        count = z.shape[0] if z.shape else 1
        return coefficient * self.cp.sum(samples) / (count if term.reduce == "mean" else 1)

    def _samples(self, term: Term, z: Any) -> Any:
        """The values of a loss by sample, weighted."""
        options = {name: self.number(e) for name, e in term.options}
        weights = None if term.weights is None else np.asarray(dense(self.expr(term.weights)))
        samples = self._loss(term.atom, z, term.target, options, weights)
        return samples if weights is None or weights.ndim == 2 else self.cp.multiply(weights, samples)

    def below(self, terms: Sequence[Term], arguments: Sequence[Any] | None = None) -> Any:
        """The sum of convex terms that an affine expression bounds: one number, or one for each sample of a loss that is not added up.

        `arguments` stand for those of the terms.
        """
        given = [self.expr(t.argument) for t in terms] if arguments is None else arguments
        if len(terms) == 1 and terms[0].kind == "loss" and not terms[0].reduce:
            return self.number(terms[0].coefficient) * self._samples(terms[0], given[0])
        if len(terms) == 1 and terms[0].of_rows and not terms[0].reduce:
            options = {n: e for n, e in terms[0].options if n != words.AXIS.name}
            rows = [self._function(terms[0].atom, given[0][i, :], options) for i in range(given[0].shape[0])]
            if terms[0].weights is not None:
                rows = [float(w) * row for w, row in zip(self.expr(terms[0].weights), rows, strict=True)]
            return self.number(terms[0].coefficient) * self.cp.hstack(rows)
        return sum((self._term(t, z) for t, z in zip(terms, given, strict=True)), 0.0)

    def constraint(self, constraint: ConstraintDecl) -> list[Any]:
        if constraint.relation == "below":
            bound, terms = constraint.below
            return [self.below(terms) <= self.expr(bound)]
        blocks = blocks_of(self.expr(constraint.argument))
        if constraint.relation == "le":
            return [e <= 0 for e in blocks]
        if constraint.relation == "eq":
            return [e == 0 for e in blocks]
        assert constraint.set is not None
        return [c for e in blocks for c in self.member(e, constraint.set)]

    # --- losses --------------------------------------------------------------------------------------------------------

    def _loss(self, name: str, z: Any, target: Expr | None, p: Mapping[str, float], weights: Any = None) -> Any:
        """One value per sample; weights of single entries are in it."""
        cp = self.cp
        b = 0.0 if target is None else self.expr(target)
        if name in ("softmax", "multiclass_hinge", "weston_watkins"):
            hot = np.zeros(z.shape)
            hot[np.arange(z.shape[0]), np.asarray(b, dtype=np.int64)] = 1.0
            own = cp.sum(cp.multiply(hot, z), axis=1)
            if name == "softmax":
                return cp.log_sum_exp(z, axis=1) - own
            if name == "multiclass_hinge":
                return cp.max(1.0 - hot + z, axis=1) - own
            margins = 1.0 + z - cp.reshape(own, (z.shape[0], 1), order="C") @ np.ones((1, z.shape[1]))
            return cp.sum(cp.pos(margins), axis=1) - 1.0
        values = self._of_entries(name, z, p) if target is None else self._scalar_loss(name, z, b, p)
        if weights is not None and weights.ndim == 2:
            values = cp.multiply(weights, values)
        return cp.sum(values, axis=1) if values.ndim == 2 else values

    def _of_entries(self, name: str, z: Any, p: Mapping[str, float]) -> Any:
        """The values of a function without a target."""
        return _OF_ENTRIES[name](self.cp, z, p) if name in _OF_ENTRIES else loss_of_atom(name, z, 0.0, p)

    def _scalar_loss(self, name: str, z: Any, b: Any, p: Mapping[str, float]) -> Any:
        cp = self.cp
        if name in _OF_MARGIN:
            return _OF_MARGIN[name](cp, cp.multiply(b, z) if np.ndim(b) else b * z)
        if name in _OF_RESIDUAL:
            return _OF_RESIDUAL[name](cp, z - b, p)
        if name == "poisson":
            return cp.exp(z) - (cp.multiply(b, z) if np.ndim(b) else b * z)
        if name in _OF_TARGETS:
            return _OF_TARGETS[name](cp, z, np.broadcast_to(np.asarray(b, dtype=np.float64), z.shape))
        return loss_of_atom(name, z, b, p)

    # --- convex functions ------------------------------------------------------------------------------------------------

    def _function(self, name: str, x: Any, options: Mapping[str, Expr]) -> Any:
        cp = self.cp
        if words.AXIS.name in options:
            own = {n: e for n, e in options.items() if n != words.AXIS.name}
            return sum(self._function(name, x[i, :], own) for i in range(x.shape[0]))
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](cp, x)
        if name in _WITH_NUMBERS:
            return _WITH_NUMBERS[name](cp, x, {n: self.number(e) for n, e in options.items()})
        if name == "geo_mean":
            weights = dense(self.expr(options["weights"])).reshape(-1) if options else np.ones(x.size)
            return -cp.geo_mean(x, weights, approx=False)
        if name == "group_norm":
            groups = self.groups(options["groups"])
            weights = self.expr(options["weights"]) if "weights" in options else np.ones(len(groups))
            return sum(float(w) * cp.norm(x[group], 2) for w, group in zip(weights, groups, strict=True))
        if name == "sorted_l1":
            # a sum over k of the k largest sizes, each with what lambda falls by behind it
            lambdas = np.append(dense(self.expr(options["lambdas"])).reshape(-1), 0.0)
            falls = [(k, step) for k, step in enumerate(-np.diff(lambdas), start=1) if step > 0.0]
            return sum(step * cp.sum_largest(cp.abs(x), k) for k, step in falls)
        if name == "quad_form":
            return cp.quad_form(x, cp.psd_wrap(dense(self.expr(options["P"]))))
        raise cannot(f"`{name}`")

    def groups(self, groups: Expr) -> list[Any]:
        if groups.op == "list":
            listed: Any = groups.value
            return [np.array(g, dtype=np.int64) for g in listed]
        codes = np.asarray(self.expr(groups), dtype=np.int64)
        classes = groups.type.classes
        count = evaluate_dim(classes, self.dims) if classes is not None else int(codes.max()) + 1
        return [np.flatnonzero(codes == g) for g in range(count)]

    # --- sets ------------------------------------------------------------------------------------------------------------

    def member(self, x: Any, ref: SetRef) -> list[Any]:
        cp, name, args = self.cp, ref.name, dict(ref.args)
        if ref.inner is not None:
            parts = {
                "rows": lambda: [x[i, :] for i in range(x.shape[0])],
                "columns": lambda: [x[:, j] for j in range(x.shape[1])],
                "vec": lambda: [cp.vec(x, order="C")],
            }[name]()
            return [c for part in parts for c in self.member(part, ref.inner)]
        r = self.number(args["r"]) if "r" in args else 1.0
        if name in _NORM_OF:
            return [self._function(_NORM_OF[name], x / (r or 1.0), args) <= (1.0 if r else 0.0)]
        if name == "nonnegative":
            return [x >= 0]
        if ref.word.bounds:
            return self._box(
                x, *ref.word.bounds_of({n: dense(self.expr(e)) for n, e in args.items()}, float, np.negative)
            )
        if name in ("simplex", "solid_simplex"):
            return [x >= 0, cp.sum(x) == r if name == "simplex" else cp.sum(x) <= r]
        if name == "simplex_product":
            return [x >= 0, cp.sum(x, axis=1) == 1]
        if name == "birkhoff":
            return [x >= 0, cp.sum(x, axis=0) == 1, cp.sum(x, axis=1) == 1]
        if name in ("psd", "spectrahedron", "solid_spectrahedron"):
            trace = {"psd": [], "spectrahedron": [cp.trace(x) == r], "solid_spectrahedron": [cp.trace(x) <= r]}
            return [(x + x.T) / 2 >> 0, *trace[name]]
        if name == "affine":
            return [self.expr(args["A"]) @ x == self.expr(args["b"])]
        if name == "halfspace":
            return [self.expr(args["a"]) @ x <= self.expr(args["b"])]
        if name == "polytope":
            vertices = self.expr(args["V"])
            w = cp.Variable(vertices.shape[0], nonneg=True)
            return [x == vertices.T @ w, cp.sum(w) == 1]
        if name == "permutahedron":
            c = self.expr(args["c"])
            mix = cp.Variable((c.size, c.size), nonneg=True)
            return [x == mix @ c, cp.sum(mix, axis=0) == 1, cp.sum(mix, axis=1) == 1]
        if name == "ksupport_ball":
            # |x|_ksp^2 = min of sum x_i^2 / u_i over 0 <= u <= 1, sum u <= k.
            u = cp.Variable(x.shape[0])
            spread = sum(cp.quad_over_lin(x[i] / (r or 1.0), u[i]) for i in range(x.shape[0]))
            return [u >= 0, u <= 1, cp.sum(u) <= self.number(args["k"]), spread <= (1.0 if r else 0.0)]
        return set_of_atom(
            name, x, {n: self.expr(e) if e.type.array_shape else self.number(e) for n, e in args.items()}
        )

    def _box(self, x: Any, lo: Any, hi: Any) -> list[Any]:
        """Bounds, the infinite ones left out."""
        flat = self.cp.vec(x, order="C")
        low, high = (np.broadcast_to(dense(b), x.shape).reshape(-1) for b in (lo, hi))
        below, above = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
        return [
            *([flat[below] >= low[below]] if below.size else []),
            *([flat[above] <= high[above]] if above.size else []),
        ]


def loss_of_atom(name: str, z: Any, b: Any, options: Mapping[str, float]) -> Any:
    """One value for each prediction; `RunError` FW0312 where the class has no translation."""
    targets = np.broadcast_to(np.asarray(b, dtype=np.float64), z.shape)
    if name in _WITH_TARGETS_AND_NUMBERS:
        return _WITH_TARGETS_AND_NUMBERS[name](require("oracle"), z, targets, options)
    cls = LOSSES.get(name)
    if cls is None or cls.cvxpy is None:
        raise _untranslated(name, "cvxpy(z, b, p)")
    return cls.cvxpy(z, targets, np.array([options[o.name] for o in cls.word.options]))


def set_of_atom(name: str, x: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """The constraints that say that x is in a set; `RunError` FW0312 where the class has no translation."""
    counts = {p.name for p in words.SETS[name].parameters if p.domain == "count"}
    given = {n: int(v) if n in counts else v for n, v in arguments.items()}
    if x.ndim > 1:
        # an entrywise set is one of all entries as a vector
        x = require("oracle").vec(x, order="C")
    constraints = SETS[name](x.size, **given).cvxpy(x) if name in SETS else None  # type: ignore[call-arg]
    if constraints is None:
        raise _untranslated(name, "cvxpy(self, x)")
    return constraints


def _untranslated(name: str, method: str) -> RunError:
    hint = f"give its class a method `{method}`, or rely on the certificate, which needs no second solver"
    message = f"there is no independent translation of `{name}` to cvxpy"
    return RunError([Diagnostic("FW0312", message, hint=hint)])
