"""Operators, made by `fw.operator`: matrices of data that are only known by their products.

The methods need A x and A'y and no entry of A, so a fast transform, a convolution or a matrix in another format can stand for
a matrix of data. Each product of the user's functions is checked here: its shape, its type, and that it is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..errors import DataError, misuse
from ..grammar.diagnostic import Diagnostic
from ..light_dataclass import light_dataclass

Array: TypeAlias = "np.ndarray"
Function: TypeAlias = Callable[[Array], Any]

_OVERFLOW = 1e100
"""A product with larger entries of x may overflow without an error."""


class NeedsEntries(ValueError):
    """Something asked an operator for entries of its matrix."""

    def __init__(self) -> None:
        super().__init__("an operator is known by its products alone, and this needs the entries of its matrix")


class ProductError(DataError):
    """A product of an operator that failed (FW4527)."""

    def __init__(self, found: str, hint: str) -> None:
        rule = "A product with an operator of shape (m, n) takes n real numbers to m finite ones, its adjoint m to n."
        super().__init__((Diagnostic("FW4527", f"`fw.operator`: {found}", rule=rule, hint=hint),))


@light_dataclass
class NormBound:
    """The bound |A|_2 <= value, and its reason in a sentence."""

    value: float
    statement: str


@dataclass(eq=False)
class OperatorSource:
    """The user's functions, the results of binding them (`bound`, `checked`), and the numbers of their products."""

    shape: tuple[int, int]
    matvec: Function
    rmatvec: Function
    norm: float | None = None
    bound: NormBound | None = None
    checked: bool = False
    matvecs: int = 0
    rmatvecs: int = 0


@light_dataclass
class DataOperator:
    """The real matrix c A, or c A' where `flipped`, by the products x -> A x and y -> A'y of `source`, in float64.

    It takes `@` with vectors and dense matrices from either side, `.T`, and products with numbers; what else wants its entries raises
    `NeedsEntries`.
    """

    source: OperatorSource
    factor: float = 1.0
    flipped: bool = False

    ndim = 2
    dtype = np.dtype(np.float64)
    #: NumPy and SciPy leave `y @ A` and `2 * A` to this class.
    __array_ufunc__ = None
    __array_priority__ = 1e5

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.source.shape
        return (n, m) if self.flipped else (m, n)

    @property
    def size(self) -> int:
        """The count of numbers in x and A x, a lower bound of the cost of a product."""
        return sum(self.source.shape)

    @property
    def bound(self) -> NormBound | None:
        """The bound of |c A|_2, where binding has found it or the user states it."""
        known = self.source.bound
        return known if known is None else NormBound(abs(self.factor) * known.value, known.statement)

    @property
    def T(self) -> DataOperator:
        return DataOperator(self.source, self.factor, not self.flipped)

    def matvec(self, x: Array) -> Array:
        """c A x (m,) for x (n,), in an array of its own. Raises `ProductError` where the user's function fails."""
        s = self.source
        if self.flipped:
            out = _product(s.rmatvec, x, s.shape[0], s.shape[1], "rmatvec")
            s.rmatvecs += 1
        else:
            out = _product(s.matvec, x, s.shape[1], s.shape[0], "matvec")
            s.matvecs += 1
        return out if self.factor == 1.0 else self.factor * out

    def rmatvec(self, y: Array) -> Array:
        """c A'y (n,) for y (m,)."""
        return self.T.matvec(y)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, DataOperator):
            raise NeedsEntries
        if hasattr(other, "tocsr"):
            other = other.toarray()
        if not isinstance(other, np.ndarray):
            return NotImplemented
        x = np.asarray(other, dtype=np.float64)
        if x.ndim == 1:
            return self.matvec(x)
        columns = [self.matvec(column) for column in x.T]
        return np.stack(columns, axis=1) if columns else np.zeros((self.shape[0], 0))

    def __rmatmul__(self, other: Any) -> Any:
        if not isinstance(other, np.ndarray) and not hasattr(other, "tocsr"):
            return NotImplemented
        return (self.T @ other.T).T

    def __neg__(self) -> DataOperator:
        return DataOperator(self.source, -self.factor, self.flipped)

    def __mul__(self, factor: Any) -> Any:
        if not isinstance(factor, int | float | np.number):
            return NotImplemented
        return DataOperator(self.source, float(factor) * self.factor, self.flipped)

    __rmul__ = __mul__

    def __abs__(self) -> EqualRows:
        if self.bound is None:
            raise NeedsEntries
        return EqualRows(self.bound.value, self.shape)

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise NeedsEntries

    def __getitem__(self, _: Any) -> Any:
        raise NeedsEntries

    def __repr__(self) -> str:
        return f"<operator of shape {self.shape[0]} x {self.shape[1]}>"


