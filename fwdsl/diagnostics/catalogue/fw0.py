"""FW0nnn: the command line and files."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW0100": Entry(
        "a `--data` without `=`",
        "`--data` says which file serves which of the program's names: the name, or names separated by commas, then"
        " `=` and the file. A format may stand before the file, with a colon, where the suffix does not tell it.",
        "fwdsl run lasso.fw --data train.svm",
        "fwdsl run lasso.fw --data X,y=train.svm",
    ),
    "FW0101": Entry(
        "not a name",
        "Names in `--data`, `--set` and `--dim` are those that the program declares: letters, digits and `_`, not"
        " starting with a digit. Several names of one `--data` are separated by commas, and none is left out.",
        "fwdsl run lasso.fw --data X,=train.svm",
        "fwdsl run lasso.fw --data X,y=train.svm",
    ),
    "FW0102": Entry(
        "a name twice in one `--data`",
        "Each name gets its data once, so a list of names before `=` has none of them twice.",
        "fwdsl run lasso.fw --data X,X=train.svm",
        "fwdsl run lasso.fw --data X,y=train.svm",
    ),
    "FW0103": Entry(
        "a `--data` without a file",
        "Behind the `=` of `--data` stands the file, relative to the current folder.",
        "fwdsl run lasso.fw --data X,y=",
        "fwdsl run lasso.fw --data X,y=train.svm",
    ),
    "FW0104": Entry(
        "not a format",
        "What stands before a colon in `--data` is a format: `libsvm`, `csv`, `npy`, `npz` or `mtx`. A file whose"
        " own name has a colon is written with its folder, so that it cannot be taken for one.",
        "fwdsl run lasso.fw --data X,y=svmlight:train.txt",
        "fwdsl run lasso.fw --data X,y=libsvm:train.txt",
    ),
    "FW0105": Entry(
        "a file whose format is not known",
        "The format of a file is told by its suffix (`.svm`, `.libsvm`, `.svmlight`, `.csv`, `.npy`, `.npz`,"
        " `.mtx`, each also with `.gz`, `.bz2` or `.xz`), by the program's `from`, or by a format before a colon."
        " Suffixes like `.txt` could be anything, and are not guessed.",
        "fwdsl run lasso.fw --data X,y=train.txt",
        "fwdsl run lasso.fw --data X,y=libsvm:train.txt",
    ),
    "FW0110": Entry(
        "a `--set` without `=`",
        "`--set` gives a parameter its value: the parameter's name, `=` and a number.",
        "fwdsl run lasso.fw --set delta",
        "fwdsl run lasso.fw --set delta=3",
    ),
    "FW0111": Entry(
        "a value that is not a number",
        "The value of a parameter on the command line is one number as programs write them (`3`, `.5`, `1e-3`,"
        " `1_000`, `inf`), with a sign if need be. Nothing is evaluated: expressions belong into the program.",
        "fwdsl run lasso.fw --set delta=10/3",
        "fwdsl run lasso.fw --set delta=3.333",
    ),
    "FW0120": Entry(
        "a `--dim` without `=`",
        "`--dim` gives a dimension that no data binds: its name, `=` and a whole number.",
        "fwdsl plan lasso.fw --dim p",
        "fwdsl plan lasso.fw --dim p=500",
    ),
    "FW0121": Entry(
        "not a dimension",
        "A dimension is a whole number, at least 1, written in digits (`1_000` for 1000 is fine).",
        "fwdsl plan lasso.fw --dim p=1e3",
        "fwdsl plan lasso.fw --dim p=1_000",
    ),
}
