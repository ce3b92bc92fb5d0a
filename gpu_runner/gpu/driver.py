"""The CUDA driver through NVIDIA's Python bindings (``cuda-bindings``, optional), as far as a run needs it.

Every call of the driver is made here, on an object with the functions of ``cuda.bindings.driver``: they give a tuple
that begins with an error code. `gpu_runner.gpu.rehearsal` is such an object without a GPU.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_LOG_BYTES: Final = 1 << 14
_NEWEST: Final = re.compile(r"Unsupported \.version [\d.]+; current version is '([\d.]+)'")
_VERSION: Final = re.compile(r"^\.version [\d.]+", re.MULTILINE)
_NOT_READY: Final = 600
_MULTIPROCESSORS: Final = "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"
_RESERVED_SHARED: Final = "CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK"


class NoGpu(Exception):
    """There is no GPU to run on; the message says what is missing."""


class DriverError(Exception):
    """A call of the driver failed."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module on the device, and its kernel."""

    module: Any
    function: Any


class Device:
    """The first GPU, in its primary context, with one stream for kernels and one for the queues."""

    def __init__(self, api: Any) -> None:
        """Raises `NoGpu`."""
        self.api = api
        self._pinned: dict[int, NDArray[np.uint8]] = {}
        try:
            self._call("cuInit", 0)
            count = self._call("cuDeviceGetCount")
            if not count:
                raise NoGpu("the driver finds no GPU")
            self._device = self._call("cuDeviceGet", 0)
            context = self._call("cuDevicePrimaryCtxRetain", self._device)
            self._call("cuCtxSetCurrent", context)
            self._kernels = self._call("cuStreamCreate", 1)
            self._copies = self._call("cuStreamCreate", 1)
            self._events = [self._call("cuEventCreate", 0) for _ in range(2)]
        except DriverError as error:
            raise NoGpu(f"the driver does not work: {error}") from None

    def _call(self, name: str, *arguments: Any) -> Any:
        code, *results = getattr(self.api, name)(*arguments)
        if int(code) != 0:
            raise DriverError(f"{name}: {self._message(code)}")
        return results[0] if len(results) == 1 else tuple(results)

    def _message(self, code: Any) -> str:
        found, text = self.api.cuGetErrorString(code)
        return text.decode() if int(found) == 0 and text else f"error {int(code)}"

    @property
    def name(self) -> str:
        return self._call("cuDeviceGetName", 128, self._device).split(b"\0")[0].decode()

    @property
    def multiprocessors(self) -> int:
        return int(self._attribute(_MULTIPROCESSORS))

    @property
    def reserved_shared(self) -> int:
        """Bytes at the beginning of shared memory that are the system's."""
        return int(self._attribute(_RESERVED_SHARED))

    def _attribute(self, name: str) -> Any:
        return self._call("cuDeviceGetAttribute", getattr(self.api.CUdevice_attribute, name), self._device)

    # Modules

    def load(self, text: str, kernel: str, *, lines: bool = False) -> Loaded:
        """Assemble PTX; `lines`: with what debuggers want to know of lines. Text of a newer version than the driver
        knows is given to it as of its own. Raises `DriverError` with the assembler's log."""
        try:
            module = self._assembled(text, lines)
        except DriverError as error:
            newest = _NEWEST.search(str(error))
            if newest is None:
                raise
            module = self._assembled(_VERSION.sub(f".version {newest[1]}", text, count=1), lines)
        return Loaded(module, self._call("cuModuleGetFunction", module, kernel.encode()))

    def _assembled(self, text: str, lines: bool) -> Any:
        options = self.api.CUjit_option
        log = bytearray(_LOG_BYTES)
        names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        values: list[Any] = [log, _LOG_BYTES]
        if lines:
            names.append(options.CU_JIT_GENERATE_LINE_INFO)
            values.append(1)
        try:
            return self._call("cuModuleLoadDataEx", text.encode() + b"\0", len(names), names, values)
        except DriverError as error:
            said = bytes(log).split(b"\0")[0].decode("utf-8", "replace").strip()
            raise DriverError(f"{error}; {said}" if said else str(error)) from None

    def variable(self, loaded: Loaded, name: str) -> tuple[int, int]:
        """Address and size of a global or constant variable."""
        address, size = self._call("cuModuleGetGlobal", loaded.module, name.encode())
        return int(address), int(size)

    def static_shared(self, loaded: Loaded) -> int:
        """Bytes of shared memory of fixed size."""
        attributes = self.api.CUfunction_attribute
        return int(self._call("cuFuncGetAttribute", attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, loaded.function))

    def allow_shared(self, loaded: Loaded, size: int) -> None:
        """Let the kernel have so many bytes of dynamic shared memory."""
        attribute = self.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", loaded.function, attribute, size)

    def unload(self, loaded: Loaded) -> None:
        self._call("cuModuleUnload", loaded.module)

    # Memory

    def allocate(self, size: int) -> int:
        """Device memory, all zero."""
        address = int(self._call("cuMemAlloc", size))
        self._call("cuMemsetD8", address, 0, size)
        return address

    def free(self, address: int) -> None:
        self._call("cuMemFree", address)

    def pinned(self, size: int) -> NDArray[np.uint8]:
        """Host memory that copies beside a running kernel need; `unpin` gives it back."""
        address = int(self._call("cuMemHostAlloc", size, 0))
        array = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        array[:] = 0
        self._pinned[address] = array
        return array

    def unpin(self, address: int) -> None:
        del self._pinned[address]
        self._call("cuMemFreeHost", address)

    def write(self, address: int, data: bytes) -> None:
        if data:
            buffer = np.frombuffer(data, np.uint8)
            self._call("cuMemcpyHtoD", address, int(buffer.ctypes.data), len(data))

    def read(self, address: int, size: int) -> bytes:
        buffer = np.empty(size, np.uint8)
        if size:
            self._call("cuMemcpyDtoH", int(buffer.ctypes.data), address, size)
        return buffer.tobytes()

    def fetch(self, host: int, address: int, size: int) -> None:
        """Begin to copy into pinned memory, beside the kernel; `settle` waits for it."""
        self._call("cuMemcpyDtoHAsync", host, address, size, self._copies)

    def send(self, address: int, host: int, size: int) -> None:
        self._call("cuMemcpyHtoDAsync", address, host, size, self._copies)

    def settle(self) -> None:
        self._call("cuStreamSynchronize", self._copies)

    # Launches

    def launch(
        self,
        loaded: Loaded,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        parameters: list[bytes],
        cooperative: bool,
    ) -> None:
        """Begin to run the kernel."""
        values = [ctypes.create_string_buffer(value, len(value)) for value in parameters]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(value) for value in values])
        arguments = (loaded.function, *grid, *block, shared, self._kernels, ctypes.addressof(pointers))
        self._call("cuEventRecord", self._events[0], self._kernels)
        if cooperative:
            self._call("cuLaunchCooperativeKernel", *arguments)
        else:
            self._call("cuLaunchKernel", *arguments, 0)
        self._call("cuEventRecord", self._events[1], self._kernels)

    def running(self) -> bool:
        """Whether the kernel has not come to its end. Raises `DriverError` where it died."""
        (code,) = self.api.cuStreamQuery(self._kernels)
        if int(code) == _NOT_READY:
            return True
        if int(code) != 0:
            raise DriverError(f"the kernel died: {self._message(code)}")
        return False

    def wait(self) -> None:
        """Until the kernel has ended and what it printed is written."""
        self._call("cuCtxSynchronize")

    def kernel_seconds(self) -> float:
        """What the last kernel took on the device."""
        return float(self._call("cuEventElapsedTime", self._events[0], self._events[1])) / 1000


def find() -> Device:
    """The GPU of this machine. Raises `NoGpu`, with what to do about it."""
    try:
        api = importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise NoGpu(f"NVIDIA's Python bindings are not installed ({error}): pip install 'cuda-lsp[gpu]'") from None
    try:
        return Device(api)
    except RuntimeError as error:  # the bindings find no libcuda
        raise NoGpu(f"there is no NVIDIA driver: {error}") from None
