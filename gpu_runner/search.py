"""Inputs that show what a finding claims: arrays large enough for every access, and contents that lead there.

`grown` enlarges arrays until no access is outside. `sought` runs what it is given, then the accesses in question alone,
then other contents of the arrays: a few regular fills, and mutations of the inputs that came furthest. How far an input
came is told by the instructions that it reached and by how near the two accesses came to each other; a mutation writes
numbers that the kernel's code compares with, or numbers that stand in the arrays already, into some elements. Where the
accesses meet and write the same value, one array after the other gets values that differ. The same request tries the
same inputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.handover import Consumer
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat
from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Goal,
    PointersArgument,
    RecordArgument,
    Request,
    RunResult,
)
from gpu_runner.shown import MOST_ELEMENTS, MOST_POINTERS, array_names, elements, meetings, shows

Once = Callable[[Request, Consumer | None], RunResult]
GROWTH: Final = 16
_MUTATED: Final = 8
"""Elements of an array that a mutation changes at most."""
_NEAR: Final = 64
"""Elements at the beginning of an array, of which most mutations are."""
_SITE_BITS: Final = np.uint64(0xFFFFFF)


def grown(request: Request, once: Once) -> tuple[Request, RunResult]:
    """The request with arrays that are large enough, as far as that can be had, and its result."""
    result = once(request, None)
    given = {*array_names(request.arguments, _names(request))}.difference(request.growing)
    while True:
        behind = {fault.behind for fault in result.faults if fault.behind is not None}
        larger = tuple(
            _larger(argument, name, request.growing, behind)
            for argument, name in zip(request.arguments, _names(request), strict=True)
        )
        if larger == request.arguments or behind <= given:
            return request, result
        asked = replace(request, arguments=larger)
        try:
            request, result = asked, once(asked, None)
        except MemoryError:
            return request, result


def _names(request: Request) -> list[str]:
    """Of the arguments; "" where the request names none."""
    names = [*request.names, *("" for _ in request.arguments)]
    return names[: len(request.arguments)]


def _larger(argument: Argument, name: str, growing: Sequence[str], behind: Set[str]) -> Argument:
    """`behind`: arrays that accesses were behind. An array of pointers is as large as it has to be, and grows in what
    they point to."""
    if isinstance(argument, RecordArgument):
        parts = tuple(replace(p, argument=_larger(p.argument, p.name, growing, behind)) for p in argument.parts)
        return RecordArgument(parts)  # pyright: ignore[reportArgumentType]
    if isinstance(argument, PointersArgument) and name in growing:
        if name in behind:
            return replace(argument, count=min(argument.count * 4, MOST_POINTERS))
        wider = _larger(argument.target, name, growing, behind)
        fits = argument.count * elements(wider) <= MOST_ELEMENTS
        return replace(argument, target=wider) if fits else argument  # pyright: ignore[reportArgumentType]
    if isinstance(argument, ArrayArgument) and name in growing and argument.count * GROWTH <= MOST_ELEMENTS:
        return replace(argument, count=argument.count * GROWTH)
    return argument


def sought(request: Request, first: RunResult, once: Once, constants: Sequence[int]) -> RunResult:
    """The first result that shows the goal, or else one in which its accesses met and wrote the same value, or else
    that of the request's own inputs; with the number of all runs."""
    goal = request.goal
    assert goal is not None
    arrays = frozenset(array_names(request.arguments, _names(request)))
    if shows(goal, first, arrays) or first.status not in ("finished", "deadlock"):
        return first
    total = _Total(first.runs, first.ended, first.accesses)
    inputs, met = _Inputs(request, goal, constants), None
    if meetings(goal, first, arrays):
        met = first
        inputs.vary(request.arguments)
    if goal.focus:
        # Other accesses to the same cells may have been in between.
        alone = once(replace(request, focus=goal.focus), None)
        total.add(alone)
        if shows(goal, alone, arrays):
            return replace(total.of(alone), arguments=request.arguments)
        if met is None and meetings(goal, alone, arrays):
            met = replace(alone, arguments=request.arguments)
            inputs.vary(request.arguments)
    for arguments, progress in inputs:
        tried = replace(request, arguments=arguments, focus=goal.focus, seeds=(progress.attempt % 4,), growing=())
        result = once(tried, progress.watch)
        if result.status == "time":
            break
        total.add(result)
        progress.failed = any(fault.kind == "out-of-bounds" for fault in result.faults)
        is_shown = shows(goal, result, arrays)
        if is_shown or (met is None and meetings(goal, result, arrays)):
            result = replace(result, inputs=tuple(_described(tried)), arguments=arguments)
            if is_shown:
                return total.of(result)
            met = result
            inputs.vary(arguments)
    return total.of(first) if met is None else replace(total.of(met), is_met=True)


