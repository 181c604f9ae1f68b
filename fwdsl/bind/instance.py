"""A model with its data attached: by reference, never copied, never densified."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any

from ..light_dataclass import light_dataclass
from ..model import Expr, Model
from .evaluate import evaluate
from .features import Features
from .values import columns_within


@light_dataclass
class DataStats:
    """The measurements of one pass over a datum.

    `storage` is "dense", "csr", "vector", "scalar", "entries" or "operator". `largest_row_norm` is the largest Euclidean norm of a row
    of a matrix, and `column_norms` holds the norms of its columns. `nbytes` is its size, and `mapped` says whether it is a memory map.
    The norm of an operator, known as `norm_statement` says, bounds the norms of its rows.
    """

    shape: tuple[int, ...]
    storage: str
    dtype: str
    nnz: int
    nbytes: int
    mapped: bool = False
    largest_row_norm: float = 0.0
    column_norms: Any = None
    norm_statement: str = ""


class Kept(dict[Hashable, tuple[object, Any]]):
    """The things that methods keep of data that are bound, such as Gram matrices, by the place of a datum in memory, with that datum. Nothing of them
    is pickled or copied: they are made again where they are missed."""

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


@light_dataclass
class Instance:
    """A checked model, the sizes of its dimensions, and a value for each datum and parameter.

    `values[name]` is a float for a parameter. For data it is a float64 or float32 array (a memory map stays one), a
    `scipy.sparse.csr_array` or a `DataOperator`; signs are float64 in {-1, 1}, labels are int64 codes 0..k-1, and observed
    entries are `fwdsl.bind.values.Entries`.
    `maps[name]` gives the original label values in the order of their codes. `maps["M.rows"]` and `maps["M.columns"]` give
    the ids of observed entries in the order of their positions, and `maps["X.columns"]` the column names of a table.
    `dims` also has the number of columns of a feature map under "dim(Phi)" (of an implicit one the number of its expansion
    coefficients), and the number of observations under "len(M)". `features` are the feature maps with their statistics.
    `origins[name]` says in messages where a value comes from ("train.svm", "--set delta", "the declaration").
    `pulled[name]` has the `url`, `size`, `etag` and time `modified` of the files at a URL, as far as they are known.
    `stays` has the observed entries that stay in this process where workers hold rows, and why.
    `kept` is what methods keep of the data from one solve to the next; instances that differ in parameters share it.
    """

    model: Model
    dims: Mapping[str, int]
    values: Mapping[str, Any]
    stats: Mapping[str, DataStats] = field(default_factory=dict)
    maps: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    features: Features | None = field(default=None, compare=False)
    pulled: Mapping[str, tuple[Mapping[str, object], ...]] = field(default_factory=dict)
    stays: Mapping[str, str] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept, compare=False)

    def evaluate(self, expr: Expr) -> Any:
        """The value of a constant expression, feature maps computed once: see `fwdsl.bind.evaluate`."""
        features = Features(self.dims, self.values) if self.features is None else self.features
        return evaluate(expr, self.dims, self.values, features)

    def holds(self, A: object) -> bool:
        """True if A is data that are bound, or columns of dense ones as they lie there."""
        return any(value is A or columns_within(A, value) is not None for value in self.values.values())

    def column_norms(self, A: object) -> Any:
        """The norms of the columns of a matrix that is data, or columns of dense data as they lie there; None where bind has measured none."""
        for name, stats in self.stats.items():
            if stats.column_norms is not None:
                at = slice(None) if self.values[name] is A else columns_within(A, self.values[name])
                if at is not None:
                    return stats.column_norms[at]
        return None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} = {size}" for name, size in self.dims.items())
        lines = [f"<Instance of {self.model.name or 'a program'}" + (f": {sizes}" if sizes else "")]
        for name, value in self.values.items():
            stats = self.stats.get(name)
            what = f"{value:g}" if isinstance(value, float) else f"{stats.storage} {stats.shape}" if stats else "data"
            lines.append(f"  {name}: {what} from {self.origins.get(name, 'unknown')}")
        return "\n".join(lines) + ">"
