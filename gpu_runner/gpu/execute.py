"""Run an instrumented kernel on a GPU: the same interface as `gpu_runner.cpu.execute`.

While the kernel runs, its queues are drained on a second stream; what comes out is decoded and handed to the detectors
in threads of their own, one for each shard of the memory. A kernel that does not end is told to: threads that log end,
and those that neither log nor end are left to the end of the process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Queue
from typing import Final

import numpy as np

from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.cpu.body import Layout, Unsupported
from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.launch import Execution, Launch, Seen, argument_values, check_launch
from gpu_runner.cpu.layout import GLOBAL_BASE
from gpu_runner.cpu.machine import Outcome
from gpu_runner.cpu.sites import Sites
from gpu_runner.cpu.variables import initial_bytes, lay_out
from gpu_runner.gpu.decoder import Decoder, Figures, Mapped
from gpu_runner.gpu.driver import Device, Loaded
from gpu_runner.gpu.instrument import Instrumented, instrument
from gpu_runner.gpu.layout import CONTROL, Control
from gpu_runner.gpu.printing import redirected
from gpu_runner.gpu.queues import NOT_NOTED, RING_UNITS, Queues, Taken
from gpu_runner.ptx import model
from gpu_runner.ptx.render import render

GRID_WORKSPACE: Final = 16
_GRACE: Final = 2.0
"""Seconds that a kernel gets to end after it was told to."""
_PENDING: Final = 4
"""Takings on their way to a decoder."""
_SHARDS: Final = 12
"""At most: what orders threads is followed in each."""
_ALONE_THREADS: Final = 1 << 13
"""Launches of fewer threads have one shard."""
_PAUSE: Final = 50e-6
"""Seconds between two looks at queues that are empty."""


@dataclass(slots=True)
class Parts:
    """What a kernel on the device is made of."""

    device: Device
    module: model.Module
    """As the user has it."""
    instrumented: Instrumented
    loaded: Loaded
    function: model.Function
    """The kernel, as the user has it."""
    contents: list[tuple[int, bytes]]
    """Addresses on the device, and the bytes there before a run."""
    memory: int
    """Of the arena."""
    mapped: tuple[Mapped, ...]
    """The arena and the module variables."""
    ranges: int
    """Table of the module variables."""
    workspace: int
    layout: Layout
    queues: Queues


@dataclass(slots=True)
class GpuKernel:
    """A kernel on the device, with memory for one launch; runs of it start from the same contents."""

    launch: Launch
    arena: Arena
    """Where things lie by the numbers of reports; their bytes are on the device."""
    arrays: tuple[Allocation, ...]
    shared_size: int
    figures: Figures | None = None
    """Of the last run."""
    kernel_seconds: float = 0.0
    """What the last run took on the device."""
    parts: Parts = field(kw_only=True)

    @property
    def sites(self) -> Sites:
        return self.parts.instrumented.sites

    @property
    def clustered(self) -> bool:
        return False

    @property
    def uses_agents(self) -> bool:
        return self.parts.instrumented.uses_agents

    def on_device(self, address: int) -> int:
        """The device's address of one of the arena."""
        return self.parts.memory + address - GLOBAL_BASE

    def slots(self, resident: int) -> int:
        """The decoder gives every block a slot that is free; how many that takes the GPU decides."""
        return self.launch.blocks

    @property
    def layout(self) -> Layout:
        return self.parts.layout

    @property
    def shards(self) -> int:
        """As many as there are processors beside that of the driver."""
        threads = self.launch.blocks * self.launch.threads_per_block
        return 1 if threads < _ALONE_THREADS else max(1, min(_SHARDS, processors() - 2))

    def relaunch(self, launch: Launch) -> None:
        """Take another launch; one with arrays of other sizes is prepared anew. Raises as `prepare` does."""
        parts, arrays = self.parts, [array for _, array in launch.arrays]
        sizes = [allocation.size for allocation in self.arrays]
        if [len(array.data) for array in arrays] != sizes or launch.dynamic_shared != self.launch.dynamic_shared:
            self.close()
            fresh = prepare(parts.module, parts.function.name, launch, parts.device)
            self.launch, self.arena, self.arrays = fresh.launch, fresh.arena, fresh.arrays
            self.shared_size, self.parts = fresh.shared_size, fresh.parts
            return
        check_launch(parts.function, launch)
        static = parts.contents[: len(parts.contents) - len(arrays)]
        places = [self.on_device(allocation.address) for allocation in self.arrays]
        parts.contents = [*static, *zip(places, launch.contents(places), strict=True)]
        self.launch = launch

    def run(
        self,
        consumers: Sequence[Consumer] = (),
        seed: int = 0,
        seconds: float = 60.0,
        resident: int | None = None,
        results: bool = True,
    ) -> Execution:
        """Execute the launch once. The GPU decides the order; a seed other than 0 has warps begin late and wait in
        front of what orders threads, other ones each. Raises `DriverError`."""
        return _run(self, consumers, seed, seconds, results)

    def close(self) -> None:
        """Give the memory of the device back."""
        self.parts.queues.close()
        self.parts.device.free(self.parts.memory)
        self.parts.device.free(self.parts.ranges)
        self.parts.device.unload(self.parts.loaded)


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(
    module: model.Module, kernel: str, launch: Launch, device: Device, ring_units: int = RING_UNITS
) -> GpuKernel:
    """Raises `Unsupported`, `LaunchError`, `DriverError`, and KeyError where the module has no such kernel."""
    function = module.definition(kernel)
    if function is None or function.kind != "entry":
        raise KeyError(kernel)
    check_launch(function, launch)
    instrumented = instrument(module, kernel)
    layout, static_size = lay_out(module, kernel)
    loaded = device.load(render(instrumented.module), kernel)
    space = sum(Arena.space_for(len(array.data)) for _, array in launch.arrays)
    arena = Arena(static_size + space + Arena.space_for(GRID_WORKSPACE))
    memory = device.allocate(arena.size)
    contents: list[tuple[int, bytes]] = []
    mapped = [Mapped(memory, arena.size, GLOBAL_BASE)]
    kept = {variable.name for variable in instrumented.module.variables}
    for variable in module.variables:
        if variable.name in layout.addresses and variable.name in kept:
            data = _initial(variable, layout)
            start, size = device.variable(loaded, variable.name)
            arena.mark(Allocation(variable.name, layout.addresses[variable.name], size))
            arena.write(layout.addresses[variable.name], data)  # for what reports want to say of it
            mapped.append(Mapped(start, size, layout.addresses[variable.name]))
            if variable.space == "global":
                contents.append((start, data))
    allocations = [arena.allocate(f"argument {name}", len(array.data)) for name, array in launch.arrays]
    workspace = memory + arena.allocate("workspace of the grid's barrier", GRID_WORKSPACE).address - GLOBAL_BASE
    contents.append((workspace, bytes(GRID_WORKSPACE)))
    places = [memory + allocation.address - GLOBAL_BASE for allocation in allocations]
    contents += zip(places, launch.contents(places), strict=True)
    rows = np.array([(each.start, each.size) for each in mapped[1:]] or [(0, 0)], np.uint64)
    ranges = device.allocate(rows.nbytes)
    device.write(ranges, rows.tobytes())
    if launch.dynamic_shared:
        device.allow_shared(loaded, launch.dynamic_shared)
    queues = Queues(device, _queue_count(device, launch), ring_units, len(instrumented.symbols))
    parts = Parts(
        device,
        module,
        instrumented,
        loaded,
        function,
        contents,
        memory,
        tuple(mapped),
        ranges,
        workspace,
        layout,
        queues,
    )
    return GpuKernel(launch, arena, tuple(allocations), layout.shared_size + launch.dynamic_shared, parts=parts)


