#!/usr/bin/env python3
"""Check a saved answer of fwdsl from its file and arrays alone: bounds of the optimal value that hold for all rounding.

    python check_certificate.py answer.npz --data X=X.npy --data y=y.npy

One file, with NumPy and nothing of fwdsl. It reads the program in the answer's record, takes the fitted variables and the dual vector, and computes

    P >= objective at the variables,   D <= min over w of <X'y, w> + R(w)  -  sum_i f_i*(y_i)  <=  optimal value

with every sum rounded outward: products are split into exact parts (Dekker 1971) and added exactly (`math.fsum`), single operations are widened to
the next number, and logarithms and exponentials by 16 units in the last place. The program has one loss, `squared`, `logistic`, `hinge`,
`squared_hinge` or `huber`, of `X @ w` or `X @ w + b`, X perhaps in `standardize(X)`, and may have `norm1(w)`, `sum_squares(w)` or
`norm2(w)`, bounds of w, an l1 or l2 ball, and a simplex. Exit code 0: the claims hold; 1: they do not; 2: the program has another
form, or the files are none.
"""

from __future__ import annotations

import argparse
import ast
import json
import keyword
import math
import re
import sys
import unicodedata
from dataclasses import dataclass, field

import numpy as np

ULPS = 16 * 2.0**-52
"""Relative error allowed to logarithms and exponentials."""
TOLERANCE = 1e-9
"""Relative difference between what is claimed and what is proven."""
MOVED = 1e-6, 1e-4
"""Relative distances by which variables and dual vector are moved at most into what they must lie in."""
FLOOR = 1e-6
"""Share of the objective at 0 that counts as the size of an objective that nearly vanishes."""
KEYWORDS = ("fw", "problem", "data", "param", "var", "let", "minimize", "maximize", "subject", "solve")


class Refused(Exception):
    """What this check does not know; the text is one line."""


class Missing(Exception):
    """What this check needs and is not given; the text is one line."""


# --- rounding outward: an interval is a pair (low, high) of numbers or arrays ------------------------------------------------


def down(x):
    return np.nextafter(x, -np.inf)


def up(x):
    return np.nextafter(x, np.inf)


def add(a, b):
    return down(a[0] + b[0]), up(a[1] + b[1])


def mul(a, b):
    every = [x * y for x in a for y in b]
    return down(np.minimum.reduce(every)), up(np.maximum.reduce(every))


def div(a, b):
    if np.any(b[0] <= 0.0) and np.any(b[1] >= 0.0):
        raise Refused("a division by zero")
    every = [x / y for x in a for y in b]
    return down(np.minimum.reduce(every)), up(np.maximum.reduce(every))


def times(a, b):
    """The product of two numbers, exactly 0 where one of them is."""
    return (0.0, 0.0) if a == (0.0, 0.0) or b == (0.0, 0.0) else tuple(float(e) for e in mul(a, b))


def ratio(a, b):
    """The quotient of two numbers."""
    return (0.0, 0.0) if a == (0.0, 0.0) and b[0] * b[1] > 0.0 else tuple(float(e) for e in div(a, b))


def total(a):
    """The sum of the entries: exact sums of both ends, rounded once."""
    return float(down(math.fsum(a[0]))), float(up(math.fsum(a[1])))


def dots(A, x):
    """A x as an interval. Each product is p + e exactly, and the sum of all is rounded once; tiny products may lose what is below all numbers."""
    if isinstance(A, Band):
        (low, high), wide = dots(A.mid, x), dots(A.radius, abs(x))[1]
        return np.where(wide == 0.0, low, down(low - wide)), np.where(wide == 0.0, high, up(high + wide))
    if max(np.abs(A).max(initial=0.0), np.abs(x).max(initial=0.0)) > 1e150:
        raise Refused("numbers beyond 1e150")
    sums, lost = np.empty(len(A)), np.zeros(len(A))
    for i, row in enumerate(A):
        products, rest = split_products(row, x)
        sums[i] = math.fsum((*products, *rest))
        if np.any((row != 0.0) & (x != 0.0) & (np.abs(products) < 2.0**-900)):
            lost[i] = 2.0**-1000 * x.size
    # a sum of 0 is 0: all that is added is a multiple of the smallest number
    exact = (sums == 0.0) & (lost == 0.0)
    return np.where(exact, 0.0, down(sums - lost)), np.where(exact, 0.0, up(sums + lost))


class Band:
    """A matrix whose entries are known up to a radius."""

    def __init__(self, mid, radius):
        self.mid, self.radius, self.shape = mid, radius, mid.shape

    def __len__(self):
        return len(self.mid)

    @property
    def T(self):
        return Band(self.mid.T, self.radius.T)

    def beside_ones(self):
        return Band(beside_ones(self.mid), np.column_stack([self.radius, np.zeros(len(self))]))


def beside_ones(X):
    return X.beside_ones() if isinstance(X, Band) else np.column_stack([X, np.ones(len(X))])


