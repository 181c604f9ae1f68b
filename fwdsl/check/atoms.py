"""Losses, norms and other convex functions applied to their arguments."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, Type, multiply_dims
from ..words import AXIS, CONVEX, ENTRYWISE, LOSSES, SHARES, ConvexWord, EntryWord, LossWord
from . import algebra, shapes, signs
from .arguments import BoundArguments, bind_arguments, literal, option
from .constants import length_of
from .context import Context, Entry
from .literal_arithmetic import values_of
from .literals import groups as literal_groups
from .literals import is_psd, is_symmetric, smallest_eigenvalue
from .operands import affine, constant, count, is_finite, wrong_kind
from .symmetry import assumed, factors_at_fault
from .values import AppliedAtom, Combination, Summand, Value


def loss(ctx: Context, node: tree.Call) -> Combination | None:
    """A loss: one value for each sample. `mean` or `sum` must stand around it, but around a function of one number that is not an array."""
    name = node.func.name
    signature = LOSSES[name]
    if (other := _as_one_word(node, signature)) is not None:
        return loss(ctx, other) if other.func.name in LOSSES else entrywise(ctx, other)
    bound = bind_arguments(ctx, node, signature.parameters)
    if bound is None:
        return None
    part = bound[signature.parameters[0].name]
    prediction = affine(ctx, node, part)
    if signature.turned_round and prediction is not None and prediction.is_constant and _varies(ctx, bound["target"]):
        # `kl_div(b, x)`: the constant first, the prediction second
        signature = LOSSES[signature.turned_round]
        bound = {"prediction": bound["target"], "target": part}
        part = bound["prediction"]
        prediction = affine(ctx, node, part)
    if signature.jointly and prediction is not None and not prediction.is_constant and _varies(ctx, bound["target"]):
        return _of_pairs(ctx, node, bound, prediction, signature)
    target = _target(ctx, node, bound["target"], signature, prediction) if "target" in bound else None
    options = tuple((p.name, option(ctx, name, p, bound.get(p.name))) for p in signature.options)
    known_options = tuple((n, v) for n, v in options if v is not None)
    if prediction is None or (target is None and "target" in bound) or len(known_options) < len(options):
        return None
    if target is None:
        return _of_entries(ctx, node, part, prediction, signature, known_options)
    alone = signature.of_numbers and prediction.type.is_scalar and target.type.is_scalar
    prediction = prediction if alone else _as_samples(prediction, target, signature)
    if not _fit(ctx, node, bound, prediction, target, signature):
        return None
    if signature.nonnegative_target and not signs.is_nonnegative(target.sign):
        _report_negative_target(ctx, bound["target"], target, name)
        return None
    body = AppliedAtom(
        "loss", signature.name, prediction, target, options=known_options, text=ctx.text(node), span=node.span
    )
    if alone:
        return Combination((Summand(algebra.ONE, replace(body, reduce="sum"), span=node.span),), None, node.span)
    return Combination((Summand(algebra.ONE, body, span=node.span),), prediction.type.array_shape[0], node.span)


def _of_pairs(ctx: Context, node: tree.Call, bound: BoundArguments, x: Expr, signature: LossWord) -> Combination | None:
    """A loss of two affine expressions, as a convex function of the pairs of their entries."""
    y = affine(ctx, node, bound["target"])
    if y is None:
        return None
    if x.type.is_scalar and y.type.is_scalar:
        body = AppliedAtom("function", signature.jointly, algebra.stacked((x, y)), written=node.func.name)
        body = replace(body, text=ctx.text(node), span=node.span)
        return Combination((Summand(algebra.ONE, body, span=node.span),), None, node.span)
    (n,) = next((v.type.array_shape for v in (x, y) if shapes.has_one_axis(v.type)), (None,))
    both = [algebra.spread(v, n) if v.type.is_scalar and n is not None else v for v in (x, y)]
    if any(v.type.array_shape != (n,) for v in both):
        ctx.error(
            "FW2046",
            f"`{ctx.text(bound['prediction'])}` is {shapes.describe_type(x.type)}, and `{ctx.text(bound['target'])}` is "
            f"{shapes.describe_type(y.type)}",
            node.span,
            labels=ctx.declared(bound["prediction"], bound["target"]),
            rule=f"`{signature.name}` of two affine expressions is of numbers, or of vectors of one size.",
            hint="write `vec(X)` for the entries of a matrix",
        )
        return None
    pairs = algebra.transposed(algebra.stacked(both, below=True))
    body = AppliedAtom(
        "function", signature.jointly, pairs, written=node.func.name, text=ctx.text(node), span=node.span
    )
    return Combination((Summand(algebra.ONE, of_each_row(body), span=node.span),), n, node.span)


def _varies(ctx: Context, part: tree.Expr) -> bool:
    """True if an argument depends on a variable."""
    value = ctx.infer(ctx, part)
    return isinstance(value, Expr) and not value.is_constant


def _report_negative_target(ctx: Context, part: tree.Expr, target: Expr, name: str) -> None:
    """Report a target that is not known to be nonnegative."""
    entry = ctx.entry_of(part)
    declared = entry is not None and entry.kind == "data"
    ctx.error(
        "FW3007",
        f"the target `{ctx.text(part)}` of `{name}` is not known to be nonnegative",
        part.span,
        labels=ctx.declared(part),
        rule=f"`{name}` is of targets that are not negative.",
        hint=f"declare `{ctx.text(part)}: {shapes.format_type(target.type)} in nonnegative`; it is checked when data is bound"
        if declared
        else "targets need the promise `in nonnegative` of their data, or a literal that shows it",
        fix=_promised(entry) if declared and isinstance(part, tree.Name) and not target.type.is_scalar else None,
    )


# --- functions of one number ---------------------------------------------------------------------------------------


def entrywise(ctx: Context, node: tree.Call) -> Combination | None:
    """A function of one number that is a loss at a constant target: `abs`, `square`, `exp`, ..."""
    word = ENTRYWISE[node.func.name]
    if (other := _as_one_word(node, word)) is not None:
        return entrywise(ctx, other)
    bound = bind_arguments(ctx, node, word.parameters)
    if bound is None:
        return None
    if word.residual:
        return _with_residual(ctx, node, bound, word)
    part = bound[word.parameters[0].name]
    z = affine(ctx, node, part)
    if z is None:
        return None
    if word.factor != 1.0:
        z = algebra.multiply(algebra.const(word.factor), z, shapes.plain(z.type), z.span)
    if word.shift:
        z = algebra.add((z, algebra.const(word.shift)), shapes.plain(z.type), z.span)
    fixed = tuple((name, algebra.const(value)) for name, value in word.fixed)
    return _of_entries(ctx, node, part, z, LOSSES[word.loss], fixed, word.target)


def _as_one_word(node: tree.Call, word: LossWord | EntryWord) -> tree.Call | None:
    """The call of one word that a function of a function of entries is: `abs_power(z, p)` for `power(abs(z), p)`."""
    inner = node.args[0] if node.args else None
    if not word.around or not isinstance(inner, tree.Call) or len(inner.args) != 1 or inner.keywords:
        return None
    name = dict(word.around).get(inner.func.name)
    if name is None:
        return None
    return tree.Call(
        tree.Ident(name, span=node.func.span), (*inner.args, *node.args[1:]), node.keywords, span=node.span
    )


def _with_residual(ctx: Context, node: tree.Call, bound: BoundArguments, word: EntryWord) -> Combination | None:
    """A loss of a prediction and a target, and a multiple of the difference of its arguments: `rel_entr(x, b)` is `kl_div(x, b) + x - b`."""
    args = tuple(bound[p.name] for p in word.parameters)
    found = loss(ctx, tree.Call(tree.Ident(word.loss, span=node.func.span), args, (), span=node.span))
    if found is None:
        return None
    signs_of_both = (1, -1) if word.residual > 0.0 else (-1, 1)
    rest = ctx.infer(ctx, tree.Sum(args, signs_of_both, span=node.span))
    if not isinstance(rest, Expr):
        return None
    return replace(found, summands=(*found.summands, Summand(algebra.ONE, rest, span=node.span)))


def _of_entries(
    ctx: Context,
    node: tree.Call,
    part: tree.Expr,
    z: Expr,
    signature: LossWord,
    options: tuple[tuple[str, Expr], ...],
    target: float | None = None,
) -> Combination | None:
    """A loss of each entry of z, at one target or without one: a number where z is one, else one value for each entry or row."""
    shape = z.type.array_shape
    if z.type.is_family or len(shape) > 2:
        wrong_kind(ctx, node, part, z.type, "a number, a vector or a matrix")
        return None
    target = signature.alone if target is None else target
    numbers = {name: algebra.number(value) for name, value in options}
    known = {name: value for name, value in numbers.items() if value is not None}
    if signature.by_option and len(known) < len(numbers):
        _unknown_option(ctx, node, signature, next(name for name in numbers if name not in known))
        return None
    if signature.instead is not None and (other := signature.instead(known[signature.options[0].name])):
        kept = tuple((n, v) for n, v in options if n in [p.name for p in LOSSES[other].options])
        return _of_entries(ctx, node, part, z, LOSSES[other], kept, None if LOSSES[other].entrywise else 0.0)
    at = None if target is None else _constant_target(target, signature, shape)
    body = AppliedAtom(
        "loss",
        signature.name,
        z,
        at,
        options=options,
        text=ctx.text(node),
        span=node.span,
        of_entries=True,
        written=node.func.name,
    )
    coefficient = algebra.const(-1.0) if signature.is_concave(known) else algebra.ONE
    if not shape:
        body = replace(body, reduce="sum")
    samples, columns = (*shape, None, None)[:2]
    return Combination((Summand(coefficient, body, span=node.span),), samples, node.span, columns)


def _constant_target(value: float, signature: LossWord, shape: tuple[Dim, ...]) -> Expr:
    """The same target for every entry, in an expression that the target of such a loss may be."""
    if not value:
        return algebra.make("zeros", shapes.of_shape(shape)) if shape else algebra.const(0.0)
    ones = algebra.ones(shape) if shape else algebra.ONE
    return ones if value == 1.0 else algebra.multiply(algebra.const(value), ones, ones.type)


def _unknown_option(ctx: Context, node: tree.Call, signature: LossWord, name: str) -> None:
    """Report an option that decides whether a function is convex or concave and is no number of the program."""
    part = next((k.value for k in node.keywords if k.name.name == name), None) or node.args[-1]
    ctx.error(
        "FW2012",
        f"`{name}` of `{node.func.name}` is a number that is written in the program, and `{ctx.text(part)}` is not",
        part.span,
        labels=ctx.declared(part),
        rule=f"`{name}` decides whether `{signature.name}` is convex or concave, which is proved before any value is bound.",
        hint=f"write the number in place of `{ctx.text(part)}`",
    )


# --- losses with a target ------------------------------------------------------------------------------------------


def _as_samples(prediction: Expr, target: Expr, signature: LossWord) -> Expr:
    """A scalar prediction repeated for each sample of the target."""
    if signature.scores or not prediction.type.is_scalar:
        return prediction
    shape = _values_shape(target) or (1,)
    if len(shape) == 1:
        return algebra.spread(prediction, shape[0])
    ones = algebra.ones(shape, prediction.span)
    return algebra.multiply(prediction, ones, ones.type, prediction.span)


def _values_shape(target: Expr) -> tuple[Dim, ...]:
    """The shape of a target's values. Observed entries are a vector of values."""
    return (f"len({target.name})",) if target.type.is_entries else target.type.array_shape


