"""The two-thread question for a pair of accesses in one ordering case: ``Query`` objects for the ladder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.ir import expr as E
from analyzers.ir.evaluate import is_atom, may_be_undefined
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr
from analyzers.ir.intervals import Intervals
from analyzers.ir.low_bits import low_bits
from analyzers.races.broadcasts import broadcast_conditions
from analyzers.races.final_cells import final_cell_laws
from analyzers.races.lane_values import lane_value_laws
from analyzers.races.matches import match_laws
from analyzers.races.ordering import Case
from analyzers.races.pairs import Pair
from analyzers.races.pipelines import unordered
from analyzers.races.promises import disjoint, injective_facts
from analyzers.races.scans import scan_laws
from analyzers.races.shared_counts import count_laws
from analyzers.races.tensors import own_cells
from analyzers.races.threads import Launch, Mode, opaque_definitions
from analyzers.races.tickets import ticket_conditions
from analyzers.races.warp_tickets import warp_ticket_conditions
from analyzers.solve.query import Fact, Overlap, Query

_SHIFTS = E.operations("shl", "shr")
_EXCLUSIVE_OR = E.operations("xor")
_SELECTIONS = E.operations("select")

MAX_DISTANCES = 8
"""Distances between two overlapping accesses that are spelled out one by one."""

MAX_SPLIT = 64
"""Values of a shift count that are tried one by one; a loop counter used as one never exceeds 63."""

MAX_REMEMBERED = 100_000
"""Conditions with a value of a shift count for which it is remembered whether they are possible."""


def race_query(launch: Launch, pair: Pair, case: Case, mode: Mode, extra: Iterable[Expr] = ()) -> Query | None:
    """Can thread 1 at ``pair.one`` and thread 2 at ``pair.two`` touch a common byte in this case? None: contradictory
    as it stands."""
    one, two = pair.one, pair.two
    left, right = launch.side(pair.first.offset, 1, mode), launch.side(pair.second.offset, 2, mode)
    parts: list[Expr] = [launch.distinct(mode), *_same_object(launch, pair, mode)]
    parts += guard_of(launch, one, 1, mode)
    parts += guard_of(launch, two, 2, mode)
    meeting, overlap = _meeting(pair, left, right)
    parts += meeting
    parts += case.conjuncts
    parts += extra
    parts += unordered(launch, pair, mode)
    parts += [something_changes(launch, pair, mode)]
    return _of_pair(launch, pair, parts, mode, overlap)


def something_changes(launch: Launch, pair: Pair, mode: Mode) -> Expr:
    """One of the two accesses writes: a compare-and-swap does where it finds what it compares with."""
    ways: list[Expr] = []
    for access, thread in ((pair.one, 1), (pair.two, 2)):
        if access.writes:
            ways.append(E.TRUE if access.succeeds is None else launch.side(access.succeeds, thread, mode))
    return E.lor(*ways)


def _of_pair(launch: Launch, pair: Pair, parts: list[Expr], mode: Mode, overlap: Overlap) -> Query | None:
    if set(meeting_distances(pair)) <= {0}:
        parts = [*parts, *own_cells(launch, pair, mode)]
    apart = disjoint(launch, pair)
    if apart is None:
        return query_of(launch, parts, mode, overlap)
    query = query_of(launch, [*parts, apart[0]], mode, overlap)
    return None if query is None else replace(query, facts=(*query.facts, apart[1]))


def places_query(
    launch: Launch, pair: Pair, mode: Mode, one: Iterable[Expr], two: Iterable[Expr], both: Iterable[Expr] = ()
) -> Query | None:
    """Can different threads meet at the places of ``pair`` at all, at any time, under the conditions (not yet
    renamed) ``one`` and ``two``, and those that speak of ``both`` (renamed)?"""
    left, right = launch.side(pair.first.offset, 1, mode), launch.side(pair.second.offset, 2, mode)
    parts: list[Expr] = [launch.distinct(mode), *_same_object(launch, pair, mode)]
    parts += [launch.side(c, 1, mode) for c in one]
    parts += [*(launch.side(c, 2, mode) for c in two), *both]
    meeting, overlap = _meeting(pair, left, right)
    parts += meeting
    return _of_pair(launch, pair, parts, mode, overlap)


def _same_object(launch: Launch, pair: Pair, mode: Mode) -> list[Expr]:
    return [
        E.compare("eq", launch.side(a, 1, mode), launch.side(b, 2, mode))
        for a, b in zip(pair.first.keys, pair.second.keys, strict=True)
        if a.ty == b.ty
    ]


def guard_of(launch: Launch, access: AccessEvent, thread: int, mode: Mode) -> list[Expr]:
    return [launch.side(c.condition, thread, mode) for c in access.guard]


def query_of(launch: Launch, parts: Iterable[Expr], mode: Mode, overlap: Overlap | None = None) -> Query | None:
    """A query from conjuncts that are renamed already; None when one is false."""
    flat = list(dict.fromkeys(c for p in parts for c in E.conjuncts(p)))
    if E.FALSE in flat:
        return None
    known = set(flat)
    if any(E.lnot(c) in known for c in flat):
        return None
    flat += opaque_definitions(launch, flat, mode)
    flat += ticket_conditions(launch, flat, mode)
    flat += broadcast_conditions(launch, flat, mode)
    flat += warp_ticket_conditions(launch, flat, mode)
    flat += count_laws(launch, flat, mode)
    flat += final_cell_laws(launch, flat, mode)
    flat += lane_value_laws(launch, flat, mode)
    flat += match_laws(launch, flat, mode)
    flat += scan_laws(launch, flat, mode)
    flat += launch.fusion_facts(flat, mode)
    flat += exclusive_or_laws(flat)
    if E.FALSE in flat:
        return None
    facts = [f for f in launch.facts if f.condition is not E.TRUE]
    facts += [Fact(c, -1) for c in launch.thread_facts(mode)]
    if launch.promises:
        facts += injective_facts(launch, flat)
    bearing = _connected(frozenset(u for c in flat for u in _unknowns(c)), [f.condition for f in facts])
    return Query(
        conjuncts=tuple(dict.fromkeys(flat)),
        facts=tuple(f for f in facts if f.condition in bearing),
        ranges=launch.thread_ranges(mode),
        overlap=overlap,
        scope=mode,
    )


def spelled_out(launch: Launch, query: Query) -> Query:
    """The query with fused symbols and computed dimensions replaced by what they stand for; the query itself when it
    has none."""
    mapping = launch.meanings(query.scope)
    present = E.symbols(*query.conjuncts)
    if not any(s in present for s in mapping):
        return query
    memo: dict[int, Expr] = {}

    def meant(e: Expr) -> Expr:
        for _ in range(3):
            new = E.substitute(e, mapping) if e.key not in memo else memo[e.key]
            memo[e.key] = new
            if new is e:
                break
            e = new
        return e

    parts = [p for c in query.conjuncts for p in E.conjuncts(meant(c)) if p is not E.TRUE]
    facts = [Fact(meant(f.condition), f.tag) for f in query.facts]
    o = query.overlap
    return replace(
        query,
        conjuncts=tuple(dict.fromkeys(parts)),
        facts=tuple(f for f in facts if f.condition is not E.TRUE),
        overlap=None if o is None else Overlap(meant(o.left), meant(o.right), o.left_width, o.right_width),
    )


def with_chosen_sides(query: Query) -> Query:
    """The query with the side of a conditional expression that its conditions leave: a place that only threads inside
    the image move on (``active ? i + plane : i``), written where ``active`` holds."""
    if not E.uses(query.conjuncts, _SELECTIONS):
        return query
    held = {part for c in query.conjuncts for part in E.conjuncts(c)}

    def side(node: Expr) -> Expr | None:
        if node.op != "select":
            return None
        parts = E.conjuncts(node.args[0])
        if all(part in held for part in parts):
            return chosen(node.args[1])
        return chosen(node.args[2]) if any(E.lnot(part) in held for part in parts) else None

    memo: dict[int, Expr] = {}

    def chosen(e: Expr) -> Expr:
        return E.rewrite(e, side, memo)

    conjuncts = tuple(chosen(c) for c in query.conjuncts)
    if conjuncts == query.conjuncts:
        return query
    o = query.overlap
    overlap = None if o is None else Overlap(chosen(o.left), chosen(o.right), o.left_width, o.right_width)
    return replace(query, conjuncts=conjuncts, overlap=overlap)


_COMPUTED = frozenset({"cast", "add", "sub", "mul", "div", "rem", "select", "min", "max"})
"""What the host makes a parameter's value with."""


