"""Functions, sets and objects of CVXPY, Convex.jl and JuMP."""

from __future__ import annotations

from .record import Foreign, alike, instead, out

C, V, J, N = "CVXPY", "Convex.jl", "JuMP", "NumPy"
CVXPY, CONVEX, JUMP = (C,), (V,), (J,)
BOTH, ALL, JULIA = (C, V), (C, V, J), (V, J)

_NORM = (
    "`norm1(x)` is the sum of absolute values, `norm2(x)` the Euclidean norm of a vector, `norm_inf(x)` the largest absolute value, "
    "`norm_fro(X)`, `norm_nuc(X)` and `norm_spec(X)` are norms of matrices"
)
_HINGE = "the loss `hinge(z, y)` is `max(0, 1 - y z)` for each sample"
_MAX = f"`max(x)` is the largest entry, `max(a, b)` the larger of two, and {_HINGE}"
_MIN = "`min(x)` is the smallest entry, concave; a bound is a constraint, as `x >= 0`"
_POWER = "`sum_squares(x)` is the sum of squares, and the loss `squared(z, b)` is `(z - b)^2` for each sample"
_CONE = "the bound of a norm is the cone: write `norm2(A @ x + b) <= c @ x + d`"
_VARIABLE = "a variable is declared: `var x: vector[n]`, `var X: matrix[n, d]`, `var t: real`; in Python `fw.vector(n)`"

