r"""Cones of matrices whose points all lie on a face: equations X w = 0 leave no interior, which steps and multipliers ask for.

With the columns of B an orthonormal basis of what is at right angles to all such w, X w = 0 and X positive semidefinite say that X = B Y B' with
Y = B'X B positive semidefinite. So the cone of X gives way to that of B'X B, of a smaller order, and the equations stay. A multiplier Y of the
smaller cone is B Y B' of the larger one, at the edge of that: t w w' more costs nothing, as the equations take it back.

Source: Borwein, Wolkowicz, "Regularizing the abstract convex program", 1981.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import largest
from fwdsl.backends.interior.cones import matrices, order_of, triangles, upper
from fwdsl.backends.interior.program import ORDER, Batch, ConicProgram
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ALIKE = 1e-12
"""The difference up to which numbers of two vectors w, whose largest one is 1, are the same."""

NOTHING = 1e-14
"""The size up to which a number of B'V B, of V with one entry of 1, is the rounding of 0."""

LARGEST = 60
"""The order of matrices up to which a face is looked for: rows of the smaller cone see all of X."""


class _Face(NamedTuple):
    """A cone of matrices on a face: its place among the batches, the map V -> B'V B of vectors, and what equations (X w) = 0 add up to w w'."""

    batch: int
    turn: Array
    rows: Index
    weight: Array


@light_dataclass
class Faced(ConicProgram):
    """A program whose cones of matrices have an interior, as far as such equations tell."""

    whole: ConicProgram
    faces: tuple[_Face, ...]

    def multipliers(self, v: Array, z: Array, tau: float = 1.0) -> list[Array]:
        found, faces = np.empty(self.whole.b.size), {f.batch: f for f in self.faces}
        for k, (batch, own) in enumerate(zip(self.whole.batches, self.batches, strict=True)):
            part = z[own.start : own.stop]
            found[batch.start : batch.stop] = part if k not in faces else faces[k].turn.T @ part
        for f in self.faces:
            own = self.batches[f.batch]
            # away from the edge, which rounding would leave
            np.add.at(found, f.rows, largest(z[own.start : own.stop]) * f.weight)
        return self.whole.multipliers(v, found, tau)


def faced(program: ConicProgram) -> ConicProgram:
    """The program with smaller cones in the place of those on a face; itself where there are none."""
    faces = []
    if program.equations:
        for k, batch in enumerate(program.batches):
            if batch.kind == ORDER[3] and batch.number == 1 and order_of(batch.rows) <= LARGEST:
                face = _face(program, k, batch)
                faces += [] if face is None else [face]
    if not faces:
        return program
    by_batch = {f.batch: f for f in faces}
    A: list[Any] = []
    b, rows, batches, at = [], [], [], 0
    for k, batch in enumerate(program.batches):
        own = slice(batch.start, batch.stop)
        some, right, places = program.A[own], program.b[own], program.rows[own]
        if k in by_batch:
            turn = by_batch[k].turn
            some, right, places = csr_array(turn @ some.toarray()), turn @ right, places[: turn.shape[0]]
            batch = batch._replace(rows=turn.shape[0])
        A.append(some)
        b.append(right)
        rows.append(places)
        batches.append(batch._replace(start=at))
        at += right.size
    known: dict[str, Any] = {f.name: getattr(program, f.name) for f in fields(ConicProgram)}
    known |= {
        "A": csr_array(vstack(A, format="csr")),
        "b": np.concatenate(b),
        "rows": np.concatenate(rows),
        "batches": tuple(batches),
    }
    return Faced(**known, whole=program, faces=tuple(faces))


def _face(program: ConicProgram, number: int, batch: Batch) -> _Face | None:
    """The face of a cone whose rows see one unknown each; None where no equations X w = 0 are found."""
    A, own = program.A, np.arange(batch.start, batch.stop)
    if (np.diff(A.indptr)[own] != 1).any() or program.b[own].any():
        return None
    n = order_of(batch.rows)
    i, j, weight = upper(n)
    unknown, factor = A.indices[A.indptr[own]], -A.data[A.indptr[own]] / weight
    if np.unique(unknown).size < unknown.size or not factor.all():
        return None
    place = np.full(A.shape[1], -1)
    place[unknown] = np.arange(own.size)
    # rows c (X w)_i, by w
    found: list[tuple[Array, list[tuple[int, int, float]]]] = []
    for row in np.flatnonzero(program.b[: program.equations] == 0.0):
        at = slice(A.indptr[row], A.indptr[row + 1])
        entry = place[A.indices[at]]
        kept = A.data[at] != 0.0
        entry, values = entry[kept], A.data[at][kept]
        if not entry.size or (entry < 0).any():
            continue
        values = values / factor[entry]
        for star in {int(i[entry[0]]), int(j[entry[0]])}:
            if not ((i[entry] == star) | (j[entry] == star)).all():
                continue
            w = np.zeros(n)
            np.add.at(w, np.where(i[entry] == star, j[entry], i[entry]), values)
            size = float(w[np.abs(w).argmax()])
            if size:
                _note(found, w / size, (int(row), star, size))
    vectors, rows, weights = [], [], []
    for w, stars in found:
        known = {star: (row, size) for row, star, size in stars}
        # the other rows would hold by themselves in the larger cone alone
        if len(known) == n:
            vectors.append(w)
            for k in np.flatnonzero(w):
                at_row, factor_of = known[int(k)]
                rows.append(at_row)
                weights.append(w[k] / factor_of / float(w @ w))
    if not vectors:
        return None
    left, values, _ = np.linalg.svd(np.array(vectors).T)
    B = left[:, int(np.count_nonzero(values > ALIKE * n * values[0])) :]
    if not B.shape[1]:
        return None
    turn = triangles(B.T @ matrices(np.eye(own.size), own.size, n) @ B).T
    # rounding of zeros would be what scales level
    turn[np.abs(turn) <= NOTHING] = 0.0
    return _Face(number, np.ascontiguousarray(turn), np.array(rows, dtype=np.intp), np.array(weights))


def _note(found: list[tuple[Array, list[tuple[int, int, float]]]], w: Array, star: tuple[int, int, float]) -> None:
    """Add a row to those of the same w."""
    for other, stars in found:
        if largest(other - w) <= ALIKE:
            stars.append(star)
            return
    found.append((w, [star]))
