"""`fwdsl completion bash|zsh|fish`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser
from ..exits import OK, CommandStop
from ..output import Output

SCRIPTS = {"bash": "fwdsl.bash", "zsh": "_fwdsl", "fish": "fwdsl.fish"}
"""The script of each shell, in `fwdsl/cli/completions`, made by `python -m tests.cli.completions`."""

PLACES = {
    "bash": "fwdsl completion bash > ~/.local/share/bash-completion/completions/fwdsl",
    "zsh": 'fwdsl completion zsh > "${fpath[1]}/_fwdsl"',
    "fish": "fwdsl completion fish > ~/.config/fish/completions/fwdsl.fish",
}
"""The line that puts it where each shell looks."""


def parser() -> Parser:
    """The arguments of the command."""
    lines = "; ".join(f"`{place}`" for place in PLACES.values())
    made = Parser("completion", f"Print the completion script of a shell. Keep it with {lines}.")
    made.add_argument("shell", nargs="*", metavar="SHELL", help=", ".join(SCRIPTS))
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Print the completion script of a shell."""
    shells = parser().parse(argv).shell
    rule = f"The shells are {', '.join(SCRIPTS)}."
    if len(shells) != 1:
        found = "no shell is named" if not shells else f"`{shells[1]}` is one argument too many"
        hint = "write `fwdsl completion bash`"
        raise CommandStop([Diagnostic("FW0005" if not shells else "FW0006", found, rule=rule, hint=hint)])
    (shell,) = shells
    if shell not in SCRIPTS:
        found, hint = f"there is no completion for `{shell}`", "write `fwdsl completion bash`"
        raise CommandStop([Diagnostic("FW0004", found, rule=rule, hint=hint)])
    output.utf8(Path(__file__).parents[1].joinpath("completions", SCRIPTS[shell]).read_text(encoding="utf-8"))
    return OK