def with_parameters(launch: Launch, query: Query) -> Query:
    """The query in terms of the kernel's parameters instead of what the host computes for them: ``Wout`` for
    ``Win - K + 1``, of which products are long sums. Nothing is known then of how they hang together but what the facts
    say; the query itself when there is nothing of the kind.

    What is impossible for the result is impossible for the query; not the other way round."""
    names = {value: symbol for symbol, value in launch.bound.items() if value.op in _COMPUTED}
    present = {n for n in E.walk(query.conjuncts) if n in names}
    if not present:
        return query
    memo: dict[int, Expr] = {}

    def named(e: Expr) -> Expr:
        return E.rewrite(e, names.get, memo)

    o = query.overlap
    types = {names[value]: value.ty for value in present}
    ranges = {symbol: (ty.low, ty.high) for symbol, ty in types.items() if isinstance(ty, E.IntType)}
    return replace(
        query,
        conjuncts=tuple(named(c) for c in query.conjuncts),
        facts=tuple(Fact(named(f.condition), f.tag) for f in query.facts),
        ranges={**ranges, **query.ranges},
        overlap=None if o is None else Overlap(named(o.left), named(o.right), o.left_width, o.right_width),
    )


def exclusive_or_laws(conjuncts: Iterable[Expr]) -> list[Expr]:
    """For ``a ^ c`` and ``b ^ c``: they are equal exactly when ``a`` and ``b`` are, and ``a ^ c == b`` exactly when
    ``b ^ c == a``.

    This is all that butterfly patterns need; bit by bit such questions are hard for a solver of integers."""
    conjuncts = tuple(conjuncts)
    if not E.uses(conjuncts, _EXCLUSIVE_OR):
        return []
    computed = computed_always(conjuncts)
    found = [n for n in E.walk(conjuncts) if n.op == "xor" and n.args[1].op != "const"]
    # One side of a choice need not be defined where it is not chosen: nothing is said of it.
    found = [n for n in found if n in computed or not may_be_undefined(n)]
    out: list[Expr] = []
    for i, one in enumerate(found[:8]):
        for two in found[i + 1 : 8]:
            for c in set(one.args) & set(two.args):
                a, b = _other(one, c), _other(two, c)
                out.append(_equivalent(E.compare("eq", a, b), E.compare("eq", one, two)))
                out.append(_equivalent(E.compare("eq", one, b), E.compare("eq", two, a)))
    return [law for law in out if law is not E.TRUE]


