"""Two arbitrary threads of one launch: how the symbols of one thread become those of two, and what the launch says of
them.

``Mode`` says how the two threads are related: ``grid`` different blocks, ``block`` one block, ``warp`` one warp of
one block. ``thread``: both accesses are at addresses that one thread gives, and another lane of its warp makes one of
them (``AccessEvent.lanes``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from typing import Any, Literal, TypeVar

import numpy as np

from analyzers.ir import expr as E
from analyzers.ir.clusters import is_in_block, own_object
from analyzers.ir.context import LaunchContext, promised
from analyzers.ir.evaluate import evaluate, evaluate_vector
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import I64, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.free_choices import without_free_choices
from analyzers.races.quotients import thread_limits
from analyzers.solve.query import Fact

_Found = TypeVar("_Found")

_OPAQUE = E.operations("opaque")
Mode = Literal["thread", "warp", "block", "grid"]

MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_THREADS = 1024
WARP = 32
GRID_FITS = "a launch has fewer than 2^31 threads along each axis"

GID = tuple(E.sym(f"gid.{d}", E.U32) for d in "xyz")
"""``bid*bdim + tid`` along an axis, where a dimension is not a constant."""
THREADS = tuple(E.sym(f"threads.{d}", E.U32) for d in "xyz")
"""``bdim*gdim`` along an axis, where a dimension is not a constant."""

_SHARED_SCOPES: dict[Mode, frozenset[str]] = {
    "thread": frozenset({"thread", "warp", "block", "grid"}),
    "warp": frozenset({"warp", "block", "grid"}),
    "block": frozenset({"block", "grid"}),
    "grid": frozenset({"grid"}),
}


@dataclass
class Launch:
    """A kernel's events seen under one launch context: bindings applied, ranges and facts of dimensions at hand."""

    events: KernelEvents
    context: LaunchContext
    bound: dict[Expr, Expr] = field(init=False)
    block: tuple[int | None, int | None, int | None] = field(init=False)
    grid: tuple[int | None, int | None, int | None] = field(init=False)
    _limits: list[Fact] = field(init=False)
    """Of the hardware, and the constraints of the context."""
    promises: list[tuple[int, str, tuple[str, ...]]] = field(init=False)
    """What users say of arrays: (tag of the constraint, kind, objects)."""
    ranges: dict[Expr, tuple[int, int]] = field(init=False)
    _computed: dict[Expr, Expr] = field(init=False)
    """The dimensions that the host computes, with their values."""
    mapped: frozenset[str] = field(init=False)
    """Shared objects that other blocks of the cluster reach."""
    _kept: dict[Callable[[Launch], Any], Any] = field(init=False, default_factory=dict["Callable[[Launch], Any]", Any])
    _in_bounds: list[Expr] | None = field(init=False, default=None)
    _memo: dict[int, Expr] = field(init=False, default_factory=dict[int, Expr])
    _strides: dict[int, bool] = field(init=False, default_factory=dict[int, bool])
    _fusions: dict[int, Expr] = field(init=False, default_factory=dict[int, Expr])
    _seen: dict[tuple[int, int, Mode], Expr] = field(init=False, default_factory=dict[tuple[int, int, "Mode"], Expr])
    """What ``side`` has given, by key."""
    _thread_ranges: dict[Mode, dict[Expr, tuple[int, int]]] = field(
        init=False, default_factory=dict["Mode", dict[Expr, tuple[int, int]]]
    )
    _same_warp: dict[Mode, Expr] = field(init=False, default_factory=dict["Mode", Expr])
    _sides: dict[tuple[int, Mode], dict[int, Expr]] = field(
        init=False, default_factory=dict[tuple[int, "Mode"], dict[int, Expr]]
    )

    def __post_init__(self) -> None:
        given = dict(self.context.bindings)
        dimensions = (*E.BDIM, *E.GDIM)
        computed = {d: given[d] for d in dimensions if d in given and given[d].op not in ("const", "sym")}
        self.bound = {s: v for s, v in given.items() if s not in computed}
        self.block = _constants(self.bind(d) for d in E.BDIM)
        self.grid = _constants(self.bind(d) for d in E.GDIM)
        self.ranges = {}
        self._limits = []
        self.mapped = frozenset(own_object(a.root).value for a in self.events.accesses if is_in_block(a.root))
        self._dimension_facts()
        self._computed = {d: self.bind(value) for d, value in computed.items()}
        for d, value in self._computed.items():
            # Two inequalities, not an equation: a solver would put the value in everywhere, and products of it.
            one, two = _as_launched(d, value)
            self._limit(E.compare("le", one, two))
            self._limit(E.compare("le", two, one))
        self.promises = []
        for tag, c in enumerate(self.context.constraints):
            said = promised(c.condition)
            if said is not None:
                self.promises.append((tag, *said))
            self._limits.append(Fact(E.TRUE if said is not None else self.bind(c.condition), tag))
        self.dimension_tag = len(self.context.constraints)

    @cached_property
    def facts(self) -> list[Fact]:
        """What holds of the sizes of every launch, and of what is passed."""
        passed = [e for _, p in self.context.pointers for e in (p.offset, p.size) if e is not None]
        used = E.symbols(*(value for _, value in self.context.bindings), *passed)
        return without_free_choices(self._limits, used)

    def once(self, find: Callable[[Launch], _Found]) -> _Found:
        """What ``find`` gives for this launch, worked out the first time it is asked for."""
        if find not in self._kept:
            self._kept[find] = find(self)
        return self._kept[find]

    def bind(self, e: Expr) -> Expr:
        """``e`` with what the launch passes put in."""
        return E.rewrite(e, self.bound.get, self._memo)

    def _dimension_facts(self) -> None:
        """Hardware limits; tag -1: they need no citation."""
        limit = self.events.kernel.bounds.max_threads or MAX_THREADS
        for axis in range(3):
            for dims, known, top in (
                (E.BDIM, self.block, min(MAX_BLOCK[axis], limit)),
                (E.GDIM, self.grid, MAX_GRID[axis]),
            ):
                if known[axis] is None:
                    value = self.bind(dims[axis])
                    self.ranges[value] = _meet(self.ranges.get(value), (1, top))
            along = (self.events.kernel.bounds.cluster or (1, 1, 1))[axis]
            if along > 1 and self.grid[axis] is None:
                # A grid is made of whole clusters.
                rest = E.binary("rem", self.bind(E.GDIM[axis]), E.const(along, E.U32))
                self._limit(E.compare("eq", rest, E.const(0, E.U32)))
            if self.block[axis] is None or self.grid[axis] is None:
                total = E.mul(E.cast(self.bind(E.BDIM[axis]), I64), E.cast(self.bind(E.GDIM[axis]), I64))
                self._limit(E.compare("lt", total, E.const(2**31, I64)))
        if sum(1 for b in self.block if b is None) > 1:
            wide = [E.cast(self.bind(d), I64) for d in E.BDIM]
            self._limit(E.compare("le", E.mul(E.mul(wide[0], wide[1]), wide[2]), E.const(limit, I64)))

    def _limit(self, condition: Expr) -> None:
        if condition is not E.TRUE:
            self._limits.append(Fact(condition, -1))

    def side(self, e: Expr, thread: int, mode: Mode) -> Expr:
        """``e`` (bound) as thread 1 or 2 sees it."""
        seen = self._seen.get((e.key, thread, mode))
        if seen is None:
            seen = self._seen[e.key, thread, mode] = self._side(e, thread, mode)
        return seen

    def _side(self, e: Expr, thread: int, mode: Mode) -> Expr:
        shared = _SHARED_SCOPES[mode]
        own = ("loop:",) if mode == "thread" else ("tid.", "loop:", "gid.")
        memo = self._sides.setdefault((thread, mode), {})

        def leaf(node: Expr) -> Expr | None:
            if node.op == "sym":
                name: str = node.value
                if name.startswith(own) or (mode == "grid" and name.startswith("bid.")):
                    return E.sym(f"{name}@{thread}", node.ty)
            return None

        todo = E.rewrite(self.fused(self.bind(e)), leaf, memo)
        return _split_opaque(todo, thread, shared, self._sides.setdefault((-thread, mode), {}))

    def fused(self, e: Expr) -> Expr:
        """``bid*bdim + tid`` and ``bdim*gdim`` as symbols of their own, ``gid`` and ``threads``, along axes with an
        unknown dimension.

        What is known of them is linear (``thread_facts``), while the products are not."""
        return E.rewrite(e, self._fuse_node, self._fusions)

    def _fuse_node(self, node: Expr) -> Expr | None:
        ty = node.ty
        if node.op not in ("add", "mul") or not isinstance(ty, E.IntType) or ty.width < 32:
            return None
        for axis in range(3):
            if self.block[axis] is not None and self.grid[axis] is not None:
                continue
            b, g = self.bind(E.BDIM[axis]), self.bind(E.GDIM[axis])
            if node.op == "mul" and b.op != "const" and _is_product(node, b, g):
                return E.cast(THREADS[axis], ty)
            if node.op == "add" and (b.op != "const" or self._strided(axis)):
                found = _global_index(_terms(node), axis, b)
                if found is not None:
                    scale, terms = found
                    index = E.mul(E.cast(GID[axis], ty), E.const(scale, ty))
                    return reduce(E.add, map(self.fused, terms), index)
        return None

    def _strided(self, axis: int) -> bool:
        """The kernel mentions the number of threads along the axis; otherwise a global index with a known block is
        linear as it is."""
        if axis not in self._strides:
            events = self.events
            roots = [a.offset for a in events.accesses]
            roots += [c.condition for e in (*events.accesses, *events.barriers, *events.meetings) for c in e.guard]
            self._strides[axis] = any(_is_product(n, E.BDIM[axis], E.GDIM[axis]) for n in E.walk(roots))
        return self._strides[axis]

    def fusion_facts(self, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
        """What is known of the fused symbols that occur in ``conjuncts``."""
        present = {s.value for s in E.symbols(*conjuncts)}
        out: list[Expr] = []
        apart: list[Expr] = []
        for axis in range(3):
            name = "xyz"[axis]
            used = {self.side(GID[axis], t, mode).value for t in (1, 2)} & present
            if used or f"threads.{name}" in present:
                out += self._axis_facts(axis, mode)
            coordinate = GID if used else E.BID if mode == "grid" else E.TID
            if used or (self.grid if mode == "grid" else self.block)[axis] != 1:
                one, two = (self.side(coordinate[axis], t, mode) for t in (1, 2))
                apart.append(E.compare("ne", one, two))
        if mode != "thread" and any(c.startswith("gid.") for c in present if isinstance(c, str)):
            out.append(E.lor(*apart))
        return out

    def _axis_facts(self, axis: int, mode: Mode) -> list[Expr]:
        b, g = self.block[axis], self.grid[axis]
        out: list[Expr] = []
        wide = [E.cast(self.side(GID[axis], t, mode), I64) for t in (1, 2)]
        base: list[Expr] = []
        for t, gid in zip((1, 2), wide, strict=True):
            tid = E.cast(self.side(E.TID[axis], t, mode), I64)
            bid = E.cast(self.side(E.BID[axis], t, mode), I64)
            out.append(E.compare("lt", gid, E.cast(THREADS[axis], I64)))
            out.append(E.compare("le", tid, gid))
            base.append(E.sub(gid, tid))
            if b is not None:
                out.append(E.compare("eq", gid, E.add(E.mul(bid, E.const(b, I64)), tid)))
        if b is not None:
            gdim = E.cast(self.bind(E.GDIM[axis]), I64)
            out.append(E.compare("eq", E.cast(THREADS[axis], I64), E.mul(gdim, E.const(b, I64))))
        elif g is not None:
            bdim = E.cast(self.bind(E.BDIM[axis]), I64)
            out.append(E.compare("eq", E.cast(THREADS[axis], I64), E.mul(bdim, E.const(g, I64))))
        else:
            block, grid = (self._computed.get(d, self.bind(d)) for d in (E.BDIM[axis], E.GDIM[axis]))
            out += thread_limits(THREADS[axis], block, grid)
        if mode != "grid":
            out.append(E.compare("eq", *base))
        elif b is None:
            one, two = (self.side(E.BID[axis], t, mode) for t in (1, 2))
            same = E.compare("eq", one, two)
            out.append(E.lor(E.lnot(same), E.compare("eq", *base)))
            out.append(E.lor(same, E.compare("ne", *wide)))
        return out

    def fusion_definitions(self, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
        """The products behind the fused symbols of ``conjuncts``, where they are not linear: what a witness must
        satisfy too."""
        present = {s.value for s in E.symbols(*conjuncts)}
        out: list[Expr] = []
        for axis in range(3):
            if self.block[axis] is not None:
                continue
            name = "xyz"[axis]
            bdim = E.cast(self.bind(E.BDIM[axis]), I64)
            if f"threads.{name}" in present and self.grid[axis] is None:
                gdim = E.cast(self.bind(E.GDIM[axis]), I64)
                out.append(E.compare("eq", E.cast(THREADS[axis], I64), E.mul(bdim, gdim)))
            for t in (1, 2):
                gid = self.side(GID[axis], t, mode)
                if gid.value in present:
                    bid, tid = (E.cast(self.side(c[axis], t, mode), I64) for c in (E.BID, E.TID))
                    out.append(E.compare("eq", E.cast(gid, I64), E.add(E.mul(bid, bdim), tid)))
        return out

    def meanings(self, mode: Mode) -> dict[Expr, Expr]:
        """What fused symbols and computed dimensions stand for."""
        out: dict[Expr, Expr] = {}
        for axis in range(3):
            b, g = self.bind(E.BDIM[axis]), self.bind(E.GDIM[axis])
            out[THREADS[axis]] = E.mul(b, g)
            for t in (1, 2):
                bid, tid = self.side(E.BID[axis], t, mode), self.side(E.TID[axis], t, mode)
                out[self.side(GID[axis], t, mode)] = E.add(E.mul(bid, b), tid)
        return out | self._computed

    def completed(self, values: Mapping[Expr, int]) -> dict[Expr, int]:
        """Solver values with the dimensions that follow from host values."""
        out = dict(values)
        for dim, value in self._computed.items():
            if dim not in out and all(s in out for s in E.symbols(value)):
                found = evaluate(value, out)
                if found is not None:
                    out[dim] = found
        return out

    def thread_ranges(self, mode: Mode) -> Mapping[Expr, tuple[int, int]]:
        """Inclusive ranges of coordinates, counters and dimensions of both threads."""
        found = self._thread_ranges.get(mode)
        if found is None:
            found = self._thread_ranges[mode] = self._ranges_of_threads(mode)
        return found

    def _ranges_of_threads(self, mode: Mode) -> dict[Expr, tuple[int, int]]:
        out = dict(self.ranges)
        for axis in range(3):
            b, g = self.block[axis], self.grid[axis]
            limit = min(MAX_BLOCK[axis], self.events.kernel.bounds.max_threads or MAX_THREADS)
            for thread in (1, 2):
                out[self.side(E.TID[axis], thread, mode)] = (0, (b or limit) - 1)
                out[self.side(E.BID[axis], thread, mode)] = (0, (g or MAX_GRID[axis]) - 1)
                out[self.side(GID[axis], thread, mode)] = (0, 2**31 - 2)
                for loop in self.events.loops.values():
                    out[self.side(loop.counter, thread, mode)] = (0, loop.limit)
            out[THREADS[axis]] = (1, 2**31 - 1)
        return out

    def thread_facts(self, mode: Mode) -> list[Expr]:
        """``tid < bdim`` and ``bid < gdim`` where the dimensions are not constants (constants are ranges), and what the
        subscripts of every thread say."""
        out: list[Expr] = []
        for axis in range(3):
            for coordinate, dim, known in ((E.TID, E.BDIM, self.block), (E.BID, E.GDIM, self.grid)):
                if known[axis] is None:
                    for thread in (1, 2):
                        out.append(E.compare("lt", self.side(coordinate[axis], thread, mode), self.bind(dim[axis])))
        out += [self.side(c, thread, mode) for c in self._always() for thread in (1, 2)]
        return [c for c in dict.fromkeys(out) if c is not E.TRUE]

    def _always(self) -> list[Expr]:
        """What is assumed of accesses that every thread makes, such as ``tid.x < 128`` for ``s[threadIdx.x]``, where it
        limits a block whose size is not known."""
        if self._in_bounds is None:
            open_axes = {t for t, known in zip(E.TID, self.block, strict=True) if known is None}
            found: dict[Expr, None] = {}
            # A thread that fails an assertion was there before.
            asserted = {part for a in self.events.assertions for part in (a.condition, *E.conjuncts(a.condition))}
            for access in self.events.accesses if open_axes else ():
                if all(c.kind == "assume" and c.condition not in asserted for c in access.guard):
                    for c in access.guard:
                        used = E.symbols(c.condition)
                        if used & open_axes and used <= _OF_THREADS and not _has_opaque(c.condition):
                            found[c.condition] = None
            self._in_bounds = list(found)
        return self._in_bounds

    def distinct(self, mode: Mode) -> Expr:
        """The two threads differ: in the block index (``grid``), else in the thread index."""
        if mode == "thread":
            return E.TRUE
        coordinates, known = (E.BID, self.grid) if mode == "grid" else (E.TID, self.block)
        return E.lor(
            *[
                E.compare("ne", self.side(coordinates[axis], 1, mode), self.side(coordinates[axis], 2, mode))
                for axis in range(3)
                if known[axis] != 1
            ]
        )

    def linear(self, thread: int, mode: Mode, first: int = 0) -> Expr:
        """Linear thread number in the block, U32: ``x + y*Dx + z*Dx*Dy``. ``first``: of the axes from this one on, as
        if it were the first."""
        total, row = E.const(0, E.U32), E.const(1, E.U32)
        for axis in range(first, 3):
            if self.block[axis] != 1:
                total = E.add(total, E.mul(self.side(E.TID[axis], thread, mode), row))
            row = E.mul(row, self.bind(E.BDIM[axis]))
        return total

    def same_warp(self, mode: Mode) -> Expr:
        known = self._same_warp.get(mode)
        if known is None:
            known = self._same_warp[mode] = E.land(*self._in_one_warp(mode))
        return known

    def other_warp(self, mode: Mode) -> Expr:
        """That the two threads are in different warps, in one inequality."""
        parts = self._in_one_warp(mode)
        return E.lnot(parts[0] if len(parts) == 1 else self.same_in_units(mode, 0, WARP))

    def _in_one_warp(self, mode: Mode) -> list[Expr]:
        """That the linear numbers are the same in units of a warp; said of the coordinates, where rows of the block
        fill warps or warps fill rows, which arithmetic need not find out."""
        unit, parts = WARP, list[Expr]()
        for axis, extent in enumerate(self.block):
            if unit > 1 and (not extent or (extent % unit and unit % extent)):
                return [*parts, self.same_in_units(mode, axis, unit)]
            if extent and extent < unit:
                unit //= extent
                continue
            if extent != unit:
                one, two = (self.side(E.TID[axis], t, mode) for t in (1, 2))
                size = E.const(unit, E.U32)
                parts.append(E.compare("eq", E.binary("div", one, size), E.binary("div", two, size)))
            unit = 1
        return parts

    def same_in_units(self, mode: Mode, first: int, unit: int) -> Expr:
        """That the linear numbers of the two threads are the same in units of so many; of the axes from one on."""
        size = E.const(unit, E.U32)
        return E.compare("eq", *(E.binary("div", self.linear(t, mode, first), size) for t in (1, 2)))

    def agree_in_warps(self, condition: Expr, lanes: int = WARP) -> bool | None:
        """Whether the threads of each warp, or of each part of so many lanes, agree on a condition, as far as their
        numbers tell; not where it is about data that each has of its own. None: that depends on other values."""
        asked = self.bind(condition)
        if any(s.op == "opaque" and not is_uniform(s, "warp") for s in E.symbols(asked)):
            return self._is_one_in_parts(asked, lanes)
        if None in self.block or not E.symbols(asked) <= set(E.TID):
            return None
        return self._is_one_by_number(asked, lanes)

    def _is_one_in_parts(self, value: Expr, lanes: int) -> bool:
        """Whether the threads of each part of a warp have one value, by what it is made of: ``rows[t / 32]``."""
        if is_uniform(value, "warp"):
            return True
        if E.symbols(value) <= set(E.TID):
            return self._is_one_by_number(value, lanes)
        common = value.op != "opaque" or value.value[1] != "thread"
        return common and bool(value.args) and all(self._is_one_in_parts(v, lanes) for v in value.args)

    def _is_one_by_number(self, asked: Expr, lanes: int) -> bool:
        found = self.by_number(asked)
        return found is not None and all(
            len(np.unique(found[at : at + lanes])) == 1 for at in range(0, len(found), lanes)
        )

    def by_number(self, e: Expr) -> np.ndarray[Any, Any] | None:
        """The values of a bound expression of coordinates for the threads of a block, in their order; None where its
        size is not known."""
        x, y, z = self.block
        if x is None or y is None or z is None:
            return None
        numbers = np.arange(x * y * z, dtype=np.int64)
        values = dict(zip(E.TID, (numbers % x, numbers // x % y, numbers // (x * y)), strict=True))
        found, _ = evaluate_vector(e, values)
        return np.broadcast_to(found, numbers.shape)

    def single_warp(self) -> bool:
        """No block has more than one warp."""
        threads = 1
        for b in self.block:
            if b is None:
                return False
            threads *= b
        return threads <= WARP


def _split_opaque(e: Expr, thread: int, shared: frozenset[str], memo: dict[int, Expr]) -> Expr:
    """Give opaque values that the two threads need not agree on a side of their own."""
    if not E.uses((e,), _OPAQUE):
        return e
    for node in E.walk((e,), memo):
        args = tuple([memo[a.key] for a in node.args])
        if node.op == "opaque":
            identity, scope = node.value
            if scope not in shared and not identity.endswith(("@1", "@2")):
                identity = f"{identity}@{thread}"
            memo[node.key] = E.make("opaque", node.ty, args, (identity, scope))
        else:
            memo[node.key] = node if args == node.args else E.rebuild(node, args)
    return memo[e.key]


def _terms(e: Expr) -> list[Expr]:
    """What a sum adds up: ``bid*bdim + (tid + 1)`` is a global index and one more."""
    return [t for a in e.args for t in _terms(a)] if e.op == "add" else [e]


def _global_index(terms: list[Expr], axis: int, block: Expr) -> tuple[int, list[Expr]] | None:
    """(factor, the other terms) where two terms of a sum are a thread's index along an axis, or so many times that, as
    the steps of a pointer are. ``block``: the extent of a block."""
    scaled = [_scaled(t) for t in terms]
    for number, (first, factor) in enumerate(scaled):
        if _is_product(first, E.BID[axis], block):
            for other, (rest, again) in enumerate(scaled):
                if again == factor and _bare(rest) is E.TID[axis]:
                    return factor, [t for i, t in enumerate(terms) if i not in (number, other)]
    return None


def _scaled(e: Expr) -> tuple[Expr, int]:
    """(number, factor) of a distance: a number that is converted and multiplied by a size."""
    if e.op == "mul":
        known, other = sorted(e.args, key=lambda a: a.op != "const")
        if known.op == "const" and other.op == "cast":
            inner = _bare(other)
            if inner.op == "mul" or inner in E.TID:
                return inner, int(known.value)
    return e, 1


def _is_product(e: Expr, one: Expr, other: Expr) -> bool:
    """Whether an expression is the product of two dimensions or coordinates of a launch, in whichever type: all of
    them, and their product, are below 2^31 (`GRID_FITS`)."""
    if e.op == "cast" and _is_wide(e):
        e = _bare(e)
    if e.op != "mul" or not _is_wide(e):
        return False
    a, b = map(_bare, e.args)
    return (_is(a, one) and _is(b, other)) or (_is(a, other) and _is(b, one))


def _is(e: Expr, known: Expr) -> bool:
    return e is known or (e.op == known.op == "const" and e.value == known.value)


def _bare(e: Expr) -> Expr:
    """``e`` without conversions that change no number below 2^31."""
    while e.op in ("cast", "narrow") and _is_wide(e) and _is_wide(e.args[0]):
        e = e.args[0]
    return e


def _is_wide(e: Expr) -> bool:
    return isinstance(e.ty, E.IntType) and e.ty.width >= 32


def _as_launched(dimension: Expr, value: Expr) -> tuple[Expr, Expr]:
    """A dimension and its value. Dimensions stay below 2**31: one that was computed as a signed number is that number,
    without conversion."""
    if value.op == "cast" and value.args[0].ty == E.I32:
        return E.cast(dimension, I64), E.cast(value.args[0], I64)
    return dimension, value


def _constants(values: Iterable[Expr]) -> tuple[int | None, int | None, int | None]:
    x, y, z = (v.value if v.op == "const" else None for v in values)
    return (x, y, z)


def _meet(a: tuple[int, int] | None, b: tuple[int, int]) -> tuple[int, int]:
    return b if a is None else (max(a[0], b[0]), min(a[1], b[1]))


def opaque_definitions(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """Conditions known of the opaque values that occur in ``conjuncts`` (both sides renamed already), transitively."""
    out: list[Expr] = []
    definitions = launch.events.definitions
    given, seen = set(conjuncts), set[Expr]()
    todo = [n for n in E.symbols(*given) if n.op == "opaque"]
    while todo and definitions:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        identity: str = node.value[0]
        base, _, suffix = identity.rpartition("@")
        known = definitions.get(base if suffix in ("1", "2") and base else identity)
        if known is None or len(known.parameters) != len(node.args):
            # One that was made while a loop around was studied may depend on more than is known in the end.
            continue
        for thread in (int(suffix),) if suffix in ("1", "2") and base else (1, 2):
            mapping = {launch.side(p, thread, mode): a for p, a in zip(known.parameters, node.args, strict=True)}
            rename = partial(_renamed, launch, mapping, thread, mode)
            none = [*no_iteration(node.args), *not_reached(map(rename, known.reached), given)]
            for c in map(rename, known.conditions):
                renamed = E.lor(*none, c)
                if not any(_foreign(n, node) for n in E.symbols(renamed)):
                    out.append(renamed)
                    todo += [n for n in E.symbols(renamed) if n.op == "opaque" and n not in seen]
    return list(dict.fromkeys(out))


def _renamed(launch: Launch, mapping: Mapping[Expr, Expr], thread: int, mode: Mode, e: Expr) -> Expr:
    return E.substitute(launch.side(e, thread, mode), mapping)


def no_iteration(arguments: Iterable[Expr]) -> list[Expr]:
    """When arguments of a value stand for an iteration that there is none of: the one before the first, or none that
    has set a variable. Nothing is known of values there, and what would be need not even be defined."""
    return [E.compare("lt", a, E.const(0, I64)) for a in arguments if a.ty == I64 and a.op != "sym"]


def not_reached(conditions: Iterable[Expr], given: Collection[Expr]) -> list[Expr]:
    """When something is not executed that stands under conditions (renamed), of which those ``given`` hold."""
    return [E.lnot(c) for whole in conditions for c in E.conjuncts(whole) if c not in given]


def _foreign(node: Expr, target: Expr) -> bool:
    """An instance of the same opaque value at other arguments: its definition would be another one."""
    return node.op == "opaque" and node.value == target.value and node is not target


_OF_THREADS = frozenset({*E.TID, *E.BID, *E.BDIM, *E.GDIM})


def _has_opaque(e: Expr) -> bool:
    return E.uses((e,), _OPAQUE)