def _initial(variable: model.Variable, layout: Layout) -> bytes:
    try:
        return initial_bytes(variable, layout)
    except KeyError as error:
        raise Unsupported((f"variable {variable.name} holds the address of {error.args[0]}",)) from None


def _queue_count(device: Device, launch: Launch) -> int:
    """One for each multiprocessor, rounded up to a power of two."""
    wanted = min(device.multiprocessors, launch.blocks)
    return 1 << max(0, wanted - 1).bit_length()


def _run(kernel: GpuKernel, consumers: Sequence[Consumer], seed: int, seconds: float, results: bool) -> Execution:
    parts, launch = kernel.parts, kernel.launch
    device, queues = parts.device, parts.queues
    for address, data in parts.contents:
        device.write(address, data)
    queues.reset()
    _write_control(kernel, seed)
    count = max(1, len(consumers))
    decoders = [
        Decoder(parts.instrumented, launch, queues.count, kernel.arena.granules, parts.mapped, shard, count)
        for shard in range(count)
    ]
    values = argument_values(parts.function, launch, [kernel.on_device(array.address) for array in kernel.arrays])
    started = time.monotonic()
    workers = [_Worker(*pair) for pair in zip(decoders, consumers or [None], strict=True)]
    with redirected(parts.instrumented.prints) as printed:
        try:
            device.launch(
                parts.loaded, launch.grid, launch.block, launch.dynamic_shared, values, parts.instrumented.cooperative
            )
            ended = _drained(kernel, workers, started, seconds)
        finally:
            for worker in workers:
                worker.end()
        if ended and parts.instrumented.prints:
            device.wait()
    for worker in workers:
        worker.close()
    first = decoders[0]
    kernel.figures = first.figures
    kernel.kernel_seconds = device.kernel_seconds() if ended else 0.0
    outcome, note = Outcome.DONE, ""
    if not ended or time.monotonic() - started > seconds:
        outcome = Outcome.STUCK if first.all_wait() else Outcome.PAUSED
        note = f"stopped after {seconds:g} s"
    arrays: tuple[bytes, ...] = ()
    if ended and results:
        arrays = tuple(device.read(kernel.on_device(array.address), array.size) for array in kernel.arrays)
    elapsed = time.monotonic() - started
    waiting = first.waiting() if outcome is not Outcome.DONE else ()
    # What orders threads is in every shard.
    records = workers[0].records + sum(decoder.own for decoder in decoders[1:])
    return Execution(outcome, arrays, _seen(decoders), waiting, printed.text, records, elapsed, note=note)


