r"""Unknowns that each belong to one entry z_i of an argument z = K x + o: the residuals, slacks and bounds of losses and norms over entries.

Scaled, the rows of such an entry are c t + C u, t = K_i x, and the least of |c t + C u|^2 + u'P_u u over its unknowns u is D_i t^2 with

    D = |(I - Q Q') (c, 0)|^2,   Q R = (C, sqrt(P_u)),   u = -R^-1 Q'(c, 0) t.

So the condensed system in all unknowns is one in x alone, with K' diag(D) K in place of these rows: its order is that of the features, whatever the
number of samples. By this form D is a sum of squares, and no difference of large weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack, vstack

from fwdsl.atoms.base import Array
from fwdsl.atoms.conic import Conic
from fwdsl.backends.interior.blocked import Look, Solve, add_gram, dense_gram
from fwdsl.backends.interior.loops import entries_expand, entries_products, entries_reduce
from fwdsl.backends.interior.program import ConicProgram
from fwdsl.backends.interior.sizes import DENSE_SHARE
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.integer[Any]]


SolveKept = Callable[[Array, Array, Array, Array], tuple[Array, Array, Array]]
"""(x, t, u) for right-hand sides p of the kept unknowns, s of the rows of K, r of the other rows R and those of equations:

(P + K'DK + R'R) x = p + K's + R'r,  t = K x,  u = R x - r; multipliers of the equations after x. p may be overwritten."""


class Group(NamedTuple):
    """Entries with equally many rows and unknowns of their own, and what A has in these rows."""

    rows: Index  # the rows of A (entries, rows of each)
    own: Index  # the unknowns (entries, unknowns of each)
    z: Index  # the rows of K (entries,)
    numbers: Array  # those of z and of the unknowns in each row (entries, rows of each, 1 + unknowns of each)
    partners: Index | None = (
        None  # where cones have three rows: the three among the rows of the entry (entries, rows of each, 3)
    )


class Factor(NamedTuple):
    """The factors of a group's entries at a scaling: D, and the triangles R with Q'(c, 0) as a last column."""

    D: Array
    R: Array


@light_dataclass
class Separate:
    """The entries with unknowns of their own, their K, and the other unknowns and rows."""

    K: Any
    groups: tuple[Group, ...]
    kept: Index  # the unknowns that are no entry's own; those that K is of come first
    others: Index  # the rows that are no entry's
    rest: csr_array  # A of these rows and the kept unknowns
    K_t: Any
    of_K: Any  # K and its adjoint for products
    of_K_t: Any
    of_rest: Rows

    @staticmethod
    def of(program: ConicProgram, A: csr_array, d: Array, e: Array) -> Separate:
        """Separate the groups of A = diag(e) program.A diag(d)."""
        place = np.zeros(sum(p.form.offset.size for p in program.parts), dtype=np.intp)
        place[program.rows] = np.arange(program.rows.size)
        unknowns = program.unknowns
        of_x = unknowns[unknowns < program.reduced.columns]
        columns = of_x.size
        column = np.full(max(p.extra + p.form.extra for p in program.parts), -1)
        column[unknowns] = np.arange(unknowns.size)
        kept, others = np.ones(d.size, dtype=bool), np.ones(e.size, dtype=bool)
        maps, groups, first, beside, seen = [], [], 0, [], columns
        for part in program.parts:
            found = _groups(part.form)
            for g in found:
                rows, own = place[part.row + g.rows], column[part.extra + g.own]
                numbers = -g.numbers * e[rows][:, :, None]
                numbers[:, :, 1:] *= d[own][:, None, :]
                groups.append(Group(_short(rows), _short(own), _short(first + g.z), numbers, g.partners))
                kept[own], others[rows] = False, False
            if found:
                own_map = part.K if columns == part.K.shape[1] else part.K[:, of_x]
                shared, along = _beside(part.form)
                if shared.size:
                    own_map = csr_array(hstack([own_map, csr_array((part.form.size, seen - columns)), along]))
                    beside.append(column[part.extra + shared])
                    seen += shared.size
                maps.append(own_map)
                first += part.form.size
        maps = [csr_array((m.data, m.indices, m.indptr), (m.shape[0], seen)) for m in maps]
        of_K_columns = np.concatenate([np.arange(columns), *beside])
        kept[of_K_columns] = False
        order = np.concatenate([of_K_columns, np.flatnonzero(kept)])
        K: Any = vstack([csr_array((0, seen)), *maps], format="csr") @ diags_array(d[of_K_columns])
        if K.nnz > DENSE_SHARE * K.shape[0] * K.shape[1]:
            K = K.toarray()
        rest = A[np.flatnonzero(others)][:, order].tocsr()
        K_t = K.T if isinstance(K, np.ndarray) else K.T.tocsr()
        # for products
        of_K, of_K_t = (K, K_t) if isinstance(K, np.ndarray) else (Rows(K), Rows(K_t))
        return Separate(K, tuple(groups), order, np.flatnonzero(others), rest, K_t, of_K, of_K_t, Rows(rest))

    def products(self, weights: Array, rest: Rows, v: Array, u: Array) -> tuple[Array, Array]:
        """W^-T A v and A'W^-1 u, where W^-T has these weights in the rows of the entries, and `rest` are the other rows of W^-T A."""
        columns = self.K.shape[1]
        along, across = np.empty(weights.size), np.zeros(v.size)
        kept, back = v[self.kept], np.zeros(self.K.shape[0])
        t = self.of_K @ kept[:columns]
        for g in self.groups:
            kernel(entries_products)(g.rows, g.own, g.numbers, g.z, weights, t, v, u, along, across, back)
        along[self.others] = rest @ kept
        below = np.zeros(kept.size)
        below[:columns] = self.of_K_t @ back
        rest.add_adjoint(u[self.others], below)
        across[self.kept] = below
        return along, across

    @cached_property
    def turned_rows(self) -> Index:
        """The rows of entries with cones of three rows."""
        own = [g.rows.reshape(-1) for g in self.groups if g.partners is not None]
        return np.concatenate([np.zeros(0, dtype=np.uint32), *own])

    def turned(self, roots: Array) -> Separate:
        """The entries with cones of three rows at a scaling, where W^-T has these numbers in each row, in the columns of its cone.

        Their rows are those of W^-T A then, and their weights 1.
        """
        return replace(self, groups=tuple(_turned(g, roots) for g in self.groups))

    def factors(self, weights: Array, P: Array) -> list[Factor]:
        """The factors of all groups at the weights of all rows, and the diagonal of P."""
        return [_factor(g, weights, P) for g in self.groups]

    def weights(self, factors: list[Factor]) -> Array:
        D = np.zeros(self.K.shape[0])
        for g, f in zip(self.groups, factors, strict=True):
            D[g.z] += f.D
        return D

    def add_gram(self, matrix: Array, factors: list[Factor], look: Look) -> None:
        """Add K' diag(D) K to the lower triangle of the first rows and columns of a matrix by columns."""
        D, d = self.weights(factors), self.K.shape[1]
        if isinstance(self.K, np.ndarray):
            matrix[:d, :d] += dense_gram(np.sqrt(D)[:, None] * self.K, look)
        else:
            add_gram(matrix, self.K, D, look)

    def by_unknowns(self, solve: Solve, rest: Rows) -> SolveKept:
        """The solver for the kept unknowns, and what K and the other rows are of them, from that of their condensed matrix."""
        columns, order = self.K.shape[1], self.kept.size

        def kept(p: Array, s: Array, r: Array, equations: Array) -> tuple[Array, Array, Array]:
            rest.add_adjoint(r, p)
            p[:columns] += self.of_K_t @ s
            found = solve(np.concatenate([p, equations]))
            return found, self.of_K @ found[:columns], rest @ found[:order] - r

        return kept

    def reduced(self, factors: list[Factor], weights: Array, solve: SolveKept, equations: int) -> Solve:
        """The solver of the whole system from that for the kept unknowns and the multipliers of the equations."""
        order, n = self.kept.size, self.kept.size + sum(g.own.size for g in self.groups)
        m = weights.size
        pairs = list(zip(self.groups, factors, strict=True))

        def whole(right: Array) -> Array:
            p, r = right[:n], right[n:].copy()
            r[:equations] = 0.0
            t = np.zeros(self.K.shape[0])
            halves = [p.take(g.own) for g in self.groups]
            for (g, f), half in zip(pairs, halves, strict=True):
                kernel(entries_reduce)(g.rows, g.numbers, g.z, f.R, weights, r, t, half)
            found, t, of_others = solve(p[self.kept], t, r[self.others], right[n : n + equations])
            out = np.empty(n + m)
            v, u = out[:n], out[n:]
            v[self.kept] = found[:order]
            u[self.others] = of_others
            for (g, f), half in zip(pairs, halves, strict=True):
                kernel(entries_expand)(g.rows, g.own, g.numbers, g.z, f.R, weights, half, r, t, v, u)
            u[:equations] = found[order:]
            return out

        return whole