def _target(
    ctx: Context, node: tree.Call, part: tree.Expr, signature: LossWord, prediction: Expr | None
) -> Expr | None:
    """The target, with the numbers, signs or classes that the loss asks for. Observed `entries` stand for their values."""
    value = ctx.infer(ctx, part)
    if value is None:
        return None
    if isinstance(value, Combination) or not value.is_constant:
        ctx.error(
            "FW3016",
            f"the target `{ctx.text(part)}` of `{node.func.name}` depends on a variable",
            part.span,
            labels=ctx.declared(part),
            rule="A loss takes its prediction first and its target second, and the target is constant.",
            hint=_swapped(ctx, node, part, prediction),
        )
        return None
    if _is_target(value, signature):
        return value if is_finite(ctx, value, part) else None
    _wrong_target(ctx, node, part, value.type, signature)
    return None


def _swapped(ctx: Context, node: tree.Call, part: tree.Expr, prediction: Expr | None) -> str:
    name = node.func.name
    if prediction is not None and prediction.is_constant and len(node.args) > 1 and part is node.args[1]:
        return f"write `{name}({ctx.text(part)}, {ctx.text(node.args[0])})`"
    return f"compare both in the prediction: `{name}(a - b, 0)`" if LOSSES[name].target == "real" else ""


