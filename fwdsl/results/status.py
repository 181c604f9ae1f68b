"""The ways in which a solve may end."""

from __future__ import annotations

from typing import Literal, get_args

Status = Literal["optimal", "tolerance_not_reached", "infeasible", "unbounded", "interrupted"]

STATUSES: tuple[Status, ...] = get_args(Status)
