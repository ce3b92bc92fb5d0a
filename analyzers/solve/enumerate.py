"""The enumeration rung: evaluate every thread with NumPy and join the two threads on what they touch.

Takes a prepared query whose symbols have small ranges and decides it exactly, whatever operators occur. Each side is
evaluated for all values of its own and the common symbols; the sides meet on equal addresses (or on another equation
between them), not in a full cross product.

Symbols with large ranges do not block it: a term common to both addresses cancels, and other conditions on them are
left out. A proof stands without those; a pair of threads found without them is a :class:`Candidate` that another rung
must complete.

The first pair in this order is taken: common symbols, then those of thread 1, then those of thread 2, each group in
:func:`~analyzers.solve.order.witness_rank` order, values ascending.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analyzers.ir.evaluate import atoms_below, evaluate_vectors
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.intervals import Interval
from analyzers.solve.narrowing import NO_TAGS
from analyzers.solve.order import by_witness_rank, side_of
from analyzers.solve.polynomial import Polynomial, combine, variables
from analyzers.solve.prepare import Prepared
from analyzers.solve.query import Overlap, Proved, Undecided
from analyzers.solve.system import Refuted, System, Tags
from analyzers.solve.translate import Translation

RUNG = "enumerate"
LONG_RUNG = "enumerate-long"
"""When nothing else had an answer."""
CHEAP = 1 << 16
"""Rows per side that are always affordable."""
EXPENSIVE = 1 << 20
BATCH = 1 << 17
"""Pairs looked at together."""
PAIRS_PER_ROW = 8
"""Candidate pairs looked at, at most, as a multiple of the row budget."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values for the enumerated symbols that satisfy every condition on those alone."""

    values: Mapping[Expr, int]
    complete: bool
    """Whether no condition was left out: the values satisfy the prepared query (unless opaque values are
    inconsistent)."""


def decide(prepared: Prepared, rows: int = CHEAP) -> Proved | Candidate | Undecided:
    """Proof or candidate when each side has at most ``rows`` combinations of values, else a pass."""
    plan = _plan(prepared, rows)
    return plan if isinstance(plan, Undecided) else _Enumeration(prepared, plan, rows).run()


def _pass(text: str, kind: str = "not-applicable") -> Undecided:
    return Undecided(kind, text, RUNG)


@dataclass(frozen=True, slots=True)
class _Condition:
    expression: Expr
    tags: Tags
    atoms: frozenset[Expr]


@dataclass(frozen=True, slots=True)
class _Join:
    """The keys of the two sides: right - left must lie between ``low`` and ``high``."""

    left: Expr | Polynomial
    right: Expr | Polynomial
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class _Plan:
    common: tuple[Expr, ...]
    own: tuple[tuple[Expr, ...], tuple[Expr, ...]]
    domains: dict[Expr, Interval]
    conditions: tuple[_Condition, ...]
    join: _Join | None
    names: dict[int, Expr]
    """Variables of the join's polynomials."""
    complete: bool
    owed: Tags
    """Facts that the domains rest on."""


# --- what to enumerate ----------------------------------------------------------------------------------------


def _plan(prepared: Prepared, rows: int) -> _Plan | Undecided:
    query = prepared.query
    conditions = [_Condition(c, NO_TAGS, atoms_below(c)) for c in query.conjuncts]
    conditions += [_Condition(f.condition, prepared.sources[f.tag], atoms_below(f.condition)) for f in query.facts]
    intervals = prepared.intervals
    touched = atoms_below(query.overlap.left) | atoms_below(query.overlap.right) if query.overlap else frozenset[Expr]()
    owned = touched.union(*(c.atoms for c in conditions if not c.tags))
    domains = {a: intervals.of(a) for a in owned if isinstance(a.ty, IntType) and intervals.of(a).size <= rows}
    join, names = _overlap_join(prepared, touched, domains)
    if touched - domains.keys() and join is None:
        return _pass("an address depends on a value with too large a range")
    promoted = used_by_the_other_side(query.overlap)
    while True:
        usable = tuple(c for c in conditions if c.atoms <= domains.keys())
        needed = touched.union(*(c.atoms for c in usable)) & domains.keys()
        common = tuple(s for s in by_witness_rank(needed) if side_of(s) in (0, 3) or s in promoted)
        own = tuple(tuple(s for s in by_witness_rank(needed) if side_of(s) == n and s not in promoted) for n in (1, 2))
        if max(_combinations(domains, (*common, *side)) for side in own) <= rows:
            break
        # Without the symbol of a guard that has the most values there may be few enough combinations.
        spare = [s for s in by_witness_rank(needed - touched) if domains[s].size > 1]
        if not spare:
            return _pass("too many combinations of values")
        del domains[max(spare, key=lambda s: domains[s].size)]
    if not common and not any(own):
        return _pass("no symbol of a thread")
    complete = len(usable) == len(conditions)
    owed = NO_TAGS.union(*(prepared.tags.get(s, NO_TAGS) for s in touched | needed))
    return _Plan(common, (own[0], own[1]), domains, usable, join or _equation_join(usable), names, complete, owed)


