"""The data sets of the benchmarks: where they are looked for, and where one that is missing can be had."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from machine import ROOT

FOLDERS = [
    *(Path(p) for p in [os.environ.get("FWDSL_DATA", "")] if p),
    ROOT.parent / "shared" / "data",
    ROOT / "examples" / "data",
]
"""The folder that the environment variable FWDSL_DATA names, one beside the checkout, and that of the examples."""

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_PAGES = {
    "binary": "a1a a9a australian heart_scale mushrooms skin_nonskin splice w8a",
    "multiclass": "dna.scale dna.scale.t letter.scale mnist.t news20 usps",
    "regression": "abalone housing_scale",
}
_ELSEWHERE = {
    "basehock": "the BASEHOCK set of https://jundongl.github.io/scikit-feature/datasets.html, in LIBSVM format",
    "krvskp": "https://archive.ics.uci.edu/dataset/22, its attributes as numbers in LIBSVM format",
    "west_breast": "the set `west` of the R package datamicroarray, in LIBSVM format",
}


def data_file(name: str) -> Path:
    """The file of that name in the first folder that has it; ends the program where none has, and says where to get it."""
    found = next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)
    if found is not None:
        return found
    looked = " and ".join(map(str, FOLDERS))
    raise SystemExit(
        f"the data file `{name}` is missing: it was looked for in {looked}\n"
        f"get it from {_source(name)}, put it into one of them as `{name}`, or name its folder in FWDSL_DATA"
    )


def read_libsvm(name: str) -> tuple[Any, Any]:
    """The matrix and the labels of a LIBSVM file, by scikit-learn's reader; `a9a` is `a9a.svm.gz`, or another name with its suffix."""
    from sklearn.datasets import load_svmlight_file

    path = data_file(name if ".svm" in name else f"{name}.svm.gz")
    if path.suffix == ".xz":
        import lzma

        with lzma.open(path) as file:
            X, y = load_svmlight_file(file)
    else:
        X, y = load_svmlight_file(str(path))
    return X, y


def _source(name: str) -> str:
    stem = name.partition(".svm")[0]
    page = next((page for page, names in _PAGES.items() if stem in names.split()), None)
    return f"{_LIBSVM}/{page}.html (compressed by gzip or xz as its suffix says)" if page else _ELSEWHERE[stem]
