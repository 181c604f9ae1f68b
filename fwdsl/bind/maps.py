"""Learns the sizes of feature maps while parameters get their values, since each may depend on the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Expr, Model
from ..words import FEATURE_MAPS
from .features import Features, Statistics, feature_maps
from .findings import Findings


class Maps:
    """The feature maps of a model while it is bound. Enters "dim(Phi)" into `dims` as soon as the size is known.

    `fitted` are maps of other data, whose statistics are kept. `again` are maps of the same data; those with the same
    parameters are kept.
    """

    def __init__(
        self,
        model: Model,
        dims: dict[str, int],
        data: Mapping[str, Any],
        findings: Findings,
        fitted: Statistics | None = None,
        again: Features | None = None,
    ) -> None:
        self.dims = dims
        self._findings = findings
        self._maps = feature_maps(model)
        self._waiting = [m for m in self._maps if _own(m) is not None]
        for m in self._waiting:
            dims.pop(str(_own(m)), None)
        self._data = dict(data)
        self._features = Features(dims, self._data, fitted, again)

    def learn(self, params: Mapping[str, float]) -> None:
        """Enter the sizes that follow from these parameters."""
        self._data.update(params)
        for node in list(self._waiting):
            try:
                columns = self._features.columns(node)
            except KeyError:
                continue  # a parameter that is not known yet, or a missing value that is noted already
            except (ValueError, ArithmeticError) as error:
                self._fails(node, error)
            else:
                self.dims[str(_own(node))] = columns
            self._waiting.remove(node)

    def complete(self, params: Mapping[str, float]) -> Features | None:
        """The feature maps with all parameters known; None where the model has no maps."""
        self.learn(params)
        return self._features if self._maps else None

    def _fails(self, node: Expr, error: Exception) -> None:
        self._findings.add(
            "FW4521",
            f"the feature map `{node.name}` has no value: {error}",
            span=node.span,
            rule="A feature map is computed from numbers that are finite, once data and parameters are known.",
            hint="correct what it is computed from",
        )


def _own(node: Expr) -> str | None:
    """The dimension that is the map's number of columns."""
    columns = node.type.array_shape[1]
    return columns if isinstance(columns, str) and FEATURE_MAPS[node.name].columns in ("features", "own") else None
