"""Writes the completion scripts and the man page: `python -m tests.cli.completions`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import shtab

import fwdsl.cli
from fwdsl.backends.registry import METHODS
from fwdsl.cli.app import COMMANDS
from fwdsl.cli.arguments import Parser
from fwdsl.cli.commands.completion import SCRIPTS
from fwdsl.cli.manual import manual, parsers

FOLDER = Path(fwdsl.cli.__file__).parent / "completions"
PAGE = Path(fwdsl.cli.__file__).parents[2] / "docs" / "fwdsl.1"

BASH = r"""
_fwdsl_program() {
  local word
  for word in "${COMP_WORDS[@]:2}"; do
    word=${word//[\\\"\']/}  # as typed, quotes among it
    [[ $word == *.fw && -f $word ]] && { printf '%s\n' "$word"; return; }
  done
}
_fwdsl_names() {
  local program
  program=$(_fwdsl_program)
  [[ -n $program ]] && compgen -S = -W "$(fwdsl info "$program" --names "$1" 2>/dev/null)" -- "$2"
}
_fwdsl_data() { _fwdsl_names data "$1"; }
_fwdsl_parameters() { _fwdsl_names parameters "$1"; }
_fwdsl_dimensions() { _fwdsl_names dimensions "$1"; }
_fwdsl_methods() { compgen -W "METHODS" -- "$1"; }
"""

BASH_END = """
_fwdsl() {
  _shtab_fwdsl "$@"
  # a name that waits for its value is not followed by a space, and is no file whose = would be quoted
  [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace +o filenames
}
complete -o filenames -F _fwdsl fwdsl
"""

ZSH = r"""
_fwdsl_names() {
  local word
  local -a names
  for word in ${words[2,-1]}; do
    word=${(Q)word}
    if [[ $word == *.fw && -f $word ]]; then
      names=(${(f)"$(fwdsl info $word --names $1 2>/dev/null)"})
      compadd -S = -- $names
      return
    fi
  done
}
_fwdsl_data() { _fwdsl_names data }
_fwdsl_parameters() { _fwdsl_names parameters }
_fwdsl_dimensions() { _fwdsl_names dimensions }
_fwdsl_methods() { compadd -- METHODS }
"""

FISH = r"""
function _fwdsl_names
  for word in (commandline -opc)
    if string match -q '*.fw' -- $word; and test -f $word
      fwdsl info $word --names $argv[1] 2>/dev/null | string replace -r '$' '='
      return
    end
  end
end
function _fwdsl_data; _fwdsl_names data; end
function _fwdsl_parameters; _fwdsl_names parameters; end
function _fwdsl_dimensions; _fwdsl_names dimensions; end
function _fwdsl_methods; printf '%s\n' METHODS; end
"""


def _of_program(name: str) -> dict[str, str]:
    """A function of the preambles."""
    return {"bash": f"_fwdsl_{name}", "zsh": f"_fwdsl_{name}", "fish": f"(_fwdsl_{name})"}


def _words(*words: str) -> dict[str, str]:
    listed = " ".join(words)
    return {"zsh": f"({listed})", "fish": f"(printf '%s\\n' {listed})", "bash": f"_fwdsl_words_{words[0]}"} | {
        "preamble": {"bash": f'_fwdsl_words_{words[0]}() {{ compgen -W "{listed}" -- "$1"; }}\n'}
    }


PROGRAMS, ANSWERS, EITHER = shtab.glob("*.fw"), shtab.glob("*.npz"), shtab.glob("*.fw", "*.npz")
COMPLETED = {
    "FILE": PROGRAMS,
    "FILE [NAME...]": EITHER,
    "FILE.fw": PROGRAMS,
    "FILE.npz": ANSWERS,
    "S.npz": ANSWERS,
    "DIR": shtab.DIRECTORY,
    "DATA": shtab.FILE,
    "NAME=PATH": _of_program("data"),
    "NAME=VALUE": _of_program("parameters"),
    "NAME=SIZE": _of_program("dimensions"),
    "n=1000,p=50": _of_program("dimensions"),
    "M": _of_program("methods"),
    "A,B": _of_program("methods"),
    "SHELL": _words(*SCRIPTS),
    "WHEN": _words("auto", "always", "never"),
}
"""The candidates for a value by its name in the help: files, names of the program, or a few words. Free values are not in it."""

OF_OPTION = {
    "--plot": shtab.FILE,
    "--html": shtab.FILE,
    "--onnx": shtab.FILE,
    "--checkpoint": shtab.FILE,
    "--resume": shtab.FILE,
    "--gap": _words("relative", "absolute"),
    "--dtype": _words("float64", "float32"),
    "--names": _words("data", "parameters", "variables", "dimensions"),
    "--score": _words("loss", "error"),
}
"""The same for options whose value has no name of its own."""


def whole() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(prog="fwdsl", description="Structured convex learning with a certificate.")
    top.add_argument("-V", "--version", action="store_true", help="the version")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND")
    for name, made in parsers().items():
        subparsers.add_parser(name, help=COMMANDS[name][1])
        subparsers.choices[name] = _completed(made, {"FILE": EITHER} if name == "verify" else {})
    return top


def _completed(parser: Parser, own: Mapping[str, Any]) -> Parser:
    """The parser with the candidates of its values; `own` are those of this command alone."""
    for action in parser._actions:
        option = next((o for o in action.option_strings if o in OF_OPTION), None)
        how = OF_OPTION[option] if option else {**COMPLETED, **own}.get(str(action.metavar))
        if how is not None:
            action.complete = how  # type: ignore[attr-defined]
    return parser


def script(shell: str) -> str:
    """The completion script of a shell."""
    preamble = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].replace("METHODS", " ".join(METHODS))
    made = shtab.complete(whole(), shell, preamble=preamble)
    if shell == "bash":  # shtab leaves the word that is typed unquoted, so that a folder of two words has no files
        return made.replace("-- $1", '-- "$1"') + BASH_END
    # a pattern in parentheses without a bar is to zsh no pattern, but qualifiers of one
    return re.sub(r"-g '\((\*\.\w+)\)'", r"-g '\1'", made) if shell == "zsh" else made


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for shell, name in SCRIPTS.items():
        (FOLDER / name).write_text(script(shell), encoding="utf-8")
    PAGE.write_text(manual(), encoding="utf-8")
