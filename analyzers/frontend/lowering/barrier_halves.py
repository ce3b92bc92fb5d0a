"""Barriers with two halves, as the program writes them (``cuda::barrier``, ``__mbarrier_*``, the ``barrier_arrive`` of
cooperative groups): threads arrive, do something else, and wait.

The lowering leaves a mark for each half; `phases` replaces the marks when the whole kernel is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.frontend.lowering.barriers_in_memory import Place
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.ir.expr import BDIM, U32, U64, Expr, cast, compare, const, mul
from analyzers.ir.kernel import Atomic, Half, If, Phase, Store, Unsupported

SPLIT = ("split-barrier", "a barrier that separates arriving from waiting")
_WIDTH = 8
"""Bytes of a barrier in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Unsupported):
    """A half of a barrier."""

    half: Half
    barrier: Place | str
    """In memory, or the barrier of a cooperative group: ``block``, ``cluster`` or ``grid``."""
    phase: Phase | None = None
    """Of one in memory."""
    written: Expr | None = None
    """The address of one in memory, as the program computes it."""
    token: str = ""
    """The variable that an arrival leaves its phase in, or a wait finds it in."""
    done: str = ""
    """Of a wait that only asks: the variable that says whether the phase is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial(Unsupported):
    """Of a barrier in memory that not the whole block arrives at."""

    barrier: Place
    count: int | None
    """How many threads do."""


def place_of(ctx: Context, pointer: Expr) -> Place | None:
    """The place of a barrier in shared memory."""
    offset: int | None = 0
    while pointer.op in ("ptradd", "cast", "var"):
        if pointer.op == "var":
            held = ctx.assigned(pointer.value) if pointer.value.startswith("%") else None
            if held is None:
                return None
            pointer = held
            continue
        if pointer.op == "ptradd":
            by = pointer.args[1]
            offset = None if offset is None or by.op != "const" else offset + int(by.value)
        pointer = pointer.args[0]
    if pointer.op != "addr" or ctx.objects[pointer.value].space != "shared":
        return None
    return Place(pointer.value, offset)


def key_of(ctx: Context, pointer: Expr) -> str | None:
    """A name for a barrier in shared memory that stands at a fixed place."""
    place = place_of(ctx, pointer)
    return None if place is None else name_of(place)


def name_of(place: Place) -> str | None:
    return None if place.offset is None else f"{place.memory}+{place.offset}"


def init(ctx: Context, node: Node, pointer: Expr, expected: Expr) -> bool:
    """Set up a barrier in memory; False where it is not known which one, here and below."""
    place = place_of(ctx, pointer)
    if place is None:
        return False
    site = ctx.site(node)
    ctx.assumptions["every barrier in memory that is used was set up"] = None
    ctx.emit(Store(ctx.id(), pointer, ctx.havoc(U64, "a new barrier", node), _WIDTH, site))
    count = int(expected.value) if expected.op == "const" else None
    ctx.barriers.counts.append((place, count))
    everybody = cast(mul(mul(BDIM[0], BDIM[1]), BDIM[2]), U32)
    some = Partial("partial-barrier", "a barrier of some threads of the block", site, barrier=place, count=count)
    ctx.emit(If(compare("ne", cast(expected, U32), everybody), (some,), (), site))
    return True


def arrive_at(ctx: Context, node: Node, pointer: Expr, count: Expr, token: Expr) -> bool:
    """`token` stands for this arrival."""
    place = place_of(ctx, pointer)
    if place is None or count.op != "const" or count.value != 1:
        return False
    written, pointer = pointer, ctx.held(pointer)
    one = const(1, U64)
    ctx.emit(Atomic(ctx.id(), None, "add", U64, pointer, (one,), _WIDTH, "block", "relaxed", ctx.site(node)))
    phase = Phase(pointer, token.value)
    site = ctx.site(node)
    ctx.emit(Mark(*SPLIT, site, half="arrive", barrier=place, phase=phase, written=written, token=token.value))
    return True


def _read(ctx: Context, node: Node, pointer: Expr) -> None:
    """Who waits reads the barrier: it has to be set up by then, and must not be set up again."""
    ctx.emit(Atomic(ctx.id(), None, "load", U64, pointer, (), _WIDTH, "block", "relaxed", ctx.site(node)))


def wait_at(ctx: Context, node: Node, pointer: Expr, token: Expr, done: str = "") -> bool:
    """Wait for the phase of `token`; with the variable `done` ask whether it is complete."""
    place = place_of(ctx, pointer)
    if place is None:
        return False
    kept = ctx.temporary(token.ty, "token")
    ctx.assign(kept, token)
    phase = Phase(ctx.held(pointer), awaited=kept)
    mark = Mark(*SPLIT, ctx.site(node), half="wait", barrier=place, phase=phase, token=kept.value, done=done)
    ctx.emit(replace(mark, written=pointer))
    return True


def wait_for_parity(ctx: Context, node: Node, pointer: Expr, parity: Expr, done: str = "") -> bool:
    """Wait for the last phase with that parity, the one that is open or the one before it."""
    place = place_of(ctx, pointer)
    if place is None:
        return False
    phase = Phase(ctx.held(pointer), awaited=ctx.held(parity), parity=True)
    _read(ctx, node, phase.place)
    ctx.emit(Mark(*SPLIT, ctx.site(node), half="wait", barrier=place, phase=phase, done=done))
    return True


def half_of_group(ctx: Context, node: Node, group: str, half: Half) -> None:
    ctx.emit(Mark(*SPLIT, ctx.site(node), half=half, barrier=group))