def computed_always(conjuncts: Iterable[Expr]) -> set[Expr]:
    """What is computed wherever all of the conditions hold: neither one side of a selection nor one of several
    alternatives."""
    out: set[Expr] = set()
    stack = [part for c in conjuncts for part in E.conjuncts(c)]
    while stack:
        node = stack.pop()
        if node in out:
            continue
        out.add(node)
        if node.op == "lnot":
            stack.append(node.args[0])
        elif node.op not in ("land", "lor") and not is_atom(node):
            stack += node.args[:1] if node.op == "select" else node.args
    return out


def _other(xor: Expr, operand: Expr) -> Expr:
    return xor.args[1] if xor.args[0] is operand else xor.args[0]


def _equivalent(p: Expr, q: Expr) -> Expr:
    return E.lor(E.land(p, q), E.land(E.lnot(p), E.lnot(q)))


def essence(query: Query) -> Query:
    """The query reduced to what can bear on the collision: conditions that share no unknown with the addresses,
    directly or through
    others, are left out. An opaque value is an unknown of its own, whatever it was computed from.

    What is impossible for the essence is impossible for the query; not the other way round."""
    if query.overlap is None:
        return query
    start = _unknowns(query.overlap.left) | _unknowns(query.overlap.right)
    kept = _connected(start, [*query.conjuncts, *(f.condition for f in query.facts)])
    if len(kept) == len(query.conjuncts) + len(query.facts):
        return query
    return replace(
        query,
        conjuncts=tuple(c for c in query.conjuncts if c in kept),
        facts=tuple(f for f in query.facts if f.condition in kept),
    )