def _is_target(value: Expr, signature: LossWord) -> bool:
    if signature.target == "labels":
        return value.type.is_labels
    if signature.target == "signs":
        observed = value.type.is_entries and value.type.element is not None
        return observed or value.type.is_signs or value.op == "ones"
    if value.type.is_entries:
        return value.type.element is None
    return shapes.is_numeric(value.type) and not value.type.is_family


_TARGETS = {
    "real": ("numbers, one for each sample", "declare the target `vector[...]`"),
    "signs": ("labels of two values", "declare the target `signs[...]`; data of any two distinct values will do"),
    "labels": ("classes", "declare the target `labels[n, k]`"),
}


def _gram_hint(ctx: Context, p: Expr, x: Expr) -> str:
    """The hint for a quadratic form of `A.T @ A`."""
    if p.op == "matmul" and p.args[0].op == "transpose" and p.args[0].args[0] == p.args[1]:
        return f"write `sum_squares({ctx.text(p.args[1].span)} @ {ctx.text(x.span)})`"
    return ""


def _wrong_target(ctx: Context, node: tree.Call, part: tree.Expr, type_: Type, signature: LossWord) -> None:
    wanted, hint = _TARGETS[signature.target]
    if type_.is_entries and signature.target == "signs":
        hint = f"declare `{ctx.text(part)}: entries[{', '.join(map(str, type_.shape))}] of signs`"
    elif type_.is_labels and signature.target == "signs":
        hint = "for two classes declare the target `signs[...]`; for more use `softmax` or `multiclass_hinge`"
    elif type_.is_signs and signature.target == "labels":
        hint = "for two classes use `logistic` or `hinge`; for more declare the target `labels[n, k]`"
    elif type_.is_scalar and signature.target == "signs":
        hint = f"write `{node.func.name}(X @ w, y)` with `y: signs[...]`; for the same sign everywhere `ones(n)`"
    ctx.error(
        "FW2047",
        f"the target of `{node.func.name}` is {wanted}, and `{ctx.text(part)}` is {shapes.describe_type(type_)}",
        part.span,
        labels=ctx.declared(part),
        rule="A loss takes its prediction first and its target second.",
        hint=hint,
    )


