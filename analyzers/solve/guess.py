"""The guess rung: a witness at small sizes, by trying sizes at random and the threads all at once.

Takes a prepared query and gives values that may satisfy it, or nothing; it never proves. Most questions that a solver
finds hard are nonlinear in sizes that both threads share, and true for nearly all of them. So sizes are drawn (the same
ones every time), those that contradict what is known of them are dropped, and for a few of the rest the threads are
evaluated with NumPy and joined on the cells they touch. What comes from memory is drawn like a size when both threads
share it, like a coordinate when they do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from sys import maxsize
from typing import Any

import numpy as np
import numpy.typing as npt

from analyzers.ir.evaluate import atoms_below, evaluate_vectors
from analyzers.ir.expr import I64, Expr, IntType, sym, walk
from analyzers.ir.intervals import Interval
from analyzers.solve.enumerate import used_by_the_other_side
from analyzers.solve.order import by_witness_rank, side_of
from analyzers.solve.prepare import Prepared

RUNG = "guess"
DRAWS = 2048
"""Combinations of sizes drawn."""
SIZES = 128
"""Combinations of sizes, of those that are possible, for which threads are looked at."""
THREADS = 1 << 12
"""Combinations of one thread's coordinates, iterations and data with sizes."""
CANDIDATES = 16
"""Pairs of threads offered, each for other sizes."""
MAX_BLOCK = 1024
"""Threads of a block: the last one is worth a try."""
PAIRS = 1 << 16
"""Pairs of threads with overlapping addresses that are looked at."""

SMALL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 31, 32, 33, 64, 128, 256, 512, 1024, 4096)
LARGE = (*(1 << k for k in range(15, 33)), (1 << 31) - 1, (1 << 32) - 1)

MAX_NODES = 200
"""Operations in a question for which large sizes are tried: wrap-around of sizes alone shows in short ones."""
LARGE_EFFORT = 4
"""How much more is tried where sizes may be large: few combinations of those go together."""

ROW = sym("row", I64)
"""The number of a combination of sizes."""

Array = npt.NDArray[Any]


def decide(
    prepared: Prepared, large: bool = False, below: Mapping[Expr, int] | None = None
) -> Iterator[Mapping[Expr, int]]:
    """Values of the prepared query's atoms that satisfy its conditions, but for the consistency of data; small ones
    first. ``large``: draw sizes near the ends of the integer types too. ``below``: no size further from zero than
    there, and not all of them as far."""
    query = prepared.query
    conditions = [*query.conjuncts, *(f.condition for f in query.facts)]
    addresses = () if query.overlap is None else (query.overlap.left, query.overlap.right)
    atoms = frozenset[Expr]().union(*(atoms_below(c) for c in (*conditions, *addresses)))
    atoms = frozenset(a for a in atoms if isinstance(a.ty, IntType))
    if any(side_of(a) == 3 for a in atoms) or not conditions:
        return
    if large and sum(1 for _ in walk(conditions)) > MAX_NODES:
        return
    promoted = used_by_the_other_side(query.overlap)
    common = [a for a in by_witness_rank(atoms) if side_of(a) == 0 or a in promoted]
    own = [[a for a in by_witness_rank(atoms) if side_of(a) == n and a not in promoted] for n in (1, 2)]
    search = _Search(prepared, conditions, common, own, large, below)
    for values in search.run():
        if below is None or any(abs(values[s]) < abs(below[s]) for s in common):
            yield values


