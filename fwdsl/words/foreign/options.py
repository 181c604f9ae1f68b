"""Options of solvers and estimators, names of solvers, and constants."""

from __future__ import annotations

from .record import Foreign, alike, instead

_S = ("CVXPY", "JuMP", "scikit-learn")
_TOL = "`tol` is the certified duality gap, relative to the objective: `solve tol = 1e-6`"
_WEIGHT = "a weight stands in the objective: `param mu: nonnegative = 0.1`, then `mu * norm1(x)`"
_METHOD = "the planner chooses the method; `method = pdhg` names one"

OPTIONS: tuple[Foreign, ...] = (
    *alike(_S, "optimizer backend", _METHOD, "option"),
    *alike(
        _S,
        "verbose silent disp log_level quiet",
        "progress is the command line's: `fwdsl run --progress`; a program prints nothing",
        "option",
    ),
    *alike(
        _S,
        "abstol reltol feastol eps_abs eps_rel tol_gap_abs tol_gap_rel tol_feas optimality_tol mip_gap xtol ftol gtol",
        _TOL,
        "option",
    ),
    *alike(
        _S,
        "max_iters maxiters iter_limit itermax n_iter ",
        "`max_iter` is the number of iterations at most",
        "option",
    ),
    *alike(
        _S,
        "timelimit TimeLimit time_limit_secs max_time ",
        "`time = 60 s` is the seconds of solving at most",
        "option",
    ),
    *alike(_S, "num_threads nthreads Threads", "`threads` is the number of threads of the kernels", "option"),
    *alike(_S, "rng", "`seed` is that of the random generator", "option"),
    *alike(_S, "C alpha alphas lam l1_ratio lambda_ penalty reg_alpha reg_lambda", _WEIGHT, "option"),
    *alike(
        _S,
        "nu loss kernel degree gamma coef0",
        "losses and feature maps have options of their own: `huber(z, b, delta=1)`, `rbf(X, gamma=0.5)`",
        "option",
    ),
    *alike(
        _S, "fit_intercept intercept_scaling", "an intercept is a variable: `var b: real` and `X @ w + b`", "option"
    ),
    *alike(
        _S,
        "normalize scale copy_X precompute",
        "`let Z = standardize(X)` scales the columns; data are never changed",
        "option",
    ),
    *alike(
        _S,
        "class_weight sample_weight",
        "weights are data: `data w: vector[n] in nonnegative`, then `sum(w * logistic(X @ beta, y))`",
        "option",
    ),
    *alike(
        _S,
        "warm_start initial_point",
        "`fwdsl run --start answer.npz`, or `solve(start=...)` of Python, starts from an answer",
        "option",
    ),
    *alike(_S, "nonneg nonpos", "a bound is a constraint: `x >= 0`, or `var x: vector[n] in nonnegative`", "option"),
    *alike(
        _S,
        "gp qcp enforce_dpp ignore_dpp requires_grad",
        "programs are convex as they are written; there is no other mode",
        "option",
    ),
    *alike(
        ("CVXPY", "JuMP"),
        "CLARABEL ECOS ECOS_BB OSQP SCS MOSEK GUROBI CPLEX XPRESS COPT CVXOPT HIGHS HiGHS GLPK GLPK_MI GLOP CBC "
        "SCIP SCIPY SDPA PDLP PIQP PROXQP "
        "DAQP NAG QPALM QOCO COSMO CUCLARABEL CUOPT DIFFCP IPOPT Ipopt KNITRO MOREAU MPAX PDCS UNO Hypatia",
        "it is a of others; fwdsl has methods of its own: `interior` is nearest to conic and simplex "
        "solvers, `pdhg` to PDLP, OSQP and SCS",
        "value",
    ),
    *alike(("NumPy", "JuMP"), "Inf infty infinity Infinity", "infinity is written `inf`", "value"),
    *alike(
        ("NumPy",), "nan NaN NA missing", 'data without a value are an error; `missing="drop"` leaves rows out', "value"
    ),
    *alike(("NumPy",), "newaxis", "an expression keeps its shape", "value"),
    *alike(("NumPy",), "None nothing null", "nothing stands for a value that is missing: leave it out", "value"),
    instead(("NumPy",), "True", told="it is written `true`", place="value"),
    instead(("NumPy",), "False", told="it is written `false`", place="value"),
    *alike(("NumPy",), "euler_gamma", "write the number", "value"),
)