def _fit(
    ctx: Context, node: tree.Call, bound: BoundArguments, prediction: Expr, target: Expr, signature: LossWord
) -> bool:
    """True if prediction and target have the shapes that the loss asks for."""
    shape, wanted = prediction.type.array_shape, _values_shape(target)
    part = bound["prediction"]
    if signature.scores:
        if len(shape) != 2 or prediction.type.is_family:
            wrong_kind(
                ctx,
                node,
                part,
                prediction.type,
                "a row of scores for each sample",
                "predict with a matrix variable: `X @ W`, `W: matrix[p, k]`",
            )
            return False
        fits = shape[: len(target.type.shape)] == target.type.shape
    elif prediction.type.is_family or len(shape) > 2:
        wrong_kind(ctx, node, part, prediction.type, "one value or one row for each sample")
        return False
    else:
        fits = wanted in ((), shape)
    if not fits:
        ctx.error(
            "FW2046",
            f"the prediction `{ctx.text(part)}` is {shapes.describe_type(prediction.type)}, and the target "
            f"`{ctx.text(bound['target'])}` is {shapes.describe_type(target.type)}",
            node.span,
            labels=ctx.declared(bound["target"], part),
            rule="Prediction and target have the same samples, and the same columns where they have several.",
            hint=_class_hint(prediction.type, target.type, signature),
        )
    return fits


