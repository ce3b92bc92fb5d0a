"""Warp exchanges: the results of shuffles, votes, matches and reductions for the lanes that take part.

Names are CUDA's, with or without ``__`` and ``_sync``; the operands are the arguments of the call, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from analyzers.ir.expr import FloatType, IntType, Type
from analyzers.reference.functions import round_float
from analyzers.reference.launch import WARP

Garbage = Callable[[int], Any]
"""What a lane reads from one that does not take part."""


def plain_name(name: str) -> str:
    """``shfl_down`` for ``__shfl_down_sync``."""
    return name.removeprefix("__").removesuffix("_sync")


def takes_mask(name: str) -> bool:
    return name.endswith("_sync")


def of_block(name: str) -> bool:
    """A collective of all threads of a block, which are its lanes then."""
    return name.startswith("block_")


def _summed(name: str, lanes: Mapping[int, Sequence[Any]], ty: Type, garbage: Garbage) -> dict[int, Any]:
    """``block_scan(value, x, y, z)``, ``warp_scan(value, width)`` and the totals: the values of all lanes of the group
    that come before, and of all. Where lanes are missing, nothing is known (CUB)."""
    out: dict[int, Any] = {}
    size = prod(next(iter(lanes.values()))[1:])
    groups: dict[int, list[int]] = {}
    for lane in sorted(lanes):
        groups.setdefault(lane // size if size else 0, []).append(lane)
    for members in groups.values():
        total = 0
        for lane in members:
            out[lane] = total
            total += lanes[lane][0]
        for lane in members:
            if len(members) != size:
                out[lane] = garbage(lane)
            else:
                out[lane] = _wrap(total if name.endswith("_total") else out[lane], ty)
    return out


def _source(kind: str, lane: int, argument: int, width: int) -> int:
    """The lane a shuffle reads from; the own lane where the source would leave the segment."""
    first = lane // width * width
    if kind == "shfl":
        return first + argument % width
    if kind == "shfl_up":
        return lane - argument if lane - argument >= first else lane
    if kind == "shfl_down":
        return lane + argument if lane + argument < first + width else lane
    target = lane ^ argument
    # CUDA lets a lane read from earlier segments, not from later ones.
    return target if target < first + width else lane


def _shuffle(kind: str, lanes: Mapping[int, Sequence[Any]], garbage: Garbage) -> dict[int, Any]:
    out: dict[int, Any] = {}
    for lane, arguments in lanes.items():
        width = arguments[2] if len(arguments) > 2 and 1 <= arguments[2] <= WARP else WARP
        source = _source(kind, lane, arguments[1], width)
        out[lane] = lanes[source][0] if source in lanes else garbage(lane)
    return out


def _reduced(kind: str, values: Sequence[Any], ty: Type) -> Any:
    result = values[0]
    for v in values[1:]:
        if kind == "add":
            result = result + v
        elif kind == "min":
            result = min(result, v)
        elif kind == "max":
            result = max(result, v)
        elif kind == "and":
            result = result & v
        elif kind == "or":
            result = result | v
        else:
            result = result ^ v
    if isinstance(ty, IntType):
        return ty.wrap(result)
    return round_float(result, ty.width) if isinstance(ty, FloatType) else result


def _bits(lanes: Mapping[int, Any]) -> int:
    return sum(1 << lane for lane in lanes)


def exchange(name: str, lanes: Mapping[int, Sequence[Any]], ty: Type, garbage: Garbage) -> dict[int, Any] | None:
    """Results by lane, given the operands (without the mask) of the lanes that take part; None for an unknown name."""
    if name in ("block_scan", "block_total", "warp_scan", "warp_total"):
        return _summed(name, lanes, ty, garbage)
    kind = plain_name(name)
    if kind in ("shfl", "shfl_up", "shfl_down", "shfl_xor"):
        return _shuffle(kind, lanes, garbage)
    if kind == "activemask":
        return dict.fromkeys(lanes, _wrap(_bits(lanes), ty))
    if kind in ("any", "all", "ballot", "uni"):
        votes = {lane: bool(arguments[0]) for lane, arguments in lanes.items()}
        results = {
            "any": int(any(votes.values())),
            "all": int(all(votes.values())),
            "uni": int(len(set(votes.values())) == 1),
            "ballot": _bits({lane: vote for lane, vote in votes.items() if vote}),
        }
        return dict.fromkeys(lanes, _wrap(results[kind], ty))
    if kind == "match_any":
        return {
            lane: _wrap(_bits({other: 0 for other, b in lanes.items() if b[0] == a[0]}), ty)
            for lane, a in lanes.items()
        }
    if kind == "match_all":
        same = len({a[0] for a in lanes.values()}) == 1
        return dict.fromkeys(lanes, _wrap(_bits(lanes) if same else 0, ty))
    if kind.startswith("reduce_") and kind[7:] in ("add", "min", "max", "and", "or", "xor"):
        return dict.fromkeys(lanes, _reduced(kind[7:], [a[0] for a in lanes.values()], ty))
    return None


def _wrap(value: int, ty: Type) -> Any:
    return ty.wrap(value) if isinstance(ty, IntType) else value
