"""Variables that some iterations of a loop set, and others leave as they are.

Takes the value of a variable at the end of an iteration, over what it was at the start of it, and tells in which
iterations it is set, and to what. At the start of iteration ``k`` it holds what the last iteration before ``k`` that
set it has set it to, or what it held in front of the loop. Which iteration that was is a number of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.expr import BOOL, FALSE, I64, TRUE, Expr, IntType, PointerType

MAX_NODES: Final = 200
"""Of the value at the end of an iteration: of a larger one nothing is said."""
_OPAQUE: Final = E.operations("opaque")
_UNKNOWN: Final = ("after:", "leaving:", "iterated:", "havoc:")
NEVER: Final = E.const(-1, I64)
"""In the place of an iteration: none has set it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of one variable, in terms of the counter of its loop."""

    start: Expr
    """In front of the loop."""
    sets: Expr
    """Whether an iteration sets it."""
    value: Expr
    """To what, where it does."""

    def after(self, last: Expr, counter: Expr) -> Expr:
        """What it holds when iteration ``last`` (I64) was the last to set it."""
        return E.select(E.compare("lt", last, E.const(0, I64)), self.start, E.substitute(self.value, {counter: last}))

    def known(self, last: Expr, counter: Expr, end: Expr) -> tuple[Expr, ...]:
        """What holds of the last iteration before ``end`` that sets it."""
        sets = E.substitute(self.sets, {counter: last})
        zero = E.const(0, I64)
        out = [E.compare("le", NEVER, last), E.compare("lt", last, end), E.lor(E.compare("lt", last, zero), sets)]
        before, none = E.sub(end, E.const(1, I64)), E.compare("le", end, zero)
        for turn, then in ((zero, E.compare("le", zero, last)), (before, E.compare("eq", last, before))):
            set_then = E.substitute(self.sets, {counter: turn})
            # Of the first iteration and of the one before it may be known, where no data decides.
            if not E.uses((set_then,), _OPAQUE):
                out.append(E.lor(none, E.lnot(set_then), then))
        return tuple(out)


def kept_values(
    ends: Mapping[str, Expr], starts: Mapping[str, Expr], placeholders: Mapping[str, Expr]
) -> dict[str, Kept]:
    """The variables of ``ends`` that are kept, of which none depends on another one. By variable, ``placeholders`` are
    the values at the start of an iteration; those of other variables stay in what is given."""
    found = {n: kept for n, end in ends.items() if (kept := _kept(end, placeholders[n], starts[n])) is not None}
    changing = {placeholders[n] for n in found}
    return {n: k for n, k in found.items() if changing.isdisjoint(E.symbols(k.sets, k.value)) and not _is_open(k.value)}


def _is_open(value: Expr) -> bool:
    """Whether a loop inside has computed it in ways that are not known: to know when is to know nothing then."""
    return any(s.op == "opaque" and s.value[0].startswith(_UNKNOWN) for s in E.symbols(value))


def _kept(end: Expr, before: Expr, start: Expr) -> Kept | None:
    if start.ty != end.ty or not isinstance(end.ty, (IntType, PointerType)):
        return None
    if sum(1 for _ in E.walk((end,))) > MAX_NODES:
        return None
    if end.ty == BOOL:
        # Conditions are no selections any more: ``found || kept`` is set where it does not depend on what is kept.
        no, yes = E.substitute(end, {before: FALSE}), E.substitute(end, {before: TRUE})
        if E.land(no, E.lnot(yes)) is not FALSE:
            return None
        sets = E.lor(no, E.lnot(yes))
        return None if sets is FALSE else Kept(start, sets, no)
    sets = _sets(end, before)
    if sets is None or sets is FALSE:
        return None
    return Kept(start, sets, E.substitute(end, {before: start}))


def _sets(end: Expr, before: Expr) -> Expr | None:
    """When a value is another one than ``before``; None where it is computed from that."""
    if end is before:
        return FALSE
    if before not in E.symbols(end):
        return TRUE
    if end.op != "select" or before in E.symbols(end.args[0]):
        return None
    chosen, then, other = end.args
    one, two = _sets(then, before), _sets(other, before)
    if one is None or two is None:
        return None
    return E.lor(E.land(chosen, one), E.land(E.lnot(chosen), two))