def _class_hint(prediction: Type, target: Type, signature: LossWord) -> str:
    shape = prediction.array_shape
    if signature.scores and len(target.shape) == 2 and target.shape[0] == shape[0]:
        return f"there is a score for each of the `{target.shape[1]}` classes: the prediction has `{target.shape[1]}` columns"
    return ""


# --- norms and other convex functions ------------------------------------------------------------------------------


def convex(ctx: Context, node: tree.Call) -> Value | None:
    """A norm or another convex function, of one number or of each row; a constant where it is a sum over entries that are constant."""
    name = node.func.name
    signature = CONVEX[name]
    bound = bind_arguments(ctx, node, signature.parameters)
    found = None if bound is None else operand_of(ctx, node, bound, signature)
    if found is None or bound is None:
        return None
    x, along = found
    options = arguments_of(ctx, node, bound, x)
    if options is None:
        return None
    if signature.joint:
        t = affine(ctx, node, bound[signature.joint])
        if t is None:
            return None
        if signature.of_joint_matrix:
            t = assumed(t)
            if not _is_symmetric_for(ctx, node, bound, t, x):
                return None
        elif not t.type.is_scalar:
            wrong_kind(ctx, node, bound[signature.joint], t.type, "a number that is affine in the variables")
            return None
        x = algebra.stack((t, x), node.span)
    if x.is_constant and (known := length_of(x, signature, along, node.span)) is not None:
        return known
    body = AppliedAtom("function", name, x, options=options, text=ctx.text(node), span=node.span)
    if along:
        body = of_each_row(body)
    rows = x.type.array_shape[0] if body.per_sample else None
    return Combination((Summand(algebra.ONE, body, span=node.span),), rows, node.span)


def _is_symmetric_for(ctx: Context, node: tree.Call, bound: BoundArguments, p: Expr, x: Expr) -> bool:
    """True if a matrix is symmetric, with a row for each entry of a vector."""
    part, (d,) = bound[CONVEX[node.func.name].joint], x.type.array_shape
    if p.type.array_shape != (d, d):
        wrong_kind(ctx, node, part, p.type, f"a {d} x {d} matrix for the {d} entries of `{ctx.text(bound['x'])}`")
        return False
    if p.type.is_symmetric:
        return True
    wrong_kind(ctx, node, part, p.type, "a symmetric matrix", symmetric_hint(ctx, part, p))
    return False


def of_each_row(body: AppliedAtom) -> AppliedAtom:
    """A function of vectors, taken of each row of its argument."""
    other = CONVEX[body.atom].of_each_row
    if other != body.atom:
        return replace(body, atom=other, written=body.word)
    return replace(body, options=(*body.options, (AXIS.name, algebra.ONE)))


def operand_of(ctx: Context, node: tree.Call, bound: BoundArguments, signature: ConvexWord) -> tuple[Expr, bool] | None:
    """The argument of a function, several numbers as one vector, and whether the function is of each of its rows; None after an error.

    Several vectors are the columns of a matrix; columns are rows of the transpose.
    """
    if signature.of_several and len(node.args) > 1:
        return _of_several(ctx, node, bound)
    x = affine(ctx, node, bound["x"])
    if x is None:
        return None
    if signature.of_eigenvalues:
        x = assumed(x)
    if AXIS.name not in bound:
        return (x, False) if is_of(ctx, node, bound["x"], x, signature) else None
    if x.type.is_family or not shapes.has_two_axes(x.type):
        wrong_kind(
            ctx,
            node,
            bound["x"],
            x.type,
            "a matrix, where it has an axis",
            f"write `{node.func.name}({ctx.text(bound['x'])})`",
        )
        return None
    axis = literal(bound[AXIS.name])
    if axis not in (0.0, 1.0):
        ctx.error(
            "FW2012",
            f"`axis` of `{node.func.name}` is 0, for a value of each column, or 1, for one of each row, not `{ctx.text(bound['axis'])}`",
            bound[AXIS.name].span,
            rule="Options are constant, and within the domain of the function.",
        )
        return None
    return (x if axis == 1.0 else algebra.transposed(x)), True


