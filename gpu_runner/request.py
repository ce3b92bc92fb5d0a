"""What a run is asked and what it answers: frozen data that travels as JSON between processes."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from analyzers.model import Mark

Dim3 = tuple[int, int, int]
Element = Literal["auto", "b8", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "f32", "i64", "u64", "f64"]
"""``b8``: a byte of something that is no number; ``bf16``: the upper half of an ``f32``."""
Fill = Literal["zeros", "iota", "random", "values"]


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """An array in global memory of which the kernel gets the address."""

    element: Element
    count: int
    fill: Fill = "zeros"
    """``iota``: 0, 1, 2, …; ``random``: the same numbers in every run, below `count` where they are integers."""
    values: tuple[float, ...] = ()
    """With ``values``: what it begins with; repeated where there are fewer than `count`."""
    settings: tuple[tuple[int, float], ...] = ()
    """(index, value): elements that are something else than the rest."""


@dataclass(frozen=True, slots=True)
class PointersArgument:
    """An array in global memory of addresses of arrays: `count` different ones, which all begin as `target` says."""

    count: int
    target: ArrayArgument | PointersArgument


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number. ``auto`` takes the type from the parameter."""

    value: float
    element: Element = "auto"


@dataclass(frozen=True, slots=True)
class SharedArgument:
    """The array of another argument once more: `of` is its number, `offset` in bytes from its beginning."""

    of: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Something inside of an argument of class type."""

    name: str
    offset: int
    argument: ArrayArgument | PointersArgument | ScalarArgument


@dataclass(frozen=True, slots=True)
class RecordArgument:
    """An argument of class type: zeros but for its parts. Numbers in it name their type."""

    parts: tuple[Part, ...]


Argument = ArrayArgument | PointersArgument | ScalarArgument | RecordArgument | SharedArgument


@dataclass(frozen=True, slots=True)
class Recast:
    """Elements of a class that raw memory is taken for."""

    size: int
    """Bytes of an element."""
    align: int
    """Every element is at a multiple of so many bytes."""
    gaps: tuple[tuple[int, int], ...]
    """As those of a variable."""
    offset: int | None = None
    """Where one begins, in bytes from the beginning of the variable; None where that is not a number."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A shared or global variable as the source declares it."""

    name: str
    """Without namespaces and functions around it."""
    size: int | None
    """Bytes; None of extern shared memory, whose size the launch says."""
    element: int
    """Bytes of one element."""
    extents: tuple[int, ...] = ()
    """Of an array, outermost first."""
    gaps: tuple[tuple[int, int], ...] = ()
    """(first byte, end) within an element of what no member has, which is copied with it all the same."""
    recast: tuple[Recast, ...] = ()
    """Of shared memory without gaps: what it is taken for, cast by cast."""


@dataclass(frozen=True, slots=True)
class Focus:
    """Accesses that are looked at: those of a line, or of one thread there."""

    line: int
    block: Dim3 | None = None
    thread: Dim3 | None = None
    mark: Mark | None = None
    """Only this access of the line, where the source that is compiled tells it from others."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two accesses that a race is to be between."""

    line: int
    mark: Mark | None = None
    """The access itself, where the source that is compiled tells it from others in its line. That of an update reads
    and writes: the write hides the read from who comes later."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a run is to show, and how long inputs are looked for that show it (`gpu_runner.search`)."""

    kind: Literal["race", "divergence", "mask", "assertion"]
    sides: tuple[Side, ...] = ()
    """The two accesses of a race; the collective whose mask does not name a thread."""
    memory: str = ""
    """The array or variable that the race is on; empty: any."""
    focus: tuple[Focus, ...] = ()
    """The same with their threads, to be looked at alone where the race does not show otherwise."""
    attempts: int = 0
    """Inputs that are tried beside those of the request."""
    searched: tuple[str, ...] = ()
    """Names of the arrays whose contents may be others."""
    values_differ: bool = False
    """Only a race that is not of writes of the same value shows it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One launch of one kernel, under some seeds."""

    kernel: str
    """The name in PTX, or the plain name where only one kernel of the module has it."""
    grid: Dim3
    block: Dim3
    arguments: tuple[Argument, ...] = ()
    names: tuple[str, ...] = ()
    """Of the parameters, for reports."""
    source: str | None = None
    """CUDA C++; or else `ptx` is given."""
    path: str = "kernel.cu"
    ptx: str | None = None
    build: Literal["confirm", "shipped"] = "confirm"
    arch: int = 80
    flags: tuple[str, ...] = ()
    compiler: Literal["auto", "nvcc", "nvrtc"] = "auto"
    instances: tuple[str, ...] = ()
    """Instances of kernel templates to compile, as expressions."""
    folder: str = ""
    """Of this user's caches: for headers that the compiler brings along (`compile.CompileOptions`) and compiled code of
    ours (`native.library`). Empty: nothing is kept."""
    dynamic_shared: int = 0
    lock_step: bool = False
    """The lanes of a warp make each access together, as before Volta."""
    seeds: tuple[int, ...] = (0,)
    focus: tuple[Focus, ...] = ()
    """The plain accesses that are looked at; none given: all. A write hides what was in its cell before: a pair of
    accesses that is looked at alone is not hidden by others."""
    growing: tuple[str, ...] = ()
    """Names of arrays (parts of records by their own) that are made larger, again and again, as long as an access is
    outside of an array."""
    shrinking: tuple[str, ...] = ()
    """Names of numbers (parts of records by their own) that are made smaller as long as no run comes to its end in its
    part of the time, or in memory."""
    goal: Goal | None = None
    seconds: float = 30.0
    """For all seeds together, compilation not included."""
    memory: int = 8 << 30
    """Bytes of address space of the process that runs the kernel, where that is a processor."""
    device: Literal["cpu", "gpu", "auto"] = "cpu"
    """``auto``: a GPU where there is one."""
    variables: tuple[Variable, ...] = ()
    """Of the source, for reports: PTX has no more than their names and sizes."""
    plain: str | None = None
    """`source` as it was written, where accesses in `source` have lines of their own: for a compiler that does not take
    that."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source."""

    path: str
    line: int
    column: int
    function: str
    """As PTX names it."""
    marks: tuple[Mark, ...] = ()
    """The access that is made here, where that is known, with those that it is written in or that are written in it:
    `line` and `column` are those of the first."""


