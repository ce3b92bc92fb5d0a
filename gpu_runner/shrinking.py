"""Numbers that somebody has made up, and that are too large for a run: smaller ones are tried.

A number that nobody gives may be the bound of a loop, which no size of the launch limits, or the extent of an array of
several dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gpu_runner.request import (
    Argument,
    ArrayArgument,
    PointersArgument,
    RecordArgument,
    Request,
    RunResult,
    ScalarArgument,
    SharedArgument,
)
from gpu_runner.search import Once, grown

_FIRST_SHARE: Final = 6
_SHARE: Final = 3
"""A run whose numbers can be smaller gets such a part of the time that is left."""
_SMALLEST: Final = 8
_FACTOR: Final = 16


def sized(request: Request, once: Once) -> tuple[Request, RunResult]:
    """The request with arrays that are large enough (`search.grown`) and numbers with which a run comes to its end and
    such arrays can be had, as far as that goes, and its result. Raises MemoryError where no number can be smaller."""
    left, share = request.seconds, _FIRST_SHARE
    outgrown: tuple[Request, RunResult] | None = None
    """The first run that came to its end, with accesses behind arrays that were not large enough."""
    while True:
        smaller = _with_smaller_numbers(request)
        part = left if smaller is None else left / share
        try:
            asked, result = grown(replace(request, seconds=part), once)
        except MemoryError:
            if smaller is None:
                raise
        else:
            found = replace(asked, seconds=request.seconds), result
            is_stuck = result.status == "time" and not result.ended and not result.races
            if not is_stuck and not _is_outgrown(result):
                return found
            if not is_stuck:
                outgrown = outgrown or found
            if smaller is None:
                return outgrown or found
        request, left, share = smaller, left - part, _SHARE


def _is_outgrown(result: RunResult) -> bool:
    """Whether accesses were outside that are inside of larger arrays."""
    return any(fault.behind is not None for fault in result.faults)


def _with_smaller_numbers(request: Request) -> Request | None:
    """None where they are small."""
    names = [*request.names, *("" for _ in request.arguments)]
    arguments = tuple(_smaller(a, name, request.shrinking) for a, name in zip(request.arguments, names, strict=False))
    return None if arguments == request.arguments else replace(request, arguments=arguments)


def _smaller(argument: Argument, name: str, shrinking: Sequence[str]) -> Argument:
    match argument:
        case ScalarArgument() if name in shrinking and argument.value > _SMALLEST:
            return replace(argument, value=max(_SMALLEST, argument.value // _FACTOR))
        case RecordArgument():
            parts = tuple(replace(p, argument=_smaller(p.argument, p.name, shrinking)) for p in argument.parts)
            return RecordArgument(parts)  # pyright: ignore[reportArgumentType]
        case ScalarArgument() | ArrayArgument() | PointersArgument() | SharedArgument():
            return argument
