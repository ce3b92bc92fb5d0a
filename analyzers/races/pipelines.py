"""The order that a pipeline shared by a block puts on accesses of two of its threads.

An access of a producer that has committed c stages comes before what a thread does after it has waited for more than c;
one of a consumer that has released r stages comes before what a thread does after it has acquired more than r + N. So
does one of a producer that has committed c, where more than c + N are acquired: consumers wait before they release.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, Staged
from analyzers.ir.expr import I64, Expr
from analyzers.races.pairs import Pair
from analyzers.races.threads import Launch, Mode

_UNCLEAR = ("iterated:", "set:", "after:", "leaving:", "havoc:", "undefined:")


def unordered(launch: Launch, pair: Pair, mode: Mode) -> list[Expr]:
    """What has to hold for no pipeline to order the two accesses."""
    if mode == "grid":
        return []
    out: list[Expr] = []
    for mine, theirs in _common(pair.one, pair.two):
        for (a, first), (b, second) in (((mine, 1), (theirs, 2)), ((theirs, 2), (mine, 1))):
            out.append(E.lnot(_before(launch, a, first, b, second, mode)))
    return out


def is_unclear(pair: Pair) -> bool:
    """How many stages the threads have used at the accesses is not known."""
    counts = [
        e
        for both in _common(pair.one, pair.two)
        for s in both
        for e in (s.acquired, s.committed, s.waited, s.released, s.producer, s.consumer)
    ]
    return any(n.op == "opaque" and n.value[0].startswith(_UNCLEAR) for n in E.symbols(*counts))


def _common(one: AccessEvent, two: AccessEvent) -> list[tuple[Staged, Staged]]:
    others = {s.pipeline: s for s in two.staged}
    return [(s, others[s.pipeline]) for s in one.staged if s.pipeline in others]


def _before(launch: Launch, a: Staged, first: int, b: Staged, second: int, mode: Mode) -> Expr:
    def mine(e: Expr) -> Expr:
        return launch.side(e, first, mode)

    def theirs(e: Expr) -> Expr:
        return E.cast(launch.side(e, second, mode), I64)

    n = E.const(a.stages, I64)
    committed, released = (E.cast(mine(e), I64) for e in (a.committed, a.released))
    acquired, waited = theirs(b.acquired), theirs(b.waited)
    filled = E.lor(E.compare("lt", committed, waited), E.compare("lt", E.add(committed, n), acquired))
    emptied = E.compare("lt", E.add(released, n), acquired)
    return E.lor(E.land(mine(a.producer), filled), E.land(mine(a.consumer), emptied))
