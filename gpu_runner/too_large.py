"""A run that needs more memory than it may use: which arrays and threads take it, and how smaller ones are given."""

from __future__ import annotations

from collections.abc import Iterator
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

_SIZES: Final = {"b8": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i64": 8, "u64": 8, "f64": 8}
_SHADOW: Final = 48
"""Memory of a run per byte of its arrays, generously."""
_LARGE: Final = 1 << 12
"""A number of which a loop may be long."""
_NAMED: Final = 4
"""The largest arrays, of which so many are named."""


def too_large(request: Request) -> RunResult:
    """The answer to a request for which memory does not suffice."""
    x, y, z = request.grid
    threads = request.block[0] * request.block[1] * request.block[2]
    blocks = x * y * z
    arrays = sorted(_arrays(request), key=lambda array: -array[1])
    held = [f"{name}: {_bytes(size)}" for name, size in arrays[:_NAMED]]
    rest = sum(size for _, size in arrays[_NAMED:])
    held += [f"{len(arrays) - _NAMED} other arrays: {_bytes(rest)}"] if rest else []
    numbers = list(_numbers(request))
    held += [f"{name} = {value}" for name, value in numbers]
    example = next((f"{name}=1024" for name, _ in arrays), "")
    if numbers and sum(size for _, size in arrays) < request.memory // _SHADOW:  # then it is a loop that takes it
        example = f"{numbers[0][0]}=16"
    comment = " ".join(("// cuda-lsp: run grid=2 block=64", *([example] if example else [])))
    option = f"`--arg {example}`, " if example else ""
    launch = f"{blocks} block{'s' * (blocks != 1)} of {threads} thread{'s' * (threads != 1)}"
    return RunResult(
        "memory",
        f"the run needs more than {_bytes(request.memory)}: the race detector keeps twelve bytes for each byte of an "
        "array, and some for each thread and for what loops touch again and again",
        (
            *held,
            f"the launch: {launch}",
            f"give smaller sizes: {option}`--grid` and `--block`, or the comment `{comment}` above the kernel",
        ),
    )


def _arrays(request: Request) -> Iterator[tuple[str, int]]:
    """Name and bytes of each array among the arguments, parts of records by their own names."""
    names = [*request.names, *(f"argument {number}" for number in range(len(request.names), len(request.arguments)))]
    for name, argument in zip(names, request.arguments, strict=False):
        inner = [(p.name, p.argument) for p in argument.parts] if isinstance(argument, RecordArgument) else []
        for called, one in inner or [(name, argument)]:
            if size := _size(one):
                yield called, size


def _numbers(request: Request) -> Iterator[tuple[str, int]]:
    for name, argument in zip(request.names, request.arguments, strict=False):
        inner = [(p.name, p.argument) for p in argument.parts] if isinstance(argument, RecordArgument) else []
        for called, one in inner or [(name, argument)]:
            if isinstance(one, ScalarArgument) and abs(one.value) >= _LARGE and one.value == int(one.value):
                yield called, int(one.value)


def _size(argument: Argument) -> int:
    match argument:
        case ArrayArgument():
            return argument.count * _SIZES.get(argument.element, 4)
        case PointersArgument():
            return argument.count * (8 + _size(argument.target))
        case ScalarArgument() | RecordArgument() | SharedArgument():
            return 0


def _bytes(size: int) -> str:
    """In the largest unit of which there is at least one."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >> shift:
            return f"{size / (1 << shift):.4g} {unit}"
    return f"{size} bytes"
