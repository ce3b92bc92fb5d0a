"""How many lanes below a lane are in a mask: positions that threads of a warp compute for themselves.

``__popc(mask & ((1u << lane) - 1))`` grows by one behind each lane in the mask. So lanes of one mask that are in it
have different counts, all below ``__popc(mask)``: with a ticket of that size for the warp, places of their own.
``counted`` puts numbers with these laws in the place of the counts; what is impossible then is impossible for the bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from analyzers.ir import expr as E
from analyzers.ir.bittricks import is_count
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I32, Expr, IntType
from analyzers.solve.query import Overlap, Query

MAX_COUNTS = 6
"""Counts of one question that are related to each other."""
WARP = 32
_BIT = "lanes:bit"


@dataclass(frozen=True, slots=True)
class Counted:
    """A query with numbers for counts and lanes of masks."""

    query: Query
    below: Mapping[Expr, tuple[Expr, Expr]]
    """Counts below a lane: the mask and the lane (I32)."""
    numbers: Mapping[Expr, Expr]

    def masks(self, values: Mapping[Expr, int]) -> dict[Expr, int] | None:
        """Masks that have these counts and lanes; None where none are found."""
        out: dict[Expr, int] = {}
        for mask in dict.fromkeys(m for m, _ in self.below.values()):
            found = self._mask(mask, values)
            if mask.op != "opaque" or found is None:
                return None
            out[mask] = found
        return out

    def _mask(self, mask: Expr, values: Mapping[Expr, int]) -> int | None:
        lanes: dict[int, tuple[int, int]] = {}
        total: int | None = None
        for node, (whole, lane) in self.below.items():
            if whole is not mask:
                continue
            parts = (lane, self.numbers[node], self.numbers[E.call(_BIT, I32, mask, lane)])
            at, count, bit = (evaluate(p, values) for p in parts)
            if (
                at is None
                or count is None
                or bit is None
                or not 0 <= at < WARP
                or lanes.get(at) not in (None, (count, bit))
            ):
                return None
            lanes[at] = count, bit
            total = evaluate(self.numbers[E.make("call", node.ty, (mask,), node.value)], values)
        bits, start, seen = 0, 0, 0
        for at, (count, bit) in [*sorted(lanes.items()), (WARP, (total if total is not None else 0, 0))]:
            more = count - seen
            if not 0 <= more <= at - start:
                return None
            bits |= ((1 << more) - 1) << start | bit << at
            start, seen = at + 1, count + bit
        return bits


def counted(query: Query) -> Counted | None:
    """The query with numbers in it; None where it has no counts below a lane."""
    roots = [*query.conjuncts, *(f.condition for f in query.facts)]
    below: dict[Expr, tuple[Expr, Expr]] = {}
    for node in sorted((n for n in E.walk(roots) if is_count(n)), key=lambda n: n.rank):
        found = _below(node.args[0])
        if found is not None:
            below[node] = found
    if not below or len(below) > MAX_COUNTS:
        return None
    numbers: dict[Expr, Expr] = {}
    laws: list[Expr] = []
    for node, (mask, lane) in below.items():
        mine, held, total = _number(numbers, node), _bit(numbers, mask, lane), _total(numbers, node, mask)
        within = E.land(E.compare("le", E.const(0, I32), lane), E.compare("lt", lane, E.const(WARP, I32)))
        above = E.add(E.add(E.sub(E.const(WARP - 1, I32), lane), mine), held)
        fits = [E.compare("le", E.add(mine, held), total), E.compare("le", mine, lane), E.compare("le", total, above)]
        laws.append(E.lor(E.lnot(within), E.land(*fits)))
    for (one, (mask, lane)), (two, (same, other)) in combinations(below.items(), 2):
        equal = _equal_masks(mask, same)
        if equal is None:
            continue
        for a, i, b, j in ((one, lane, two, other), (two, other, one, lane)):
            ascending = E.land(
                E.compare("le", E.const(0, I32), i), E.compare("lt", i, j), E.compare("lt", j, E.const(WARP, I32))
            )
            least, later = E.add(_number(numbers, a), _bit(numbers, mask, i)), _number(numbers, b)
            most = E.add(least, E.sub(E.sub(j, i), E.const(1, I32)))
            more = E.land(E.compare("le", least, later), E.compare("le", later, most))
            laws.append(E.lor(E.lnot(E.land(equal, ascending)), more))
    for node in E.walk(roots):
        if node.op == "and" and (found := _own_bit(node)) is not None:
            numbers.setdefault(node, E.cast(_bit(numbers, *found), _integer(node)))
    bits = [(k.args[0], k.args[1], b) for k, b in numbers.items() if k.value == _BIT]
    for (mask, lane, bit), (same, other, its) in combinations(bits[:MAX_COUNTS], 2):
        if (equal := _equal_masks(mask, same)) is not None:
            alike = E.land(equal, E.compare("eq", lane, other))
            laws.append(E.lor(E.lnot(alike), E.compare("eq", bit, its)))
    return Counted(_rewritten(query, numbers, laws), below, numbers)


def without_bits(query: Query) -> Query:
    """The query without what it says of single lanes of masks: solvers of integers are no good at shifts. What is
    impossible then is impossible for the query."""
    kept = [c for c in query.conjuncts if all(n.op != "and" or _own_bit(n) is None for n in E.walk((c,)))]
    return replace(query, conjuncts=tuple(kept)) if len(kept) < len(query.conjuncts) else query


def _equal_masks(one: Expr, two: Expr) -> Expr | None:
    """When two masks are one: always, or in equal iterations; None where they may be any."""
    if one is two:
        return E.TRUE
    if one.op != "opaque" or one.value != two.value or two.op != "opaque" or len(one.args) != len(two.args):
        return None
    if any(a.ty != b.ty for a, b in zip(one.args, two.args, strict=True)):
        return None
    return E.land(*(E.compare("eq", a, b) for a, b in zip(one.args, two.args, strict=True)))


def _rewritten(query: Query, numbers: dict[Expr, Expr], laws: Iterable[Expr]) -> Query:
    memo: dict[int, Expr] = {}

    def put(e: Expr) -> Expr:
        return E.rewrite(e, numbers.get, memo)

    ranges = dict(query.ranges)
    for kept in numbers.values():
        for s in E.symbols(kept):
            if str(s.value).startswith("lanes:"):
                ranges[s] = (0, 1 if str(s.value).startswith("lanes:bit") else WARP)
    o = query.overlap
    return replace(
        query,
        conjuncts=tuple(dict.fromkeys([*map(put, query.conjuncts), *laws])),
        facts=tuple(replace(f, condition=put(f.condition)) for f in query.facts),
        ranges=ranges,
        overlap=None if o is None else Overlap(put(o.left), put(o.right), o.left_width, o.right_width),
    )


def _number(numbers: dict[Expr, Expr], node: Expr) -> Expr:
    """The number (I32) for a count."""
    if node not in numbers:
        numbers[node] = E.cast(E.sym(f"lanes:count{len(numbers)}", I32), _integer(node))
    return E.cast(numbers[node], I32)


def _total(numbers: dict[Expr, Expr], node: Expr, mask: Expr) -> Expr:
    """That of all lanes in the mask."""
    return _number(numbers, E.make("call", node.ty, (mask,), node.value))


def _bit(numbers: dict[Expr, Expr], mask: Expr, lane: Expr) -> Expr:
    """One where the lane is in the mask, else zero (I32)."""
    key = E.call(_BIT, I32, mask, lane)
    return numbers.setdefault(key, E.sym(f"lanes:bit{len(numbers)}", I32))


def _integer(e: Expr) -> IntType:
    assert isinstance(e.ty, IntType)
    return e.ty


def _below(mask: Expr) -> tuple[Expr, Expr] | None:
    """(mask, lane as I32) of ``mask & ((1 << lane) - 1)``."""
    if mask.op != "and":
        return None
    for low, whole in (mask.args, mask.args[::-1]):
        one = _all_below(low)
        if one is not None and whole.op != "const":
            return whole, one
    return None


def _all_below(low: Expr) -> Expr | None:
    """The lane, as I32, of ``(1 << lane) - 1``."""
    while low.op == "cast" and _integer(low).width >= WARP:
        low = low.args[0]
    parts = low.args if low.op == "add" else (low.args[0], E.neg(low.args[1])) if low.op == "sub" else ()
    for shifted, minus in (parts, parts[::-1]) if parts else ():
        less_one = minus.op == "const" and _integer(minus).wrap(int(minus.value) + 1) == 0
        if less_one and shifted.op == "shl" and shifted.args[0].op == "const" and shifted.args[0].value == 1:
            return E.cast(shifted.args[1], I32)
    return None


def _own_bit(e: Expr) -> tuple[Expr, Expr] | None:
    """(mask, lane as I32) of ``mask >> lane & 1``."""
    for shifted, one in (e.args, e.args[::-1]):
        if one.op == "const" and one.value == 1 and shifted.op == "shr" and shifted.args[0].ty == E.U32:
            return shifted.args[0], E.cast(shifted.args[1], I32)
    return None
