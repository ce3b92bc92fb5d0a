"""Run a kernel of a PTX module on this processor.

`prepare` lays out memory, translates and compiles; `Kernel.run` executes one launch under one seed and hands the
records over in batches. Everything here happens in the calling process: `gpu_runner.harness` is what puts limits
around it."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu import schedule
from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.cpu.body import Layout, Unsupported
from gpu_runner.cpu.endless import Endless, Write
from gpu_runner.cpu.handover import Consumer, Handover
from gpu_runner.cpu.heap import HEAP_BYTES, Heap, allocates
from gpu_runner.cpu.launch import (
    Execution,
    Launch,
    Seen,
    Waiting,
    argument_values,
    check_launch,
    cluster_of,
    packed_parameters,
)
from gpu_runner.cpu.layout import (
    GLOBAL_BASE,
    GRANULE,
    LOCAL_BASE,
    PRODUCT_CELLS,
    RECORD_BYTES,
    RUN,
    SHARED_BASE,
    THREAD,
    Collective,
    Status,
)
from gpu_runner.cpu.machine import BARRIERS, MACHINE, NOTICE, Notice, Outcome
from gpu_runner.cpu.prelude import Addresses
from gpu_runner.cpu.printing import formatted
from gpu_runner.cpu.sites import Sites
from gpu_runner.cpu.translate import ENTRY, Translated, translate
from gpu_runner.cpu.variables import aligned, initial_bytes, lay_out
from gpu_runner.native.jit import Code, compile_ir
from gpu_runner.native.library import Library
from gpu_runner.ptx import model

_RESIDENT_THREADS: Final = 2048
_MOST_RESIDENT_BLOCKS: Final = 4096
_TURNS: Final = 64
_IDLE: Final = 2
"""After so many times `_TURNS` turns in which no thread arrived anywhere, the blocks under way count as waiting: for
blocks that have no room, or for what a thread that ended with a fault was to do."""
_FUEL: Final = 1 << 12
_PRINTED: Final = 1 << 20
GRID_WORKSPACE: Final = 16
"""Bytes that the driver gives a cooperative launch, zeroed: the barrier of the grid is in them."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """What the lanes of one shuffle get from lanes that take no part in it, instead of 0."""

    site: int
    value: int


@dataclass(frozen=True, slots=True)
class _Compiled:
    translated: Translated
    code: Code
    run: NDArray[np.void]


@dataclass(slots=True)
class Kernel:
    """A compiled kernel with memory for one launch; runs of it start from the same contents."""

    launch: Launch
    arena: Arena
    arrays: tuple[Allocation, ...]
    """Of the arguments that are arrays, in order."""
    layout: Layout
    _variables: list[tuple[Allocation, bytes]]
    """Global and constant variables with what they begin with, and the workspace of the grid's barrier."""
    _compiled: _Compiled
    _parameters: NDArray[np.uint8]
    _function: model.Function
    heap: Heap | None = None

    @property
    def sites(self) -> Sites:
        return self._compiled.translated.sites

    @property
    def uses_agents(self) -> bool:
        """Whether records name agents of threads."""
        return self._compiled.translated.uses_agents

    @property
    def shared_size(self) -> int:
        """Bytes of shared memory of a block."""
        return self.layout.shared_size + self.launch.dynamic_shared

    @property
    def clustered(self) -> bool:
        """Whether blocks get to the shared memory of others."""
        return cluster_of(self._function) != (1, 1, 1)

    def slots(self, resident: int | None) -> int:
        """How many blocks are under way at once, where so many are asked for: those of whole clusters."""
        x, y, z = cluster_of(self._function)
        return max(1, resident_blocks(self.launch, resident) // (x * y * z)) * x * y * z

    def relaunch(self, launch: Launch) -> None:
        """Take another launch, without compiling anew. Raises `LaunchError`."""
        check_launch(self._function, launch)
        if [len(array.data) for _, array in launch.arrays] != [allocation.size for allocation in self.arrays]:
            variables = [variable for variable, _ in self._variables]
            self.arena, self.arrays, self.heap = _memory(variables, launch, self.heap is not None)
        self._parameters[:] = _packed(self._function, launch, self.arrays)
        self.launch = launch

    def initialise(self) -> None:
        """Fill memory with what a run begins with."""
        if self.heap is not None:
            self.heap.clear()
        for allocation, data in self.beginnings().items():
            self.arena.write(allocation.address, data)

    def beginnings(self) -> dict[Allocation, bytes]:
        """What a run begins with, by variable and array."""
        contents = self.launch.contents([allocation.address for allocation in self.arrays])
        return {**dict(self._variables), **dict(zip(self.arrays, contents, strict=True))}

    def take(self, launch: Launch, parameters: bytes) -> None:
        """Another launch, for a kernel in memory that somebody else has laid out."""
        self.launch = launch
        self._parameters[: len(parameters)] = np.frombuffer(parameters, np.uint8)

    @property
    def shards(self) -> int:
        """The schedule, and so the records, are one sequence."""
        return 1

    def run(
        self,
        consumers: Sequence[Consumer] = (),
        seed: int = 0,
        seconds: float = 60.0,
        resident: int | None = None,
        results: bool = True,
        undefined: Undefined | None = None,
    ) -> Execution:
        """Execute the launch. The consumer, if there is one, gets the records in batches, as rows of three words (see
        `layout`)."""
        (consume,) = consumers or (None,)
        return _run(self, consume, seed, seconds, resident, undefined)


def prepare(module: model.Module, kernel: str, launch: Launch, lock_step: bool = False) -> Kernel:
    """`lock_step`: warps run as before Volta. Raises `Unsupported`, `LaunchError`, and KeyError where the module has no
    such kernel."""
    function = module.definition(kernel)
    if function is None or function.kind != "entry":
        raise KeyError(kernel)
    check_launch(function, launch)
    layout, static_size = lay_out(module, kernel)
    variables: list[tuple[Allocation, bytes]] = []
    for variable in module.variables:
        if variable.name in layout.addresses:
            try:
                data = initial_bytes(variable, layout)
            except KeyError as error:
                raise Unsupported((f"variable {variable.name} holds the address of {error.args[0]}",)) from None
            variables.append((Allocation(variable.name, layout.addresses[variable.name], len(data)), data))
    workspace = Allocation("workspace of the grid's barrier", GLOBAL_BASE + static_size, GRID_WORKSPACE)
    variables.append((workspace, bytes(GRID_WORKSPACE)))
    arena, arrays, heap = _memory([variable for variable, _ in variables], launch, allocates(module))
    parameters = _packed(function, launch, arrays)
    compiled = _compiled(module, function, layout, parameters, workspace.address, lock_step=lock_step)
    return Kernel(launch, arena, arrays, layout, variables, compiled, parameters, function, heap)


def _memory(
    variables: Sequence[Allocation], launch: Launch, has_heap: bool
) -> tuple[Arena, tuple[Allocation, ...], Heap | None]:
    """Global memory with the variables, which have addresses, the launch's arrays behind them, and perhaps a heap."""
    static = max(v.address - GLOBAL_BASE + Arena.space_for(v.size) for v in variables)
    size = static + sum(Arena.space_for(len(array.data)) for _, array in launch.arrays)
    arena = Arena(size + (HEAP_BYTES + GRANULE if has_heap else 0))
    for variable in variables:
        arena.mark(variable)
    arrays = tuple(arena.allocate(f"argument {name}", len(array.data)) for name, array in launch.arrays)
    return arena, arrays, Heap(arena, HEAP_BYTES) if has_heap else None


def _packed(function: model.Function, launch: Launch, arrays: Sequence[Allocation]) -> NDArray[np.uint8]:
    return packed_parameters(function, argument_values(function, launch, [array.address for array in arrays]))


def prepare_unlogged(module: model.Module, kernel: str, launch: Launch, arena: Arena, parameters: bytes) -> Kernel:
    """A kernel that logs nothing, in memory that somebody else has laid out and filled: `steps` runs it. `parameters`:
    those of the kernel, one behind the other with their alignment. Raises `Unsupported`."""
    function = module.definition(kernel)
    if function is None or function.kind != "entry":
        raise KeyError(kernel)
    layout, _ = lay_out(module, kernel)
    data = np.array(bytearray(parameters) + bytes(16), np.uint8)
    compiled = _compiled(module, function, layout, data, 0, logs=False)
    return Kernel(launch, arena, (), layout, [], compiled, data, function)


def _compiled(
    module: model.Module,
    function: model.Function,
    layout: Layout,
    parameters: NDArray[np.uint8],
    workspace: int,
    logs: bool = True,
    lock_step: bool = False,
) -> _Compiled:
    run = np.zeros(1, RUN)
    addresses = Addresses(run.ctypes.data, parameters.ctypes.data, workspace)
    translated = translate(module, function.name, layout, addresses, logs, lock_step)
    return _Compiled(translated, compile_ir(translated.ir, 1), run)


def resident_blocks(launch: Launch, wanted: int | None = None) -> int:
    """How many blocks of the launch are under way at once."""
    return min(launch.blocks, wanted or max(1, _RESIDENT_THREADS // launch.threads_per_block))


def _run(
    kernel: Kernel,
    consume: Consumer | None,
    seed: int,
    seconds: float,
    resident: int | None,
    undefined: Undefined | None,
) -> Execution:
    kernel.initialise()
    execution: Execution | None = None
    for execution in steps(kernel, consume, seed, seconds, resident, undefined, alone=True):  # noqa: B007 - the last one
        pass
    assert execution is not None
    return execution


def steps(
    kernel: Kernel,
    consume: Consumer | None,
    seed: int,
    seconds: float,
    resident: int | None,
    undefined: Undefined | None = None,
    alone: bool = False,
) -> Iterator[Execution | None]:
    """Execute with memory as it is, some turns of the scheduler at a time: None while there are threads, then what came
    of it. `alone`: nobody else writes to the memory, and the kernel logs what it does; then threads that wait for ever
    end the run."""
    machine = _Machine(kernel, consume, seed, resident)
    machine.alone = alone
    if undefined is not None:
        machine.machine["undefined_site"], machine.machine["undefined"] = undefined.site, undefined.value
    try:
        yield from _executed(kernel, machine, seconds)
    finally:
        machine.queue.close()


def _executed(kernel: Kernel, machine: _Machine, seconds: float) -> Iterator[Execution | None]:
    started = time.monotonic()
    clock = threading.Timer(seconds, machine.stop)
    clock.daemon = True
    clock.start()
    try:
        yield from _turns(kernel, machine, seconds, started)
    finally:
        clock.cancel()
        clock.join()  # what it stops may be the next run of the same kernel


def _turns(kernel: Kernel, machine: _Machine, seconds: float, started: float) -> Iterator[Execution | None]:
    note = ""
    starved, abandoned, endless, idle = False, False, False, 0
    while True:
        outcome = machine.turn()
        if outcome is Outcome.PAUSED and machine.is_stopped:
            note = f"stopped after {seconds:.3g} s"
            break
        idle = idle + 1 if machine.spinning() else 0
        if (outcome is Outcome.STUCK or idle >= _IDLE) and machine.has_more_blocks():
            starved = True
            break
        if idle >= _IDLE and machine.has_faulted():
            abandoned = True
            break
        if outcome is not Outcome.PAUSED:
            break
        if machine.is_endless(idle > 0):
            endless = True
            break
        yield None
    machine.flush()
    machine.queue.close()
    elapsed = time.monotonic() - started
    arrays = tuple(kernel.arena.read(array.address, array.size) for array in kernel.arrays)
    yield Execution(
        outcome,
        arrays,
        machine.seen(),
        machine.waiting(),
        "".join(machine.printed),
        machine.queue.records,
        elapsed,
        starved,
        abandoned,
        note,
        endless,
        endless and machine.waits_for_itself(),
    )


class _Machine:
    """The memory of the scheduler for one run."""

    def __init__(self, kernel: Kernel, consume: Consumer | None, seed: int, resident: int | None) -> None:
        self.kernel = kernel
        self.queue = Handover(consume)
        self.printed: list[str] = []
        self._print_left = _PRINTED
        self.alone = False
        """Nobody else writes to the memory."""
        self._endless: Endless | None = None
        self._heap_calls = 0
        launch = kernel.launch
        self.threads_per_block, self.blocks = launch.threads_per_block, launch.blocks
        self._set_up_run()
        code = kernel._compiled.code  # pyright: ignore[reportPrivateUsage]
        machine = self.machine = np.zeros(1, MACHINE)
        machine["blocks"], machine["threads_per_block"] = self.blocks, self.threads_per_block
        machine["warps"], machine["shift"] = -(-self.threads_per_block // 32), launch.shift
        machine["random"] = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & (1 << 64) - 1 or 1
        machine["shuffle"] = int(seed != 0)
        machine["fuel"] = _FUEL
        machine["grid_x"], machine["grid_y"] = launch.grid[:2]
        machine["block_x"], machine["block_y"] = launch.block[:2]
        machine["kernel"], machine["resume"] = code.address(ENTRY), code.address("resume")
        machine["log"] = code.address("log")
        machine["frame_stride"] = aligned(self._frame_size(), 64)
        machine["shared_stride"] = aligned(kernel.shared_size, 64)
        machine["local_stride"] = aligned(kernel._compiled.translated.local_size, 64)  # pyright: ignore[reportPrivateUsage]
        uses_products = kernel._compiled.translated.uses_products  # pyright: ignore[reportPrivateUsage]
        machine["workspace_stride"] = 4 * PRODUCT_CELLS * 8 if uses_products else 0
        self._arrays: dict[str, NDArray[Any]] = {}
        cluster = cluster_of(kernel._function)  # pyright: ignore[reportPrivateUsage]
        machine["cluster"] = int(np.prod(cluster))
        machine["cluster_x"], machine["cluster_y"], machine["cluster_z"] = cluster
        machine["cluster_base"] = GLOBAL_BASE + kernel.arena.size + GRANULE
        kernel._compiled.run["shared_stride"] = machine["shared_stride"]  # pyright: ignore[reportPrivateUsage]
        self._allocate(kernel.slots(resident))
        self._step = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(SCHEDULER.address("run"))

    def _set_up_run(self) -> None:
        run = self.kernel._compiled.run  # pyright: ignore[reportPrivateUsage]
        launch = self.kernel.launch
        for axis, name in enumerate("xyz"):
            run[f"ntid_{name}"], run[f"nctaid_{name}"] = launch.block[axis], launch.grid[axis]
        run["shared_size"] = self.kernel.shared_size
        run["dynamic_shared"] = launch.dynamic_shared
        run["clock"] = run["stop"] = 0
        arena = self.kernel.arena
        run["arena"], run["arena_size"] = arena.machine_address, arena.size
        run["granules"] = arena.granules.ctypes.data
        run["agents"] = launch.blocks << launch.shift
        run["cursor"], run["limit"] = self.queue.begin, self.queue.end
        self._flush = ctypes.CFUNCTYPE(None)(self.flush)
        self._print = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64
        )(self._printf)
        run["flush"] = ctypes.cast(self._flush, ctypes.c_void_p).value
        self._allocate_piece = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(self._malloc)
        self._release_piece = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(self._free)
        run["allocator"] = ctypes.cast(self._allocate_piece, ctypes.c_void_p).value
        run["releaser"] = ctypes.cast(self._release_piece, ctypes.c_void_p).value
        run["printer"] = ctypes.cast(self._print, ctypes.c_void_p).value

    def _frame_size(self) -> int:
        """The coroutine writes the size of its frame when it is given none."""
        probe = np.zeros(1, THREAD)
        address = self.kernel._compiled.code.address(ENTRY)  # pyright: ignore[reportPrivateUsage]
        ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)(probe.ctypes.data)
        return int(self.kernel._compiled.run["frame_size"][0])  # pyright: ignore[reportPrivateUsage]

    def _allocate(self, slots: int) -> None:
        """Room for so many resident blocks."""
        machine = self.machine
        count = slots * self.threads_per_block
        machine["admitted"], machine["notice_limit"] = slots, 64
        self._array("slot_block", np.full(slots, -1, np.int64))
        self._array("slot_alive", np.zeros(slots, np.int64))
        self.kernel._compiled.run["slot_alive"] = self.machine["slot_alive"]  # pyright: ignore[reportPrivateUsage]
        self._array("waiting", np.zeros(slots * BARRIERS, np.int64))
        self._array("arrived", np.zeros(slots * BARRIERS, np.int64))
        self._array("cluster_arrived", np.zeros(slots, np.int64))
        self._array("cluster_phase", np.zeros(slots, np.int64))
        self._array("stepped", np.zeros(slots * int(machine["warps"][0]), np.int64))
        self._array("alive", np.zeros(slots * int(machine["warps"][0]), np.int64))
        self._array("threads", np.zeros(count, THREAD))
        self._array("notices", np.zeros(64, NOTICE))
        warps = slots * int(machine["warps"][0])
        for name, number in (("shared", slots), ("local", count), ("frame", count), ("workspace", warps)):
            machine[f"{name}_base"] = self._memory(name, number * int(machine[f"{name}_stride"][0]))
        machine["shared"] = machine["shared_base"]

    def _array(self, name: str, array: NDArray[Any]) -> None:
        self._arrays[name] = array
        self.machine[name] = array.ctypes.data

    def _memory(self, name: str, size: int) -> int:
        """Machine address of so many zeroed bytes, a multiple of 64."""
        memory = np.zeros(size + 64, np.uint8)
        self._arrays[f"{name} memory"] = memory
        return aligned(memory.ctypes.data, 64)

    def turn(self) -> Outcome:
        self._moved = int(self.machine["moved"][0])
        return Outcome(self._step(self.machine.ctypes.data, _TURNS))

    def stop(self) -> None:
        """The time is over, says another thread than the one that runs the kernel's."""
        self.machine["stop"] = 1
        self.kernel._compiled.run["stop"] = 1  # pyright: ignore[reportPrivateUsage]

    @property
    def is_stopped(self) -> bool:
        return bool(self.machine["stop"][0])

    def spinning(self) -> bool:
        """Nobody has arrived anywhere in the last turns."""
        return int(self.machine["moved"][0]) == self._moved

    def _look_for_endless(self) -> Endless:
        count = len(self._arrays["threads"])
        own: list[NDArray[np.uint8]] = []
        for name in ("frame", "local"):
            memory: NDArray[np.uint8] = self._arrays[f"{name} memory"]
            stride = int(self.machine[f"{name}_stride"][0])
            begin = int(self.machine[f"{name}_base"][0]) - memory.ctypes.data
            own.append(np.reshape(memory[begin : begin + count * stride], (count, stride)))
        return Endless(self._arrays["threads"], own, self.kernel.sites.table(), self._holds)

    def is_endless(self, spinning: bool) -> bool:
        """At the end of some turns, in which nobody has arrived anywhere where threads are `spinning`."""
        if not spinning:
            self._endless = None
            return False
        if not self.alone:
            return False
        if self._endless is None:
            self._endless = self._look_for_endless()
        self.flush()
        clock = int(self.kernel._compiled.run["clock"][0])  # pyright: ignore[reportPrivateUsage]
        return self._endless.look((clock, self._heap_calls))

    def waits_for_itself(self) -> bool:
        """Whether the threads that wait in loops read nothing there that the host may yet write: an input that the
        kernel has not changed."""
        assert self._endless is not None
        looping = {waiting.thread for waiting in self.waiting() if waiting.status == Status.READY}
        began = self.kernel.beginnings()
        given: set[int] = set()
        for address, size, thread in self._endless.reads:
            known = next((a for a in began if a.address <= address < a.address + a.size), None)
            if (
                known is not None
                and self.kernel.arena.read(address, size) == began[known][address - known.address :][:size]
            ):
                given.add(thread)
        return looping.isdisjoint(given)

    def _holds(self, write: Write) -> bool:
        """Whether memory holds what a record says was written."""
        address, value, size, thread = write
        data = value.to_bytes(8, "little")[:size]
        if GLOBAL_BASE <= address <= GLOBAL_BASE + self.kernel.arena.size - size:
            return self.kernel.arena.read(address, size) == data
        offset = address - SHARED_BASE
        slots = np.flatnonzero(self._arrays["slot_block"] == thread >> self.kernel.launch.shift)
        if not 0 <= offset <= self.kernel.shared_size - size or not len(slots):
            return False
        begin = int(self.machine["shared_base"][0]) + int(slots[0]) * int(self.machine["shared_stride"][0]) + offset
        return ctypes.string_at(begin, size) == data

    def has_faulted(self) -> bool:
        """A fault has ended a thread."""
        kinds = self._arrays["notices"]["kind"][: int(self.machine["notice_count"][0])]
        return bool((kinds == Notice.FAULT).any())

    def has_more_blocks(self) -> bool:
        """There are blocks that have not begun, for lack of room."""
        return int(self.machine["next_block"][0]) < self.blocks

    def flush(self) -> None:
        """Hand the records over that have come together."""
        run = self.kernel._compiled.run  # pyright: ignore[reportPrivateUsage]
        count = (int(run["cursor"][0]) - self.queue.begin) // RECORD_BYTES
        if self._endless is not None:
            self._endless.note(self.queue.records_here(count))
        self.queue.give(count)
        run["cursor"], run["limit"] = self.queue.begin, self.queue.end

    def _printf(self, thread: int, form: int, arguments: int, local: int) -> int:
        arena = self.kernel.arena
        data = b""
        size = self.kernel._compiled.translated.local_size  # pyright: ignore[reportPrivateUsage]
        if LOCAL_BASE <= arguments < LOCAL_BASE + size:
            data = ctypes.string_at(local + arguments - LOCAL_BASE, LOCAL_BASE + size - arguments)
        text = formatted(arena.text(form), data, arena.text)
        self.printed.append(text[: self._print_left])
        self._print_left -= len(self.printed[-1])
        return len(text)

    def _malloc(self, size: int) -> int:
        self._heap_calls += 1
        return self.kernel.heap.allocate(size) if self.kernel.heap is not None else 0

    def _free(self, address: int) -> None:
        self._heap_calls += 1
        if self.kernel.heap is not None:
            self.kernel.heap.release(address)

    def seen(self) -> tuple[Seen, ...]:
        found: list[Seen] = []
        for row in self._arrays["notices"][: int(self.machine["notice_count"][0])].tolist():
            kind, op, thread, site, other_thread, other_site, address = row
            found.append(Seen(Notice(kind), op, thread, site, other_thread, other_site, address))
        return tuple(found)

    def waiting(self) -> tuple[Waiting, ...]:
        found: list[Waiting] = []
        threads = self._arrays["threads"]
        for slot in np.flatnonzero(self._arrays["slot_block"] >= 0).tolist():
            for row in threads[slot * self.threads_per_block : (slot + 1) * self.threads_per_block]:
                if int(row["status"]) < Status.EXITED:
                    stepping = row["status"] == Status.COLLECTIVE and row["op"] == Collective.LOCK_STEP
                    status = Status.READY if stepping else int(row["status"])
                    found.append(Waiting(int(row["thread"]), int(row["site"]), status))
        return tuple(found)


SCHEDULER: Final = Library([schedule.run])
