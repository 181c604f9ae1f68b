"""Values of the objective's named terms at a point, in the user's sense."""

from __future__ import annotations

from ..atoms.base import Array
from ..bind.features import implicit_maps
from ..canon.affine import AffineReader
from ..canon.form import Canonical
from ..canon.term_values import term_value


def term_values(canonical: Canonical, x: Array) -> dict[str, float]:
    """The value of each term that a `let` names, coefficient included; terms of one name are added up."""
    blocks = {b.name: b for b in canonical.blocks}
    reader = AffineReader(canonical.instance, blocks)
    for name, phi in implicit_maps(canonical.instance.model).items():
        # x has the coordinates of these variables, and not their expansion coefficients
        basis = blocks[name].basis
        if basis is not None:
            reader.factors[id(reader.constant(phi))] = basis
    out: dict[str, float] = {}
    for term in canonical.instance.model.terms:
        if term.name:
            out[term.name] = out.get(term.name, 0.0) + term_value(reader, term, x)
    return out
