"""Losses, and functions of one number as losses, applied to their arguments."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..model import Dim, Expr, Type
from ..words import ENTRYWISE, LOSSES, EntryWord, LossWord
from . import algebra, shapes, signs
from .arguments import BoundArguments, bind_arguments, option
from .atoms import of_each_row
from .context import Context
from .operands import affine, is_finite, wrong_kind
from .values import AppliedAtom, Combination, Summand
from .weights import promised


def loss(ctx: Context, node: tree.Call, written: str = "") -> Combination | None:
    """A loss: one value for each sample. `mean` or `sum` must stand around it, but around a function of one number that is not an array.

    `written` is the word that the program has for it, where that is another.
    """
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
        _report_negative_target(ctx, bound["target"], target, written or name)
        return None
    _warn_of_option(ctx, node, bound, target, signature)
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


def _warn_of_option(ctx: Context, node: tree.Call, bound: BoundArguments, target: Expr, signature: LossWord) -> None:
    """Warn of a number as the target where CVXPY has an option of the loss."""
    option, value = signature.option_elsewhere, algebra.number(target)
    if not option or option in bound or value is None or value <= 0.0:
        return
    part, z = ctx.text(bound["target"]), ctx.text(bound["prediction"])
    ctx.warn(
        "FW2095",
        f"`{part}` is the target of `{node.func.name}`, and not its `{option}`",
        bound["target"].span,
        rule="A loss takes its prediction first and its target second.",
        hint=f"write `{node.func.name}({z}, {option}={part})` for this `{option}`, `{node.func.name}({z} - {part})` for this target",
    )


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
        fix=promised(entry) if declared and isinstance(part, tree.Name) and not target.type.is_scalar else None,
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
    of = tree.Call(tree.Ident(word.loss, span=node.func.span), args, (), span=node.span)
    found = loss(ctx, of, node.func.name)
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
            fix=_observing(ctx, part, prediction.type, ctx.text(bound["target"]), target.type),
        )
    return fits


def _observing(ctx: Context, part: tree.Expr, prediction: Type, name: str, target: Type) -> Fix | None:
    """The fix that takes the observed entries of a matrix that is to predict them."""
    if not target.is_entries or prediction.array_shape != target.shape or part.span is None:
        return None
    text = f"{ctx.text(part)}[{name}]" if isinstance(part, tree.Name) else f"({ctx.text(part)})[{name}]"
    return Fix(f"write `{text}`, the predictions of the entries that `{name}` has", part.span, text)


def _class_hint(prediction: Type, target: Type, signature: LossWord) -> str:
    shape = prediction.array_shape
    if signature.scores and len(target.shape) == 2 and target.shape[0] == shape[0]:
        return f"there is a score for each of the `{target.shape[1]}` classes: the prediction has `{target.shape[1]}` columns"
    return ""