@dataclass(frozen=True, slots=True)
class RunAccess:
    """An instruction as one thread executed it. `places`: where it stands, then the calls that led there."""

    kind: Literal["read", "write", "atomic", "barrier", "other"]
    block: Dim3
    thread: Dim3
    places: tuple[Place, ...]
    instruction: str
    others: int = 0
    """Of a thread that waits: how many more of them wait where it does."""


@dataclass(frozen=True, slots=True)
class RunRace:
    """Two accesses to the same bytes that nothing orders."""

    first: RunAccess
    second: RunAccess
    scope: Literal["intra-warp", "intra-block", "inter-block"]
    space: Literal["shared", "global"]
    address: str
    """As in ``a[5]`` or ``tile[1][3]``; ``s + 20 bytes`` where the shape of the memory is not known."""
    same_value: bool
    """Both write the same."""
    count: int
    """How often these two instructions raced."""
    seed: int
    """Of the run in which it was seen first."""


FaultKind = Literal[
    "out-of-bounds",
    "misaligned",
    "uninitialised",
    "assertion",
    "divergent-barrier",
    "lane-not-in-mask",
    "undefined-shuffle",
    "trap",
    "unreachable",
]


@dataclass(frozen=True, slots=True)
class RunFault:
    """Something else that is wrong: an access out of bounds, a failed assertion, threads at different barriers, …"""

    kind: FaultKind
    text: str
    access: RunAccess
    other: RunAccess | None = None
    seed: int = 0
    behind: str | None = None
    """Of an access out of bounds: the array that is before the address, empty where none is near; None of any other
    fault, and of null pointers, which no larger array helps."""


Status = Literal[
    "finished",
    "deadlock",
    "time",
    "unsupported",
    "launch",
    "compile",
    "compiler",
    "device",
    "memory",
    "crash",
    "internal",
]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a request. Only ``finished`` means that every thread of every seed came to its end."""

    status: Status
    message: str = ""
    details: tuple[str, ...] = ()
    """Of ``unsupported``: one line per construct."""
    races: tuple[RunRace, ...] = ()
    faults: tuple[RunFault, ...] = ()
    waiting: tuple[RunAccess, ...] = ()
    """Where threads were that did not end: one for each place."""
    printed: str = ""
    runs: int = 0
    ended: int = 0
    """Of these runs, in how many all threads came to their end."""
    accesses: int = 0
    seconds: float = 0.0
    compiler: str = ""
    device: str = ""
    """The GPU that ran it; empty for the processor."""
    inputs: tuple[str, ...] = ()
    """Where inputs were looked for: what the arrays held in the run that showed the goal."""
    is_met: bool = False
    """The goal was not shown: its accesses did meet, but wrote the same value in every run."""
    arguments: tuple[Argument, ...] = ()
    """Those of the run that this is the result of: arrays as large as they had to be, with the contents that were
    found."""
    spinning: bool = False
    """Of a ``deadlock``: threads wait in loops, or for blocks that have no room: no sign of a missed barrier."""


_KINDS: Final[dict[type, str]] = {
    ArrayArgument: "array",
    PointersArgument: "pointers",
    ScalarArgument: "scalar",
    RecordArgument: "record",
    SharedArgument: "shared",
}


def to_json(value: Any) -> Any:
    """Plain lists and dictionaries; an argument also says which kind it is."""
    if dataclasses.is_dataclass(value):
        found = {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return found | {"is": kind} if (kind := _KINDS.get(type(value))) is not None else found
    if isinstance(value, tuple):
        return [to_json(item) for item in typing.cast("tuple[Any, ...]", value)]
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Evaluating annotations takes a millisecond, and a result has hundreds of values."""
    return typing.get_type_hints(kind)


def from_json(kind: Any, value: Any) -> Any:
    """The inverse, for a dataclass of this module."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        items = typing.cast("list[Any]", value)
        kinds = arguments[:1] * len(items) if arguments[1:] == (...,) else arguments
        return tuple(from_json(inner, item) for inner, item in zip(kinds, items, strict=True))
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        if ArrayArgument in arguments:
            return from_json(next(kind for kind, name in _KINDS.items() if name == value["is"]), value)
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return from_json(inner, value)
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        fields = {field.name: from_json(hints[field.name], value[field.name]) for field in dataclasses.fields(kind)}
        return typing.cast("Any", kind)(**fields)
    return value