def _of_several(ctx: Context, node: tree.Call, bound: BoundArguments) -> tuple[Expr, bool] | None:
    """Several numbers as one vector, several vectors as the columns of a matrix, each of whose rows the function is of; None after an error."""
    name = node.func.name
    if AXIS.name in bound:
        ctx.error(
            "FW2010",
            f"`{name}` of several arguments has no axis",
            bound[AXIS.name].span,
            rule="Of several numbers there is one value, of several vectors one for each entry.",
            hint=f"leave `axis` out, or write `{name}(X, axis=1)` of one matrix",
        )
        return None
    values: list[Expr] = []
    for part in node.args:
        value = affine(ctx, node, part)
        if value is None:
            return None
        longest = next((v.type.array_shape for v in values if v.type.array_shape), ())
        fits = value.type.is_scalar or (shapes.has_one_axis(value.type) and longest in ((), value.type.array_shape))
        if not fits or value.type.is_family:
            takes = "numbers, or vectors of one size, where it has several arguments"
            wrong_kind(ctx, node, part, value.type, takes, f"`{name}(X, axis=1)` is of each row of a matrix")
            return None
        values.append(value)
    shape = next((v.type.array_shape for v in values if v.type.array_shape), ())
    if not shape:
        return algebra.stacked(values, span=node.span), False
    columns = [algebra.spread(v, shape[0]) if v.type.is_scalar else v for v in values]
    return algebra.transposed(algebra.stacked(columns, below=True, span=node.span)), True


def arguments_of(ctx: Context, node: tree.Call, bound: BoundArguments, x: Expr) -> tuple[tuple[str, Expr], ...] | None:
    """The further arguments of `group_norm`, `sorted_l1`, `quad_form` and other functions with options."""
    if "groups" in bound:
        # groups of a family divide the entries of each block
        return group_arguments(ctx, node, bound, x.type.block)
    if "P" in bound and not CONVEX[node.func.name].joint:
        p = _quadratic(ctx, node, bound["P"], x)
        return None if p is None else (("P", p),)
    out: list[tuple[str, Expr]] = []
    for parameter in CONVEX[node.func.name].options:
        if parameter.domain == "count":
            shape = x.type.block.array_shape
            square = CONVEX[node.func.name].of_eigenvalues
            entries = shape[-1] if square or AXIS.name in bound or len(shape) < 2 else multiply_dims(*shape)
            k = count(ctx, node, parameter.name, bound[parameter.name], entries)
            if k is None:
                return None
            out.append((parameter.name, k))
            continue
        if parameter == SHARES:
            if parameter.name in bound:
                shares = _shares(ctx, node, bound[parameter.name], x)
                if shares is None:
                    return None
                out.append((parameter.name, shares))
            continue
        if not parameter.falls:
            given = option(ctx, node.func.name, parameter, bound.get(parameter.name))
            if given is None:
                return None
            out.append((parameter.name, given))
            continue
        value = constant(ctx, node, bound[parameter.name])
        if value is None or not is_falling(ctx, node, bound[parameter.name], value, x.type.block):
            return None
        out.append((parameter.name, value))
    return tuple(out)


def _shares(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr) -> Expr | None:
    """Weights whose shares count, one for each entry and not negative; None after an error."""
    value = constant(ctx, node, part)
    if value is None:
        return None
    (size,) = x.type.block.array_shape
    if value.type.array_shape != (size,):
        wrong_kind(ctx, node, part, value.type, f"a weight for each of the `{size}` entries")
        return None
    if not signs.is_nonnegative(value.sign):
        report_weight(ctx, part, value)
        return None
    return value


def is_falling(ctx: Context, node: tree.Call, part: tree.Expr, value: Expr, type_: Type) -> bool:
    """True if the weights of ranks are one for each entry, and known not to be negative; numbers that a literal gives do not rise either."""
    size = type_.array_shape[0]
    if value.type.array_shape != (size,):
        wrong_kind(ctx, node, part, value.type, f"a number for each of the `{size}` entries, by the rank of its size")
        return False
    if not signs.is_nonnegative(value.sign):
        report_weight(ctx, part, value)
        return False
    numbers = values_of(ctx, value)
    if not isinstance(numbers, tuple):
        return True
    flat = [float(v) for v in numbers if not isinstance(v, tuple)]
    at = next((i for i in range(1, len(flat)) if flat[i] > flat[i - 1]), None)
    if at is None and (not flat or flat[0] > 0.0):
        return True
    what = "are all 0" if at is None else f"rise from {flat[at - 1]:g} to {flat[at]:g} at position {at}"
    ctx.error(
        "FW3018",
        f"the numbers of `{ctx.text(part)}` {what}",
        part.span,
        labels=ctx.declared(part),
        rule="The largest size has the first lambda and the largest lambda; without this the sum is not convex.",
        hint="leave the term out" if at is None else "write them from the largest to the smallest",
    )
    return False