def about_itself(query: Query) -> Query:
    """The query with the facts alone that speak of nothing but what its conditions and the grid's dimensions speak of.

    What a launch is chosen by differs from launch to launch, and a proof seldom needs it: without it one proof is one
    for all launches. What is impossible for the result is impossible for the query; not the other way round."""
    own = _all_unknowns(query.conjuncts).union(E.GDIM, E.BDIM)
    near = tuple(f for f in query.facts if _unknowns(f.condition) <= own)
    return query if len(near) == len(query.facts) else replace(query, facts=near)


def _all_unknowns(conditions: Iterable[Expr]) -> frozenset[Expr]:
    return frozenset[Expr]().union(*(_unknowns(c) for c in conditions))


def _connected(reached: frozenset[Expr], conditions: Iterable[Expr]) -> set[Expr]:
    """The conditions that share an unknown with ``reached``, directly or through others."""
    unknowns = {c: _unknowns(c) for c in conditions}
    kept: set[Expr] = set()
    growing = True
    while growing:
        growing = False
        for c, own in unknowns.items():
            if c not in kept and (not own or own & reached):
                kept.add(c)
                reached |= own
                growing = True
    return kept


_unknown_memo: dict[int, frozenset[Expr]] = {}


def _unknowns(e: Expr) -> frozenset[Expr]:
    """Symbols and outermost opaque values of an expression; coordinates of a block that both threads share do not
    count."""
    found = _unknown_memo.get(e.key)
    if found is None:
        if e.op in ("sym", "opaque"):
            found = frozenset({e})
        else:
            found = frozenset(u for a in e.args for u in _unknowns(a))
        _unknown_memo[e.key] = found
    return found


def _meeting(pair: Pair, left: Expr, right: Expr) -> tuple[list[Expr], Overlap]:
    """Two accesses at byte offsets ``left`` and ``right`` of one object touch a common byte.

    What is known of both addresses modulo a power of two leaves few distances at which they can: for aligned accesses
    of one type only 0, whatever the alignment of the object is."""
    distances = meeting_distances(pair)
    if not distances:
        return [E.FALSE], Overlap(left, right, 1, 1)
    least, span = distances[0], distances[-1] - distances[0]
    moved = E.add(right, E.const(least, I64)) if least else right
    overlap = Overlap(left, moved, 1, span + 1)
    if span == 0:
        return [E.compare("eq", left, moved)], overlap
    if distances.step > 1 and len(distances) <= MAX_DISTANCES:
        return [E.lor(*(E.compare("eq", left, E.add(right, E.const(d, I64))) for d in distances))], overlap
    parts = [E.compare("le", moved, left), E.compare("lt", left, E.add(moved, E.const(span + 1, I64)))]
    if distances.step > 1:
        apart = E.binary("rem", E.sub(left, moved), E.const(distances.step, I64))
        parts.append(E.compare("eq", apart, E.const(0, I64)))
    return parts, overlap


def meeting_distances(pair: Pair) -> range:
    """The values that offset of ``pair.one`` less offset of ``pair.two`` can have where their bytes overlap."""
    shown = _distances(pair, *_shown_grain(pair))
    declared = _distances(pair, *_declared_grain(pair))
    return shown if len(shown) <= len(declared) else declared


def relies_on_alignment(pair: Pair) -> bool:
    """That accesses are aligned narrows where the two can meet, beyond what their addresses show."""
    return len(meeting_distances(pair)) < len(_distances(pair, *_shown_grain(pair)))


def _distances(pair: Pair, grain: int, difference: int) -> range:
    least = 1 - pair.one.width
    return range(least + (difference - least) % grain, pair.two.width, grain)


def _declared_grain(pair: Pair) -> tuple[int, int]:
    one, two = pair.one.alignment, pair.two.alignment
    return min(one.grain, two.grain), one.phase - two.phase


def _shown_grain(pair: Pair) -> tuple[int, int]:
    """The largest power of two that both offsets are known modulo, and their difference modulo it."""
    (one, left), (two, right) = low_bits(pair.first.offset), low_bits(pair.second.offset)
    return 1 << min(one, two), left - right