def _seen(decoders: Sequence[Decoder]) -> tuple[Seen, ...]:
    """What was noticed, once each: most of it is noticed in all shards."""
    found: dict[tuple[int, int, int, int], Seen] = {}
    for decoder in decoders:
        for seen in decoder.seen():
            found.setdefault((int(seen.kind), seen.op, seen.site, seen.other_site), seen)
    return tuple(found.values())


def _write_control(kernel: GpuKernel, seed: int) -> None:
    parts, launch = kernel.parts, kernel.launch
    device, loaded, mapped = parts.device, parts.loaded, parts.mapped
    begin = device.reserved_shared
    words = parts.queues.control() | {
        Control.ARENA: mapped[0].start,
        Control.ARENA_SIZE: mapped[0].size,
        Control.RANGES: parts.ranges,
        Control.RANGE_COUNT: len(mapped) - 1,
        Control.SHARED_BEGIN: begin,
        Control.SHARED_END: begin + device.static_shared(loaded) + launch.dynamic_shared,
        Control.SHIFT: launch.shift,
        Control.WORKSPACE: parts.workspace,
        Control.SEED: seed,
    }
    block = np.zeros(Control.WORDS, np.uint64)
    for word, value in words.items():
        block[word] = value
    device.write(device.variable(loaded, CONTROL)[0], block.tobytes())


def _drained(kernel: GpuKernel, workers: Sequence[_Worker], started: float, seconds: float) -> bool:
    """Drain until the kernel has ended; False where it does not."""
    device, queues = kernel.parts.device, kernel.parts.queues
    mapped: list[Mapped] | None = None
    stopped: float | None = None
    while True:
        running = device.running()
        taken = queues.drain(stopped is not None)
        if taken is not None and mapped != (found := _shared(kernel, queues.noted_symbols())):
            mapped = found
            for worker in workers:
                worker.give(mapped)
        if taken is not None:
            for worker in workers:
                worker.give(taken)
        if any(worker.failed for worker in workers):
            queues.stop()
            return not device.running()
        if not running and taken is None:
            return True
        if taken is None:
            time.sleep(_PAUSE)
        now = time.monotonic()
        if stopped is None and now - started > seconds:
            queues.stop()
            stopped = now
        elif stopped is not None and now - stopped > _GRACE:
            return False


def _shared(kernel: GpuKernel, noted: list[int]) -> list[Mapped]:
    """Where the shared variables lie in the block's memory, and where in ours."""
    layout, launch = kernel.parts.layout, kernel.launch
    symbols = kernel.parts.instrumented.symbols
    placed = sorted((offset, name) for name, offset in layout.shared.items())
    ends = [*(offset for offset, _ in placed[1:]), layout.shared_size + launch.dynamic_shared]
    sizes = {name: end - offset for (offset, name), end in zip(placed, ends, strict=False)}
    pairs = zip(symbols, noted, strict=True)
    return [Mapped(at, sizes[name], layout.shared[name]) for name, at in pairs if at != NOT_NOTED]


class _Worker:
    """Decodes and consumes what is taken from the queues in a thread of its own, in the order in which it was given."""

    def __init__(self, decoder: Decoder, consume: Consumer | None) -> None:
        self.records = 0
        self._decoder = decoder
        self._consume = consume
        self._given: Queue[Taken | list[Mapped] | None] = Queue(_PENDING)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="decoder", daemon=True)
        self._thread.start()

    @property
    def failed(self) -> bool:
        return self._failure is not None

    def give(self, taken: Taken | list[Mapped]) -> None:
        """Waits while too much is on its way."""
        self._given.put(taken)

    def end(self) -> None:
        """Nothing more will be given."""
        self._given.put(None)

    def close(self) -> None:
        """Wait until all is consumed. Raises what the consumer raised."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while True:
            taken = self._given.get()
            if self._failure is None:
                try:
                    self._take(taken)
                except BaseException as error:  # noqa: BLE001 - raised in `close`, where somebody can see it
                    self._failure = error
            if taken is None:
                return

    def _take(self, taken: Taken | list[Mapped] | None) -> None:
        if isinstance(taken, list):
            self._decoder.map_shared(taken)
            return
        if taken is not None:
            self._decoder.feed(taken)
        self.records += self._decoder.run(self._consume, last=taken is None)