def _combinations(domains: Mapping[Expr, Interval], symbols: Sequence[Expr]) -> int:
    total = 1
    for s in symbols:
        total *= domains[s].size
    return total


def used_by_the_other_side(overlap: Overlap | None) -> frozenset[Expr]:
    """Symbols of one thread that the other's address mentions (they were found equal): common ones."""
    if overlap is None:
        return frozenset()
    wrong = ((overlap.left, (2, 3)), (overlap.right, (1, 3)))
    return frozenset(a for side, sides in wrong for a in atoms_below(side) if side_of(a) in sides)


def _overlap_join(
    prepared: Prepared, touched: frozenset[Expr], domains: Mapping[Expr, Interval]
) -> tuple[_Join | None, dict[int, Expr]]:
    """The overlap as a join. Terms with symbols that are not enumerated must cancel: then the join is on the other
    terms."""
    o = prepared.query.overlap
    if o is None:
        return None, {}
    low, high = 1 - o.right_width, o.left_width - 1
    if touched <= domains.keys():
        return _Join(o.left, o.right, low, high), {}
    # What would need a proof of an inequality does not cancel: nothing is looked for at length.
    system = System(allowance=[0])
    translation = Translation(system, prepared.intervals, lambda _: NO_TAGS, only_sums=True)
    translation.defer = False
    try:
        left, right = translation.of(o.left)[0], translation.of(o.right)[0]
    except Refuted:
        return None, {}
    names = {v: e for e, v in translation.atoms.items()}
    rest = variables(combine(left, right, -1))
    if system.solved or any(v not in names or not atoms_below(names[v]) <= domains.keys() for v in rest):
        return None, {}
    cancelled = [{m: c for m, c in p.items() if set(m) <= rest} for p in (left, right)]
    if any(max(map(abs, _bounds(system, p))) >= 1 << 62 for p in cancelled):
        return None, {}
    return _Join(cancelled[0], cancelled[1], low, high), names


def _bounds(system: System, p: Polynomial) -> tuple[int, int]:
    positive = {m: abs(c) for m, c in p.items()}
    largest = [max(abs(a), abs(b)) for a, b in zip(system.lo, system.hi, strict=True)]
    total = 0
    for m, c in positive.items():
        for v in m:
            c *= largest[v]
        total += c
    return 0, total


def _equation_join(conditions: Sequence[_Condition]) -> _Join | None:
    """An equation with one thread on each side."""
    for c in conditions:
        if c.expression.op == "eq" and all(isinstance(a.ty, IntType) for a in c.expression.args):
            a, b = c.expression.args
            if {side_of(a), side_of(b)} == {1, 2}:
                first, second = (a, b) if side_of(a) == 1 else (b, a)
                return _Join(first, second, 0, 0)
    return None


# --- enumerating ----------------------------------------------------------------------------------------------