def _turned(g: Group, roots: Array) -> Group:
    """A group with its rows times W^-T, where it has cones of three rows."""
    if g.partners is None:
        return g
    root, entry = roots[g.rows], np.arange(g.rows.shape[0])[:, None, None]
    return g._replace(numbers=np.einsum("irj,irjq->irq", root, g.numbers[entry, g.partners]))


def _groups(form: Conic) -> list[Group]:
    """The entries of a form with unknowns of their own, those of one size together."""
    label = form.owner
    if not form.owned:
        return []
    row, column, value = form.of_u
    # the unknowns of a row are all of one entry, and so are those of the three rows of a cone
    heads = form.heads
    entry = np.full(form.offset.size, -1)
    np.maximum.at(entry, heads[row], label[column])
    entry = entry[heads]
    rows = np.flatnonzero(entry >= 0)
    of_row = entry[rows]
    three = np.zeros(form.offset.size, dtype=bool)
    three[np.concatenate([np.zeros(0, dtype=np.intp), *_of_three(form)])] = True
    factor: Array = np.bincount(form.of_z.row, weights=form.of_z.value, minlength=form.offset.size).astype(float)
    rank_of_row, rank = _ranks(of_row), _ranks(label)
    size = np.stack([np.bincount(of_row, minlength=form.size), np.bincount(label[label >= 0], minlength=form.size)])
    found = []
    for r, q in np.unique(size[:, size[1] > 0], axis=1).T:
        z = np.flatnonzero((size[0] == r) & (size[1] == q))
        index = np.full(form.size, -1)
        index[z] = np.arange(z.size)
        its_rows, its_own = np.zeros((z.size, r), dtype=np.intp), np.zeros((z.size, q), dtype=np.intp)
        mine, own = index[of_row] >= 0, (label >= 0) & (index[label] >= 0)
        its_rows[index[of_row[mine]], rank_of_row[mine]] = rows[mine]
        its_own[index[label[own]], rank[own]] = np.flatnonzero(own)
        numbers = np.zeros((z.size, r, 1 + q))
        numbers[:, :, 0] = factor[its_rows]
        live = (label[column] >= 0) & (index[label[column]] >= 0)
        of_row_rank = np.zeros(form.offset.size, dtype=np.intp)
        of_row_rank[rows] = rank_of_row
        np.add.at(numbers, (index[label[column[live]]], of_row_rank[row[live]], 1 + rank[column[live]]), value[live])
        partners = None
        if three[its_rows].any():
            first = np.where(three, of_row_rank[heads], of_row_rank)[its_rows]
            partners = first[:, :, None] + np.where(three[its_rows], 1, 0)[:, :, None] * np.arange(3)
        found.append(Group(its_rows, its_own, z, numbers, partners))
    return found


