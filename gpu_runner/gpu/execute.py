"""Run an instrumented kernel on a GPU: the same interface as `gpu_runner.cpu.execute`.

While the kernel runs, its queues are drained on a second stream; what comes out is decoded and handed to the detector
in a thread of its own. A kernel that does not end is told to: threads that log end, and those that neither log nor end
are left to the end of the process.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from queue import Queue
from typing import Final

import numpy as np

from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.cpu.body import Layout, Unsupported
from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.launch import Execution, Launch, argument_values, check_launch
from gpu_runner.cpu.layout import GLOBAL_BASE
from gpu_runner.cpu.machine import Outcome
from gpu_runner.cpu.sites import Sites
from gpu_runner.cpu.variables import initial_bytes, lay_out
from gpu_runner.gpu.decoder import Decoder, Figures, Mapped
from gpu_runner.gpu.driver import Device, Loaded
from gpu_runner.gpu.instrument import Instrumented, instrument
from gpu_runner.gpu.layout import CONTROL, Control
from gpu_runner.gpu.queues import NOT_NOTED, RING_UNITS, Queues, Segment
from gpu_runner.ptx import model
from gpu_runner.ptx.render import render

GRID_WORKSPACE: Final = 16
_GRACE: Final = 2.0
"""Seconds that a kernel gets to end after it was told to."""
_PENDING: Final = 256
"""Segments on their way to the decoder."""


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
        consume: Consumer | None = None,
        seed: int = 0,
        seconds: float = 60.0,
        resident: int | None = None,
    ) -> Execution:
        """Execute the launch once; the GPU decides the order, whatever the seed. Raises `DriverError`."""
        return _run(self, consume, seconds)

    def close(self) -> None:
        """Give the memory of the device back."""
        self.parts.queues.close()
        self.parts.device.free(self.parts.memory)
        self.parts.device.free(self.parts.ranges)
        self.parts.device.unload(self.parts.loaded)


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


def _run(kernel: GpuKernel, consume: Consumer | None, seconds: float) -> Execution:
    parts, launch = kernel.parts, kernel.launch
    device, queues = parts.device, parts.queues
    for address, data in parts.contents:
        device.write(address, data)
    queues.reset()
    _write_control(kernel)
    decoder = Decoder(parts.instrumented, launch, queues.count, kernel.arena.granules, parts.mapped)
    values = argument_values(parts.function, launch, [kernel.on_device(array.address) for array in kernel.arrays])
    started = time.monotonic()
    worker = _Worker(decoder, consume)
    try:
        device.launch(
            parts.loaded, launch.grid, launch.block, launch.dynamic_shared, values, parts.instrumented.cooperative
        )
        ended = _drained(kernel, worker, started, seconds)
    finally:
        worker.close()
    records = worker.records + decoder.run(consume, last=True)
    kernel.figures = decoder.figures
    kernel.kernel_seconds = device.kernel_seconds() if ended else 0.0
    outcome, note = Outcome.DONE, ""
    if not ended or time.monotonic() - started > seconds:
        outcome = Outcome.STUCK if decoder.all_wait() else Outcome.PAUSED
        note = f"stopped after {seconds:g} s"
    arrays: tuple[bytes, ...] = ()
    if ended:
        arrays = tuple(device.read(kernel.on_device(array.address), array.size) for array in kernel.arrays)
    elapsed = time.monotonic() - started
    waiting = decoder.waiting() if outcome is not Outcome.DONE else ()
    return Execution(outcome, arrays, decoder.seen(), waiting, "", records, elapsed, note=note)


def _write_control(kernel: GpuKernel) -> None:
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
    }
    block = np.zeros(Control.WORDS, np.uint64)
    for word, value in words.items():
        block[word] = value
    device.write(device.variable(loaded, CONTROL)[0], block.tobytes())


def _drained(kernel: GpuKernel, worker: _Worker, started: float, seconds: float) -> bool:
    """Drain until the kernel has ended; False where it does not."""
    device, queues = kernel.parts.device, kernel.parts.queues
    mapped: list[Mapped] | None = None
    stopped: float | None = None
    while True:
        running = device.running()
        segments = queues.drain(stopped is not None)
        if segments and mapped != (found := _shared(kernel, queues.noted_symbols())):
            mapped = found
            worker.give(mapped)
        for segment in segments:
            worker.give(segment)
        if worker.failed:
            queues.stop()
            return not device.running()
        if not running and not segments:
            return True
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
    """Decodes and consumes segments in a thread of its own, in the order in which they were given."""

    def __init__(self, decoder: Decoder, consume: Consumer | None) -> None:
        self.records = 0
        self._decoder = decoder
        self._consume = consume
        self._segments: Queue[Segment | list[Mapped] | None] = Queue(_PENDING)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="decoder", daemon=True)
        self._thread.start()

    @property
    def failed(self) -> bool:
        return self._failure is not None

    def give(self, segment: Segment | list[Mapped]) -> None:
        self._segments.put(segment)

    def close(self) -> None:
        """Wait until all is consumed. Raises what the consumer raised."""
        self._segments.put(None)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (segment := self._segments.get()) is not None:
            if self._failure is not None:
                continue
            try:
                if isinstance(segment, list):
                    self._decoder.map_shared(segment)
                    continue
                self._decoder.feed(segment.queue, segment.words)
                self.records += self._decoder.run(self._consume)
            except BaseException as error:  # noqa: BLE001 - raised in `close`, where somebody can see it
                self._failure = error
