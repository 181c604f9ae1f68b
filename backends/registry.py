"""The methods, by the names that a program may give, and their states. A method's module is loaded when it is first looked at: a run that leaves the
choice to the planner loads only those it may choose."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from fwdsl.backends.method import Method, State
from fwdsl.words.base import Lazy

#: Methods on the factored form, which most programs do not have.
FACTORED = {
    "lowrank": ("lowrank.lowrank", "LowRankMethod", "CompletionState", "RegressionState"),
    "factored_fw": ("lowrank.factored_fw", "FactoredFW", "FactoredFWState"),
    "block_fw": ("lowrank.block_fw", "BlockFW", "BlockFWState"),
}

#: Methods on expansions in samples, which only kernel machines have.
EXPANDED = {"smo": ("smo.smo", "SMO", "SMOState")}

#: Methods that the planner chooses among, in its order of preference: name -> (module, class, classes of its states).
AUTOMATIC = {
    "apg": ("apg", "APG", "APGState"),
    "pivoting": ("pivoting.method", "Pivoting", "PivotingState"),
    "newton": ("smooth.method", "Newton", "NewtonState"),
    "ball_newton": ("smooth.ball_method", "BallNewton", "BallState"),
    "pdhg": ("pdhg.method", "PDHG", "PDHGState"),
    "lines": ("lines.method", "LinesMethod", "LinesState"),
    "dual_gradient": ("dual_gradient.method", "DualGradient", "DualGradientState"),
    "interior": ("interior.method", "Interior", "InteriorState"),
    "highs": ("highs.method", "Highs", "HighsState"),
    "proximal_newton": ("logdet.method", "ProximalNewton", "LogDetState"),
    "coordinate_descent": ("coordinate.method", "CoordinateDescent", "CoordinateState"),
    "constrained_descent": ("coordinate.constrained_method", "ConstrainedDescent", "ConstrainedState"),
    "pdbfw": ("pdbfw.method", "PDBFW", "PDBFWState"),
    "bcfw": ("svm.bcfw_method", "BCFW", "BCFWState"),
    "dcd": ("dcd.method", "DCD", "DCDState"),
    **EXPANDED,
    "frank_wolfe": ("frank_wolfe.plain", "FrankWolfe", "FWState"),
    **FACTORED,
}

#: Methods that it never chooses by itself (`Method.by_name_only`).
NAMED = {
    "dspdc": ("dspdc", "DSPDC", "DSPDCState"),
    "away_frank_wolfe": ("frank_wolfe.away", "AwayFrankWolfe", "AwayState"),
    "pairwise_frank_wolfe": ("frank_wolfe.pairwise", "PairwiseFrankWolfe", "PairwiseState"),
    "blended_pairwise": ("frank_wolfe.pairwise", "BlendedPairwise", "BlendedState"),
    "block_frank_wolfe": ("frank_wolfe.block", "BlockFrankWolfe", "BlockFrankWolfeState"),
    "gsfw": ("gsfw", "GSFW", "GSFWState"),
    "l2svm_dual": ("svm.l2svm", "L2SVMDual", "L2SVMState"),
    "matrix_fw": ("svm.matrix_fw", "MatrixFW", "MatrixFWState"),
    "mirror_descent": ("multiclass.mirror", "MirrorDescent", "MirrorDescentState"),
    "mirror_prox": ("multiclass.mirror", "MirrorProx", "MirrorProxState"),
    "sublinear": ("multiclass.sublinear", "Sublinear", "SublinearState", "PartialState"),
    "apg_fixed": ("baselines.apg_fixed", "APGFixed", "APGFixedState"),
    "scgm": ("baselines.scgm", "SCGM", "SCGMState"),
    "scgs": ("baselines.scgs", "SCGS", "SCGSState"),
    "sdca": ("baselines.sdca", "SDCA", "SDCAState"),
    "sfw": ("baselines.sfw", "SFW", "SFWState"),
    "spdc": ("baselines.spdc", "SPDC", "SPDCState"),
    "storc": ("baselines.storc", "STORC", "STORCState"),
    "subgradient": ("baselines.subgradient", "Subgradient", "SubgradientState"),
    "svrf": ("baselines.svrf", "SVRF", "SVRFState"),
    "svrg": ("baselines.svrg", "SVRG", "SVRGState"),
}

_ALL: dict[str, tuple[str, ...]] = {**AUTOMATIC, **NAMED}


@cache
def _load(name: str, cls: str) -> type:
    found: type = getattr(import_module(f".{_ALL[name][0]}", __package__), cls)
    return found


METHODS: Mapping[str, type[Method]] = Lazy(_ALL, lambda name: _load(name, _ALL[name][1]))

_STATES = {state: name for name, (_module, _method, *states) in _ALL.items() for state in states}


def is_state(name: str) -> bool:
    """True if there is a class of states of this name."""
    return name in _STATES


def state_class(name: str) -> tuple[str, type[State]]:
    """(the name of the method, the class of its state) by the name of the class, which is one (`is_state`)."""
    return _STATES[name], _load(_STATES[name], name)
