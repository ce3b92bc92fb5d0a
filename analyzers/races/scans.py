"""Sums over the threads of a block or warp: places that threads compute from what those before them need.

An exclusive scan gives thread i the sum of the values of all threads before it. Where no value is negative, the ranges
``[scan, scan + value)`` of different threads do not overlap, and all of them end at or below the total. That holds for
threads of one group in the same iteration, where every thread of the group took part (``Scan``), and as long as the
sum fits into its type: unless it certainly does, ``NO_WRAP`` is assumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import Scan
from analyzers.ir.expr import I32, I64, Expr, IntType
from analyzers.ir.intervals import Intervals
from analyzers.races.threads import MAX_THREADS, WARP, Launch, Mode, no_iteration, not_reached

NO_WRAP = "the sums of scans fit into their types"
MAX_SCANS = 8
"""Scans of one question."""


def scans(launch: Launch) -> dict[str, Scan]:
    """By identity: those of which more is known than that they are numbers."""
    known: dict[str, Scan] = {}
    for identity, scan in launch.events.scans.items():
        most = at_least(launch, scan.value, known) if _fits_block(launch, scan) else None
        if most is not None and (_fits_type(scan, most) or _is_wide(scan)):
            known[identity] = scan
    return known


def _fits_block(launch: Launch, scan: Scan) -> bool:
    """The group is as large as the collective was made for. Blocks of unknown size are taken to be."""
    if scan.group == "block":
        return all(b in (None, size) for b, size in zip(launch.block, scan.size, strict=True))
    threads = [b for b in launch.block if b is not None]
    width = scan.size[0]
    whole = len(threads) < len(launch.block) or prod(threads) % width == 0
    return 0 < width <= WARP and WARP % width == 0 and whole and _adds_from_below(launch, scan)


def _adds_from_below(launch: Launch, scan: Scan) -> bool:
    """Each shuffle was added up by those lanes that have so many below them, in every block of the launch."""
    width, height, depth = launch.block
    if not scan.steps:
        return True
    if height is None or depth is None or (width is None and (height, depth) != (1, 1)):
        return False
    rows = range(width or MAX_THREADS)
    conditions = [(launch.bind(c), distance) for c, distance in scan.steps]
    if any(not E.symbols(c) <= {*E.TID} for c, _ in conditions):
        return False
    for z, y, x in product(range(depth), range(height), rows):
        lane = (x + (width or 0) * (y + height * z)) % WARP
        at = dict(zip(E.TID, (x, y, z), strict=True))
        if any(evaluate(c, at) != (lane >= distance) for c, distance in conditions):
            return False
    return True


def of_last_lane(launch: Launch, value: Expr) -> Expr | None:
    """What lane 31 gave, where that is the sum of a warp: an inclusive scan."""
    known = launch.once(scans)
    for scan in known.values():
        if not scan.total and E.add(scan.result, scan.value) is value:
            for total in known.values():
                same = total.total and total.value is scan.value and total.result.args == scan.result.args
                if same and total.group == scan.group == "warp" and total.size == scan.size == (WARP,):
                    return total.result
    return None


def at_least(launch: Launch, value: Expr, known: Mapping[str, object], given: Iterable[Expr] = ()) -> int | None:
    """The largest that a value which is never negative may be, by the ranges of its symbols; None where it may be
    negative. Sums in ``known`` are not; ``given`` conditions hold, so what is compared with a constant there has it as
    a limit, and differences of what is compared have a sign."""
    if not isinstance(value.ty, IntType):
        return None
    ranges = dict(launch.thread_ranges("grid"))
    renamed = launch.side(value, 1, "grid")
    for node in E.symbols(renamed):
        if node.op == "opaque" and node.value[0].removesuffix("@1") in known and isinstance(node.ty, IntType):
            ranges[node] = (0, node.ty.high)
    for c in (launch.side(c, 1, "grid") for c in given):
        if c.op not in ("le", "lt") or not isinstance(c.args[0].ty, IntType):
            continue
        low, high = c.args
        limited = high if low.op == "const" else E.sub(high, low)
        least = int(low.value) if low.op == "const" else 0
        assert isinstance(limited.ty, IntType)
        known_low, known_high = ranges.get(limited, (limited.ty.low, limited.ty.high))
        ranges[limited] = (max(known_low, least + (c.op == "lt")), known_high)
    intervals = Intervals(ranges, no_signed_overflow=True)
    if _is_meant_negative(renamed, intervals):
        return None
    found = intervals.of(renamed)
    return int(found.hi) if found.lo >= 0 else None


def _is_meant_negative(value: Expr, intervals: Intervals) -> bool:
    """Whether a number is, or may be chosen or computed as, a negative one, also where it was converted to one without
    a sign: ``-1``, ``-n``, ``1 - 2 * (lane & 1)``. What may be any number of its type is not meant to be one."""
    if value.op == "select":
        return any(_is_meant_negative(side, intervals) for side in value.args[1:])
    if value.op in ("cast", "narrow"):
        inner = value.args[0]
        if isinstance(inner.ty, IntType) and inner.ty.signed:
            found = intervals.of(inner)
            if found.lo < 0 and (found.lo, found.hi) != (inner.ty.low, inner.ty.high):
                return True
        return _is_meant_negative(inner, intervals)
    if value.op == "const" and isinstance(value.ty, IntType):
        return value.value < 0 if value.ty.signed else value.ty.width > 1 and value.value > value.ty.high // 2
    unsigned = isinstance(value.ty, IntType) and not value.ty.signed
    if unsigned and value.op in ("add", "mul"):
        return any(_is_meant_negative(a, intervals) for a in value.args)
    return value.op == "neg"


def _fits_type(scan: Scan, most: int) -> bool:
    """The sum of so much for each thread does."""
    assert isinstance(scan.result.ty, IntType)
    threads = prod(scan.size) if scan.group == "block" else WARP
    return most * min(threads, MAX_THREADS) <= scan.result.ty.high


def _is_wide(scan: Scan) -> bool:
    """Sums in its type are not expected to be too large."""
    return isinstance(scan.result.ty, IntType) and scan.result.ty.width >= 32


def assumes_no_wrap(launch: Launch) -> bool:
    """Some sum may be too large for its type."""
    known = launch.once(scans)
    return any((most := at_least(launch, s.value, known)) is None or not _fits_type(s, most) for s in known.values())


def scan_laws(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """What is known of the sums that both threads hold."""
    if not launch.events.scans or mode == "thread":
        return []
    known, given = launch.once(scans), set(conjuncts)
    held: dict[str, list[tuple[int, Expr]]] = {}
    for node in sorted((n for n in E.symbols(*given) if n.op == "opaque"), key=lambda n: n.rank):
        identity, _, side = node.value[0].rpartition("@")
        if not identity or side not in ("1", "2"):
            identity, side = node.value[0], ""
        if identity in known:
            held.setdefault(identity, []).extend((t, node) for t in ((int(side),) if side else (1, 2)))
    out: list[Expr] = []
    for identity in list(held)[:MAX_SCANS]:
        scan = known[identity]
        if scan.total:
            size = prod(scan.size)
            out += [c for t, n in held[identity] for c in (_not_negative(n), *_at_most(launch, scan, n, t, size, mode))]
        else:
            out += _of_scan(launch, scan, known, held[identity], mode, given)
    return list(dict.fromkeys(c for c in out if c is not E.TRUE))


def _of_scan(
    launch: Launch,
    scan: Scan,
    known: dict[str, Scan],
    nodes: list[tuple[int, Expr]],
    mode: Mode,
    given: Collection[Expr],
) -> Iterator[Expr]:
    """The laws of one scan: its own range, its place below the total, and its place beside those of other threads."""
    for thread, node in nodes:
        none = _none(launch, scan, thread, node, mode, given)
        yield _not_negative(node)
        yield from _at_most(launch, scan, node, thread, None, mode)
        value = _at(launch, scan, scan.value, thread, node, mode)
        yield E.lor(*none, E.compare("le", E.const(0, I64), value))
        end = E.add(E.cast(node, I64), value)
        assert isinstance(node.ty, IntType)
        if node.ty.width < 64:
            yield E.lor(*none, E.compare("le", end, E.const(node.ty.high, I64)))
        for total in known.values():
            if total.total and total.value is scan.value and (total.group, total.size) == (scan.group, scan.size):
                whole = _at(launch, scan, total.result, thread, node, mode)
                yield E.lor(*none, E.compare("le", end, whole))
    if mode == "grid":
        return
    for one, left in nodes:
        for two, right in nodes:
            if (one, two) != (1, 2):
                continue
            none = [c for t, n in ((1, left), (2, right)) for c in _none(launch, scan, t, n, mode, given)]
            same = [E.compare("eq", a, b) for a, b in zip(left.args, right.args, strict=True)]
            same += _same_group(launch, scan, mode)
            before = E.compare("lt", launch.linear(1, mode), launch.linear(2, mode))
            ends = [
                E.add(E.cast(n, I64), _at(launch, scan, scan.value, t, n, mode)) for t, n in ((1, left), (2, right))
            ]
            laws = (
                E.lor(E.lnot(E.land(*same, before)), E.compare("le", ends[0], E.cast(right, I64))),
                E.lor(E.lnot(E.land(*same)), before, E.compare("le", ends[1], E.cast(left, I64))),
            )
            yield from (E.lor(*none, law) for law in laws)


def _at_most(launch: Launch, scan: Scan, node: Expr, thread: int, threads: int | None, mode: Mode) -> Iterator[Expr]:
    """The sum of so many values, or of those before the thread, where each is limited."""
    most = at_least(launch, scan.value, launch.once(scans))
    if most is None or most * MAX_THREADS > I32.high:
        return
    rank = E.cast(launch.linear(thread, mode), I64) if threads is None else E.const(threads, I64)
    if threads is None and scan.group == "warp":
        rank = E.binary("rem", rank, E.const(scan.size[0], I64))
    yield E.compare("le", E.cast(node, I64), E.mul(rank, E.const(most, I64)))


def _same_group(launch: Launch, scan: Scan, mode: Mode) -> list[Expr]:
    if scan.group == "block":
        return []
    return [launch.same_in_units(mode, 0, scan.size[0])]


def _at(launch: Launch, scan: Scan, e: Expr, thread: int, node: Expr, mode: Mode) -> Expr:
    """``e``, as the thread had it in the iterations of ``node``, I64."""
    return _then(launch, scan, E.cast(e, I64), thread, node, mode)


def _then(launch: Launch, scan: Scan, e: Expr, thread: int, node: Expr, mode: Mode) -> Expr:
    counters = [launch.side(c, thread, mode) for c in scan.result.args]
    mapping = {c: a for c, a in zip(counters, node.args, strict=True) if c is not a}
    renamed = launch.side(e, thread, mode)
    return E.substitute(renamed, mapping) if mapping else renamed


def _none(launch: Launch, scan: Scan, thread: int, node: Expr, mode: Mode, given: Collection[Expr]) -> list[Expr]:
    """When there is no such sum, where the conditions ``given`` hold."""
    reached = (_then(launch, scan, c, thread, node, mode) for c in scan.reached)
    return [*no_iteration(node.args), *not_reached(reached, given)]


def _not_negative(node: Expr) -> Expr:
    return E.compare("le", E.const(0, I64), E.cast(node, I64))