def is_of(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr, signature: ConvexWord) -> bool:
    """True if the function takes such an argument. On a family it adds up over the blocks."""
    axes = len(x.type.block.array_shape)
    shape = ("scalar", "vector", "matrix")[axes] if axes < 3 else "tensor"
    if shape == "matrix" and signature.adds_squares and _means_a_norm(ctx, node):
        text = ctx.text(part)
        ctx.error(
            "FW2051",
            f"the norm of the matrix `{text}` whose square is written could be two things",
            node.span,
            labels=ctx.declared(part),
            rule="Norms of matrices have names of their own.",
            hint=f"write `{signature.name}({text})` for the square of the root of the sum of squares; for the largest singular value, which CVXPY's "
            f"`norm(X)` is, `{signature.name}(t)` with a variable `t: real` and `norm_spec({text}) <= t`",
        )
        return False
    if shape in signature.of:
        return not signature.of_eigenvalues or x.type.block.is_symmetric or _report_asymmetric(ctx, node, part, x)
    name, text = node.func.name, ctx.text(part)
    if signature.of_matrices and shape == "matrix":
        ctx.error(
            "FW2051",
            f"`{name}` of the matrix `{text}` could be two things",
            node.span,
            labels=ctx.declared(part),
            rule=f"`{name}` is of vectors; norms of matrices have names of their own.",
            hint=f"write `{signature.of_matrices}({text})` for the root of the sum of squares, `norm_spec({text})` for the largest "
            "singular value",
        )
        return False
    hint = ""
    if shape == "vector" and signature.of == ("matrix",):
        hint = f"for a vector write `norm1({text})`, `norm2({text})` or `norm_inf({text})`"
    takes = " or ".join({"scalar": "a number", "vector": "a vector", "matrix": "a matrix"}[s] for s in signature.of)
    wrong_kind(ctx, node, part, x.type, takes, hint)
    return False


def _means_a_norm(ctx: Context, node: tree.Call) -> bool:
    """True of a sum of squares that the program writes as the square of a norm that has other meanings for matrices: `norm(X)^2`."""
    return ctx.source.text.startswith(("norm(", "norm2(", "||"), node.span.start)


def _report_asymmetric(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr) -> bool:
    """Report a matrix that is not known to be symmetric."""
    wrong_kind(ctx, node, part, x.type, "a symmetric matrix", symmetric_hint(ctx, part, x))
    return False


def symmetric_hint(ctx: Context, part: tree.Node, x: Expr) -> str:
    """The declarations that make an expression symmetric, or its symmetric part."""
    rows, columns = x.type.array_shape[-2:]
    if rows != columns:
        return ""
    entry = ctx.entry_of(part)
    if entry is not None and entry.kind in ("var", "data"):
        return f"declare `{entry.kind} {entry.name}: symmetric[{rows}]`"
    alone = factors_at_fault(x)
    if alone:
        return "declare " + ", ".join(f"`{m.name}: symmetric[{rows}]`" for m in alone)
    text = ctx.text(part)
    return f"an expression is symmetric where it is its own transpose, as `(B + B.T) / 2` is with B = `{text}`"


