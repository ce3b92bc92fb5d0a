"""A launch and what comes of it, as every executor takes and gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.layout import MAX_BLOCK, MAX_BLOCKS, MAX_GRID, MAX_SHARED, MAX_THREADS
from gpu_runner.cpu.machine import Notice, Outcome
from gpu_runner.cpu.variables import aligned, size_of
from gpu_runner.ptx import model

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Array:
    """An argument that points to memory: the bytes it begins with. Where it holds pointers, its first words are the
    addresses of the `targets`, whatever the bytes say."""

    data: bytes
    targets: tuple[Array, ...] = ()

    def flattened(self, name: str) -> Iterator[tuple[str, Array]]:
        """The array under this name, and those that it points to, by their numbers behind a slash."""
        yield name, self
        for number, target in enumerate(self.targets):
            yield from target.flattened(f"{name}/{number}")


@dataclass(frozen=True, slots=True)
class Scalar:
    """An argument by value, as its bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """An argument of class type: zeros but for its parts, by byte offset."""

    parts: tuple[tuple[int, Array | Scalar], ...]


@dataclass(frozen=True, slots=True)
class Shared:
    """An argument that points into the array of another one: the number of that, and the bytes from its beginning."""

    of: int
    offset: int


@dataclass(frozen=True, slots=True)
class Launch:
    """The configuration and arguments of one launch."""

    grid: Dim3
    block: Dim3
    arguments: tuple[Array | Scalar | Record | Shared, ...] = ()
    dynamic_shared: int = 0

    @property
    def arrays(self) -> tuple[tuple[str, Array], ...]:
        """The arrays, those inside of arguments and behind pointers included, by the number of the argument and, behind
        a point, of the part."""
        return tuple(each for name, array in self._direct() for each in array.flattened(name))

    def contents(self, addresses: Sequence[int]) -> list[bytes]:
        """What `arrays` begin with where these are their addresses."""
        left = iter(addresses)
        found: list[bytes] = []

        def fill(array: Array) -> int:
            address, at = next(left), len(found)
            found.append(b"")
            words = b"".join(fill(target).to_bytes(8, "little") for target in array.targets)
            found[at] = words + array.data[len(words) :]
            return address

        for _, array in self._direct():
            fill(array)
        return found

    def _direct(self) -> Iterator[tuple[str, Array]]:
        """Those that the kernel gets the addresses of."""
        for number, argument in enumerate(self.arguments):
            if isinstance(argument, Array):
                yield str(number), argument
            elif isinstance(argument, Record):
                inner = (part for _, part in argument.parts)
                yield from ((f"{number}.{at}", part) for at, part in enumerate(inner) if isinstance(part, Array))

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def shift(self) -> int:
        """Threads are numbered ``block << shift | linear number in the block``; a warp is 32 numbers."""
        return max(5, (self.threads_per_block - 1).bit_length())


class LaunchError(Exception):
    """The launch does not fit the kernel or the executor."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A fault or a misuse, as the scheduler noticed it; sites as in `Kernel.sites`."""

    kind: Notice
    op: int
    thread: int
    site: int
    other_thread: int
    other_site: int
    address: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A thread that was still there when the run ended: what it waits for, and at which site."""

    thread: int
    site: int
    status: int


@dataclass(slots=True)
class Execution:
    """What a launch left behind."""

    outcome: Outcome
    arrays: tuple[bytes, ...]
    seen: tuple[Seen, ...]
    waiting: tuple[Waiting, ...]
    printed: str
    records: int
    seconds: float
    starved: bool = False
    """The run was given up because all blocks under way wait, perhaps for one that had no room: try with more room."""
    abandoned: bool = False
    """The run was given up because a fault had ended a thread and the others only wait, perhaps for it."""
    note: str = ""
    endless: bool = False
    """The run was given up because threads wait in loops for what nobody writes any more."""
    own: bool = False
    """Of an endless run: what they wait for is shared memory, or what the kernel has changed, and no input."""


def cluster_of(function: model.Function) -> Dim3:
    """The extents of a kernel's clusters: a block each where it says nothing."""
    numbers = next((numbers for name, numbers in function.directives if name == "reqnctapercluster"), ())
    x, y, z = (*numbers, 1, 1, 1)[:3]
    return x, y, z