class _Search:
    def __init__(
        self,
        prepared: Prepared,
        conditions: Sequence[Expr],
        common: Sequence[Expr],
        own: Sequence[Sequence[Expr]],
        large: bool,
        below: Mapping[Expr, int] | None,
    ) -> None:
        self.prepared, self.common, self.own, self.large = prepared, common, own, large
        self.below = below
        self.effort = LARGE_EFFORT if large else 1
        self.strict = prepared.query.no_signed_overflow
        shared = frozenset(common)
        reach = [shared | frozenset(side) for side in own]
        self.on_sizes = [c for c in conditions if atoms_below(c) <= shared]
        rest = [c for c in conditions if not atoms_below(c) <= shared]
        self.on_side = [[c for c in rest if atoms_below(c) <= r] for r in reach]
        self.crossing = [c for c in rest if not any(atoms_below(c) <= r for r in reach)]
        self.limits = {
            c.args[0]: c.args[1] for c in conditions if c.op == "lt" and {c.args[0].op, c.args[1].op} == {"sym"}
        }
        self.constants = sorted(
            {n.value for n in walk(conditions) if n.op == "const" and isinstance(n.ty, IntType) and n.value < 1 << 16}
        )

    def run(self) -> Iterator[Mapping[Expr, int]]:
        sizes = self._sizes()
        if sizes is None:
            return
        sides: list[dict[Expr, Array]] = []
        for n in (0, 1):
            choices = {s: self._own_choices(s) for s in self.own[n]}
            columns = self._drawn(THREADS * self.effort, sizes, choices, self.on_side[n])
            if columns is None:
                return
            sides.append(_distinct(columns, [ROW, *self.own[n]]))
        one, two = self._joined(sides)
        if one.size == 0:
            return
        values = {s: column[two] for s, column in sides[1].items()}
        values |= {s: column[one] for s, column in sides[0].items()}
        mask = np.ones(one.size, dtype=np.bool_)
        self._require(mask, self.crossing, values)
        hits = np.nonzero(mask)[0]
        # Of each combination of sizes, small sizes first, the pair with the smallest numbers.
        own = [s for side in self.own for s in side]
        hits = hits[np.argsort(_magnitude([values[s][hits] for s in own], hits.size), kind="stable")]
        _, first = np.unique(values[ROW][hits], return_index=True)
        del values[ROW]
        for hit in hits[first[:CANDIDATES]]:
            yield {s: int(column[hit]) for s, column in values.items()}

    # --- what is tried

    def _choices(self, symbol: Expr) -> Array:
        """Values worth trying for a symbol that both threads share, the most likely ones first."""
        known = self.prepared.intervals.of(symbol)
        wanted = [0, *SMALL, *self.constants, known.lo, known.lo + 1, -1]
        if self.large:
            wanted += [*LARGE, known.hi]
        if self.below is not None:
            most = abs(self.below[symbol])
            wanted = [v for v in (self.below[symbol], *wanted) if abs(v) <= most]
        return _domain(known, wanted)

    def _sizes(self) -> dict[Expr, Array] | None:
        """Drawn combinations of common values for which both threads may exist, small ones first, and their number."""
        choices = {s: self._choices(s) for s in self.common}
        choices |= {s: self._own_choices(s) for side in self.own for s in side}
        conditions = [*self.on_sizes, *self.on_side[0], *self.on_side[1], *self.crossing]
        columns = self._drawn(DRAWS * self.effort, {}, choices, conditions)
        if columns is None or not self.common:
            return None
        order = np.argsort(_magnitude([columns[s] for s in self.common], _length(columns)), kind="stable")
        table = np.stack([columns[s][order].astype(np.int64) for s in self.common])
        order = order[np.sort(_first_of_each(list(table)))]
        most = SIZES * self.effort
        if order.size > most:
            order = order[np.linspace(0, order.size - 1, most).astype(np.int64)]
        return {**{s: columns[s][order] for s in self.common}, ROW: np.arange(order.size)}

    def _drawn(
        self,
        count: int,
        given: Mapping[Expr, Array],
        choices: Mapping[Expr, Array],
        conditions: Sequence[Expr],
    ) -> dict[Expr, Array] | None:
        """Rows of values of ``given`` and drawn values of ``choices`` that satisfy the conditions; conditions on both
        threads only as far as some row does.

        Symbol by symbol: as soon as all symbols of a condition are drawn, the rows that fail it give way to copies of
        those that do not."""
        generator = np.random.default_rng(1)
        columns = dict(given)
        rows = np.arange(count) % max(_length(columns), 1)
        columns = {s: c[rows] for s, c in columns.items()}
        missing = {c: set(atoms_below(c)) - columns.keys() for c in conditions}
        left = list(choices)
        while True:
            ready = [c for c, atoms in missing.items() if not atoms]
            if ready and columns:
                for c in ready:
                    del missing[c]
                mask = self._surviving(ready, columns)
                alive = np.nonzero(mask)[0]
                if alive.size == 0:
                    return None
                if left:
                    alive = np.resize(alive, count)
                columns = {s: c[alive] for s, c in columns.items()}
            if not left:
                return columns
            symbol = _next(left, missing.values())
            left.remove(symbol)
            domain = choices[symbol]
            # The first choices are the likeliest; where numbers may be large, any of them in every other row.
            uniform = generator.random(count)
            picked = np.power(domain.size + 1.0, uniform) - 1
            if self.large:
                picked = np.where(generator.random(count) < 0.5, picked, uniform * domain.size)
                if _of_a_thread(symbol):
                    # Far apart blocks meet at the same thread of each.
                    picked = np.where(generator.random(count) < 0.5, 0, picked)
            column = domain[np.minimum(picked.astype(np.int64), domain.size - 1)]
            limit = self.limits.get(symbol)
            if self.large and limit in columns and columns[limit].dtype == column.dtype:
                # The last block and the last thread: where sizes are large, hardly any other index is.
                column = np.where(generator.random(count) < 0.25, columns[limit] - 1, column)
            columns[symbol] = column
            for m in missing.values():
                m.discard(symbol)

    def _surviving(self, conditions: Sequence[Expr], columns: Mapping[Expr, Array]) -> Array:
        """Which rows satisfy the conditions; those on both threads count as far as some row satisfies them."""
        mask = np.ones(_length(columns), dtype=np.bool_)
        self._require(mask, [c for c in conditions if c not in self.crossing], columns)
        for c in conditions:
            if c in self.crossing:
                narrower = np.array(mask)
                self._require(narrower, [c], columns)
                mask = narrower if np.any(narrower) else mask
        return mask

    def _own_choices(self, symbol: Expr) -> Array:
        known = self.prepared.intervals.of(symbol)
        few = 4 if symbol.op != "sym" or str(symbol.value).startswith("loop:") else 64
        last = [known.hi] if known.hi < MAX_BLOCK else []
        wanted = [0, *last, *range(few), *self.constants, 64, 96, 128, 256, known.lo, known.lo + 1]
        if self.large:
            wanted += LARGE
        return _domain(known, wanted)

    # --- threads

    def _require(self, mask: Array, conditions: Sequence[Expr], columns: Mapping[Expr, Array]) -> None:
        """Clear ``mask`` where a condition fails or is undefined."""
        memo: dict[int, Any] = {}
        for c in conditions:
            (holds, defined), *_ = evaluate_vectors((c,), columns, no_signed_overflow=self.strict, memo=memo)
            mask &= np.logical_and(holds, defined)
            if not mask.any():
                return

    def _joined(self, sides: Sequence[Mapping[Expr, Array]]) -> tuple[Array, Array]:
        """Indices of rows of both sides with the same sizes and overlapping addresses (any, where there is no
        address)."""
        overlap = self.prepared.query.overlap
        keys: list[Array] = []
        for n, side in enumerate(sides):
            key: Any = np.zeros(_length(side), dtype=np.int64)
            if overlap is not None:
                offset = overlap.right if n else overlap.left
                (key, _), *_ = evaluate_vectors((offset,), side, no_signed_overflow=self.strict)
            keys.append(np.broadcast_to(np.asarray(key).astype(np.int64), (_length(side),)))
        before, after = (overlap.right_width - 1, overlap.left_width - 1) if overlap is not None else (0, 0)
        least = min(int(k.min()) for k in keys) - before
        span = max(int(k.max()) for k in keys) + after - least + 1
        if span > 1 << 50:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        keys = [side[ROW] * span + (key - least) for side, key in zip(sides, keys, strict=True)]
        order = np.argsort(keys[1], kind="stable")
        ordered = keys[1][order]
        start = np.searchsorted(ordered, keys[0] - before, side="left")
        counts = np.searchsorted(ordered, keys[0] + after, side="right") - start
        ends = np.cumsum(counts)
        pair = np.arange(min(int(ends[-1]), PAIRS * self.effort))
        one = np.searchsorted(ends, pair, side="right")
        return one, order[start[one] + (pair - (ends[one] - counts[one]))]