FUNCTIONS: tuple[Foreign, ...] = (
    # --- norms and squares
    instead(
        (C, V, J, N),
        "norm",
        {
            "x: vector": "norm2(x)",
            "x: vector, 1": "norm1(x)",
            "x: vector, 2": "norm2(x)",
            "x: vector, inf": "norm_inf(x)",
            "x: vector, Inf": "norm_inf(x)",
            'x: vector, "inf"': "norm_inf(x)",
            "x: scalar": "norm1(x)",
            'X: matrix, "fro"': "norm_fro(X)",
            'X: matrix, "nuc"': "norm_nuc(X)",
            "x: vector, p": "norm_p(x, p)",
            "x: vector, p=p": "norm_p(x, p)",
        },
        _NORM,
        several=True,
    ),
    instead(CVXPY, "PnormApprox", {"x, p": "norm_p(x, p)"}),
    instead(CVXPY, "normNuc", {"X": "norm_nuc(X)"}),
    instead(CONVEX, "nuclearnorm", {"X": "norm_nuc(X)"}),
    instead(CVXPY, "sigma_max", {"X": "norm_spec(X)"}),
    instead(
        JULIA,
        "opnorm",
        {"X": "norm_spec(X)", "X, 2": "norm_spec(X)"},
        "`norm_spec(X)` is the largest singular value of a matrix",
    ),
    instead(
        CVXPY,
        "mixed_norm",
        {"X, 2, 1": "norm21(X)", "X": "norm21(X)", "X, inf, 1": "norm1_inf(X)"},
        "`norm21(X)` is the sum of the Euclidean norms of the rows, `norm1_inf(X)` that of their largest absolute values",
    ),
    instead(CONVEX, "sumsquares", {"x": "sum_squares(x)"}),
    instead(CONVEX, "quadform", {"x, P": "quad_form(x, P)"}),
    instead(CVXPY, "psd_wrap", {"P": "P"}, "declare the data `P: psd[n]`: the promise is checked when they are bound"),
    *alike(CVXPY, "symmetric_wrap skew_symmetric_wrap", "declare the data or variable `S: symmetric[n]`"),
    instead(CVXPY, "QuadForm", {"x, P": "quad_form(x, P)"}),
    # --- functions of one number
    instead(
        (C, V),
        "neg",
        {"x": "pos(-x)"},
    ),
    *[instead((C, N), name, {"x, p": "power(x, p)"}) for name in ("Power", "PowerApprox", "float_power")],
    instead((N,), "log2", {"x": "log(x) / log(2)"}),
    instead((N,), "log10", {"x": "log(x) / log(10)"}),
    instead((N,), "expm1", {"x": "exp(x) - 1"}),
    instead((N,), "exp2", {"x": "exp(log(2) * x)"}),
    instead((C,), "xexp", told="x exp(x) is convex where x >= 0, and is no word here; `exp(x)` is near it"),
    instead(CONVEX, "invpos", {"x": "inv_pos(x)"}),
    instead(
        (*JULIA, N),
        "inv",
        {"x: scalar": "inv_pos(x)", "x: vector": "inv_pos(x)"},
        "`tr_inv(X)` is the trace of the inverse of a matrix, `matrix_frac(x, P)` is `x.T @ inv(P) @ x`, and `inv_pos(z)` is `1/z` of each entry",
    ),
    instead(
        (C, V),
        "logisticloss",
        told="the loss `logistic(z, y)` is `log(1 + exp(-y z))` for each sample: `logistic(-z, ones(n))` is `log(1 + exp(z))`",
    ),
    instead(CVXPY, "logistic_loss", {"z, y": "logistic(z, y)"}),
    instead((C,), "entr", {"x": "-rel_entr(x, 1)"}, "`entropy(x)` is the sum of x log x"),
    instead(CONVEX, "entropy_elementwise", told="`-entropy(x)` is the sum of `-x log x` over all entries"),
    *alike(
        CVXPY, "log_normcdf loggamma", "it is concave or convex, and no word here; `logistic` is the nearest likelihood"
    ),
    # --- orders
    *[instead((N, J), name, {"x": "max(x)"}, _MAX) for name in ("fmax", "nanmax", "Max", "max_entries")],
    *[instead((N, J), name, {"x": "min(x)"}, _MIN) for name in ("fmin", "nanmin", "Min", "min_entries")],
    instead(
        (C, V),
        "dotsort",
        told=(
            "`sorted_l1(x, lambdas)` weighs entries by the rank of their sizes; `x in permutahedron(c)` is the set of "
            "which it is the support function"
        ),
    ),
    instead(
        (C, N),
        "ptp",
        {"x": "max(x) - min(x)"},
    ),
    instead((C,), "cvar", {"z, beta": "t + mean(pos(z - t)) / (1 - beta)"}, variable="t"),
    instead((C,), "cummax", told="with a variable `m: vector[n]`: `m >= x`, `m[1:] >= m[:-1]`"),
    # --- log sum exp, geometric means
    instead(
        (N,),
        "logaddexp",
        {"a: scalar, b: scalar": "log_sum_exp(a, b)"},
        "`log_sum_exp(X, axis=1)` is of each row of a matrix",
    ),
    instead(CVXPY, "GeoMeanApprox", {"x": "geo_mean(x)"}),
    *alike((C,), "harmonic_mean inv_prod", "it is a function of inverses: minimise `sum(inv_pos(x))` in its place"),
    # --- spectra
    instead(
        (C,),
        "lambda_sum_smallest",
        {"X, k": "-sum_largest_eigs(-X, k)"},
        "it is concave, as the sum of the largest ones of -X is convex",
    ),
    *alike(
        (C, V),
        "von_neumann_entr quantum_rel_entr quantum_cond_entr quantum_entropy quantum_relative_entropy trace_logm trace_mpower lieb_ando",
        "entropies of matrices are no words here; `entropy(x)` is that of numbers",
    ),
    *alike(
        (C, V),
        "RelEntrConeQuad OpRelEntrConeQuad RelativeEntropyEpiConeSquare GeometricMeanEpiConeSquare GeometricMeanHypoConeSquare rootdet",
        "operator cones of matrices are no words here",
    ),
    # --- products and shapes
    instead((C, V, J, N), "matmul", {"A, x": "A @ x"}),
    instead((C, N), "multiply", {"a, b": "a * b"}),
    instead((C,), "scalar_product", {"a, b": "dot(a, b)"}),
    instead((C, N), "vdot", {"a, b": "dot(a, b)"}),
    instead((N,), "vecdot", {"a, b": "dot(a, b)"}),
    instead(CONVEX, "inner_product", {"a, b": "dot(a, b)"}),
    instead((C,), "sum_entries", {"x": "sum(x)"}),
    instead((C,), "Sum", {"x": "sum(x)"}),
    instead((C,), "Trace", {"X": "trace(X)"}),
    instead((C,), "mul_elemwise", {"a, b": "a * b"}),
    instead((C, V, J, N), "transpose", {"A": "A.T"}),
    instead(JULIA, "adjoint", {"A": "A.T"}),
    *alike(
        (C, V, J, N),
        "stack",
        "columns beside each other are `hstack(a, b)`",
    ),
    *alike(
        (C, V, J, N),
        "bmat block dstack",
        "`hstack(a, b)` has parts beside each other, `vstack(a, b)` below each other",
    ),
    *alike(
        (C, V, N),
        "squeeze expand_dims swapaxes moveaxis permute_dims rollaxis atleast_1d atleast_2d atleast_3d "
        "deep_flatten promote broadcast_to resize matrix_transpose",
        "an expression keeps its shape; entries are taken by `X[i, j]`, rows by `X[i]`, the transpose by `X.T`",
    ),
    *alike(
        (C,),
        "upper_tri vec_to_upper_tri",
        "`symmetric[d]` declares a symmetric variable; slices `X[i, j]` take entries",
    ),
    *alike(
        (C, V, N),
        "partial_trace partial_transpose partialtrace partialtranspose",
        "write the sum of the blocks `X[i:j, k:l]` out",
    ),
    *alike((C, N), "correlate", "`conv(k, x)` is the full convolution; turn the kernel round for a correlation"),
    instead((N,), "ediff1d", {"x: vector": "x[1:] - x[:-1]"}),
    instead(
        (N,),
        "cumulative_sum",
        {"x: vector": "cumsum(x)"},
        "with a variable `s: vector[n]`: `s[0] == x[0]`, `s[1:] - s[:-1] == x[1:]`",
    ),
    instead((J, V), "I", told="`eye(n)` is the identity matrix", place="value"),
    instead((C, N), "std", told="with the mean as a variable `m: real`: `norm2(x - m)` over sqrt(n)"),
    instead(
        (C, N), "var", told="with the mean as a variable `m: real`: `1/n * sum_squares(x - m)` is least at the variance"
    ),
    *alike(
        (C,),
        "perspective suppfunc",
        "the perspective or support function of another function is no word here; the sets have support functions of their own",
    ),
    instead((V,), "abs2", {"x": "square(x)"}, _POWER),
    instead(JULIA, "diagm", {"x": "diag(x)"}),
    *alike((C,), "linearize", "write the linearisation out: gradients are data"),
    *alike((C,), "scalene", "two slopes: `sum(quantile(x, zeros(n), tau=0.9))`"),
    instead(CONVEX, "dot_sort", told="`sorted_l1(x, lambdas)` weighs entries by the rank of their sizes"),
    # --- sets and cones
    *alike((C, V, J), "SOC SecondOrderCone RotatedSecondOrderCone socp NormOneCone NormInfinityCone NormCone", _CONE),
    *alike(
        (C, V, J),
        "PSDCone PositiveSemidefiniteConeTriangle PositiveSemidefiniteConeSquare Semidefinite isposdef PSD semidefinite_cone",
        "write `X in psd`, or declare `var X: psd[d]`",
    ),
    *alike((J,), "Nonnegatives Nonnegative", "write `x in nonnegative`, or `x >= 0`"),
    *alike((J, C), "Nonpositives NonPos Nonpositive", "write `x <= 0`"),
    *alike((J, C), "Zeros Zero EqualTo", "write `A @ x == b`"),
    instead((J,), "GreaterThan", told="write `x >= b`"),
    instead((J,), "LessThan", told="write `x <= b`"),
    *alike(
        (C, V, J),
        "ExpCone ExponentialCone DualExponentialCone exp_cone",
        "a cone of exponentials is written with `exp`, `log` or `entropy` below a bound",
    ),
    *alike(
        (C, V, J),
        "PowCone3D PowCone3DApprox PowConeND PowerCone DualPowerCone GeometricMeanCone",
        "a cone of powers is written as a bound on a norm or a power",
    ),
    *alike(
        (J, V),
        "RelativeEntropyCone LogDetConeTriangle LogDetConeSquare RootDetConeTriangle RootDetConeSquare NormNuclearCone NormSpectralCone",
        "a cone is written as a bound on its function, as `norm_nuc(X) <= r`",
    ),
    # --- objects
    instead((C, V), "Variable", told=_VARIABLE),
    *alike((V,), "Negative", _VARIABLE),
    instead((C, V), "Parameter", told="a parameter is declared with its domain: `param mu: nonnegative = 0.1`"),
    instead((C,), "CallbackParam", told="a parameter is declared with its domain: `param mu: nonnegative = 0.1`"),
    instead((C, V), "Constant", told="data are declared: `data A: matrix[n, d]`, and numbers written as they are"),
    *alike((C,), "Minimize Objective", "write `minimize EXPR`; in Python `fw.minimize(objective, constraint, ...)`"),
    *alike((C,), "Maximize", "write `maximize EXPR`; in Python `fw.maximize(objective, constraint, ...)`"),
    *alike((V,), "satisfy", "write `minimize 0` and the constraints"),
    *alike(
        (C, V, J),
        "Problem Model GenericModel direct_model",
        "a program is the problem: `minimize EXPR`, then `subject to` and the constraints",
    ),
    *alike(
        (C,),
        "AddExpression MulExpression Expression Constraint Cone DCPError DGPError DPPError SolverError CvxpyDeprecationWarning",
        "expressions and constraints are written, not made",
    ),
    *alike(
        (C,),
        "SOC_ATOMS EXP_ATOMS GP_EXP_ATOMS GP_NONPOS_ATOMS NONPOS_ATOMS POWCONE_ATOMS POWCONE_ND_ATOMS PSD_ATOMS "
        "CPP_CANON_BACKEND SCIPY_CANON_BACKEND COO_CANON_BACKEND RUST_CANON_BACKEND ROBUST_KKTSOLVER",
        "how a program is brought to a solver is the planner's: `fwdsl plan` shows it",
    ),
    *alike(
        (C,),
        "OPTIMAL OPTIMAL_INACCURATE INFEASIBLE INFEASIBLE_INACCURATE UNBOUNDED UNBOUNDED_INACCURATE SOLVER_ERROR USER_LIMIT",
        "an answer's status is `optimal`, `tolerance_not_reached`, `infeasible`, `unbounded` or `interrupted`",
    ),
    *out(
        CVXPY,
        "steps",
        "solve installed_solvers get_num_threads set_num_threads enable_warnings disable_warnings warnings_enabled",
    ),
    *out(
        JULIA,
        "steps",
        "optimize! solve! optimize value objective_value dual shadow_price termination_status set_optimizer set_silent evaluate fix! free! "
        "set_objective set_lower_bound set_upper_bound unfix relax_integrality num_variables all_variables add_constraint",
    ),
    *alike(
        JULIA,
        "dual_model lower_bound upper_bound fix_value",
        'the answer has its values and multipliers: `sol.dual["budget"]` in Python',
    ),
    # --- what is out
    *out(
        ALL,
        "integer",
        "integer int bool boolean binary Binary Integer Int Bin ZeroOne FiniteSet BinVar IntVar IntegerVar "
        "BinaryVar count_distinct AllDifferent Circuit Table Cumulative Indicator Complements "
        "SOS1 SOS2 Semicontinuous Semiinteger SemicontinuousVar Reified BinPacking CountAtLeast CountBelongs "
        "CountDistinct CountGreaterThan",
    ),
    *out(
        (C, V, J),
        "complex",
        "complex hermitian Hermitian hermitian_wrap HermitianSemidefinite ComplexVariable ComplexPlane "
        "HermitianPSDCone HermitianMatrixSpace hermitian_semidefinite conj imag conjugate iscomplex angle",
    ),
    *out(CVXPY, "quasi-convex", "ceil floor sign length dist_ratio condition_number gen_lambda_max"),
    *out(CVXPY, "geometric", "prod Prod cumprod gmatmul pf_eigenvalue eye_minus_inv resolvent one_minus_pos diff_pos"),
)
"""One record a name; those of NumPy that stand in models too are here."""