def shift_counters(query: Query) -> list[Expr]:
    """Loop counters that steer a shift count: splitting their few values makes the question linear."""
    found: dict[Expr, None] = {}
    for node in E.walk(query.conjuncts) if E.uses(query.conjuncts, _SHIFTS) else ():
        if node.op in ("shl", "shr") and node.args[1].op != "const":
            for s in E.symbols(node.args[1]):
                if s.op == "sym" and s.value.startswith("loop:"):
                    found[s] = None
    return list(found)


def split(query: Query) -> Iterator[Query]:
    """The query once for each combination of values of its shift counters; contradictory ones are left out."""
    counters = shift_counters(query)
    if not counters:
        yield query
        return
    yield from _split(query, counters)


def _split(query: Query, counters: list[Expr]) -> Iterator[Query]:
    if not counters:
        yield query
        return
    counter, rest = counters[0], counters[1:]
    twin = _equal_counter(query, counter)
    for value in _values(query, counter, rest):
        mapping = {counter: E.const(value, I64)}
        if twin is not None:
            mapping[twin] = E.const(value, I64)
        fixed = fix(query, mapping)
        if fixed is not None:
            yield from _split(fixed, [c for c in rest if c is not twin])


def _values(query: Query, counter: Expr, others: Iterable[Expr]) -> list[int]:
    """The values of ``counter`` that its own thread's conditions leave, by the ranges of their symbols alone: of two
    counters each has its few, instead of as many combinations as there are widths of a shift."""
    low, high = query.ranges.get(counter, (0, MAX_SPLIT - 1))
    left = list(range(max(0, low), min(high, MAX_SPLIT - 1) + 1))
    foreign = frozenset(others)
    for c in query.conjuncts:
        symbols = E.symbols(c)
        if counter in symbols and foreign.isdisjoint(symbols):
            bounds = tuple((s, *query.ranges[s]) for s in symbols if s is not counter and s in query.ranges)
            left = [v for v in left if _may_hold(c, counter, v, bounds)]
    return left


_may_hold_memo: dict[tuple[object, ...], bool] = {}


def _may_hold(condition: Expr, counter: Expr, value: int, bounds: tuple[tuple[Expr, int, int], ...]) -> bool:
    """Whether the condition is possible with this value, as far as intervals tell, signed overflow included."""
    key = (condition.key, counter.key, value, bounds)
    found = _may_hold_memo.get(key)
    if found is None:
        if len(_may_hold_memo) >= MAX_REMEMBERED:
            _may_hold_memo.clear()
        fixed = E.substitute(condition, {counter: E.const(value, I64)})
        intervals = Intervals({s: (low, high) for s, low, high in bounds}, no_signed_overflow=False)
        found = _may_hold_memo[key] = intervals.truth(fixed) is not False
    return found


def _equal_counter(query: Query, counter: Expr) -> Expr | None:
    for c in query.conjuncts:
        if c.op == "eq" and counter in c.args:
            other = c.args[1] if c.args[0] is counter else c.args[0]
            if other.op == "sym" and other.value.startswith("loop:"):
                return other
    return None


def fix(query: Query, mapping: dict[Expr, Expr]) -> Query | None:
    """The query with symbols replaced by constants (recorded as ranges so that a witness still names them)."""
    memo: dict[int, Expr] = {}
    parts: list[Expr] = []
    for c in query.conjuncts:
        new = E.rewrite(c, mapping.get, memo)
        if new is E.FALSE:
            return None
        parts += [p for p in E.conjuncts(new) if p is not E.TRUE]
    parts += [E.compare("eq", s, v) for s, v in mapping.items()]
    overlap = query.overlap
    if overlap is not None:
        overlap = Overlap(
            E.rewrite(overlap.left, mapping.get, memo),
            E.rewrite(overlap.right, mapping.get, memo),
            overlap.left_width,
            overlap.right_width,
        )
    ranges = dict(query.ranges)
    for s, v in mapping.items():
        ranges[s] = (v.value, v.value)
    return Query(tuple(dict.fromkeys(parts)), query.facts, ranges, overlap, query.scope, query.no_signed_overflow)
