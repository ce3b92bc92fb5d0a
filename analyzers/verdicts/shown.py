"""What of a witness is worth telling: the values its question mentions, memory cells by name, loops by their variable.

Takes a launch, the two accesses of a race and concrete values, and gives the parts of `Witness` and `Access`. Contents
of memory that the solver chose are shown only when two threads that found them there were executed to the collision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent, BarrierEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.model import LoopTurn
from analyzers.races.threads import Launch, Mode
from analyzers.races.witness import Concrete, address_text
from analyzers.reference.replay import Way, replay
from analyzers.verdicts.replay import concrete_launch

STEPS = 20_000
"""Statements each thread may execute on the way."""

_HEADER = re.compile(
    r"for\s*\(\s*(?:[\w:]+[\s&*]+)*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<first>[^;,]*?)\s*;[^;]*;\s*(?P<step>[^;,]*?)\s*\)\s*$"
)
_STEPS: Sequence[tuple[str, str]] = (
    (r"(?:\+\+\s*NAME|NAME\s*\+\+)", "+1"),
    (r"(?:--\s*NAME|NAME\s*--)", "-1"),
    (r"NAME\s*\+=\s*(\d+)", "+"),
    (r"NAME\s*-=\s*(\d+)", "-"),
    (r"NAME\s*\*=\s*(\d+)", "*"),
    (r"NAME\s*/=\s*(\d+)", "/"),
    (r"NAME\s*>>=\s*(\d+)", ">>"),
    (r"NAME\s*<<=\s*(\d+)", "<<"),
)


def roots_of(events: Iterable[AccessEvent | BarrierEvent]) -> tuple[Expr, ...]:
    """What a question about events speaks of: when they happen and where."""
    found: list[Expr] = []
    for event in events:
        found += [conjunct.condition for conjunct in event.guard]
        if isinstance(event, AccessEvent):
            found += [event.offset, event.root]
    return tuple(found)


def parameters(launch: Launch, concrete: Concrete, roots: Sequence[Expr]) -> tuple[tuple[str, int], ...]:
    """The kernel's parameters and the host's values that a question mentions, by name."""
    names = {str(s.value).removeprefix("param:") for s in E.symbols(*roots) if str(s.value).startswith("param:")}
    hosts = {
        str(s.value).split(":", 2)[-1]
        for s in E.symbols(*(launch.bind(root) for root in roots))
        if s.op == "sym" and str(s.value).startswith("host:")
    }
    values = {name: value for name, value in concrete.host.items() if name in hosts}
    values |= {name: value for name, value in concrete.parameters.items() if name in names}
    return tuple(sorted(values.items()))


def executed_data(
    launch: Launch, concrete: Concrete, pair: tuple[AccessEvent, AccessEvent], mode: Mode, *, zeros: bool
) -> tuple[tuple[tuple[str, int], ...], tuple[Way, Way] | None]:
    """The contents of memory that a collision was seen with, cell and value, and how the threads came to it. Empty when
    there is none, or when it was not seen. ``zeros``: it was seen with zeros, which then are told; or else what the
    solver chose is tried."""
    kernel = launch.events.kernel
    objects = {o.name: o for o in kernel.objects}
    call = concrete_launch(launch, concrete)
    cells: dict[tuple[str, int], tuple[int, int]] = {}
    places: dict[tuple[str, int], tuple[str, int]] = {}
    sides = [launch.side(root, side + 1, mode) for side, event in enumerate(pair) for root in roots_of([event])]
    for node in E.walk(sides):
        if node.op != "opaque" or node not in concrete.values:
            continue
        name = str(node.value[0]).split(":")[1] if str(node.value[0]).startswith("mem:") else ""
        at = evaluate(node.args[0], concrete.values) if node.args else None
        if name not in objects or at is None or not isinstance(node.ty, IntType):
            return (), None
        cell = (0 if zeros else concrete.values[node], max(node.ty.width // 8, 1))
        # Several names may be those of one allocation.
        allocation, start = call.aliases.get(name, (name, 0))
        places[name, at] = allocation, start + at
        if cells.setdefault((allocation, start + at), cell) != cell:
            return (), None
    if not cells:
        return (), None

    met: set[tuple[str, int]] = set()

    def contents(name: str, offset: int, width: int) -> int | None:
        known = cells.get((name, offset))
        met.add((name, offset))
        return known[0] & ((1 << 8 * width) - 1) if known is not None and known[1] == width else None

    found = replay(
        kernel,
        call,
        (concrete.blocks[0], concrete.threads[0]),
        (concrete.blocks[1], concrete.threads[1]),
        pair[0].id,
        pair[1].id,
        data=contents,
        steps=STEPS,
    )
    if found.outcome == "not-reached" or "signed-overflow" in found.undefined:
        return (), None
    texts: dict[str, int] = {}
    for (name, offset), place in sorted(places.items()):
        if place in met:
            o = objects[name]
            cell = address_text(o.display or o.name, offset, o.element, o.extents, o.kind == "declared")
            texts[cell], _ = cells[place]
    return tuple(texts.items()), found.ways if texts else None


def ways_at(
    launch: Launch, concrete: Concrete, pair: tuple[AccessEvent, AccessEvent], mode: Mode, address: int | None
) -> tuple[Way, Way] | None:
    """How the threads come to their collision in the turns of their loops that the values tell, where that is at
    ``address``: a replay may have seen another one first."""
    wanted = tuple(
        tuple(
            (label, concrete.values.get(launch.side(launch.events.loops[label].counter, side, mode), -1))
            for label in event.loops
        )
        for side, event in enumerate(pair, start=1)
    )
    found = replay(
        launch.events.kernel,
        concrete_launch(launch, concrete),
        (concrete.blocks[0], concrete.threads[0]),
        (concrete.blocks[1], concrete.threads[1]),
        pair[0].id,
        pair[1].id,
        iterations=(wanted[0], wanted[1]),
        steps=STEPS,
    )
    return found.ways if found.address == address else None


def turns_of(launch: Launch, event: AccessEvent, concrete: Concrete, thread: int, mode: Mode) -> tuple[LoopTurn, ...]:
    """In which turn of each enclosing loop a thread is, outermost first."""
    found: list[LoopTurn] = []
    for depth, label in enumerate(event.loops):
        loop = launch.events.loops[label]
        iteration = concrete.values.get(launch.side(loop.counter, thread, mode))
        if iteration is None:
            continue
        header = _HEADER.match(loop.site.text)
        name = header["name"] if header is not None else None
        value = None
        if header is not None:
            tests = [
                launch.side(c.condition, thread, mode)
                for c in event.guard
                if c.kind == "loop" and c.depth in (depth, depth + 1) and loop.counter in E.symbols(c.condition)
            ]
            counter = launch.side(loop.counter, thread, mode)
            value = _value(header["first"], header["step"], header["name"], tests, counter, iteration, concrete.values)
        found.append(LoopTurn(loop.site.span, iteration, name, value))
    return tuple(found)


def _value(
    first: str, step: str, name: str, tests: Sequence[Expr], counter: Expr, iteration: int, values: Mapping[Expr, int]
) -> int | None:
    """The value of a loop's variable: as its header says, where the test that the analysis sees agrees."""
    if not re.fullmatch(r"-?\d+", first):
        return None
    change = next(
        (
            (kind, int(match[1]) if match.groups() else 1)
            for pattern, kind in _STEPS
            if (match := re.fullmatch(pattern.replace("NAME", re.escape(name)), step)) is not None
        ),
        None,
    )
    if change is None:
        return None

    def after(turns: int) -> int:
        value = int(first)
        for _ in range(turns):
            value = _stepped(value, *change)
        return value

    if iteration > 4096:
        return None
    for test in tests:
        for side in test.args:
            if counter in E.symbols(side):
                seen = [evaluate(side, {**values, counter: turn}) for turn in (0, 1, 2, iteration)]
                if seen == [after(turn) for turn in (0, 1, 2, iteration)]:
                    return after(iteration)
    return None


def _stepped(value: int, kind: str, amount: int) -> int:
    match kind:
        case "+1" | "+":
            return value + amount
        case "-1" | "-":
            return value - amount
        case "*":
            return value * amount
        case "/":
            return int(value / amount) if amount else value
        case ">>":
            return value >> amount
        case _:
            return value << amount
