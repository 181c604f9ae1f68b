"""FW0020 to FW0029, FW0204, FW0313: mocked data, values on new data, paths, files that are written. Bad and good are command lines or Python."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW0020": Entry(
        "a dimension without a size",
        "`fwdsl mock` makes random data of the sizes that `--dims` gives. Every dimension of the program needs one, but for those of"
        " literals and feature maps; `fwdsl info` lists them.",
        "fwdsl mock lasso.fw --dims n=1000 --out mocked",
        "fwdsl mock lasso.fw --dims n=1000,p=50 --out mocked",
    ),
    "FW0021": Entry(
        "a size for no dimension",
        "`--dims` gives sizes to the dimensions of data and variables, by the names that the program has for them, and to `len(M)`, the"
        " number of observed entries of `M`.",
        "fwdsl mock lasso.fw --dims n=1000,features=50 --out mocked",
        "fwdsl mock lasso.fw --dims n=1000,p=50 --out mocked",
    ),
    "FW0022": Entry(
        "sizes that cannot show every label",
        "Mocked data keep the promises of the program: of `signs` both values occur, of `labels[n, k]` all k classes.",
        "fwdsl mock multiclass.fw --dims n=3,p=50,k=10 --out mocked",
        "fwdsl mock multiclass.fw --dims n=300,p=50,k=10 --out mocked",
    ),
    "FW0023": Entry(
        "mocked data that are too large",
        "`fwdsl mock` makes data in memory before it writes them.",
        "fwdsl mock lasso.fw --dims n=1_000_000,p=100_000 --out mocked",
        "fwdsl mock lasso.fw --dims n=100_000,p=1_000 --out mocked",
    ),
    "FW0024": Entry(
        "no folder to write to",
        "`fwdsl mock` writes a file for each datum, into the folder that `--out` names; it is made if it is not there.",
        "fwdsl mock lasso.fw --dims n=1000,p=50",
        "fwdsl mock lasso.fw --dims n=1000,p=50 --out mocked",
    ),
    "FW0025": Entry(
        "no solution is named",
        "`fwdsl eval` puts a saved solution to data. `fwdsl run FILE --out FILE.npz` saves one.",
        "fwdsl eval sparse_logistic.fw --data X,y=test.svm",
        "fwdsl eval sparse_logistic.fw --solution fit.npz --data X,y=test.svm",
    ),
    "FW0026": Entry(
        "a path along no parameter, or several",
        "`fwdsl path` solves along the values of one parameter; the others have one value each.",
        "fwdsl path sparse_logistic.fw --set delta=5",
        "fwdsl path sparse_logistic.fw --set delta=1,2,5",
    ),
    "FW0027": Entry(
        "values of a path that cannot be read",
        "The values are numbers separated by commas, or `logspace(lo,hi,count)` and `linspace(lo,hi,count)` with both ends included."
        " A shell wants the brackets in quotes.",
        "fwdsl path sparse_logistic.fw --set 'delta=logspace(1,100)'",
        "fwdsl path sparse_logistic.fw --set 'delta=logspace(1,100,20)'",
    ),
    "FW0028": Entry(
        "an answer in a file of another suffix",
        "`--out` of `run` and `eval` writes arrays by name: an npz file. Another suffix would tell other programs that it is something else, so"
        " it is refused before anything is solved.",
        "fwdsl run sparse_logistic.fw --out fit.csv",
        "fwdsl run sparse_logistic.fw --out fit.npz",
    ),
    "FW0029": Entry(
        "an output that is an input",
        "A command never writes over a file that it reads: the program, its data, a saved answer. Links are followed. Nor do two outputs, or"
        " standard output and another one, go into one file. (`--checkpoint` and `--resume` may name the same file.)",
        "fwdsl run sparse_logistic.fw --checkpoint train.svm",
        "fwdsl run sparse_logistic.fw --checkpoint fit.state",
    ),
    "FW0204": Entry(
        "a name that has no value",
        "What `fwdsl eval` and `sol.evaluate` evaluate are the program's `let`s, the terms of its objective (`term1`, `term2`, ... where no"
        " `let` names them), and `objective`.",
        'sol.evaluate("loss", X=X_test, y=y_test)    # the program says `let fit = ...`',
        'sol.evaluate("fit", X=X_test, y=y_test)',
    ),
    "FW0313": Entry(
        "a path along no parameter, or several, from Python",
        "`problem.path` takes the values of one parameter by its name, as a list of numbers, and options of `solve`.",
        "prob.path(delta=5.0)",
        "prob.path(delta=[1.0, 2.0, 5.0])",
    ),
}