def standardized(X):
    """(x - mean) / std of each column, the root of the mean squared deviation, for the real numbers; a column of one value is 0."""
    n, found = float(len(X)), np.zeros((2, *X.shape))
    for j, column in enumerate(X.T):
        if column.min() == column.max():
            continue
        # first less a number near the mean, so that a large mean costs no digits; what a difference loses is a number too (Knuth)
        near = float(column[0]) + math.fsum(column - column[0]) / n
        less = column - near
        back = less - column
        lost = (column - (less - back)) - (near + back)
        every = math.fsum((*less, *lost))
        mean = div((float(down(every)), float(up(every))), (n, n))
        around = np.where(lost < 0.0, down(less), less), np.where(lost > 0.0, up(less), less)
        off = add(around, (-mean[1], -mean[0]))
        ends = np.sort(np.abs(off), axis=0)
        squares = np.where((off[0] <= 0.0) & (off[1] >= 0.0), 0.0, down(ends[0] * ends[0])), up(ends[1] * ends[1])
        variance = div(total(squares), (n, n))
        low, high = div(off, (down(math.sqrt(max(variance[0], 0.0))), up(math.sqrt(variance[1]))))
        found[0, :, j] = mid = low + (high - low) / 2.0
        found[1, :, j] = up(np.maximum(high - mid, mid - low))
    if not np.all(np.isfinite(found)):
        raise Refused("deviations that float64 does not hold")
    return Band(*found)


def split_products(a, b):
    """p and e with a * b = p + e."""
    p = a * b
    halves = []
    for v in (a, b):
        c = 134217729.0 * v
        high = c - (c - v)
        halves.append((high, v - high))
    (ah, al), (bh, bl) = halves
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


# --- the program ---------------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """minimize c * sum_i loss(x_i'w + b, t_i) + l1 |w|_1 + l2 |w|_2^2 + length |w|_2 over low <= w <= high and a coupling of the entries."""

    loss: str = ""
    c: tuple = (1.0, 1.0)
    delta: tuple = (1.0, 1.0)
    X: str = ""
    standardize: bool = False
    y: str = ""
    w: str = ""
    b: str = ""
    mean: bool = False
    dual: list = field(default_factory=list)
    l1: tuple = (0.0, 0.0)
    l2: tuple = (0.0, 0.0)
    length: tuple = (0.0, 0.0)
    low: tuple = (-np.inf, -np.inf)
    high: tuple = (np.inf, np.inf)
    coupling: tuple | None = None  # ("l1" | "l2" | "sum" | "most", radius)


