"""Warp collectives, computed for all lanes at once when the last of them has arrived (PTX ISA, "shfl", "vote", …).

Compiled by `gpu_runner.native`.
"""

from __future__ import annotations

from gpu_runner.cpu.layout import Collective
from gpu_runner.cpu.machine import Machine, Notice
from gpu_runner.cpu.notices import note
from gpu_runner.native.translate import native

SHUFFLE_OUTSIDE = 32
"""Added to the lane of a shuffle whose source is out of range."""


@native
def source_lane(op: int, lane: int, operand: int, clamp: int) -> int:
    """Lane to read from in one lane's shuffle, with `SHUFFLE_OUTSIDE` where that is its own because the other is out of
    range; the pseudo-code of the PTX ISA."""
    segment = (clamp >> 8) & 31
    by = operand & 31
    lowest = lane & segment
    highest = lowest | (clamp & ~segment & 31)
    source = lowest | (by & ~segment & 31)
    inside = source <= highest
    if op == Collective.SHFL_UP:
        source = lane - by
        inside = source >= highest
    elif op == Collective.SHFL_DOWN:
        source = lane + by
        inside = source <= highest
    elif op == Collective.SHFL_BFLY:
        source = lane ^ by
        inside = source <= highest
    return source if inside else lane + SHUFFLE_OUTSIDE


@native
def signed(word: int) -> int:
    """32 bits as a signed number."""
    return word - (1 << 32) if word >> 31 & 1 else word


@native
def reduced(m: Machine, op: int, first: int, lanes: int) -> int:
    """A reduction over the 32-bit values of the lanes."""
    value = 0
    begun = 0
    for lane in range(32):
        if lanes >> lane & 1:
            word = m.threads[first + lane].a & 0xFFFFFFFF
            if op == Collective.REDUX_MIN_S or op == Collective.REDUX_MAX_S:
                word = signed(word)
            if not begun:
                value = word
                begun = 1
            elif op == Collective.REDUX_ADD:
                value = (value + word) & 0xFFFFFFFF
            elif op == Collective.REDUX_MIN_U or op == Collective.REDUX_MIN_S:
                value = min(value, word)
            elif op == Collective.REDUX_MAX_U or op == Collective.REDUX_MAX_S:
                value = max(value, word)
            elif op == Collective.REDUX_AND:
                value = value & word
            elif op == Collective.REDUX_OR:
                value = value | word
            else:
                value = value ^ word
    return value & 0xFFFFFFFF


@native
def equal_lanes(m: Machine, first: int, lanes: int, lane: int) -> int:
    """The lanes whose value is that of `lane`."""
    found = 0
    for other in range(32):
        if lanes >> other & 1 and m.threads[first + other].a == m.threads[first + lane].a:
            found = found | 1 << other
    return found


@native
def vote(op: int, ballot: int, lanes: int) -> int:
    if op == Collective.VOTE_ALL:
        return ballot == lanes
    if op == Collective.VOTE_ANY:
        return ballot != 0
    if op == Collective.VOTE_UNI:
        return ballot == 0 or ballot == lanes
    return ballot


@native
def complete(m: Machine, first: int, lanes: int, op: int) -> None:
    """Give every one of the lanes of the warp that begins at thread `first` its result."""
    ballot = 0
    leader = 32
    for lane in range(32):
        if lanes >> lane & 1:
            leader = min(leader, lane)
            if m.threads[first + lane].a != 0:
                ballot = ballot | 1 << lane
    total = 0
    if op >= Collective.REDUX_ADD and op <= Collective.REDUX_XOR:
        total = reduced(m, op, first, lanes)
    for lane in range(32):
        if not lanes >> lane & 1:
            continue
        thread = m.threads[first + lane]
        result = total
        predicate = 0
        if op >= Collective.SHFL_UP and op <= Collective.SHFL_IDX:
            source = source_lane(op, lane, thread.b, thread.c)
            predicate = source < SHUFFLE_OUTSIDE
            source = source & 31
            if lanes >> source & 1:
                result = m.threads[first + source].a
            else:
                result = m.undefined if thread.site == m.undefined_site else 0
                if thread.mask >> lane & 1:
                    note(m, Notice.UNDEFINED_LANE, thread, thread, op, source)
        elif op >= Collective.VOTE_ALL and op <= Collective.VOTE_BALLOT:
            result = vote(op, ballot, lanes)
        elif op == Collective.MATCH_ANY:
            result = equal_lanes(m, first, lanes, lane)
        elif op == Collective.MATCH_ALL:
            predicate = equal_lanes(m, first, lanes, lane) == lanes
            result = lanes if predicate else 0
        elif op == Collective.ACTIVE_MASK:
            result = lanes
        elif op == Collective.ELECT:
            result = leader
            predicate = lane == leader
        thread.result = result
        thread.predicate = predicate
