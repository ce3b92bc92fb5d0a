"""Launches that pass what is no size where a loop was followed for sizes only (`analyzers.ir.wraparound`).

Takes events and a launch, gives what the launch passes against the assumption, as code without a model: what is known
of the launch contradicts that the number is below 2^62, or 2^31 for one of 32 bits, or the host may choose a constant
that is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import KernelEvents, UnsupportedEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.wraparound import SIZE_BITS
from analyzers.races.conditions import query_of
from analyzers.races.relations import size_name
from analyzers.races.threads import Launch
from analyzers.solve.ladder import Ladder
from analyzers.solve.query import Proved

_NO_SIZE: Final = (
    "`{name}` {what} in this launch, and the loop that begins there or goes by it is followed for sizes only"
)


def beyond_sizes(events: KernelEvents, context: LaunchContext, ladder: Ladder) -> tuple[UnsupportedEvent, ...]:
    """Loops that begin at a number which this launch passes, or may pass, and which is no size, though that was
    assumed."""
    if not events.sized:
        return ()
    bound, passed = dict(context.bindings), _Passed(Launch(events, context), ladder)
    said = E.symbols(*(c.condition for c in context.constraints))
    found: list[UnsupportedEvent] = []
    for symbol, site in events.sized.items():
        value = bound.get(symbol, symbol)
        if value.op == "sym" and value not in said:
            continue
        what = passed.against_sizes(value)
        if what:
            text = _NO_SIZE.format(name=size_name(symbol), what=what)
            found.append(UnsupportedEvent("beyond-sizes", text, (), site))
    return tuple(found)


def computes_sizes(events: KernelEvents, context: LaunchContext) -> bool:
    """Whether the launch computes a number that is assumed to be a size, or converts one that may be negative: for the
    values that make none of it, the kernel is not looked at. That is no reason to take a barrier away."""
    bound = dict(context.bindings)
    return any(bound.get(symbol, symbol).op not in ("const", "sym") for symbol in events.sized)


class _Passed:
    """What a launch passes."""

    def __init__(self, launch: Launch, ladder: Ladder) -> None:
        self._launch, self._ladder = launch, ladder

    def against_sizes(self, value: Expr) -> str:
        """What of a number contradicts that it is a size, as a predicate; empty where nothing does."""
        bits = _size_bits(value)
        if value.op == "const":
            return "" if _is_size(value) else f"is {value.value}"
        for choice, conditions in _choices(value, ()):
            if choice.op == "const" and not _is_size(choice) and self._is_possible(*conditions):
                return f"may be {choice.value}"
        if not isinstance(value.ty, IntType) or value.ty.high < 1 << bits:
            return ""
        limit = E.const(1 << bits, value.ty)
        below, above = E.compare("lt", value, limit), E.compare("le", limit, value)
        return f"is no number below 2^{bits}" if not self._is_possible(below) and self._is_possible(above) else ""

    def _is_possible(self, *conditions: Expr) -> bool:
        """Whether it is not proved that the launch has no values that meet these."""
        query = query_of(self._launch, [self._launch.side(c, 1, "block") for c in conditions], "block")
        return query is not None and not isinstance(self._ladder.decide(query), Proved)


def _is_size(constant: Expr) -> bool:
    return 0 <= constant.value < 1 << _size_bits(constant)


def _size_bits(value: Expr) -> int:
    return SIZE_BITS if not isinstance(value.ty, IntType) or value.ty.width > 32 else 31


def _choices(value: Expr, conditions: tuple[Expr, ...]) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """The values that a choice is made among, each with the conditions under which it is."""
    chosen = value.args[0] if value.op == "cast" else value
    if chosen.op != "select":
        yield value, conditions
        return
    condition, one, other = chosen.args
    for side, held in ((one, condition), (other, E.lnot(condition))):
        yield from _choices(E.cast(side, value.ty) if value.op == "cast" else side, (*conditions, held))
