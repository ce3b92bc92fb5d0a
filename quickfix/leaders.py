"""Threads that write for others: of those that mean the same cell, one that can be told by its own number.

Takes analysed kernels and a write, gives conditions that hold for one thread of each group that means one cell, as the
index is computed: ``threadIdx.x % 2 == 0`` for ``out[threadIdx.x / 2]``, ``threadIdx.x < 8`` for
``s[threadIdx.x & 7]``, ``threadIdx.x == 0`` for ``row[threadIdx.y]``. Each stands for a map from threads to those that
write for them. It is proved that the latter come to the write wherever the former do, in the same iterations, and mean
the same cell; that no two of the latter collide is for the engine to say of the edited text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import U32, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Access
from analyzers.races.check import RaceChecker
from analyzers.races.threads import Launch
from quickfix.proving import is_never, prover
from quickfix.session import Session

_MOST: Final = 64
"""Maps that are looked at."""
_AXES: Final = "xyz"


@dataclass(frozen=True, slots=True)
class _Way:
    """What becomes of the number of a thread along one axis, and the conditions that it stays as it is."""

    conditions: tuple[str, ...]
    leader: Expr


def leaders(session: Session, kernels: Sequence[KernelAnalysis], access: Access) -> Iterator[str]:
    """The conditions, the simplest first."""
    writes = [(a, [e for e in a.events.accesses if _is_of(e, access)]) for a in kernels]
    if not all(found for _, found in writes):
        return
    block = range(3)
    used = {symbol for _, found in writes for e in found for symbol in E.symbols(e.offset, e.root)}
    numbers = sorted({number for _, found in writes for e in found for number in _numbers(e.offset)})
    extents = [c.launch.block for a in kernels for c in a.result.contexts]
    flat = [axis for axis in block if all(axis >= len(extent) or extent[axis] == "1" for extent in extents)]
    ways = [[_Way((), E.TID[axis])] if axis in flat else _ways(axis, numbers, E.TID[axis] in used) for axis in block]
    chosen = sorted(product(*ways), key=lambda each: sum(len(way.conditions) for way in each))
    for each in islice(chosen, _MOST):
        conditions = [condition for way in each for condition in way.conditions]
        leader = {E.TID[axis]: way.leader for axis, way in enumerate(each)}
        if conditions and all(_writes_for_all(session, a, found, leader) for a, found in writes):
            yield " && ".join(conditions)


def _is_of(event: AccessEvent, access: Access) -> bool:
    at, place = event.site.span, access.span
    return event.writes and (at.path, at.start_offset) == (place.path, place.start_offset)


def _numbers(offset: Expr) -> Iterator[int]:
    """What an index divides by, as shifts and masks do, too."""
    for node in E.walk([offset]):
        number = node.args[1].value if len(node.args) == 2 and node.args[1].op == "const" else None
        if not isinstance(number, int):
            continue
        if node.op in ("div", "rem") and number > 1:
            yield number
        elif node.op == "shr" and 0 < number < U32.width:
            yield 1 << number
        elif node.op == "and":
            for size in (number + 1, -number % (1 << U32.width)):
                if 1 < size < 1 << (U32.width - 1) and size & (size - 1) == 0:
                    yield size


def _ways(axis: int, numbers: Sequence[int], used: bool) -> list[_Way]:
    """`used`: the index mentions the number along the axis."""
    own, name = E.TID[axis], f"threadIdx.{_AXES[axis]}"
    zero = _Way((f"{name} == 0",), E.const(0, U32))
    if not used:
        return [zero]
    found = [_Way((), own), zero]
    for number in numbers:
        rest = E.binary("rem", own, E.const(number, U32))
        found.append(_Way((f"{name} % {number} == 0",), E.sub(own, rest)))
        found.append(_Way((f"{name} < {number}",), rest))
    for one, two in product(numbers, repeat=2):
        # Of `t / one % two`.
        within = E.binary("rem", own, E.const(one * two, U32))
        leader = E.sub(within, E.binary("rem", within, E.const(one, U32)))
        found.append(_Way((f"{name} % {one} == 0", f"{name} < {one * two}"), leader))
    return found


def _writes_for_all(
    session: Session, analysis: KernelAnalysis, writes: Iterable[AccessEvent], leader: Mapping[Expr, Expr]
) -> bool:
    """Whether with every thread that comes to one of the writes its leader does, and means the same cell."""
    for context in analysis.contexts:
        with prover(session, Launch(analysis.events, context)) as checker:
            if not all(_writes_for(checker, event, leader) for event in writes):
                return False
    return True


def _writes_for(checker: RaceChecker, event: AccessEvent, leader: Mapping[Expr, Expr]) -> bool:
    if event.lanes or not is_uniform(event.root) or not _is_of_numbers(event.offset):
        return False
    given = [c.condition for c in event.guard]
    varying = [c for c in event.guard if c.kind != "assume" and not is_uniform(c.condition)]
    # In a loop that threads leave by themselves, their leader may have left it before.
    if any(c.depth and c.kind != "branch" for c in varying) or not all(_is_of_numbers(c.condition) for c in varying):
        return False
    wanted = [E.substitute(c.condition, leader) for c in varying]
    wanted.append(E.compare("eq", event.offset, E.substitute(event.offset, leader)))
    launch = checker.launch
    asked = ([launch.side(launch.bind(c), 1, "block") for c in (*given, E.lnot(each))] for each in wanted)
    return all(is_never(checker, conditions) for conditions in asked)


def _is_of_numbers(value: Expr) -> bool:
    """Whether a value is the same for all threads, or computed with nothing that a thread has read."""
    return is_uniform(value) or not any(symbol.op == "opaque" for symbol in E.symbols(value))