@light_dataclass
class EqualRows:
    """The substitute for |A| of an operator: it maps x >= 0 to |A|_2 |x|_2 in each entry.

    This bounds each entry of A x and, up to a factor, the rounding of a backward stable product. Violations of equalities
    are measured relative to it.
    """

    norm: float
    shape: tuple[int, int]

    size = 0  # no numbers are stored
    dtype = np.dtype(np.float64)

    @property
    def T(self) -> EqualRows:
        """The same for A'."""
        return EqualRows(self.norm, (self.shape[1], self.shape[0]))

    def __abs__(self) -> EqualRows:
        return self

    def __matmul__(self, x: Array) -> Array:
        length = np.linalg.norm(x, axis=0)
        return np.broadcast_to(self.norm * length, (self.shape[0], *x.shape[1:])).copy()


def operator(
    linear: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    matvec: Function | None = None,
    rmatvec: Function | None = None,
    norm: float | None = None,
) -> DataOperator:
    """Data for a `matrix[m, n]` that are known by their products: a SciPy `LinearOperator`, or two functions and a shape.

        A = fw.operator(L)                                                # has shape, matvec and rmatvec
        A = fw.operator(shape=(m, n), matvec=f, rmatvec=g, norm=1.0)      # f(x) = A x, g(y) = A'y

    It stands where an array may: `A @ x`, `fw.data("A", A)`, `problem.bind(A=A)`. When it is bound, `rmatvec` is checked to be the
    adjoint of `matvec` by random vectors, and |A|_2 is bounded by a randomly started Lanczos process, unless `norm` states a
    bound. Raises `BuildError` (FW0304, FW0309) where no operator can be made of what is given.
    """
    if (linear is None) == (shape is None and matvec is None and rmatvec is None):
        raise misuse(
            "FW0309",
            "fw.operator takes an object with products, or functions and a shape",
            hint="write fw.operator(L), or fw.operator(shape=(m, n), matvec=f, rmatvec=g)",
        )
    if linear is not None:
        shape = getattr(linear, "shape", None)
        matvec, rmatvec = getattr(linear, "matvec", None), getattr(linear, "rmatvec", None)
        if isinstance(linear, np.ndarray) or hasattr(linear, "tocsr"):
            raise misuse("FW0309", "fw.operator is not for matrices", hint="give the matrix itself: A @ x")
    if not callable(matvec) or not callable(rmatvec):
        what = "matvec" if not callable(matvec) else "rmatvec"
        raise misuse(
            "FW0309",
            f"fw.operator has no function `{what}`",
            rule="An operator is used by its products with A (`matvec`) and with its transpose (`rmatvec`).",
            hint="give an object that has shape, matvec and rmatvec, or write fw.operator(shape=(m, n), matvec=f, rmatvec=g)",
        )
    stated = _norm(norm)
    bound = None if stated is None else NormBound(stated, "stated by `norm=`")
    return DataOperator(OperatorSource(_shape(shape), matvec, rmatvec, stated, bound))


def _shape(shape: object) -> tuple[int, int]:
    try:
        m, n = (int(s) for s in shape if int(s) == s and s > 0)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise misuse(
            "FW0304",
            f"{shape!r} is not the shape of a matrix",
            hint="write shape=(m, n) with two whole numbers, at least 1",
        ) from None
    return m, n


def _norm(norm: object) -> float | None:
    if norm is None:
        return None
    try:
        value = float(norm)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 <= value < np.inf:
        raise misuse("FW0304", f"{norm!r} is no bound of a norm", hint="write norm= with a number, at least 0")
    return value


def _product(function: Function, x: Array, size: int, length: int, name: str) -> Array:
    """function(x) as a new float64 vector of `length` numbers. The function gets a copy of x, which it may overwrite."""
    if x.shape != (size,):
        raise ValueError(f"a vector of {size} numbers is needed, not of shape {x.shape}")
    try:
        found = np.asarray(function(np.array(x, dtype=np.float64)))
    except NotImplementedError as error:
        hint = "give both products: fw.operator(shape=(m, n), matvec=f, rmatvec=g)"
        raise ProductError(f"`{name}` is not implemented", hint) from error
    except Exception as error:
        raise ProductError(f"`{name}` raised {type(error).__name__}: {error}", "mend the function") from error
    if found.dtype.kind not in "biuf":
        what = "complex numbers" if found.dtype.kind == "c" else f"an array of {found.dtype}"
        raise ProductError(f"`{name}` gave {what}", "give real numbers: real and imaginary parts as rows of their own")
    if found.shape not in ((length,), (length, 1)):
        raise ProductError(
            f"`{name}` of {size} numbers gave an array of shape {found.shape}, where {length} numbers are due",
            "mend the function, or the shape that is given",
        )
    out = np.array(found, dtype=np.float64).reshape(length)
    if not np.all(np.isfinite(out)) and float(np.abs(x).max(initial=0.0)) < _OVERFLOW:
        at = int(np.argmin(np.isfinite(out)))
        raise ProductError(f"`{name}` gave `{out[at]}` in entry {at}", "mend the function: its products are finite")
    return out
