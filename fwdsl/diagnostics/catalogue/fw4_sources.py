"""FW4036, FW4070 to FW4072, FW4519 to FW4522: observed entries, parquet files, and new data for an earlier fit."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW4036": Entry(
        "observed entries that are no triplets",
        "A `coo` file has three fields on each line: a row, a column and a value. A header is optional.",
        "user,movie,rating,time\n1,7,4.5,1690000000",
        "user,movie,rating\n1,7,4.5",
    ),
    "FW4070": Entry(
        "parquet without pyarrow",
        "parquet files are read by pyarrow, which is not installed with fwdsl unless its extra `parquet` is asked for.",
        "pip install fwdsl && fwdsl run lasso.fw --data X,y=train.parquet",
        "pip install 'fwdsl[parquet]' && fwdsl run lasso.fw --data X,y=train.parquet",
    ),
    "FW4071": Entry(
        "not a parquet file",
        "The file does not have the Apache Parquet format, or is cut short: its description stands at its end.",
        'data X: matrix[n, p] from parquet("table.csv")',
        'data X: matrix[n, p] from csv("table.csv")',
    ),
    "FW4072": Entry(
        "a parquet column that holds no numbers",
        "Columns that make a matrix or a vector are integers, floats, decimals or truth values; labels may also be words. Dates,"
        " lists and the like must be turned into numbers, or left out.",
        'data X: matrix[n, p], y: vector[n] from parquet("houses.parquet", target="price")    # with a column of dates',
        'data X: matrix[n, p], y: vector[n] from parquet("houses.parquet", target="price", columns=["size", "rooms"])',
    ),
    "FW4519": Entry(
        "a row or column that is no position",
        "Where the size of a dimension is an integer or known from other data, the ids of observed entries are positions that count"
        " from 0, or from 1 with `base=1`. Where nothing else gives it a size, ids may be anything: they are mapped in sorted order.",
        'data M: entries[100, 20] from coo("ratings.csv")    # ids from 1 to 100',
        'data M: entries[100, 20] from coo("ratings.csv", base=1)',
    ),
    "FW4520": Entry(
        "a label that the fit does not know",
        "New data for an earlier fit, of `fwdsl eval` or `sol.evaluate`, are read by the label maps of the fit. They need not show"
        " every label, and cannot show others.",
        'sol.evaluate("fit", X=X_test, y=["yes", "maybe"])    # fitted to "no" and "yes"',
        'sol.evaluate("fit", X=X_test, y=["yes", "no"])',
    ),
    "FW4525": Entry(
        "labels of one class",
        "A loss of labels tells classes apart, so there are at least two. Most often a filter, or the wrong column, left one.",
        'prob.bind(X=X, y=["cat", "cat", "cat"])',
        'prob.bind(X=X, y=["cat", "dog", "cat"])',
    ),
    "FW4523": Entry(
        "a position or count beyond the size that the data gave",
        "Positions in slices and literal groups count from 0 and must exist; `k` of a `ksupport_ball` is at most the number of entries. Where"
        " a dimension is a name, that is known when the data are bound.",
        "prob.bind(A=A, b=b)    # A of 4 columns; constraint x[0:9] <= 1",
        "prob.bind(A=A, b=b)    # A of 9 columns or more",
    ),
    "FW4524": Entry(
        "groups that do not cover",
        "Each entry is in at least one group. An entry in none would be neither penalised nor bounded, which most often is a mistake; where it is"
        " meant, slice the expression to the entries that are grouped: `group_norm(x[0:4], groups)`.",
        "prob.bind(A=A, b=b)    # A of 5 columns; group_norm(x, [[0, 1], [2, 3]])",
        "prob.bind(A=A, b=b)    # A of 4 columns",
    ),
    "FW4522": Entry(
        "old and new data that do not belong together",
        "Data that are not given anew are those of the fit. Where old and new data share a dimension, it must have one size, so"
        " most often all of a sample's data are given.",
        'sol.evaluate("fit", X=X_test)    # fit = mean(logistic(X @ w, y))',
        'sol.evaluate("fit", X=X_test, y=y_test)',
    ),
}
