"""Functions of NumPy: what computes with data belongs to Python, before they are bound; few mean something of a variable."""

from __future__ import annotations

from .record import Foreign, alike, instead, out

_N = ("NumPy",)
_DATA = "it computes with numbers: compute in Python and bind the result, as `bind(A=...)`, or keep it in a file"
_ENTRIES = "its values depend on the variables' values: a program has no conditions and no sorting"
_PIECEWISE = "piecewise functions are losses or constraints: `hinge`, `huber`, `quantile`, `epsilon_insensitive`, `x in box(lo, hi)`"
_SINES = "sines and their like are neither convex nor concave; of data compute them in Python and bind the result"

ARRAYS: tuple[Foreign, ...] = (
    instead(_N, "add", {"a, b": "a + b"}),
    instead(_N, "subtract", {"a, b": "a - b"}),
    instead(_N, "negative", {"x": "-x"}),
    instead(_N, "divide", {"a, b": "a / b"}),
    instead(_N, "true_divide", {"a, b": "a / b"}),
    instead(_N, "matvec", {"A, x": "A @ x"}),
    instead(_N, "vecmat", {"x, A": "x @ A"}),
    instead(_N, "multi_dot", told="write the products: `A @ B @ x`"),
    instead(_N, "average", {"x": "mean(x)"}, "with weights that are data: `dot(w, x) / sum(w)`"),
    instead(_N, "nansum", {"x": "sum(x)"}),
    instead(_N, "nanmean", {"x": "mean(x)"}),
    instead(_N, "less_equal", told="write the constraint `a <= b`"),
    instead(_N, "greater_equal", told="write the constraint `a >= b`"),
    *alike(_N, "less greater", "write the constraint `a <= b`: feasible sets contain their boundary"),
    instead(_N, "equal", told="write the constraint `a == b`"),
    instead(_N, "matrix_norm", told="`norm_fro(X)`, `norm_nuc(X)` and `norm_spec(X)` are norms of matrices"),
    instead(_N, "vector_norm", {"x": "norm2(x)", "x, ord=1": "norm1(x)", "x, ord=2": "norm2(x)"}),
    instead(_N, "diagonal", {"X": "diag(X)"}),
    instead(_N, "diagflat", {"x": "diag(x)"}),
    instead(_N, "svdvals", told="`norm_nuc(X)` is the sum of the singular values, `norm_spec(X)` the largest"),
    *alike(
        _N,
        "eigvals eigvalsh eig eigh svd qr cholesky",
        "`norm_nuc`, `norm_spec` and `norm_fro` are functions of singular values; decompositions of data are computed in Python",
    ),
    *alike(_N, "lstsq", "write `minimize sum_squares(A @ x - b)`"),
    *alike(
        _N,
        "pinv matrix_power matrix_rank det cond tensorsolve tensorinv",
        "of data compute it in Python and bind the result; a linear system is a constraint, `A @ x == b`",
    ),
    *alike(_N, "median nanmedian", "the sum of the losses `absolute(z, b)` is least at the median of `b`"),
    *alike(
        _N,
        "percentile nanpercentile nanquantile",
        "the sum of the losses `quantile(z, b, tau=0.9)` is least at a quantile of `b`",
    ),
    *alike(_N, "clip piecewise heaviside select choose where", _PIECEWISE),
    *alike(
        _N,
        "sort argsort sort_complex lexsort partition argpartition argmax argmin nanargmax nanargmin searchsorted "
        "unique unique_all unique_counts unique_inverse unique_values "
        "nonzero flatnonzero argwhere count_nonzero any all isin digitize",
        _ENTRIES,
    ),
    *alike(
        _N,
        "sin cos tan asin acos atan atan2 arcsin arccos arctan arctan2 sinh cosh tanh asinh acosh atanh arcsinh "
        "arccosh arctanh sinc hypot cbrt unwrap i0",
        _SINES,
    ),
    *out(
        _N,
        "not convex",
        "cumulative_prod nanprod nancumprod mod remainder fmod divmod floor_divide gcd lcm logical_and logical_or "
        "logical_not logical_xor not_equal cross copysign",
    ),
    *out(_N, "quasi-convex", "rint round around trunc fix signbit"),
    *alike(
        _N,
        "load loadtxt genfromtxt fromfile fromregex fromstring frombuffer read read_csv read_parquet read_table scan_csv",
        'data come from a source: `data X: matrix[n, p] from csv("X.csv")`',
    ),
    *alike(_N, "save savez savez_compressed savetxt", "`fwdsl run --out fit.npz` writes the answer"),
    *alike(
        _N,
        "array asarray asanyarray asmatrix ascontiguousarray asfortranarray asarray_chkfinite astype copy "
        "fromiter fromfunction from_dlpack require",
        "data are declared: `data A: matrix[n, d]`, or written out, `data D: matrix[2, 2] = [[1, 0], [0, 2]]`",
    ),
    *alike(
        _N,
        "arange linspace logspace geomspace meshgrid indices full full_like ones_like zeros_like empty empty_like tri vander repeat tile",
        "of constants there are `ones(n)`, `zeros(n)` and `eye(n)`; other arrays are made in Python and bound",
    ),
    *alike(
        _N,
        "tril triu flip fliplr flipud roll rot90 take take_along_axis compress extract delete insert pad split "
        "array_split hsplit vsplit dsplit unstack trim_zeros",
        "entries are taken by slices, `x[1:]`, `X[:, 0]`; other orders are products with data: `P @ x`",
    ),
    *alike(
        _N,
        "gradient trapezoid interp",
        "differences are slices, `x[1:] - x[:-1]`; an integral or an interpolation is a product with data, `W @ x`",
    ),
    *alike(
        _N,
        "corrcoef cov nanstd nanvar histogram histogram2d histogramdd histogram_bin_edges bincount polyfit poly "
        "polyval polyadd polysub polymul polydiv polyder polyint roots",
        _DATA,
    ),
    *alike(
        _N,
        "logaddexp2 nancumsum ldexp frexp modf nextafter spacing bartlett blackman hamming hanning kaiser deg2rad "
        "degrees rad2deg radians nan_to_num real_if_close",
        _DATA,
    ),
    *alike(
        _N,
        "allclose array_equal array_equiv isclose isfinite isinf isnan isnat isneginf isposinf isreal isrealobj "
        "iscomplexobj isscalar isfortran isdtype issubdtype iterable is_busday",
        _ENTRIES,
    ),
    *alike(
        _N,
        "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_invert bitwise_count bitwise_left_shift "
        "bitwise_right_shift left_shift right_shift invert packbits unpackbits",
        _DATA,
    ),
    *alike(
        _N,
        "union1d intersect1d setdiff1d setxor1d apply_along_axis apply_over_axes frompyfunc nested_iters "
        "fill_diagonal place put put_along_axis putmask copyto "
        "diag_indices diag_indices_from tril_indices tril_indices_from triu_indices triu_indices_from "
        "mask_indices ix_ ravel_multi_index unravel_index",
        _DATA,
    ),
    *alike(
        _N,
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific "
        "printoptions get_printoptions set_printoptions "
        "geterr seterr geterrcall seterrcall getbufsize setbufsize get_include show_config show_runtime info test "
        "typename common_type result_type promote_types min_scalar_type mintypecode can_cast "
        "shares_memory may_share_memory broadcast_arrays broadcast_shapes einsum_path busday_count busday_offset "
        "datetime_as_string datetime_data LinAlgError",
        "it is about Python's arrays, and no part of a program",
    ),
    *alike(_N, "ndim shape size", "a dimension is a name: with `X: matrix[n, p]`, `n` and `p` are numbers"),
)
