"""Repairs of generated kernels, judged by executing them.

Takes a seed, gives what contradicts the repairs that are offered for its kernel: a race or a missed barrier of an
execution of the edited text that is not reported, a thread that makes other accesses than before (a choice of one
writer may leave out writes), memory that depends on the schedule though nothing races and no choice says that it does,
and an inserted barrier without which no race comes back. Memory steers neither conditions nor addresses in these
kernels, so that what a thread accesses does not depend on races.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from analyzers.analysed import UnitAnalysis
from analyzers.engine import Engine
from analyzers.ir.kernel import Atomic, Kernel, Load, Store, statements
from analyzers.model import Fix, Verdict
from analyzers.reference.generator import Flavour, GeneratedKernel, generate
from analyzers.reference.interpreter import run
from analyzers.reference.races import divergences, races
from analyzers.reference.result import RunResult
from analyzers.requests import CheckRequest
from cuda_lsp.cli.fix import apply
from quickfix import answers
from quickfix.naming import line_of

PATH: Final = "/virtual/generated.cu"
BARRIER: Final = re.compile(r"__sync(?:threads|warp)\((?:0x[0-9a-f]+)?\);")
SCHEDULES: Final = 3
_RACES: Final = (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
Pair = frozenset[tuple[int, ...]]
_Made = tuple[str, int, int, str]
"""An access: object, offset, width, kind."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one seed."""

    seed: int
    kinds: tuple[str, ...]
    """Of the repairs that were offered."""
    contradictions: tuple[str, ...]


def kernel_of(seed: int, size: int, *, blocks: int = 1) -> GeneratedKernel:
    """The kernel of a seed, for one block or two; some have barriers that threads miss."""
    divergence, atomics = seed % 3 == 0, seed % 2 == 0
    flavour = Flavour(statements=size, blocks=False, pairs=blocks == 2, divergence=divergence, atomics=atomics)
    return generate(random.Random(seed).randrange, flavour)


def judged(engine: Engine, seed: int, size: int, *, blocks: int = 1) -> Judged:
    """Ask for all repairs of a kernel and hold each against executions."""
    generated = kernel_of(seed, size, blocks=blocks)
    request = CheckRequest(PATH, generated.text)
    kernel = _kernel(engine.analyse(request))
    before = run(kernel, generated.launch)
    fixes = [answer for answer in answers(engine, request) if isinstance(answer, Fix)]
    wrong = [f"{fix.title}: {text}" for fix in fixes for text in _contradictions(generated, before, fix)]
    return Judged(seed, tuple(fix.kind for fix in fixes), tuple(wrong))


def _contradictions(generated: GeneratedKernel, before: RunResult, fix: Fix) -> Iterable[str]:
    text = apply(generated.text, fix.edits)
    analysis = Engine().analyse(CheckRequest(PATH, text))
    if analysis.result.syntax:
        yield "the text does not compile"
        return
    kernel = _kernel(analysis)
    after = run(kernel, generated.launch)
    racing = _racing(kernel, after)
    reported = _reported(analysis, (*_RACES, Verdict.BENIGN_RACE))
    if not racing <= reported:
        yield f"races that are not reported: {sorted(map(sorted, racing - reported))}"
    if _missed(after) > _missed(before):
        yield "threads miss more barriers than before"
    then, now = _accesses(before), _accesses(after)
    same = fix.kind == "use-atomic" or then == now or (not fix.preferred and _leaves_out(then, now))
    same = same or _elsewhere(then, made := _made_atomic(then, now)) == _elsewhere(now, made) != {}
    if before.outcome == after.outcome == "finished" and not same:
        yield "a thread makes other accesses than before"
    # Of atomic operations that are a choice any may be the last one, which is why they are one.
    chosen = fix.kind == "use-atomic" and not fix.preferred
    if not racing and not reported and after.outcome == "finished" and not after.undefined and not chosen:
        memories = [_memory(run(kernel, generated.launch, schedule)) for schedule in range(SCHEDULES)]
        if any(memory != memories[0] for memory in memories):
            yield "memory depends on the schedule"
    if fix.kind in ("insert-barrier", "restructure"):
        needless = list(_needless(text, fix, _reported(analysis, _RACES)))
        # As many may be those that the kernel had, written anew.
        yield from needless[_replaced(generated.text, fix) :]


