"""Launches that pass what is no size where a loop was followed for sizes only (`analyzers.ir.wraparound`).

Takes events and a launch, gives what the launch passes against the assumption, as code without a model: what is known
of the launch contradicts that the number is below 2^62, or one of the values that the host chooses among is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import KernelEvents, UnsupportedEvent
from analyzers.ir.expr import U64, Expr, IntType
from analyzers.ir.wraparound import SIZE_BITS
from analyzers.races.conditions import query_of
from analyzers.races.relations import size_name
from analyzers.races.threads import Launch
from analyzers.solve.ladder import Ladder
from analyzers.solve.query import Proved

_NO_SIZE: Final = "`{name}` is {value} in this launch, and the loop that begins there is followed for sizes only"


def beyond_sizes(events: KernelEvents, context: LaunchContext, ladder: Ladder) -> tuple[UnsupportedEvent, ...]:
    """Loops that begin at a number which this launch passes and which is no size, though that was assumed."""
    if not events.sized:
        return ()
    bound, launch = dict(context.bindings), Launch(events, context)
    said = E.symbols(*(c.condition for c in context.constraints))
    found: list[UnsupportedEvent] = []
    for symbol, site in events.sized.items():
        for value in _choices(bound.get(symbol, symbol)):
            if _is_no_size(value, said, launch, ladder):
                shown = str(value.value) if value.op == "const" else "no number below 2^62"
                text = _NO_SIZE.format(name=size_name(symbol), value=shown)
                found.append(UnsupportedEvent("beyond-sizes", text, (), site))
                break
    return tuple(found)


def _choices(value: Expr) -> Iterator[Expr]:
    """The values that a choice is made among."""
    if value.op == "select":
        yield from (c for a in value.args[1:] for c in _choices(a))
    elif value.op == "cast" and value.args[0].op == "select":
        yield from (E.cast(c, value.ty) for c in _choices(value.args[0]))
    else:
        yield value


def _is_no_size(value: Expr, said: frozenset[Expr], launch: Launch, ladder: Ladder) -> bool:
    """Whether a number cannot be below 2^62 in this launch; others that the host calls by names are taken for sizes."""
    if value.op == "const":
        return not 0 <= value.value < 1 << SIZE_BITS
    own = E.symbols(value)
    if value.op == "sym" and own.isdisjoint(said):
        return False
    sizes = {value, *(s for s in own if s.op == "sym" and s.ty == U64)}
    below = [
        E.compare("lt", s, E.const(1 << SIZE_BITS, s.ty))
        for s in sizes
        if isinstance(s.ty, IntType) and s.ty.high >= 1 << SIZE_BITS
    ]
    query = query_of(launch, [launch.side(c, 1, "block") for c in below], "block")
    return query is None or isinstance(ladder.decide(query), Proved)