def _next(left: Sequence[Expr], missing: Collection[set[Expr]]) -> Expr:
    """The symbol that completes a condition soonest; one that is in none comes last."""
    return min(left, key=lambda s: min((len(m) for m in missing if s in m), default=maxsize))


def _of_a_thread(symbol: Expr) -> bool:
    """A coordinate within the block, a counter or data of one thread."""
    return side_of(symbol) != 0 and not str(symbol.value).startswith("bid.")


def _domain(known: Interval, wanted: Sequence[int]) -> Array:
    """The values of an interval among those wanted, in their order."""
    step = max(known.stride, 1)
    chosen = [v for v in dict.fromkeys(wanted) if known.lo <= v <= known.hi and (v - known.lo) % step == 0]
    return _array(chosen or [known.lo])


def _array(values: Sequence[int]) -> Array:
    return np.array(values, dtype=np.uint64 if max(values) >= 1 << 63 else np.int64)


def _magnitude(columns: Sequence[Array], length: int) -> Array:
    """How large the numbers of each row are: the sum of their digits."""
    found = np.zeros(length)
    for column in columns:
        found += np.log2(np.abs(column.astype(np.float64)) + 1)
    return found


def _distinct(columns: Mapping[Expr, Array], symbols: Sequence[Expr]) -> dict[Expr, Array]:
    """One row of each combination of values of ``symbols``."""
    first = _first_of_each([columns[s] for s in symbols])
    return {s: c[first] for s, c in columns.items()}


def _first_of_each(columns: Sequence[Array]) -> Array:
    """The first row of each combination of values, the combinations in their order."""
    order = np.lexsort(columns[::-1])
    fresh: Array = np.ones(order.size, dtype=np.bool_)
    fresh[1:] = False
    for column in columns:
        found = column[order]
        fresh[1:] |= found[1:] != found[:-1]
    return order[fresh]


def _length(columns: Mapping[Expr, Array]) -> int:
    return next(iter(columns.values())).size if columns else 0
