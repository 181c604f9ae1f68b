"""The options of `solve`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionWord:
    """An option of `solve`: the domain of its value, its default, and `otherwise`, what holds where there is neither.

    `choices` are the words that it may be, where it is one of a few.
    """

    domain: str
    meaning: str
    default: float | str | None = None
    otherwise: str = ""
    choices: tuple[str, ...] = ()


_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def bytes_of(value: object) -> int | None:
    """The bytes that `"2GB"`, `"1.5 GiB"` or a whole number of them stand for; None for anything else."""
    text = str(value).strip().upper().replace("_", "")
    digits = text.rstrip("BKMGTI ")
    try:
        found = float(digits) * _UNITS[text[len(digits) :].strip()]
    except (KeyError, ValueError):
        return None
    return int(found) if 0 < found < 2**63 and not isinstance(value, bool) else None


SOLVE_OPTIONS: dict[str, OptionWord] = {
    "tol": OptionWord("positive", "the gap to certify, above 0", 1e-6),
    "gap": OptionWord(
        "gap", "`relative` or `absolute`: what `tol` is compared with", "relative", choices=("relative", "absolute")
    ),
    "method": OptionWord(
        "method", "`auto`, a method's name, a method with options of its own, or a list of names to choose from", "auto"
    ),
    "max_iter": OptionWord("seed", "iterations at most", otherwise="the method's own limit"),
    "time": OptionWord(
        "nonnegative",
        "seconds of solving at most, without those of compiling kernels: `60`, `60 s`, `5 min`",
        otherwise="no limit",
    ),
    "seed": OptionWord("seed", "of the random generator", 0),
    "threads": OptionWord("seed", "of the kernels; 0 is one for each core", 0),
    "device": OptionWord(
        "device",
        "what takes products with data: `cpu`, or `cuda`, an NVIDIA device",
        "cpu",
        choices=("cpu", "cuda"),
    ),
    "memory": OptionWord(
        "memory",
        'bytes that the process takes at most: `"2GB"`; larger matrices stay in their files',
        otherwise="no limit",
    ),
}
