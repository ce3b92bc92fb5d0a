"""Numbers that somebody has made up, and that are too large for a run to come to its end: smaller ones are tried.

A number that nobody gives may be the bound of a loop, which no size of the launch limits."""

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
)
from gpu_runner.search import Once, grown

_FIRST_SHARE: Final = 6
_SHARE: Final = 3
"""A run whose numbers can be smaller gets such a part of the time that is left."""
_SMALLEST: Final = 8
_FACTOR: Final = 16


def sized(request: Request, once: Once) -> tuple[Request, RunResult]:
    """The request with arrays that are large enough (`search.grown`) and numbers with which a run comes to its end, as
    far as that can be had, and its result. Raises MemoryError where no number can be smaller."""
    seconds = request.seconds
    share = _FIRST_SHARE
    while True:
        smaller = _with_smaller_numbers(request)
        asked = request if smaller is None else replace(request, seconds=request.seconds / share)
        try:
            asked, result = grown(asked, once)
        except MemoryError:
            if smaller is None:
                raise
        else:
            if smaller is None or result.status != "time" or result.ended or result.races:
                return replace(asked, seconds=seconds), result
        request = replace(smaller, seconds=request.seconds - request.seconds / share)
        share = _SHARE


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
        case ScalarArgument() | ArrayArgument() | PointersArgument():
            return argument