class _Enumeration:
    def __init__(self, prepared: Prepared, plan: _Plan, rows: int) -> None:
        self.prepared, self.plan = prepared, plan
        self.pair_budget = rows * PAIRS_PER_ROW
        self.strict = prepared.query.no_signed_overflow
        self.used = NO_TAGS

    def run(self) -> Proved | Candidate | Undecided:
        plan = self.plan
        common = frozenset(plan.common)
        reach = [common | frozenset(side) for side in plan.own]
        cross = [c for c in plan.conditions if not any(c.atoms <= r for r in reach)]
        sides = [self._side(n, [c for c in plan.conditions if c.atoms <= reach[n]]) for n in (0, 1)]
        if any(rows[0].size == 0 for rows in sides):
            return self._proved()
        keys = self._keys(sides)
        if keys is None:
            return _pass("addresses are spread too far")
        crossing = frozenset[Expr]().union(*(c.atoms for c in cross))
        for n in (0, 1):
            sides[n], keys[n] = self._projected(n, sides[n], keys[n], crossing)
        return self._pairs(sides, keys[0], keys[1], cross)

    def _proved(self) -> Proved:
        prepared, query = self.prepared, self.prepared.query
        assumed = prepared.assumed
        if query.no_signed_overflow and not assumed:
            roots = [c.expression for c in self.plan.conditions]
            if query.overlap is not None:
                roots += [query.overlap.left, query.overlap.right]
            assumed = prepared.intervals.assumed(*roots)
        return Proved(prepared.with_definitions(self.used | self.plan.owed), assumed, RUNG)

    def _side(self, n: int, conditions: Sequence[_Condition]) -> list[Array]:
        """Rows of one thread that satisfy its own conditions: one index array per symbol (common ones first)."""
        symbols = (*self.plan.common, *self.plan.own[n])
        sizes = [self.plan.domains[s].size for s in symbols]
        # Arrays have few axes: what has one value needs none.
        varying = [i for i, size in enumerate(sizes) if size != 1]
        shape = tuple(sizes[i] for i in varying)
        axes = {i: axis for axis, i in enumerate(varying)}
        first = np.zeros((1,) * len(shape), dtype=np.int64)
        indices = [_axis(sizes[i], axes[i], len(shape)) if i in axes else first for i in range(len(sizes))]
        grids = {s: self._values(s, index) for s, index in zip(symbols, indices, strict=True)}
        mask = np.ones((1,) * len(shape), dtype=np.bool_)
        memo: dict[int, Any] = {}
        for c in sorted(conditions, key=lambda c: len(c.atoms)):
            mask = self._filter(mask, c, grids, memo)
        rows = list(np.nonzero(np.broadcast_to(mask, shape))) if shape else []
        only = np.zeros(rows[0].size if rows else int(mask.all()), dtype=np.int64)
        return [rows[axes[i]] if i in axes else only for i in range(len(sizes))] or [only]

    def _filter(self, mask: Array, c: _Condition, values: Mapping[Expr, Array], memo: dict[int, Any]) -> Array:
        (holds, defined), *_ = evaluate_vectors((c.expression,), values, no_signed_overflow=self.strict, memo=memo)
        if defined is not True:
            holds = np.logical_and(holds, defined)
        if c.tags and not bool(np.all(np.logical_or(holds, np.logical_not(mask)))):
            self.used |= c.tags
        return np.logical_and(mask, holds)

    def _values(self, symbol: Expr, index: Array) -> Array:
        domain = self.plan.domains[symbol]
        if domain.constant:
            return np.full(index.shape, domain.lo, np.uint64 if domain.lo >= 1 << 63 else np.int64)
        values = index * domain.stride
        return values.astype(np.uint64) + np.uint64(domain.lo) if domain.lo >= 1 << 63 else values + domain.lo

    def _columns(self, n: int, rows: list[Array], which: Array | slice) -> dict[Expr, Array]:
        """Values of the symbols of one side in selected rows."""
        symbols = (*self.plan.common, *self.plan.own[n])
        return {s: self._values(s, rows[i][which]) for i, s in enumerate(symbols)}

    # --- joining

    def _projected(self, n: int, rows: list[Array], key: Array, crossing: frozenset[Expr]) -> tuple[list[Array], Array]:
        """One row (the first) for all that differ only in symbols which no condition on both threads mentions."""
        symbols = (*self.plan.common, *self.plan.own[n])
        kept = [i for i, s in enumerate(symbols) if s in crossing and i >= len(self.plan.common)]
        if len(kept) == len(self.plan.own[n]):
            return rows, key
        code = np.zeros(key.size, dtype=np.int64)
        for i in kept:
            code = code * self.plan.domains[symbols[i]].size + rows[i]
        order = np.lexsort((np.arange(key.size), code, key))
        fresh = np.ones(key.size, dtype=np.bool_)
        fresh[1:] = (key[order][1:] != key[order][:-1]) | (code[order][1:] != code[order][:-1])
        chosen = np.sort(order[fresh])
        return [r[chosen] for r in rows], key[chosen]

    def _keys(self, sides: list[list[Array]]) -> list[Array] | None:
        """For each row: its combination of common values and its key, as one number."""
        plan = self.plan
        keys = [np.zeros(rows[0].size, dtype=np.int64) for rows in sides]
        margin = 1
        if plan.join is not None:
            margin = max(-plan.join.low, plan.join.high) + 1
            for n, key in enumerate((plan.join.left, plan.join.right)):
                found = self._key(n, key, sides[n])
                if found is None:
                    return None
                keys[n] = found
        least = min(int(k.min()) for k in keys)
        span = max(int(k.max()) for k in keys) - least + 2 * margin
        groups = _combinations(plan.domains, plan.common)
        if abs(least) >= 1 << 62 or span * groups >= 1 << 62:
            return None
        out: list[Array] = []
        for rows, key in zip(sides, keys, strict=True):
            group = np.zeros(key.size, dtype=np.int64)
            for i, s in enumerate(plan.common):
                group = group * plan.domains[s].size + rows[i]
            out.append(group * span + (key - least) + margin)
        return out

    def _key(self, n: int, key: Expr | Polynomial, rows: list[Array]) -> Array | None:
        columns = self._columns(n, rows, slice(None))
        size = rows[0].size
        if isinstance(key, dict):
            names = {v: self.plan.names[v] for m in key for v in m}
            found = evaluate_vectors(names.values(), columns, no_signed_overflow=self.strict)
            factors = {v: values.astype(np.int64) for v, (values, _) in zip(names, found, strict=True)}
            total = np.zeros(size, dtype=np.int64)
            for m, c in key.items():
                term = np.full(size, c, dtype=np.int64)
                for v in m:
                    term = term * factors[v]
                total = total + term
            return total
        # A row where the key is undefined meets others by whatever value it has; its conditions decide.
        (values, _), *_ = evaluate_vectors((key,), columns, no_signed_overflow=self.strict)
        if values.dtype == np.uint64 and values.size and int(values.max()) >= 1 << 62:
            return None
        return np.broadcast_to(values.astype(np.int64), (size,))

    def _pairs(
        self, sides: list[list[Array]], left: Array, right: Array, cross: Sequence[_Condition]
    ) -> Proved | Candidate | Undecided:
        join = self.plan.join
        low, high = (join.low, join.high) if join is not None else (0, 0)
        order = np.argsort(right, kind="stable")
        ordered = right[order]
        start = np.searchsorted(ordered, left + low, side="left")
        counts = np.searchsorted(ordered, left + high, side="right") - start
        ends = np.cumsum(counts)
        total = int(ends[-1]) if ends.size else 0
        for first, last in _batches(min(total, self.pair_budget)):
            pair = np.arange(first, last)
            one = np.searchsorted(ends, pair, side="right")
            two = order[start[one] + (pair - (ends[one] - counts[one]))]
            values = self._columns(0, sides[0], one)
            for s, column in self._columns(1, sides[1], two).items():
                values.setdefault(s, column)
            mask = np.ones(pair.size, dtype=np.bool_)
            memo: dict[int, Any] = {}
            for c in sorted(cross, key=lambda c: bool(c.tags)):
                mask = self._filter(mask, c, values, memo)
            hits = np.nonzero(mask)[0]
            if hits.size:
                best = hits[np.lexsort((two[hits], one[hits]))[0]]
                return Candidate({s: int(column[best]) for s, column in values.items()}, self.plan.complete)
        if total > self.pair_budget:
            return _pass("too many pairs of threads touch the same cells", "budget")
        return self._proved()


def _axis(size: int, axis: int, dimensions: int) -> Array:
    """0, 1, ... along one axis of a grid."""
    return np.reshape(np.arange(size, dtype=np.int64), tuple(size if i == axis else 1 for i in range(dimensions)))


def _batches(total: int) -> Iterator[tuple[int, int]]:
    for first in range(0, total, BATCH):
        yield first, min(first + BATCH, total)
