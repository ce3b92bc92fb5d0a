"""Readable dumps of the stages between a kernel and its verdict, for ``cuda-lsp explain``."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent, BarrierEvent, FenceEvent, Guard, KernelEvents
from analyzers.ir.expr import show
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import race_query
from analyzers.races.ordering import cases
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Satisfied, Undecided

PASSES = ("ir", "events", "lockstep", "pairs", "conditions")


def explain_events(events: KernelEvents) -> str:
    """Accesses, barriers and fences in program order, each with its object, offset and guard."""
    lines = [f"kernel {events.kernel.name}"]
    for e in sorted((*events.accesses, *events.barriers, *events.meetings, *events.fences), key=lambda e: e.order):
        lines.append(f"{e.order:4d} line {e.site.span.line:<5d} {_event(e)}")
        if e.guard:
            lines.append(f"       when {_guard(e.guard)}")
    lines += [f"     unsupported {u.kind}: {u.text} (line {u.site.span.line})" for u in events.unsupported]
    lines += [f"     assumes {a}" for a in events.assumptions]
    return "\n".join(lines)


def explain_lockstep(events: KernelEvents) -> str:
    """The same events as a linear order of guarded steps inside lock-step loops: a loop runs while any thread wants
    it."""
    lines: list[str] = []
    open_loops: list[str] = []
    for e in sorted((*events.accesses, *events.barriers, *events.meetings, *events.fences), key=lambda e: e.order):
        loops = list(e.loops)
        keep = 0
        while keep < min(len(loops), len(open_loops)) and loops[keep] == open_loops[keep]:
            keep += 1
        for depth in range(len(open_loops), keep, -1):
            lines.append("  " * (depth - 1) + "}")
        open_loops = open_loops[:keep]
        for label in loops[keep:]:
            loop = events.loops[label]
            header = loop.site.text or label
            lines.append(
                "  " * len(open_loops) + f"while any thread wants iteration {show(loop.counter)}  // {header} {{"
            )
            open_loops.append(label)
        lines.append("  " * len(open_loops) + f"[{_guard(e.guard) or 'always'}] {_event(e)}")
    for depth in range(len(open_loops), 0, -1):
        lines.append("  " * (depth - 1) + "}")
    return "\n".join(lines)


def explain_pairs(events: KernelEvents, context: LaunchContext) -> str:
    """The conflicting pairs and the ways in which barriers leave them unordered."""
    launch = Launch(events, context)
    lines: list[str] = []
    for pair in conflicting(launch):
        lines.append(f"{_placed(pair.one)}  x  {_placed(pair.two)}")
        for case in cases(launch, pair.one, pair.two, "block").possible:
            lines.append(
                f"    one block, {case.relation}: " + (", ".join(map(show, case.conjuncts)) or "unconditionally")
            )
        if pair.space == "global":
            lines.append("    different blocks: never ordered by a block barrier")
    return "\n".join(lines) or "no conflicting pairs"


def explain_conditions(events: KernelEvents, context: LaunchContext, budget: int) -> str:
    """Every question asked, with its answer and the rung that gave it."""
    return "\n".join(_conditions(events, context, budget)) or "no questions"


def _conditions(events: KernelEvents, context: LaunchContext, budget: int) -> Iterator[str]:
    launch = Launch(events, context)
    checker = RaceChecker(launch, Ladder(Budget(smt=budget)))
    for pair in conflicting(launch):
        modes = ("block", "grid") if pair.crosses_blocks else ("block",)
        for mode in modes:
            for case in cases(launch, pair.one, pair.two, mode).possible:
                yield f"{_event(pair.one)}  x  {_event(pair.two)}  [{mode}, {case.relation}]"
                query = race_query(launch, pair, case, mode)
                if query is None:
                    yield "    contradictory as it stands"
                    continue
                for c in query.conjuncts:
                    yield f"    {show(c)}"
                for f in query.facts:
                    yield f"    given {show(f.condition)}" + ("" if f.tag < 0 else f"  [fact {f.tag}]")
                answer = checker.asker.answer(query)
                if isinstance(answer, Satisfied):
                    yield f"    => possible ({answer.rung}): " + ", ".join(
                        f"{show(s)}={v}" for s, v in answer.values.items()
                    )
                elif isinstance(answer, Undecided):
                    yield f"    => undecided: {answer.kind} {answer.text}"
                else:
                    yield f"    => impossible ({answer.rung})"


def _event(e: AccessEvent | BarrierEvent | FenceEvent) -> str:
    if isinstance(e, AccessEvent):
        what = e.kind if e.atomic is None else f"atomic {e.atomic.op} ({e.atomic.scope}, {e.atomic.order})"
        written = f"`{e.site.text}` at " if e.site.text else ""
        return f"{what} {written}{show(e.root)} + {show(e.offset)}, {e.width} bytes"
    written = f" `{e.site.text}`" if e.site.text else ""
    if isinstance(e, BarrierEvent):
        half = "" if e.half == "both" else f", {e.half}"
        if e.phase is None:
            return f"barrier{written} ({e.scope}{half})"
        kind = "parity" if e.phase.parity else "token"
        awaited = "" if e.phase.awaited is None else f" for {kind} {show(e.phase.awaited)}"
        return f"barrier{written} ({e.scope}{half}) at {show(e.phase.root)} + {show(e.phase.offset)}{awaited}"
    return f"fence{written} ({e.scope}, {e.memory_order})"


def _placed(e: AccessEvent) -> str:
    return f"{_event(e)} (line {e.site.span.line})"


def _guard(guard: Guard) -> str:
    return " && ".join(show(c.condition) for c in guard)