class Reader:
    """Reads the text of a program into a `Problem`."""

    def __init__(self, text, params, dims):
        self.dims, self.numbers = dims, {}
        self.lets, self.vars, self.types, self.shapes, self.literals = {}, {}, {}, {}, {}
        self.problem, self.terms = Problem(), 0
        constraints = []
        for word, rest in statements(text):
            if word == "data":
                self.declare_data(rest)
            elif word == "param":
                # of the record only what the program has: a name of another kind is no number
                names = {part.partition(":")[0].strip() for part in split(rest)}
                self.numbers |= {name: value for name, value in params.items() if name in names}
            elif word == "var":
                constraints += [f"{n} in {s}" for n, s in self.declare_variables(rest)]
            elif word == "let":
                name, _, value = rest.partition("=")
                self.lets[name.strip()] = parsed(value)
            elif word == "minimize":
                self.objective = rest
            elif word == "maximize":
                raise Refused("`maximize`")
            elif word == "subject":
                constraints += split(rest)
        self.objective_term(parsed(self.objective), (1.0, 1.0), "")
        if not self.problem.loss:
            raise Refused("an objective without one of the losses")
        for constraint in constraints:
            self.constraint(parsed(re.sub(r"^\s*\w+\s*:", "", constraint)))

    def fits(self, name, shape):
        """True if an array has the declared axes, of the sizes that the record states for their names."""
        return list(shape) == [int(dim) if dim.isdigit() else self.dims.get(dim) for dim in self.shapes[name]]

    def checked(self):
        """The problem, where a bound of it can hold with rounding."""
        p = self.problem
        penalty = p.l1[0] > 0.0 or p.l2[0] > 0.0
        if p.length[1] and (penalty or p.coupling):
            raise Refused("`norm2(w)` beside another norm")
        if not (
            penalty or p.length[0] > 0.0 or p.coupling or p.low[0] == 0.0 or (p.low[0] > -np.inf and p.high[1] < np.inf)
        ):
            raise Refused("coefficients that neither a norm nor a set bounds: rounding leaves no bound")
        return p

    def declare_data(self, rest):
        for part in split(re.sub(r"\bfrom\s+\w+\([^)]*\)", "", rest)):
            name, _, kind = part.partition(":")
            kind, _, literal = kind.partition("=")
            self.types[name.strip()] = kind.split("[")[0].strip()
            self.shapes[name.strip()] = axes = re.findall(r"\w+", kind.partition("[")[2].partition("]")[0])
            self.numbers |= {axis: self.dims[axis] for axis in axes if axis in self.dims}
            if literal.strip():
                self.literals[name.strip()] = np.array(ast.literal_eval(literal.strip()), dtype=np.float64)

    def declare_variables(self, rest):
        for part in split(rest):
            name, _, kind = part.partition(":")
            kind, _, within = re.sub(r"\bin\b", "\0", kind, count=1).partition("\0")
            self.vars[name.strip()] = kind.split("[")[0].strip()
            within = within.strip() or ("nonnegative" if self.vars[name.strip()] == "nonnegative" else "")
            if within:
                yield name.strip(), within

    def number(self, node):
        """A constant as an interval."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value), float(node.value)
        if isinstance(node, ast.Name) and node.id in self.lets:
            return self.number(self.lets[node.id])
        if isinstance(node, ast.Name) and node.id == "inf":
            return np.inf, np.inf
        if isinstance(node, ast.Name) and node.id in self.numbers:
            value = finite(self.numbers[node.id])
            return value, value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            a, b = self.number(node.operand)
            return -b, -a
        if isinstance(node, ast.BinOp):
            a, b = self.number(node.left), self.number(node.right)
            known = {ast.Add: add, ast.Mult: times, ast.Div: ratio, ast.Sub: lambda a, b: add(a, (-b[1], -b[0]))}
            if type(node.op) in known:
                found = tuple(float(v) for v in known[type(node.op)](a, b))
                if all(map(math.isfinite, found)):
                    return found
        raise Refused(f"`{ast.unparse(node)}` as a number")

    def is_number(self, node):
        try:
            return self.number(node) is not None
        except Refused:
            return False

    def objective_term(self, node, factor, name):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self.objective_term(node.left, factor, name)
            self.objective_term(node.right, factor, name)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and self.is_number(node.left):
            self.objective_term(node.right, times(factor, self.number(node.left)), name)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div) and self.is_number(node.right):
            by = times if isinstance(node.op, ast.Mult) else ratio
            self.objective_term(node.left, by(factor, self.number(node.right)), name)
        elif isinstance(node, ast.Name) and node.id in self.lets:
            self.objective_term(self.lets[node.id], factor, node.id)
        else:
            self.terms += 1
            self.plain_term(node, factor, name)

    def plain_term(self, node, factor, name):
        p, call = self.problem, name_of(node)
        if factor[0] < 0.0:
            raise Refused("a negative coefficient")
        argument = self.followed(only(node)) if call else None
        penalty = {"norm1": "l1", "sum_squares": "l2", "norm2": "length"}.get(call)
        if penalty and isinstance(argument, ast.Name):
            self.is_weights(argument)
            before = getattr(p, penalty)
            setattr(p, penalty, factor if before == (0.0, 0.0) else add(before, factor))
            return
        if call == "sum_squares" and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Sub):
            # |X w - t|^2, the loss `squared`
            argument = ast.Call(ast.Name("squared"), [argument.left, argument.right], [])
            call = "sum"
        if call not in ("mean", "sum") or name_of(argument) not in LOSSES or p.loss:
            raise Refused(f"the term `{ast.unparse(node)}`")
        p.loss, p.mean, p.c = name_of(argument), call == "mean", factor
        p.dual = [f"dual:{name}", f"dual:term{self.terms}"]
        options = [("delta", value) for value in argument.args[2:]] + [(k.arg, k.value) for k in argument.keywords]
        for option, value in options:
            if option != "delta" or p.loss != "huber" or len(options) > 1:
                raise Refused(f"`{ast.unparse(argument)}`")
            p.delta = self.number(value)
        if len(argument.args) < 2:
            raise Refused(f"`{ast.unparse(argument)}`")
        self.prediction(self.followed(argument.args[0]))
        if not isinstance(argument.args[1], ast.Name) or argument.args[1].id not in self.types:
            raise Refused(f"the target `{ast.unparse(argument.args[1])}`")
        p.y = argument.args[1].id

    def prediction(self, node):
        """X @ w, or X @ w + b."""
        p = self.problem
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = [self.followed(node.left), self.followed(node.right)]
            scalars = [s for s in sides if isinstance(s, ast.Name) and self.vars.get(s.id) == "real"]
            rest = [s for s in sides if s not in scalars]
            if len(scalars) == 1:
                p.b, node = scalars[0].id, rest[0]
        known = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        rows = self.followed(node.left) if known else node
        p.standardize = name_of(rows) == "standardize"
        if p.standardize:
            rows = self.followed(only(rows))
        if not (known and isinstance(rows, ast.Name) and self.types.get(rows.id) == "matrix"):
            raise Refused(f"the prediction `{ast.unparse(node)}`")
        p.X = rows.id
        self.is_weights(node.right)

    def is_weights(self, node):
        """The variable of coefficients, the same everywhere."""
        name = node.id if isinstance(node, ast.Name) else ""
        if self.vars.get(name) != "vector" or self.problem.w not in ("", name):
            raise Refused(f"`{ast.unparse(node)}` where the coefficients are expected")
        self.problem.w = name

    def followed(self, node):
        """The expression that a `let` names."""
        return self.followed(self.lets[node.id]) if isinstance(node, ast.Name) and node.id in self.lets else node

    def constraint(self, node):
        if not isinstance(node, ast.Compare):
            raise Refused(f"the constraint `{ast.unparse(node)}`")
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(op, ast.In):
                self.member(left, right)
            elif isinstance(op, ast.LtE | ast.GtE):
                small, large = (left, right) if isinstance(op, ast.LtE) else (right, left)
                self.compared(small, large, node)
            elif isinstance(op, ast.Eq) and "sum" in (name_of(left), name_of(right)):
                entries, value = (left, right) if name_of(left) == "sum" else (right, left)
                self.is_weights(only(entries))
                self.couple("sum", self.number(value))
            else:
                raise Refused(f"the constraint `{ast.unparse(node)}`")

    def compared(self, small, large, node):
        call = name_of(small)
        if isinstance(small, ast.Name) and small.id in self.vars and self.is_number(large):
            self.is_weights(small)
            self.bound((-np.inf, -np.inf), self.number(large))
        elif isinstance(large, ast.Name) and large.id in self.vars and self.is_number(small):
            self.is_weights(large)
            self.bound(self.number(small), (np.inf, np.inf))
        elif call in ("norm1", "norm2", "norm_inf", "sum") and self.is_number(large):
            self.is_weights(only(small))
            r = self.number(large)
            if call == "norm_inf":
                self.bound((-r[1], -r[0]), r)
            else:
                self.couple({"norm1": "l1", "norm2": "l2", "sum": "most"}[call], r)
        else:
            raise Refused(f"the constraint `{ast.unparse(node)}`")

    def member(self, left, set_):
        self.is_weights(left)
        name = name_of(set_) or (set_.id if isinstance(set_, ast.Name) else "")
        if name_of(set_) and set_.keywords:
            raise Refused(f"the set `{ast.unparse(set_)}`")
        values = [self.number(a) for a in set_.args] if name_of(set_) else []
        zero, free = (0.0, 0.0), (np.inf, np.inf)
        if name == "nonnegative":
            self.bound(zero, free)
        elif name == "box" and len(values) == 2:
            self.bound(*values)
        elif name == "linf_ball" and len(values) == 1:
            self.bound((-values[0][1], -values[0][0]), values[0])
        elif name in ("l1_ball", "l2_ball") and len(values) == 1:
            self.couple(name[:2], values[0])
        elif name in ("simplex", "solid_simplex") and len(values) == 1:
            self.bound(zero, free)
            self.couple("sum" if name == "simplex" else "most", values[0])
        else:
            raise Refused(f"the set `{ast.unparse(set_)}`")

    def bound(self, low, high):
        p = self.problem
        p.low = tuple(max(a, b) for a, b in zip(p.low, low, strict=True))
        p.high = tuple(min(a, b) for a, b in zip(p.high, high, strict=True))

    def couple(self, kind, r):
        if self.problem.coupling is not None:
            raise Refused("several balls and sums at once")
        if r[0] <= 0.0:
            raise Refused("a radius that is not positive")
        if kind == "sum" and r[0] != r[1]:
            raise Refused("a sum that is no floating-point number")
        self.problem.coupling = (kind, r)


def statements(text):
    """(keyword, the rest) of each statement of a program; lines that begin with no keyword go on with the one before."""
    found = []
    for line in text.splitlines():
        # texts name files and columns only
        line = re.sub(r'("(?:\\.|[^"\\])*")|#.*', lambda at: '""' if at[1] else "", line).strip()
        line = line.replace("≤", "<=").replace("≥", ">=").replace("∈", " in ").replace("·", "*")
        line = re.sub(r"^subject\s+to\b", "subject", line)
        word = re.match(r"\w*", line)[0]
        if word in KEYWORDS:
            found.append([word, line[len(word) :]])
        elif line and found:
            # constraints stand on lines of their own
            before = found[-1][1].rstrip()
            goes_on = re.search(r"([-+*/@<>=,:]|\bin)$", before) or re.match(r"[*/@<>=)\]]|in\b", line)
            apart = found[-1][0] == "subject" and brackets(before) == 0 and before and not goes_on
            found[-1][1] += (", " if apart else " ") + line
    return [(word, rest) for word, rest in found]


def brackets(text):
    return sum(text.count(c) for c in "([") - sum(text.count(c) for c in ")]")


def split(text):
    """The parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


