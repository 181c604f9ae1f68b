"""The baselines and the classes of their states: adding one is a file, and a line here."""

from __future__ import annotations

from ..method import Method, State
from .apg_fixed import APGFixed, APGFixedState
from .scgm import SCGM, SCGMState
from .scgs import SCGS, SCGSState
from .sdca import SDCA, SDCAState
from .sfw import SFW, SFWState
from .spdc import SPDC, SPDCState
from .storc import STORC, STORCState
from .subgradient import Subgradient, SubgradientState
from .svrf import SVRF, SVRFState
from .svrg import SVRG, SVRGState

BASELINES: tuple[type[Method], ...] = (SVRG, SDCA, APGFixed, SPDC, SFW, SVRF, SCGS, STORC, SCGM, Subgradient)

BASELINE_STATES: tuple[type[State], ...] = (
    SVRGState,
    SDCAState,
    APGFixedState,
    SPDCState,
    SFWState,
    SVRFState,
    SCGSState,
    STORCState,
    SCGMState,
    SubgradientState,
)