def check_size(function: model.Function, grid: Dim3, block: Dim3) -> None:
    """Raises `LaunchError` where no kernel, or not this one, has so many blocks and threads."""
    threads, blocks = block[0] * block[1] * block[2], grid[0] * grid[1] * grid[2]
    if not 1 <= threads <= MAX_THREADS:
        raise LaunchError(f"a block of {threads} threads: from 1 to {MAX_THREADS} are possible")
    for what, sizes, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
        if any(size > limit for size, limit in zip(sizes, most, strict=True)):
            raise LaunchError(f"a {what} of {sizes}: at most {most} are possible")
    if not 1 <= blocks <= MAX_BLOCKS:
        raise LaunchError(f"a grid of {blocks} blocks: from 1 to {MAX_BLOCKS} are possible")
    cluster = cluster_of(function)
    if any(size % part for size, part in zip(grid, cluster, strict=True)):
        raise LaunchError(f"a grid of {grid}: it has to be made of clusters of {cluster} blocks")
    for name, numbers in function.directives:
        if name == "maxntid" and threads > int(np.prod(numbers)):
            raise LaunchError(f"a block of {threads} threads, but the kernel's launch bounds allow {np.prod(numbers)}")


def check_launch(function: model.Function, launch: Launch) -> None:
    """Raises `LaunchError` where the launch does not fit the kernel."""
    check_size(function, launch.grid, launch.block)
    if launch.dynamic_shared > MAX_SHARED:
        raise LaunchError(f"{launch.dynamic_shared} bytes of shared memory: at most {MAX_SHARED} are possible")
    if len(launch.arguments) != len(function.parameters):
        raise LaunchError(f"{len(launch.arguments)} arguments for {len(function.parameters)} parameters")


def parameter_size(parameter: model.Variable) -> int:
    """Bytes of one parameter."""
    size = size_of(parameter.type)
    for dimension in parameter.dimensions:
        size *= dimension or 0
    return size


def argument_values(function: model.Function, launch: Launch, arrays: Sequence[int]) -> list[bytes]:
    """The arguments as bytes; `arrays`: the addresses of `Launch.arrays`. Raises `LaunchError`."""
    known = {name: address for (name, _), address in zip(launch.arrays, arrays, strict=True) if "/" not in name}
    addresses = (address.to_bytes(8, "little") for address in known.values())
    values: list[bytes] = []
    for number, (argument, parameter) in enumerate(zip(launch.arguments, function.parameters, strict=True)):
        if isinstance(argument, Record):
            data = bytearray(parameter_size(parameter))
            for at, part in argument.parts:
                piece = next(addresses) if isinstance(part, Array) else part.data
                if at + len(piece) > len(data):
                    raise LaunchError(f"argument {number} has more than the {len(data)} bytes of its parameter")
                data[at : at + len(piece)] = piece
            values.append(bytes(data))
        elif isinstance(argument, Shared):
            values.append((known[str(argument.of)] + argument.offset).to_bytes(8, "little"))
        else:
            values.append(next(addresses) if isinstance(argument, Array) else argument.data)
    return values


def packed_parameters(function: model.Function, values: Sequence[bytes]) -> NDArray[np.uint8]:
    """The parameters as they lie one behind the other. Raises `LaunchError` where a size is wrong."""
    at = 0
    data = bytearray()
    for number, (parameter, value) in enumerate(zip(function.parameters, values, strict=True)):
        size = parameter_size(parameter)
        at = aligned(at, parameter.align or size_of(parameter.type))
        if len(value) != size:
            raise LaunchError(f"argument {number} has {len(value)} bytes, its parameter {size}")
        data.extend(bytes(at - len(data)))
        data.extend(value)
        at += size
    return np.array(bytearray(data) + bytes(16), np.uint8)