def _replaced(text: str, fix: Fix) -> int:
    """How many barriers stand in the code that a repair replaces."""
    data = text.encode()
    spans = (e.span for e in fix.edits)
    return sum(len(BARRIER.findall(data[s.start_offset : s.end_offset].decode())) for s in spans)


def _needless(text: str, fix: Fix, known: set[Pair]) -> Iterable[str]:
    """The inserted barriers that nothing misses, each alone."""
    grown = 0
    for edit in sorted(fix.edits, key=lambda e: e.span.start_offset):
        start = edit.span.start_offset + grown
        grown += len(edit.new_text.encode()) - (edit.span.end_offset - edit.span.start_offset)
        for barrier in BARRIER.finditer(edit.new_text):
            place = start + len(edit.new_text[: barrier.start()].encode())
            data, length = text.encode(), len(barrier[0])
            # As many blanks, so that all places stay.
            without = data[:place] + b";" + b" " * (length - 1) + data[place + length :]
            left = _reported(Engine().analyse(CheckRequest(PATH, without.decode())), _RACES)
            if left <= known:
                yield f"no race comes back without the barrier in line {line_of(data, place)}"


def _kernel(analysis: UnitAnalysis) -> Kernel:
    (found,) = [a.kernel for a in analysis.kernels if a.kernel.base_name == "generated"]
    return found


def _racing(kernel: Kernel, result: RunResult) -> set[Pair]:
    places = {
        s.id: tuple(x.start_offset for x in (*s.site.calls, s.site.span))
        for s in statements(kernel.body)
        if isinstance(s, (Load, Store, Atomic))
    }
    return {frozenset(places[i] for i in r.events) for r in races(result) if r.in_bounds}


def _missed(result: RunResult) -> int:
    return sum(d.kind != "after-exit" for d in divergences(result))


def _accesses(result: RunResult) -> dict[int, list[_Made]]:
    """What each thread accesses, in its order."""
    found: dict[int, list[_Made]] = {}
    for a in result.accesses:
        found.setdefault(a.thread, []).append((a.object.rsplit("$", 1)[0], a.offset, a.width, a.kind))
    return found


def _made_atomic(then: dict[int, list[_Made]], now: dict[int, list[_Made]]) -> frozenset[tuple[str, int, int]]:
    """The cells that more atomic operations update than before."""
    atomics, earlier = (
        Counter(
            (name, offset, width) for made in each.values() for name, offset, width, kind in made if kind == "atomic"
        )
        for each in (now, then)
    )
    return frozenset(atomics - earlier)


def _elsewhere(made: dict[int, list[_Made]], cells: frozenset[tuple[str, int, int]]) -> dict[int, list[_Made]]:
    """The accesses to other cells; none where nothing has become atomic."""
    return {t: [a for a in each if a[:3] not in cells] for t, each in made.items()} if cells else {}


def _leaves_out(then: dict[int, list[_Made]], now: dict[int, list[_Made]]) -> bool:
    """Whether some threads write less than before, as a choice may say, and nothing else is different."""
    for thread, made in then.items():
        left = iter(now.get(thread, []))
        following = next(left, None)
        for access in made:
            if access == following:
                following = next(left, None)
            elif access[3] != "write":
                return False
        if following is not None:
            return False
    return now.keys() <= then.keys()


def _memory(result: RunResult) -> dict[tuple[str, int, int, int], object]:
    """What is left, in the shared memory of each block too."""
    return {(a.object, a.instance, a.offset, a.width): a.value for a in result.accesses if a.kind == "write"}


def _reported(analysis: UnitAnalysis, codes: Iterable[Verdict]) -> set[Pair]:
    wanted = set(codes)
    return {
        frozenset(tuple(s.start_offset for s in (*a.calls, a.span)) for a in f.accesses)
        for k in analysis.result.kernels
        for c in k.contexts
        for f in c.findings
        if f.code in wanted
    }