def parsed(text):
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise Refused(f"`{text.strip()}`") from None


def only(node):
    """The argument of a call that has one."""
    if len(node.args) != 1 or node.keywords:
        raise Refused(f"`{ast.unparse(node)}`")
    return node.args[0]


def renamed(record, arrays, data):
    """The same with a `_` behind names that are words of Python (`lambda`), for it is Python's parser that reads the expressions."""
    text = record["program"]
    bare = " ".join(rest for _, rest in statements(text))
    for name in set(re.findall(r"\w+", bare)):
        if unicodedata.normalize("NFKC", name) != name:
            raise Refused(f"the name `{name}`, which Python takes for `{unicodedata.normalize('NFKC', name)}`")
        if not keyword.iskeyword(name) or name in ("in", "from"):
            continue
        if re.search(rf"\b{name}_\b", text):
            raise Refused(f"the names `{name}` and `{name}_` side by side")
        text = re.sub(rf"\b{name}\b", f"{name}_", text)
        record = {
            **record,
            **{
                key: {(k + "_" if k == name else k): v for k, v in record[key].items()}
                for key in ("parameters", "dimensions")
            },
        }
        arrays = {(k + "_" if k in (name, f"dual:{name}") else k): v for k, v in arrays.items()}
        data = {(k + "_" if k == name else k): v for k, v in data.items()}
    return {**record, "program": text}, arrays, data


