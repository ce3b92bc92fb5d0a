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
_CALLS = E.operations("call")
_MASKS = E.operations("and")

_BIT = "lanes:bit"


@dataclass(frozen=True, slots=True)
class Counted:
    """A query with numbers for counts and lanes of masks."""

    query: Query
    below: Mapping[Expr, tuple[Expr, Expr]]
    """Counts below a lane: the mask and the lane (I32)."""
    numbers: Mapping[Expr, Expr]

    def masks(self, values: Mapping[Expr, int]) -> dict[Expr, int] | None:
        """Masks that have these counts and lanes; None where none are found. Masks of one value in ``values`` are
        one."""
        alike: dict[object, list[Expr]] = {}
        for mask in dict.fromkeys(m for m, _ in self.below.values()):
            alike.setdefault(values.get(mask, mask), []).append(mask)
        out: dict[Expr, int] = {}
        for group in alike.values():
            found = self._mask(group, values)
            if found is None or any(m.op != "opaque" for m in group):
                return None
            out.update(dict.fromkeys(group, found))
        return out

    def _mask(self, group: list[Expr], values: Mapping[Expr, int]) -> int | None:
        """The lowest lanes that will do, between those of which something is known."""
        counts: dict[int, int] = {}
        known: dict[int, int] = {}
        for node, (whole, lane) in self.below.items():
            if whole in group:
                total = self.numbers[E.make("call", node.ty, (whole,), node.value)]
                for at, count in ((lane, node), (E.const(WARP, I32), total)):
                    number = self.numbers[count] if count is node else total
                    if not _noted(counts, evaluate(at, values), evaluate(number, values), WARP):
                        return None
        for node, bit in self.numbers.items():
            mine = node.value == _BIT and node.args[0] in group
            if mine and not _noted(known, evaluate(node.args[1], values), evaluate(bit, values), WARP - 1):
                return None
        bits, start, seen = 0, 0, 0
        for end, count in sorted(counts.items()):
            lanes = range(start, end)
            chosen = [n for n in lanes if known.get(n) == 1]
            chosen += [n for n in lanes if n not in known][: max(count - seen - len(chosen), 0)]
            if len(chosen) != count - seen:
                return None
            bits |= sum(1 << n for n in chosen)
            start, seen = end, count
        return bits


def _noted(found: dict[int, int], at: int | None, value: int | None, last: int) -> bool:
    """Note a value for a lane, where the two are known; whether it is the only one for it."""
    if at is None or value is None:
        return True
    return 0 <= at <= last and found.setdefault(at, value) == value


def counted(query: Query) -> Counted | None:
    """The query with numbers in it; None where it has no counts below a lane."""
    roots = [*query.conjuncts, *(f.condition for f in query.facts)]
    if not E.uses(roots, _CALLS):
        return None
    below: dict[Expr, tuple[Expr, Expr]] = {}
    for node in sorted((n for n in E.walk(roots) if is_count(n)), key=lambda n: n.rank):
        found = lanes_below(node.args[0])
        if found is not None:
            below[node] = found
    if not below or len(below) > MAX_COUNTS:
        return None
    numbers: dict[Expr, Expr] = {}
    laws: list[Expr] = []
    for node, (mask, lane) in below.items():
        mine, held, total = _number(numbers, node), _bit(numbers, mask, lane), _total(numbers, node, mask)
        within = _is_lane_number(lane)
        above = E.add(E.add(E.sub(E.const(WARP - 1, I32), lane), mine), held)
        fits = [E.compare("le", E.add(mine, held), total), E.compare("le", mine, lane), E.compare("le", total, above)]
        laws.append(E.lor(E.lnot(within), E.land(*fits)))
    for (one, (mask, lane)), (two, (same, other)) in combinations(below.items(), 2):
        equal = _equal_masks(mask, same)
        if equal is None:
            continue
        for a, whole, i, b, j in ((one, mask, lane, two, other), (two, same, other, one, lane)):
            ascending = E.land(
                E.compare("le", E.const(0, I32), i), E.compare("lt", i, j), E.compare("lt", j, E.const(WARP, I32))
            )
            least, later = E.add(_number(numbers, a), _bit(numbers, whole, i)), _number(numbers, b)
            most = E.add(least, E.sub(E.sub(j, i), E.const(1, I32)))
            more = E.land(E.compare("le", least, later), E.compare("le", later, most))
            laws.append(E.lor(E.lnot(E.land(equal, ascending)), more))
    for node in E.walk(roots):
        if node.op == "and" and (found := _own_bit(node)) is not None:
            numbers.setdefault(node, E.cast(_bit(numbers, *found), _integer(node)))
    bits = [(k.args[0], k.args[1], b) for k, b in numbers.items() if k.value == _BIT]
    for node, (mask, lane) in below.items():
        mine, held, total = _number(numbers, node), _bit(numbers, mask, lane), _total(numbers, node, mask)
        for same, other, bit in bits[:MAX_COUNTS]:
            if same is mask and other is not lane:
                above, under = E.compare("lt", lane, other), E.compare("lt", other, lane)
                more = E.compare("le", E.add(E.add(mine, held), bit), total)
                ways = E.land(E.lor(E.lnot(above), more), E.lor(E.lnot(under), E.compare("le", bit, mine)))
                laws.append(E.lor(E.lnot(_is_lane_number(lane)), ways))
    for (mask, lane, bit), (same, other, its) in combinations(bits[:MAX_COUNTS], 2):
        if (equal := _equal_masks(mask, same)) is not None:
            alike = E.land(equal, E.compare("eq", lane, other))
            laws.append(E.lor(E.lnot(alike), E.compare("eq", bit, its)))
    return Counted(_rewritten(query, numbers, laws), below, numbers)


def _is_lane_number(lane: Expr) -> Expr:
    return E.land(E.compare("le", E.const(0, I32), lane), E.compare("lt", lane, E.const(WARP, I32)))


def without_bits(query: Query) -> Query:
    """The query without what it says of single lanes of masks: solvers of integers are no good at shifts. What is
    impossible then is impossible for the query."""
    if not E.uses(query.conjuncts, _MASKS):
        return query
    kept = [c for c in query.conjuncts if all(n.op != "and" or _own_bit(n) is None for n in E.walk((c,)))]
    return replace(query, conjuncts=tuple(kept)) if len(kept) < len(query.conjuncts) else query


def _equal_masks(one: Expr, two: Expr) -> Expr | None:
    """When two masks are one: always, in equal iterations, or where they have the same lanes; None where too little
    is known of them."""
    if one is two:
        return E.TRUE
    if one.op == "opaque" and two.op == "opaque" and one.ty == two.ty and _of_two_sides(one, two):
        return E.compare("eq", one, two)
    if one.op != "opaque" or one.value != two.value or two.op != "opaque" or len(one.args) != len(two.args):
        return None
    if any(a.ty != b.ty for a, b in zip(one.args, two.args, strict=True)):
        return None
    return E.land(*(E.compare("eq", a, b) for a, b in zip(one.args, two.args, strict=True)))


def _of_two_sides(one: Expr, two: Expr) -> bool:
    """What one exchange gave two threads."""
    names = [n.value[0].rpartition("@") for n in (one, two)]
    return names[0][0] == names[1][0] != "" and {names[0][2], names[1][2]} == {"1", "2"}


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


def lanes_below(mask: Expr) -> tuple[Expr, Expr] | None:
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