@dataclass(slots=True)
class _Total:
    """Of all runs that were made."""

    runs: int
    ended: int
    accesses: int

    def add(self, result: RunResult) -> None:
        self.runs += result.runs
        self.ended += result.ended
        self.accesses += result.accesses

    def of(self, result: RunResult) -> RunResult:
        return replace(result, runs=self.runs, ended=self.ended, accesses=self.accesses)


@dataclass(slots=True)
class _Progress:
    """How far one input came."""

    attempt: int
    sites: set[int] = field(default_factory=set[int])
    failed: bool = False
    touched: int = 0
    """Different (instruction, address) pairs, of a sample of the records."""

    def watch(self, records: NDArray[np.uint64]) -> None:
        sites = (records[:, 2] >> np.uint64(32)) & _SITE_BITS
        self.sites.update(np.unique(sites).tolist())
        some = slice(None, None, max(1, len(records) // 4096))
        self.touched += len(np.unique(sites[some] << np.uint64(40) ^ records[some, 0]))


class _Inputs:
    """The inputs to try, best guesses first; what a run showed steers those that follow."""

    def __init__(self, request: Request, goal: Goal, constants: Sequence[int]) -> None:
        self._request = request
        self._goal = goal
        self._random = Random(0)
        self._constants = list(dict.fromkeys((*constants, 0, 1, 2, 31, 32, 64, 127, -1)))
        self._kept: list[tuple[Argument, ...]] = [request.arguments]
        self._next: deque[tuple[Argument, ...]] = deque()
        self._seen: set[int] = set()
        self._most = 0

    def __iter__(self) -> Iterator[tuple[tuple[Argument, ...], _Progress]]:
        candidates = self._candidates()
        for attempt in range(self._goal.attempts):
            arguments = self._next.popleft() if self._next else next(candidates, None)
            if arguments is None:
                return
            progress = _Progress(attempt)
            yield arguments, progress
            if not progress.failed and (progress.sites - self._seen or progress.touched > self._most):
                self._kept.append(arguments)
            self._seen |= progress.sites
            self._most = max(self._most, progress.touched)

    def vary(self, arguments: tuple[Argument, ...]) -> None:
        """Next come these with other contents of one array after the other: each its own index, random ones."""
        self._kept.append(arguments)
        for fill in ("iota", "random"):
            for name in self._goal.searched:
                changed = tuple(
                    self._mapped(argument, called, partial(_filled_with, fill), (name,))
                    for argument, called in self._named(arguments)
                )
                if changed != arguments:
                    self._next.append(changed)

    def _candidates(self) -> Iterator[tuple[Argument, ...]]:
        if not any(self._changes(self._request.arguments, lambda _: None)):
            return
        yield from self._regular()
        while True:
            # Later ones came further.
            base = self._kept[max(self._random.randrange(len(self._kept)), self._random.randrange(len(self._kept)))]
            yield tuple(self._mapped(argument, name, self._mutated) for argument, name in self._named(base))

    def _regular(self) -> Iterator[tuple[Argument, ...]]:
        """All zeros, all ones, each its own index, pairs of equal numbers, and the smallest to compare with."""
        for values in ((0.0,), (1.0,)):
            yield self._all(lambda a, values=values: replace(a, fill="values", values=values))
        yield self._all(lambda a: replace(a, fill="iota", values=()))
        pairs = tuple(float(number // 2) for number in range(512))
        yield self._all(lambda a: replace(a, fill="values", values=pairs))
        for constant in self._constants[:6]:
            yield self._all(lambda a, c=constant: replace(a, fill="values", values=(float(c),)))

    def _all(self, change: Callable[[ArrayArgument], ArrayArgument]) -> tuple[Argument, ...]:
        return tuple(self._mapped(argument, name, change) for argument, name in self._named(self._request.arguments))

    def _named(self, arguments: Sequence[Argument]) -> list[tuple[Argument, str]]:
        return list(zip(arguments, _names(self._request), strict=True))

    def _changes(self, arguments: Sequence[Argument], what: Callable[[ArrayArgument], object]) -> Iterator[bool]:
        for argument, name in self._named(arguments):
            inner = [(p.argument, p.name) for p in argument.parts] if isinstance(argument, RecordArgument) else []
            for one, called in (*inner, (argument, name)):
                array = _innermost(one)
                if isinstance(array, ArrayArgument) and called in self._goal.searched:
                    what(array)
                    yield True

    def _mapped(
        self,
        argument: Argument,
        name: str,
        change: Callable[[ArrayArgument], ArrayArgument],
        names: Container[str] | None = None,
    ) -> Argument:
        """With the arrays of these names changed, by default of all that may be others."""
        if isinstance(argument, RecordArgument):
            parts = tuple(replace(p, argument=self._mapped(p.argument, p.name, change, names)) for p in argument.parts)
            return RecordArgument(parts)  # pyright: ignore[reportArgumentType]
        if isinstance(argument, PointersArgument):
            return replace(argument, target=self._mapped(argument.target, name, change, names))  # pyright: ignore[reportArgumentType]
        if isinstance(argument, ArrayArgument) and name in (self._goal.searched if names is None else names):
            return change(argument)
        return argument

    def _mutated(self, array: ArrayArgument) -> ArrayArgument:
        random = self._random
        choice = random.randrange(8)
        if choice == 0:
            return array
        if choice == 1:
            most = random.choice((2, 4, 32, 127))
            values = tuple(float(random.randrange(most)) for _ in range(min(array.count, 512)))
            return replace(array, fill="values", values=values)
        settings = dict(array.settings)
        known = [*array.values, *settings.values()] or [0.0]
        for _ in range(random.randint(1, _MUTATED)):
            index = random.randrange(min(array.count, _NEAR if random.randrange(4) else array.count))
            if random.randrange(3) == 0:
                settings[index] = random.choice(known)
            else:
                settings[index] = float(random.choice(self._constants) + random.choice((0, 0, 1, -1)))
        return replace(array, settings=tuple(sorted(settings.items())))


def _filled_with(fill: Literal["iota", "random"], array: ArrayArgument) -> ArrayArgument:
    return replace(array, fill=fill, values=())


def _described(request: Request) -> Iterator[str]:
    """What the arrays that were searched hold, as for ``--arg`` where that can be said."""
    assert request.goal is not None
    for argument, name in zip(request.arguments, _names(request), strict=True):
        inner = [(p.argument, p.name) for p in argument.parts] if isinstance(argument, RecordArgument) else []
        for one, called in (*inner, (argument, name)):
            array = _innermost(one)
            if isinstance(array, ArrayArgument) and called in request.goal.searched:
                pointers = f"{one.count} pointers to " if isinstance(one, PointersArgument) else ""
                yield f"{called}: {pointers}{_contents(array)}"


def _innermost(argument: Argument) -> Argument:
    """What the pointers of an argument lead to."""
    while isinstance(argument, PointersArgument):
        argument = argument.target
    return argument


def _contents(array: ArrayArgument) -> str:
    text = array.fill if array.fill != "values" else ",".join(f"{value:g}" for value in array.values[:16])
    if array.fill == "values" and len(array.values) > 16:
        text += ",…"
    cells = ", ".join(f"[{index}] = {value:g}" for index, value in array.settings[:16])
    return f"{array.count} elements, {text}" + (f"; {cells}" if cells else "")


def constants_of(module: model.Module, kernel: str) -> tuple[int, ...]:
    """Numbers that the code of a module compares with, those of the kernel first."""
    found: dict[int, None] = {}
    functions = sorted(module.functions, key=lambda f: f.name != kernel)
    for function in functions:
        for statement in flat(function.body or ()):
            if isinstance(statement, model.Instruction) and statement.opcode in ("setp", "and", "rem"):
                for operand in statement.operands:
                    if isinstance(operand, model.Integer) and -(1 << 31) <= operand.value < 1 << 31:
                        found[operand.value] = None
    return tuple(found)[:64]
