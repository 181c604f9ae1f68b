"""`fwdsl eval FILE --solution S.npz [--data X,y=test.svm] [NAME...]`, `fwdsl eval S.npz --data X,y=test.svm [NAME...]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...files.target import unwritable, write_atomically
from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser, add_bindings, add_json
from ..exits import OK, CommandStop
from ..opening import bindings_of, inputs_of, opened
from ..output import Output
from ..outputs import Outputs, keep_apart, require_outputs

if TYPE_CHECKING:
    from ...bind import Bindings
    from ...results.evaluation import Evaluated, Fit


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "eval",
        "Values of a saved solution on data: the objective, terms, `let`s, and the error rates of classification losses. "
        "Labels are read by the fit's maps. Data that are not given are read from the program's own sources. "
        "Where FILE is a saved solution (.npz) the program is the one in it, and all data are given.",
    )
    made.several = True
    made.add_argument("files", nargs="*", metavar="FILE [NAME...]", help="the program, and what of it to evaluate")
    made.add_argument("--solution", metavar="S.npz", help="a solution saved by `fwdsl run --out`")
    made.add_argument(
        "--predict",
        action="store_true",
        help="the predictions of new rows, a line for each: what stands beside the target in the loss, or NAME; no targets are needed",
    )
    add_bindings(made)
    made.add_argument("--out", metavar="FILE.npz", help="save the values by name")
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Evaluate a saved solution on data: terms, `let`s, error rates."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text")
    # The first is the program, the others name what to evaluate.
    name, *names = arguments.files(known, several=True)
    bindings = bindings_of(known)
    alone = name.endswith(".npz") and known.solution is None
    if known.solution is None and not alone:
        hint = "write `--solution S.npz`, a file that `fwdsl run FILE --out S.npz` wrote"
        rule = "Values are those of a saved solution."
        raise CommandStop([Diagnostic("FW0025", "no solution is named", rule=rule, hint=hint)])
    if known.predict and len(names) > 1:
        rule = "`--predict` takes one name: of what is predicted."
        raise CommandStop([Diagnostic("FW0006", f"`{names[1]}` is one argument too many", rule=rule)])
    outputs = {"--out": known.out}
    require_outputs(outputs)
    fit, base = (
        _by_itself(name, bindings, outputs) if alone else _of_program(name, known.solution, bindings, output, outputs)
    )
    labels: Sequence[object] | None = None
    if known.predict:
        from ...results.prediction import labels_of, scores_on

        evaluated, classes = scores_on(fit, names[0] if names else None, bindings, base)
        (scores,) = evaluated.values.values()
        labels = None if classes is None else labels_of(scores, classes)
        text = _a_line_each(scores, labels)
    else:
        from ...results.evaluation import evaluate

        evaluated = evaluate(fit, names, bindings, base)
        text = _in_words(evaluated, output, known.out)
    output.report(evaluated.warnings)
    if known.out is not None:
        _save(known.out, evaluated.values)
    output.text(text)
    _finish(evaluated, labels, output)
    return OK


def _of_program(name: str, solution: str, bindings: Bindings, output: Output, outputs: Outputs) -> tuple[Fit, Path]:
    """The fit of a program, and the folder that its own sources are relative to."""
    session = opened(name, output, bindings)
    keep_apart(outputs, [*inputs_of(session, name), ("the solution", solution)])
    from ...results.loading import load_fit

    return load_fit(solution, session.compile()), session.base


def _by_itself(name: str, bindings: Bindings, outputs: Outputs) -> tuple[Fit, Path]:
    """The fit in an answer, whose program is in it: the program's own sources are not read."""
    given = [(f"the data of `{', '.join(names)}`", p) for names, spec in bindings.sources for p in spec.paths]
    keep_apart(outputs, [("the solution", name), *given])
    from ...results.loading import load_solution

    fit: Fit = load_solution(name).fit
    return fit, Path()


def _save(name: str, values: Mapping[str, object]) -> None:
    import numpy as np

    from ...atoms.low_rank import LARGEST_WRITTEN

    kept = {key: value for key, value in values.items() if getattr(value, "size", 1) <= LARGEST_WRITTEN}
    arrays = {key: value.toarray() if hasattr(value, "toarray") else np.asarray(value) for key, value in kept.items()}
    try:
        write_atomically(name, lambda stream: np.savez(stream, allow_pickle=False, **arrays))
    except OSError as error:
        raise CommandStop([unwritable(name, error)]) from None


def _a_line_each(scores: Any, labels: Sequence[object] | None) -> str:
    """Predictions as text: the score of a row, or those of its classes, and its label."""
    import numpy as np

    from ...results.wording import number_text

    rows = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
    rows = rows.reshape(len(rows) if rows.ndim else 1, -1)
    told = labels or [None] * len(rows)
    ends = ["" if label is None else f"\t{label}" for label in told]
    return "".join(f"{chr(9).join(map(number_text, row))}{end}\n" for row, end in zip(rows.tolist(), ends, strict=True))


def _in_words(evaluated: Evaluated, output: Output, out: str | None) -> str:
    """Values as text, a line each; of large ones how many entries are not zero, which is no value."""
    import numpy as np

    from ...results.wording import number_text, value_text

    rows = {name: value_text(value) for name, value in evaluated.values.items()}
    if out is None and any(text.endswith("are not zero") for text in rows.values()):
        large = next(name for name, text in rows.items() if text.endswith("are not zero"))
        by_row = np.ndim(evaluated.values[large]) == 1
        output.note(
            f"all values of `{large}`: `--out FILE.npz` saves them, `--json` prints up to 10,000"
            + (f", `--predict {large}` a line for each row" if by_row else "")
        )
    rows |= {f"error rate of {name}": number_text(rate) for name, rate in evaluated.error_rates.items()}
    width = max(map(len, rows), default=0)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in rows.items())


def _finish(evaluated: Evaluated, labels: Sequence[object] | None, output: Output) -> None:
    from ...results.json_form import value_json

    output.finish(
        {
            "status": "ok",
            "values": {name: value_json(value) for name, value in evaluated.values.items()},
            **({} if labels is None else {"labels": [str(label) for label in labels]}),
            "error_rates": evaluated.error_rates,
            "dimensions": evaluated.dims,
            "origins": evaluated.origins,
        }
    )