def name_of(node):
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


# --- losses: the largest value of each, and the largest value of the conjugate of c times it ---------------------------------


def residuals(z, t):
    """z - t as an interval of sizes."""
    low, high = add(z, (-t, -t))
    return np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(abs(low), abs(high))), np.maximum(abs(low), abs(high))


def squared(z, t, delta):
    return up(residuals(z, t)[1] ** 2)


def logistic(z, t, delta):
    m = np.where(t > 0, z[0], -z[1])
    return (np.maximum(-m, 0.0) + np.log1p(np.exp(-abs(m)))) * (1.0 + ULPS)


def hinge(z, t, delta):
    return np.maximum(up(1.0 - np.where(t > 0, z[0], -z[1])), 0.0)


def squared_hinge(z, t, delta):
    return up(hinge(z, t, delta) ** 2)


def huber(z, t, delta):
    r = residuals(z, t)[1]
    return np.where(r <= delta[0], up(up(r * r) / 2.0), up(delta[1] * up(r - down(delta[0] / 2.0))))


def quadratic_conjugate(y, t, c, by):
    """y^2 / (by c) + y t."""
    return add(div(mul((y, y), (y, y)), mul((by, by), (c[0], c[0]))), mul((y, y), (t, t)))[1]


def entropy_conjugate(y, t, c, delta):
    """c (s log s + (1 - s) log(1 - s)) at s = |y| / c, whose largest value over an interval of s is at an end of it."""
    ends = div((abs(y), abs(y)), c)
    found = np.full(y.shape, -np.inf)
    for s in (np.clip(e, 0.0, 1.0) for e in ends):
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.where(s > 0.0, s * np.log(s), 0.0), np.where(s < 1.0, (1.0 - s) * np.log1p(-s), 0.0)]
        found = np.maximum(found, sum(parts) * (1.0 - ULPS))
    return up(c[0] * found)


#: The loss, the conjugate of c times it, and the interval that y must lie in for a target t (in multiples of c).
LOSSES = {
    "squared": (squared, lambda y, t, c, d: quadratic_conjugate(y, t, c, 4.0), None),
    "logistic": (logistic, entropy_conjugate, "signs"),
    "hinge": (hinge, lambda y, t, c, d: -abs(y), "signs"),
    "squared_hinge": (squared_hinge, lambda y, t, c, d: quadratic_conjugate(y, t, c, 4.0), "half"),
    "huber": (huber, lambda y, t, c, d: quadratic_conjugate(y, t, c, 2.0), "delta"),
}


# --- bounds --------------------------------------------------------------------------------------------------------------


def feasible(p, w):
    """Coefficients nearby that meet every bound exactly, and the ball or the sum as proven by sums rounded outward."""
    w = np.clip(w, p.low[1], p.high[0])
    kind, r = p.coupling or ("", None)
    if kind == "sum":
        unit = math.ulp(r[0])  # whole multiples of it up to r add up exactly
        counts = [round(float(v) / unit) for v in w]
        counts[int(np.argmax(w))] += round(r[0] / unit) - sum(counts)
        w = np.array([float(count) * unit for count in counts])
        if np.any(w < p.low[1]) or np.any(w > p.high[0]) or math.fsum(w) != r[0]:
            raise Refused("an answer far from its simplex")
        return w
    size = {
        "l1": lambda w: total((abs(w), abs(w)))[1],
        "most": lambda w: total((w, w))[1],
        "l2": lambda w: length(w)[1],
    }
    while kind and (found := size[kind](w)) > r[0]:
        w = w * (r[0] / found * (1.0 - 2.0**-50))
    if np.any(w < p.low[1]) or np.any(w > p.high[0]):
        raise Refused("an answer at the edge of a ball and of bounds that do not contain 0")
    return w


def length(w):
    """|w|_2 as an interval."""
    squares = dots(w[None, :], w)
    return float(down(math.sqrt(max(0.0, squares[0][0])))), float(up(math.sqrt(squares[1][0])))


def upper_bound(p, X, t, w, b, c):
    """A number that the objective at w and b is no greater than."""
    z = dots(X, w) if b is None else dots(beside_ones(X), np.append(w, b))
    losses = LOSSES[p.loss][0](z, t, p.delta)
    squares = tuple(float(e[0]) for e in dots(w[None, :], w))
    sizes = (c, total((losses, losses))), (p.l1, total((abs(w), abs(w)))), (p.l2, squares), (p.length, length(w))
    parts = [float(mul(factor, size)[1]) for factor, size in sizes]
    return total((parts, parts))[1]


def domain(p, t, c):
    """The lowest and the highest y that the conjugates are finite at."""
    rule, top = LOSSES[p.loss][2], np.inf
    if rule in ("signs", "delta"):
        top = float(c[0] if rule == "signs" else down(c[0] * p.delta[0]))
    if rule in ("signs", "half"):
        return np.where(t > 0, -top, 0.0), np.where(t > 0, 0.0, top)
    return np.full(t.shape, -top), np.full(t.shape, top)