def _beside(form: Conic) -> tuple[Index, csr_array]:
    """The unknowns of no entry that stand beside entries with unknowns of their own, and their numbers s beside each entry.

    A row's number of such an unknown is that of z_i times s.
    """
    row, column, value = form.of_u
    entry = np.full(form.offset.size, -1)
    heads = form.heads
    np.maximum.at(entry, heads[row], form.owner[column])
    entry = entry[heads]
    at = np.flatnonzero((form.owner[column] < 0) & (entry[row] >= 0))
    factor = np.bincount(form.of_z.row, weights=form.of_z.value, minlength=form.offset.size)
    # the rows of an entry agree, so one of them tells
    _, first = np.unique(entry[row[at]] * form.extra + column[at], return_index=True)
    at = at[first]
    shared, place = np.unique(column[at], return_inverse=True)
    along = csr_array((value[at] / factor[row[at]], (entry[row[at]], place)), (form.size, shared.size))
    return shared, along


def _of_three(form: Conic) -> Iterator[Index]:
    """The rows in cones of three."""
    at = 0
    for cone in form.cones:
        if cone.is_of_three:
            yield np.arange(at, at + cone.rows)
        at += cone.rows


def _short(index: Index) -> Index:
    """The index as kernels read it soonest, in half the memory and without a sign: there are few unknowns and rows (`sizes.MOST`)."""
    return np.ascontiguousarray(index, dtype=np.uint32)


def _ranks(label: Index) -> Index:
    """The number of entries before each one that have its label."""
    order = np.argsort(label, kind="stable")
    ordered = label[order]
    rank = np.empty_like(order)
    rank[order] = np.arange(label.size) - np.searchsorted(ordered, ordered)
    return rank


def _factor(g: Group, weights: Array, P: Array) -> Factor:
    """The factors of a group at the weights of all rows and the diagonal of P, by modified Gram-Schmidt, all entries at once."""
    n, r, columns = g.numbers.shape
    q = columns - 1
    # by columns, of which c is the last
    C, weight = np.zeros((columns, r + q, n)), weights[g.rows].T
    np.multiply(weight, g.numbers.T[1:], out=C[:q, :r])
    np.multiply(weight, g.numbers.T[0], out=C[q, :r])
    own = np.arange(q)
    C[own, r + own] = np.sqrt(P[g.own]).T
    R = np.zeros((n, q, columns))
    for j in range(q):
        column, others = C[j], C[j + 1 :]
        length = np.sqrt(np.einsum("an,an->n", column, column))
        column /= length
        shares = np.einsum("an,kan->kn", column, others)
        others -= shares[:, None] * column
        R[:, j, j], R[:, j, j + 1 :] = length, shares.T
    return Factor(np.einsum("an,an->n", C[q], C[q]), R)
