"""The data of a solution: primal, dual, certificate, history, record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..certify.certificate import Certificate
from .status import Status


@dataclass(frozen=True)
class Progress:
    """One report of a running solve; numbers in the user's sense, from the method's own bookkeeping (not yet verified)."""

    phase: str
    method: str
    iteration: int
    passes: float
    elapsed: float
    objective: float
    dual_bound: float
    relative_gap: float


@dataclass(frozen=True)
class Change:
    """A change of the method within a run: who goes on, after how many iterations, data passes and seconds of all before it, and why."""

    method: str
    iteration: int
    passes: float
    elapsed: float
    reason: str


@dataclass(frozen=True)
class Times:
    """Seconds: compiling the program, loading data, planning, solving, verifying (within solve), compiling kernels (within solve; none where the
    cache has them), moving data to a device (beside solve). The limit of time does not count the last two."""

    compile: float = 0.0
    load: float = 0.0
    plan: float = 0.0
    solve: float = 0.0
    verify: float = 0.0
    kernels: float = 0.0
    move: float = 0.0


@dataclass(frozen=True)
class Placed:
    """A matrix of data in a run that asked for a device: its name and its bytes there, the products that the device took, and why the host had it, or
    took over (empty where the device had it to the end)."""

    name: str
    bytes: int
    products: int = 0
    why: str = ""


@dataclass(frozen=True)
class DeviceUse:
    """The device that took the products with data: the host, or one of this name and model, and where the matrices were.

    `why` says why the host took all of them, where a device was asked for.
    """

    name: str = "cpu"
    model: str = ""
    why: str = ""
    data: tuple[Placed, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The data of a `Solution`, which describes the fields."""

    status: Status
    certificate: Certificate
    variables: Mapping[str, Any]
    dual: Mapping[str, Any]
    terms: Mapping[str, float]
    method: str
    iterations: int
    passes: float
    verify_passes: float
    reason: str
    times: Times
    history: tuple[Progress, ...] = ()
    changes: tuple[Change, ...] = ()
    plan: Any = None
    start: str = "the method's own starting point"
    warnings: tuple[str, ...] = ()
    device: DeviceUse = DeviceUse()
    record: Mapping[str, Any] = field(default_factory=dict)
    state: Any = field(default=None, repr=False)
    instance: Any = field(default=None, repr=False)
    options: Any = field(default=None, repr=False)
    fit: Any = field(default=None, repr=False)
    origin: str = ""

    def __repr__(self) -> str:
        c = self.certificate
        reason = f" ({self.reason})" if self.status != "optimal" and self.reason else ""
        return (
            f"<Solution {self.status}{reason}: objective {c.objective:.10g}, dual bound {c.dual_bound:.10g}, "
            f"relative gap {c.relative_gap:.1e} ({c.kind}), by {self.method} in {self.iterations} iterations; "
            f"variables {', '.join(self.variables)}{f'; loaded from {self.origin}' if self.origin else ''}>"
        )

    def __getitem__(self, name: str) -> Any:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    @property
    def found_on(self) -> Any:
        """The program with its label maps: the instance, or what a file keeps of it."""
        return self.fit if self.instance is None else self.instance

    @property
    def objective(self) -> float:
        """The verified objective value, in the user's sense."""
        return self.certificate.objective

    @property
    def dual_bound(self) -> float:
        """The verified bound on the optimal value: below for `minimize`, above for `maximize`."""
        return self.certificate.dual_bound

    @property
    def gap(self) -> float:
        """|objective - dual_bound|, and what infeasibility may hide."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """The gap relative to max(|P|, |D|, 1e-6 S)."""
        return self.certificate.relative_gap

    @property
    def infeasibility(self) -> float:
        """The largest relative violation of a constraint."""
        return self.certificate.infeasibility