def admissible(p, y, t, c):
    """The nearest y in the domain of the conjugates, with a sum of exactly 0 where there is an intercept."""
    low, high = domain(p, t, c)
    y = np.clip(y, low, high)
    if not p.b:
        return y
    # multiples of a unit that all add up without rounding; what is missed goes to the entries that have the most room
    unit = 2.0 ** (math.frexp(max(float(np.abs(y).max()), 1e-290))[1] - 52)
    counts = np.clip(np.round(y / unit), np.ceil(low / unit), np.floor(high / unit))
    missed = int(sum(map(int, counts)))
    ends = counts - np.ceil(low / unit), np.floor(high / unit) - counts
    room = ends[0] if missed > 0 else ends[1]
    # last those at an end: a column of X that does not see the others may need their sum to be 0
    for i in np.argsort(-np.minimum(*ends), kind="stable"):
        step = min(abs(missed), int(min(room[i], 2.0**52)))
        counts[i] -= math.copysign(step, missed)
        missed -= int(math.copysign(step, missed))
        if not missed:
            break
    y = counts * unit
    return y if math.fsum(y) == 0.0 else np.zeros(y.shape)


def least(slope, square, low, high):
    """A lower bound of min of slope u + square u^2 over low <= u <= high, of each entry; inf where there is no such u."""
    if square == 0.0:
        at = np.where(slope >= 0.0, low, high)
        found = np.where(slope == 0.0, 0.0, down(slope * at))
    else:
        free = down(-up(slope * slope) / down(4.0 * square))
        edges = [down(down(slope * e) + down(down(square * e) * e)) if np.isfinite(e) else -np.inf for e in (low, high)]
        found = np.where(down(slope + down(2.0 * square * low)) >= 0.0, edges[0], free)
        found = np.where(up(slope + up(2.0 * square * high)) <= 0.0, edges[1], found)
    return found if low <= high else np.full(np.shape(slope), np.inf)


def infimum(p, v, multiplier):
    """A lower bound of min over w of <v, w> + R(w), v in an interval. The multiplier of a ball may be any number >= 0, of a simplex any number."""
    kind, r = p.coupling or ("", (0.0, 0.0))
    l1, l2, cost = p.l1[0], p.l2[0], 0.0
    if kind == "l1" and multiplier:
        l1, cost = down(l1 + multiplier), up(multiplier * r[1])
    elif kind == "l2" and multiplier:
        l2, cost = down(l2 + multiplier), up(multiplier * up(r[1] * r[1]))
    elif kind in ("sum", "most") and multiplier:
        v, cost = add(v, (multiplier, multiplier)), up(multiplier * (r[1] if multiplier > 0.0 else r[0]))
    slopes = (down(v[0] + l1), down(l1 - v[1])) if l1 else (v[0], -v[1])
    right = least(slopes[0], l2, max(p.low[0], 0.0), p.high[1])
    left = least(slopes[1], l2, max(-p.high[1], 0.0), -p.low[0])
    parts = np.minimum(left, right)
    return float(down(total((parts, parts))[0] - cost)) if np.all(np.isfinite(parts)) else -np.inf


def beside_length(p, v):
    """A lower bound of min of <v, w> + length |w| over low <= w <= high: the least <g, w> of a g with |g - v| <= length.

    The best g is the nearest to v but for a step times the w of its own least <g, w>; the longest step that is near enough is found by halving.
    """
    mid, low, high = v[0] + (v[1] - v[0]) / 2.0, -1000.0, 1000.0
    best = along(p, v, np.zeros(mid.shape))
    for _ in range(100):
        step = 2.0 ** ((low + high) / 2.0)
        found = along(p, v, np.maximum(mid + step * p.low[0], 0.0) + np.minimum(mid + step * p.high[1], 0.0))
        best = max(best, found)
        low, high = ((low + high) / 2.0, high) if np.isfinite(found) else (low, (low + high) / 2.0)
    return best


def along(p, v, g):
    """The least <g, w> over low <= w <= high, from below; -inf where g is farther than the length from v."""
    off = add((g, g), (-v[1], -v[0]))
    if not length(np.maximum(abs(off[0]), abs(off[1])))[1] <= p.length[0]:
        return -np.inf
    parts = np.minimum(*(np.where(g == 0.0, 0.0, down(g * end)) for end in (p.low[0], p.high[1])))
    return total((parts, parts))[0] if p.low[0] <= p.high[1] else np.inf


def best_infimum(p, v):
    """The largest of these bounds over the multiplier, in which it is concave: at the edge of where it is finite, or found by trisection."""
    if p.length[0]:
        return beside_length(p, v)
    if p.coupling is None:
        return infimum(p, v, 0.0)
    kind, r = p.coupling
    size = float(np.maximum(abs(v[0]), abs(v[1])).max()) + p.l1[1]
    edge = float(np.maximum(abs(v[0]), abs(v[1])).max()) - p.l1[0] if kind == "l1" else -float(v[0].min()) - p.l1[0]
    edge += 8.0 * 2.0**-52 * size
    if kind == "l2":
        top = 4.0 * size * math.sqrt(v[0].size) / max(r[0], 1e-300)
    else:  # no slope of the other terms is larger where |w| is at most the sum or an end of it
        ends = [abs(e) for e in (r[1], p.low[0], p.high[1]) if math.isfinite(e)]
        top = 4.0 * (size + 2.0 * p.l2[1] * max(ends))
    low, high = -top if kind == "sum" else 0.0, top
    best = max(infimum(p, v, m if kind == "sum" else max(m, 0.0)) for m in (0.0, edge))
    for _ in range(200):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        at = infimum(p, v, a), infimum(p, v, b)
        best = max(best, *at)
        low, high = (a, high) if at[0] < at[1] or not np.isfinite(at[0]) else (low, b)
    return best


