"""A driver without a GPU: the functions of ``cuda.bindings.driver`` that `driver.Device` calls, on the CPU executor.

Instrumented modules run on it as plain programs, their logging routine included, with the queues in the memory of the
program. It assembles nothing and has no timing; what it shows is that rewriting, routine, queues, draining and decoding
give the detector what the program did. A kernel goes on while its stream is asked whether it has ended, so that a run
repeats exactly.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.cpu.execute import Kernel, prepare_unlogged, steps
from gpu_runner.cpu.launch import Execution, Launch, packed_parameters, parameter_size
from gpu_runner.cpu.layout import GLOBAL_BASE, GRANULE
from gpu_runner.cpu.machine import Notice, Outcome
from gpu_runner.cpu.variables import initial_bytes, lay_out
from gpu_runner.ptx import model
from gpu_runner.ptx.lexer import PtxSyntaxError
from gpu_runner.ptx.parse import parse

_VARIABLES: Final = 1 << 24
"""Bytes at the beginning of the memory that are for variables of modules."""
_RESIDENT_THREADS: Final = 1 << 18
_SECONDS: Final = 3600.0
_BAD_PTX: Final = 218
_NOT_FOUND: Final = 500
_NOT_READY: Final = 600
_LAUNCH_FAILED: Final = 719
_MESSAGES: Final = {
    _BAD_PTX: b"a PTX JIT compilation failed",
    _NOT_FOUND: b"named symbol not found",
    _LAUNCH_FAILED: b"unspecified launch failure",
}


@dataclass(frozen=True, slots=True)
class _Function:
    module: model.Module
    name: str


class Rehearsal:
    """`seed`: the order in which threads run in the first launch; each further one takes the next. `size`: bytes of
    memory."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="multiprocessors",
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK="reserved",
    )
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES="shared",
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic",
    )
    CUjit_option = SimpleNamespace(
        CU_JIT_ERROR_LOG_BUFFER="log", CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES="size", CU_JIT_GENERATE_LINE_INFO="lines"
    )

    def __init__(self, seed: int = 0, multiprocessors: int = 4, size: int = 1 << 28) -> None:
        self.seed = seed
        self._multiprocessors = multiprocessors
        self.arena = Arena(size)
        self._top = _VARIABLES
        self._variables_top = 0
        self._pinned: dict[int, NDArray[np.uint8]] = {}
        self._running: Iterator[Execution | None] | None = None
        self._kernels: dict[int, Kernel] = {}
        self.execution: Execution | None = None
        """What came of the last kernel."""

    # Context

    def cuInit(self, flags: int) -> tuple[int]:  # noqa: N802 - names of the driver, here and below
        return (0,)

    def cuDeviceGetCount(self) -> tuple[int, int]:  # noqa: N802
        return 0, 1

    def cuDeviceGet(self, number: int) -> tuple[int, int]:  # noqa: N802
        return 0, number

    def cuDeviceGetName(self, length: int, device: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"rehearsal on the CPU executor"

    def cuDeviceGetAttribute(self, attribute: str, device: int) -> tuple[int, int]:  # noqa: N802
        return 0, self._multiprocessors if attribute == "multiprocessors" else 0

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[int, int]:  # noqa: N802
        return 0, 1

    def cuCtxSetCurrent(self, context: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuStreamCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, flags

    def cuEventCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, flags

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuEventElapsedTime(self, first: int, second: int) -> tuple[int, float]:  # noqa: N802
        return 0, 0.0

    def cuGetErrorString(self, code: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, _MESSAGES.get(code, b"")

    # Modules

    def cuModuleLoadDataEx(  # noqa: N802
        self, image: bytes, count: int, options: list[str], values: list[Any]
    ) -> tuple[int, model.Module | None]:
        log = values[options.index("log")]
        try:
            module = parse(image.rstrip(b"\0").decode())
        except PtxSyntaxError as error:
            text = str(error).encode()[: len(log) - 1]
            log[: len(text)] = text
            return _BAD_PTX, None
        entry = next(function.name for function in module.functions if function.kind == "entry" and function.body)
        layout, size = lay_out(module, entry)
        for variable in module.variables:
            if variable.name in layout.addresses:
                data = initial_bytes(variable, layout)
                self.arena.mark(Allocation(variable.name, layout.addresses[variable.name], len(data)))
                self.arena.write(layout.addresses[variable.name], data)
        assert size <= _VARIABLES
        return 0, module

    def cuModuleUnload(self, module: model.Module) -> tuple[int]:  # noqa: N802
        self._kernels.pop(id(module), None)
        self.arena.granules[: _VARIABLES // GRANULE] = 0
        return (0,)

    def cuModuleGetFunction(self, module: model.Module, name: bytes) -> tuple[int, _Function | None]:  # noqa: N802
        if module.definition(name.decode()) is None:
            return _NOT_FOUND, None
        return 0, _Function(module, name.decode())

    def cuModuleGetGlobal(self, module: model.Module, name: bytes) -> tuple[int, int, int]:  # noqa: N802
        entry = next(function.name for function in module.functions if function.kind == "entry" and function.body)
        layout, _ = lay_out(module, entry)
        for variable in module.variables:
            if variable.name == name.decode():
                return 0, layout.addresses[variable.name], len(initial_bytes(variable, layout))
        return _NOT_FOUND, 0, 0

    def cuFuncGetAttribute(self, attribute: str, function: _Function) -> tuple[int, int]:  # noqa: N802
        assert attribute == "shared"
        return 0, lay_out(function.module, function.name)[0].shared_size

    def cuFuncSetAttribute(self, function: _Function, attribute: str, value: int) -> tuple[int]:  # noqa: N802
        return (0,)

    # Memory

    def cuMemAlloc(self, size: int) -> tuple[int, int]:  # noqa: N802
        address = GLOBAL_BASE + self._top
        self.arena.mark(Allocation("", address, size))
        self._top += Arena.space_for(size)
        return 0, address

    def cuMemFree(self, address: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuMemsetD8(self, address: int, value: int, size: int) -> tuple[int]:  # noqa: N802
        self.arena.write(address, bytes([value]) * size)
        return (0,)

    def cuMemHostAlloc(self, size: int, flags: int) -> tuple[int, int]:  # noqa: N802
        array = np.zeros(size, np.uint8)
        self._pinned[array.ctypes.data] = array
        return 0, array.ctypes.data

    def cuMemFreeHost(self, address: int) -> tuple[int]:  # noqa: N802
        del self._pinned[address]
        return (0,)

    def cuMemcpyHtoD(self, address: int, host: int, size: int) -> tuple[int]:  # noqa: N802
        self.arena.write(address, ctypes.string_at(host, size))
        return (0,)

    def cuMemcpyDtoH(self, host: int, address: int, size: int) -> tuple[int]:  # noqa: N802
        ctypes.memmove(host, self.arena.read(address, size), size)
        return (0,)

    def cuMemcpyHtoDAsync(self, address: int, host: int, size: int, stream: int) -> tuple[int]:  # noqa: N802
        return self.cuMemcpyHtoD(address, host, size)

    def cuMemcpyDtoHAsync(self, host: int, address: int, size: int, stream: int) -> tuple[int]:  # noqa: N802
        return self.cuMemcpyDtoH(host, address, size)

    # Launches

    def cuLaunchKernel(  # noqa: N802
        self, function: _Function, *shape: Any
    ) -> tuple[int]:
        """`shape`: grid, block, dynamic shared memory, stream, address of the pointers to the arguments, extra."""
        grid, block = tuple(shape[:3]), tuple(shape[3:6])
        shared, pointers = int(shape[6]), int(shape[8])
        entry = function.module.definition(function.name)
        assert entry is not None
        table = (ctypes.c_void_p * max(1, len(entry.parameters))).from_address(pointers)
        values: list[bytes] = []
        for number, parameter in enumerate(entry.parameters):
            values.append(ctypes.string_at(table[number] or 0, parameter_size(parameter)))
        launch = Launch(grid, block, (), shared)
        packed = packed_parameters(entry, values).tobytes()
        kernel = self._kernels.get(id(function.module))
        if kernel is None:
            kernel = prepare_unlogged(function.module, function.name, launch, self.arena, packed)
            self._kernels[id(function.module)] = kernel
        kernel.take(launch, packed)
        resident = max(1, _RESIDENT_THREADS // launch.threads_per_block)
        self._running = steps(kernel, None, self.seed, _SECONDS, min(launch.blocks, resident))
        self.seed += 1
        self.execution = None
        return (0,)

    def cuLaunchCooperativeKernel(self, function: _Function, *shape: Any) -> tuple[int]:  # noqa: N802
        return self.cuLaunchKernel(function, *shape)

    def cuStreamQuery(self, stream: int) -> tuple[int]:  # noqa: N802
        if self._running is None:
            return (0,)
        if self.execution is None:
            self.execution = next(self._running)
        found = self.execution
        if found is None or found.outcome is Outcome.STUCK:  # threads that wait for each other never end
            return (_NOT_READY,)
        self._running = None
        return (_LAUNCH_FAILED if any(seen.kind is Notice.FAULT for seen in found.seen) else 0,)

    def cuCtxSynchronize(self) -> tuple[int]:  # noqa: N802
        if self.execution is not None and self.execution.printed:
            os.write(1, self.execution.printed.encode())
        return (0,)

    def cuStreamSynchronize(self, stream: int) -> tuple[int]:  # noqa: N802
        return (0,)
