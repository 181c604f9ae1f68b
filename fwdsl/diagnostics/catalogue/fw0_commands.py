"""FW0001 to FW0099: commands, their options and the files they name. Bad and good are command lines."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW0001": Entry(
        "no such command",
        "The first argument of `fwdsl` is a command. `fwdsl --help` lists the commands with a line each.",
        "fwdsl solve sparse_logistic.fw",
        "fwdsl run sparse_logistic.fw",
    ),
    "FW0002": Entry(
        "no such option",
        "The command does not have this option. Options are written in full; `fwdsl COMMAND --help` lists them.",
        "fwdsl run sparse_logistic.fw --tolerance 1e-8",
        "fwdsl run sparse_logistic.fw --tol 1e-8",
    ),
    "FW0003": Entry(
        "an option without its value, or with one it does not take",
        "Some options take a value (`--tol 1e-8` or `--tol=1e-8`), others stand alone (`--json`). A value that starts with"
        " `-` is written behind `=`.",
        "fwdsl run sparse_logistic.fw --tol",
        "fwdsl run sparse_logistic.fw --tol 1e-8",
    ),
    "FW0004": Entry(
        "a value that the option does not take",
        "The value is not of the kind that the option needs: a number, a whole number or one of a few words.",
        "fwdsl run sparse_logistic.fw --gap percent",
        "fwdsl run sparse_logistic.fw --gap relative",
    ),
    "FW0005": Entry(
        "no program is named",
        "The command works on a program: name its file, or `-` to read it from standard input.",
        "fwdsl run",
        "fwdsl run sparse_logistic.fw",
    ),
    "FW0006": Entry(
        "one argument too many",
        "The command takes one program (`check` and `fmt` take several). Data and parameters are given by options.",
        "fwdsl run sparse_logistic.fw train.svm",
        "fwdsl run sparse_logistic.fw --data X,y=train.svm",
    ),
    "FW0007": Entry(
        "options that exclude each other",
        "Only one of the two can be meant; give the one you want.",
        "fwdsl run sparse_logistic.fw --json --json-stream",
        "fwdsl run sparse_logistic.fw --json",
    ),
    "FW0010": Entry(
        "no such program",
        "There is no file of this name. A relative name is looked for in the folder where the command is run. (Paths inside"
        " a program are relative to the program's own file.)",
        "fwdsl run sparse_logistc.fw",
        "fwdsl run sparse_logistic.fw",
    ),
    "FW0011": Entry(
        "a folder where a program is needed",
        "Name the file itself.",
        "fwdsl run examples",
        "fwdsl run examples/sparse_logistic.fw",
    ),
    "FW0012": Entry(
        "a program that cannot be read",
        "The system refused to read the file, for the reason given: most often a missing permission.",
        "fwdsl run /root/private.fw",
        "fwdsl run private.fw",
    ),
    "FW0013": Entry(
        "a file that cannot be written",
        "Whether the result can be saved is looked at before solving begins, so that no work is lost. If writing fails all"
        " the same, the result is still printed, and the exit code is 1.",
        "fwdsl run sparse_logistic.fw --out no/such/folder/fit.npz",
        "fwdsl run sparse_logistic.fw --out fit.npz",
    ),
    "FW0014": Entry(
        "a plot of no known format",
        "The suffix of the file tells the format: `.png`, `.pdf`, `.svg` and others that matplotlib writes.",
        "fwdsl run sparse_logistic.fw --plot gap",
        "fwdsl run sparse_logistic.fw --plot gap.png",
    ),
    "FW0015": Entry(
        "no such code",
        "Codes are `FW` and four digits. `fwdsl explain` alone lists all of them.",
        "fwdsl explain FW0",
        "fwdsl explain FW0001",
    ),
    "FW0016": Entry(
        "a file that holds no saved solution",
        "`fwdsl run FILE --out FILE.npz` saves a solution: the variables by name, dual values, and a record of the run. The file"
        " is missing, damaged or something else, or its variables are not those of the program.",
        "fwdsl verify sparse_logistic.fw --solution a9a.svm.gz",
        "fwdsl verify sparse_logistic.fw --solution fit.npz",
    ),
    "FW0017": Entry(
        "a solution saved for another problem",
        "A saved solution carries fingerprints of the program and of all data and parameters. It can only be verified against"
        " the same; the message names what differs.",
        "fwdsl verify sparse_logistic.fw --set delta=4 --solution fit.npz    # saved with delta = 5",
        "fwdsl verify sparse_logistic.fw --solution fit.npz",
    ),
    "FW0018": Entry(
        "plots without matplotlib",
        "Plots are drawn by matplotlib, which is not installed with fwdsl unless its extra `plot` is asked for.",
        "pip install fwdsl && fwdsl run sparse_logistic.fw --plot gap.png",
        "pip install 'fwdsl[plot]' && fwdsl run sparse_logistic.fw --plot gap.png",
    ),
    "FW0019": Entry(
        "a state of another method",
        "`--resume` goes on from the state of a method, and only that method can, with the options it had. Leave `--method` out, and the state "
        "says which.",
        "fwdsl run sparse_logistic.fw --resume run.npz --method pdhg    # saved by apg",
        "fwdsl run sparse_logistic.fw --resume run.npz",
    ),
}