def lower_bound(p, X, t, y, c):
    """A lower bound of the optimal value, and the dual vector that proves it: the one given, moved where it misses a domain."""
    rows = X.mid if isinstance(X, Band) else X
    ones = beside_ones(rows).T if p.b else rows.T
    for attempt in range(7):
        # at last 0, which bounds all losses by their infima
        y = admissible(p, y if attempt < 6 else np.zeros(y.shape), t, c)
        v = dots(X.T, y)
        conjugates = LOSSES[p.loss][1](y, t, c, p.delta)
        inner = best_infimum(p, v)
        if np.isfinite(inner):
            return float(down(total((-conjugates, -conjugates))[0] + inner)), y
        far = np.maximum(-v[0] if np.isinf(p.high[1]) else 0.0, v[1] if np.isinf(p.low[0]) else 0.0)
        missed, allowed = (length(far)[1], p.length[0]) if p.length[0] else (float(far.max()), p.l1[0])
        if allowed > 0.0:
            y = y * min(1.0, allowed / max(missed, 1e-300)) * (1.0 - 2.0**-48 * 4.0**attempt)
        else:  # into the cone X'y >= 0 of nonnegative coefficients, by the entries that have room
            step = np.full(len(ones), 2.0 * missed * 4.0**attempt)
            step[X.shape[1] :] = 0.0
            # entries of X'y far within the cone may go where they like
            near = np.concatenate([v[0] <= 1e-6 * (abs(rows).T @ abs(y)), np.ones(len(ones) - X.shape[1], dtype=bool)])
            low, high = domain(p, t, c)
            size = np.abs(y).max(initial=0.0)
            room = np.minimum(y - low, high - y) > 1e-6 * size
            # what is rounding beside an edge keeps sums of the others from 0
            y = np.where(y - low <= 1e-12 * size, low, np.where(high - y <= 1e-12 * size, high, y))
            y[room] += np.linalg.lstsq(ones[near][:, room], step[near], rcond=None)[0]
    return -np.inf, y


# --- the files -----------------------------------------------------------------------------------------------------------


def read_array(name, path):
    """The array of `--data NAME=PATH`: an npy file, or one of an npz file by its name or by `PATH:KEY`."""
    path, _, key = path.partition(":") if ".npz" in path else (path, "", "")
    if not path.lower().endswith((".npy", ".npz")):
        raise Refused(
            f"the files of `{path}`: it reads NumPy's own, as `--data {name}={name}.npy` or `--data {name}=FILE.npz:KEY`"
        )
    try:
        found = np.load(path, allow_pickle=False)
        return found if isinstance(found, np.ndarray) else found[key or name]
    except Exception as error:
        raise Refused(f"`{path}`: {error}") from None


def read_answer(path):
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        record = json.loads(str(arrays.pop("record")))
        if record["v"] != 1:
            raise Refused(f"a record of version {record['v']}")
        return arrays, record
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"`{path}`, which holds no saved answer: {error}") from None


def real(name, array, shape):
    if array.dtype.kind not in "fiub" or array.shape != shape or not np.all(np.isfinite(array)):
        raise Refused(f"`{name}`, which has not the shape {shape} or is not finite")
    return np.asarray(array, dtype=np.float64)


def target(name, kind, values):
    """Targets as numbers; of `signs` the smaller of the two labels is -1 and the larger 1."""
    if kind != "signs":
        return real(name, values, values.shape)
    labels = np.unique(values)
    if labels.size != 2:
        raise Refused(f"`{name}`, which has not two labels")
    return np.where(values == labels[1], 1.0, -1.0)


def check(path, data):
    """The text of what was found, and whether the claims hold."""
    arrays, record = read_answer(path)
    record, arrays, data = renamed(record, arrays, data)
    reader = Reader(record["program"], record["parameters"], record["dimensions"])
    p = reader.checked()
    given = {name: read_array(name, data[name]) if name in data else reader.literals.get(name) for name in (p.X, p.y)}
    absent = [name for name, value in given.items() if value is None]
    if absent:
        raise Missing(f"no data for `{absent[0]}`: give `--data {absent[0]}=PATH`")
    if record["status"] not in ("optimal", "tolerance_not_reached", "interrupted"):
        raise Refused(f"an answer that says `{record['status']}`")
    if given[p.y].ndim == 2 and given[p.y].shape[1] == 1:
        given[p.y] = given[p.y][:, 0]
    for name, value in given.items():
        if not reader.fits(name, value.shape):
            raise Refused(f"`{name}` of the shape {value.shape}: the answer was found on another")
    X = real(p.X, given[p.X], given[p.X].shape)
    if p.standardize and given[p.X].dtype == np.float32:
        raise Refused("`standardize` in single precision")
    X = standardized(X) if p.standardize else X
    n, d = X.shape
    t = target(p.y, reader.types[p.y], given[p.y])
    key = next((name for name in p.dual if name in arrays), "")
    if not key:
        raise Refused("an answer without the dual vector of its loss")
    y, w = real(key, arrays[key].reshape(-1), (n,)), real(p.w, arrays[p.w], (d,))
    b = float(real(p.b, arrays[p.b], ())) if p.b else None
    c = div(p.c, (float(n), float(n))) if p.mean else p.c
    c = float(c[0]), float(c[1])
    inside = feasible(p, w)
    lower, used = lower_bound(p, X, t, y.copy(), c)
    bounds = lower, upper_bound(p, X, t, inside, b, c)
    moved = far(inside, w, 1e-300), far(used, y, c[1])
    zero = upper_bound(p, X, t, np.zeros(d), 0.0 if p.b else None, c)
    text, holds = verdict(record, *bounds, moved, zero)
    return f"{told(p)}\n{text}", holds


