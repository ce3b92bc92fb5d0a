"""Lanes that gave the same to ``__match_any_sync``: they got one mask.

``if (lane == __ffs(peers) - 1) bins[key] += __popc(peers);`` One lane of each group acts for those of its warp that
have its key, so that no two lanes act for one key.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr
from analyzers.races.threads import Launch, Mode


def match_laws(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """For each two results that both threads hold: where they are one. All lanes of a mask come to the exchange
    together (CUDA C++ Programming Guide, "Warp Match Functions")."""
    if not launch.events.matches or mode not in ("warp", "block"):
        return []
    present = E.symbols(*conjuncts)
    out: list[Expr] = []
    for match in launch.events.matches.values():
        one, two = (launch.side(match.result, t, mode) for t in (1, 2))
        if one not in present or two not in present or one is two:
            continue
        alike = [(x, y) for x, y in zip(one.args, two.args, strict=True)]
        alike += [tuple(launch.side(e, t, mode) for t in (1, 2)) for e in (match.mask, match.value)]
        together = [E.compare("eq", x, y) for x, y in alike]
        if mode != "warp":
            together.append(launch.same_warp(mode))
        out.append(E.lor(E.lnot(E.land(*together)), E.compare("eq", one, two)))
    return out