def group_arguments(
    ctx: Context, node: tree.Call, bound: BoundArguments, type_: Type
) -> tuple[tuple[str, Expr], ...] | None:
    """The `groups` (an `index[d] of G` or a literal list of lists of positions) and the `weights`, one for each group."""
    size = type_.array_shape[0]
    part = bound["groups"]
    groups = literal_groups(ctx, part, size) if isinstance(part, tree.List) else _index(ctx, node, part, size)
    weights = constant(ctx, node, bound["weights"]) if "weights" in bound else None
    if groups is None or ("weights" in bound and weights is None):
        return None
    if weights is None:
        return (("groups", groups),)
    count = groups.type.classes if groups.type.is_index else groups.type.shape[0]
    if weights.type.array_shape != (count,):
        wrong_kind(ctx, node, bound["weights"], weights.type, f"a weight for each of `{count}` groups")
        return None
    if not signs.is_nonnegative(weights.sign):
        report_weight(ctx, bound["weights"], weights)
        return None
    return (("groups", groups), ("weights", weights))


def _index(ctx: Context, node: tree.Call, part: tree.Expr, size: Dim) -> Expr | None:
    value = ctx.infer(ctx, part)
    if value is None:
        return None
    if isinstance(value, Expr) and value.type.is_index and value.type.shape == (size,):
        return value
    type_ = value.type if isinstance(value, Expr) else shapes.REAL
    wrong_kind(
        ctx,
        node,
        part,
        type_,
        f"groups as an `index[{size}] of G` or a list of lists of positions",
        f"declare `data {ctx.text(part)}: index[{size}] of G`" if isinstance(part, tree.Name) else "",
    )
    return None


def report_weight(ctx: Context, node: tree.Node, weight: Expr) -> None:
    """Report a vector of weights that is not known to be nonnegative."""
    entry = ctx.entry_of(node)
    name = entry.name if entry is not None and entry.kind == "data" else ""
    text = ctx.text(node)
    negative = weight.sign in ("negative", "nonpositive")
    ctx.error(
        "FW3007",
        f"the weight `{text}` {'is negative' if negative else 'is not known to be nonnegative'}",
        node.span,
        labels=ctx.declared(node),
        rule="A convex function keeps its curvature only under weights that are not negative.",
        hint=f"declare `{name}: {shapes.format_type(weight.type)} in nonnegative`; it is checked when data is bound"
        if name and not negative
        else "weights need the promise `in nonnegative` of their data, or a literal that shows it",
        fix=_promised(entry)
        if name and not negative and weight.type.is_vector and isinstance(node, tree.Name)
        else None,
    )


def _promised(entry: Entry | None) -> Fix | None:
    """The declaration of a datum with the promise that it is nonnegative."""
    at = entry.type_span if entry is not None else None
    return None if at is None else Fix("promise `in nonnegative`", Span(at.end, at.end), " in nonnegative", guess=True)


def _quadratic(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr) -> Expr | None:
    """The matrix of `quad_form`. Its declaration, or the numbers of literals that it is made of, prove that it is positive semidefinite."""
    p = constant(ctx, node, part)
    if p is None:
        return None
    d = x.type.array_shape[0]
    if p.type.array_shape != (d, d):
        wrong_kind(ctx, node, part, p.type, f"a {d} x {d} matrix for the {d} entries of `{ctx.text(x.span)}`")
        return None
    if p.type.is_psd:
        return p
    what = "is not known to be positive semidefinite"
    entry = ctx.entries.get(p.name) if p.op == "data" else None
    values = values_of(ctx, p)
    if isinstance(values, tuple):
        if not is_symmetric(values):
            what = "is not symmetric"
        elif is_psd(values):
            # A user may bind other values to data in place of their literal, so the canonical form checks them again.
            return p if any(e.op == "data" for e in p.walk()) else replace(p, type=Type("psd", (d,)))
        else:
            what = f"is not positive semidefinite: its smallest eigenvalue is {smallest_eigenvalue(values):.6g}"
    ctx.error(
        "FW3017",
        f"the matrix `{ctx.text(part)}` of `quad_form` {what}",
        part.span,
        labels=ctx.declared(part),
        rule="`quad_form(x, P)` is convex where `P` is symmetric positive semidefinite.",
        hint=f"declare `data {entry.name}: psd[{d}]`; it is checked when data is bound"
        if entry is not None and values is None
        else _gram_hint(ctx, p, x),
        fix=Fix(f"declare `{entry.name}: psd[{d}]`", entry.type_span, f"psd[{d}]", guess=True)
        if entry is not None and values is None and entry.type_span is not None
        else None,
    )
    return None