def far(found, claimed, least):
    """The largest difference of two vectors beside their largest entry, or beside `least`."""
    return float(np.abs(found - claimed).max(initial=0.0)) / max(float(np.abs(found).max(initial=0.0)), least)


def told(p):
    """The problem in a line: what the bounds are bounds of."""
    rows = f"standardize({p.X})" if p.standardize else p.X
    more = (f" + {p.b}" if p.b else "", f", delta={p.delta[1]:.6g}" if p.loss == "huber" else "")
    parts = [f"{p.c[1]:.6g} * {'mean' if p.mean else 'sum'}({p.loss}({rows} @ {p.w}{more[0]}, {p.y}{more[1]}))"]
    named = (("norm1", p.l1), ("sum_squares", p.l2), ("norm2", p.length))
    parts += [f"{size[1]:.6g} * {name}({p.w})" for name, size in named if size[1]]
    bounds = [f"{p.low[0]:.6g} <= {p.w}"] * (p.low[0] > -np.inf) + [f"{p.w} <= {p.high[1]:.6g}"] * (p.high[1] < np.inf)
    words = {"l1": "norm1({}) <=", "l2": "norm2({}) <=", "sum": "sum({}) ==", "most": "sum({}) <="}
    bounds += [f"{words[p.coupling[0]].format(p.w)} {p.coupling[1][1]:.6g}"] if p.coupling else []
    return f"minimize     {' + '.join(parts)}" + (f" subject to {', '.join(bounds)}" if bounds else "")


def verdict(record, lower, upper, moved, zero):
    """What was found beside what is claimed, and whether the claims hold. `zero` is the objective at 0."""
    P, D, gap, relative = (claim(record, key) for key in ("objective", "dual_bound", "gap", "relative_gap"))
    size = max(abs(P), abs(upper), abs(lower) if math.isfinite(lower) else 0.0, FLOOR * zero)
    proven = max(0.0, upper - lower)
    allowed = 3.0 * TOLERANCE * size
    wrong = []
    if not abs(upper - P) <= TOLERANCE * size:
        wrong.append(f"the objective at the variables is {upper:.17g}")
    if not (lower >= D - TOLERANCE * size or (math.isnan(D) and math.isnan(relative))):
        wrong.append(f"the dual vector proves no more than {lower:.17g}")
    missed = "the variables miss a constraint", "the dual vector misses its domain"
    for what, away, most in zip(missed, moved, MOVED, strict=True):
        if not away <= most:
            wrong.append(f"{what}: the nearest point within is {away:.1e} of the size away")
    tol = finite(record["options"]["tol"]) * (size if record["options"]["gap"] == "relative" else 1.0)
    smaller = proven > gap + allowed or proven > relative * size + allowed
    if not wrong and (smaller or (record["status"] == "optimal" and not proven <= tol + allowed)):
        wrong.append(f"the gap is {proven:.3g}, more than is claimed")
    lines = [
        f"upper bound  {upper:.17g} (claimed {P:.17g})",
        f"lower bound  {lower:.17g} (claimed {D:.17g})",
        f"gap          {proven:.3g} (relative {proven / size if size else 0.0:.2g})",
        f"NOT VERIFIED: {'; '.join(wrong)}"
        if wrong
        else "verified: the optimal value lies between the bounds, whatever the rounding",
    ]
    return "\n".join(lines), not wrong


def claim(record, key):
    """A number that the record claims; nan for none."""
    return math.nan if record[key] is None else finite(record[key])


def finite(value):
    """A number of the record. Beside an infinite one every difference would be small."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("answer", help="the .npz file that `fwdsl run --out` or `solution.save` wrote")
    parser.add_argument(
        "--data", action="append", default=[], metavar="NAME=PATH", help="an array of the program, .npy or .npz"
    )
    known = parser.parse_args(argv)
    try:
        data = {
            name: path for names, _, path in (each.partition("=") for each in known.data) for name in names.split(",")
        }
        with np.errstate(all="ignore"):
            text, holds = check(known.answer, data)
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, RecursionError, SyntaxError) as error:
        text, holds = f"refused: the record does not say what it should: {error!r}", None
    except Missing as error:
        text, holds = f"refused: {error}", None
    except Refused as error:
        text, holds = f"refused: this check does not know {error}", None
    print(text)
    return 2 if holds is None else 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
