"""Which GPUs and which driver there are, asked of the driver library in a process of its own.

A driver that is broken can crash or hang whoever asks it; then that is the answer. Run as a program, this file prints
one JSON object on standard output. It imports nothing of the project.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAIT_S = 20.0
_LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll", "libcuda.dylib")
_MAJOR, _MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""


@dataclass(frozen=True, slots=True)
class Gpus:
    """What the driver said."""

    driver: str | None = None
    """The newest CUDA version that it supports; None without a driver."""
    devices: tuple[str, ...] = ()
    trouble: str = ""
    """Why nothing is known."""


def find() -> Gpus:
    """Ask the driver; never raises."""
    command = [sys.executable, "-I", str(Path(__file__))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Gpus(trouble=f"the driver did not answer within {WAIT_S:.0f} s")
    except OSError as error:
        return Gpus(trouble=f"no process could be started: {error.strerror or error}")
    if done.returncode != 0:
        return Gpus(trouble=f"asking the driver ended with code {done.returncode}")
    said: Any = json.loads(done.stdout)
    return Gpus(said["driver"], tuple(said["devices"]), said["trouble"])


def _ask() -> dict[str, Any]:
    library = _library()
    if library is None:
        return {"driver": None, "devices": [], "trouble": ""}
    code = library.cuInit(0)
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    driver = f"{version.value // 1000}.{version.value % 1000 // 10}"
    if code != 0:
        name = ctypes.c_char_p()
        library.cuGetErrorName(code, ctypes.byref(name))
        return {"driver": driver, "devices": [], "trouble": f"cuInit: {(name.value or b'error').decode()} ({code})"}
    count = ctypes.c_int()
    library.cuDeviceGetCount(ctypes.byref(count))
    return {"driver": driver, "devices": [_device(library, number) for number in range(count.value)], "trouble": ""}


def _library() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _device(library: ctypes.CDLL, number: int) -> str:
    device = ctypes.c_int()
    library.cuDeviceGet(ctypes.byref(device), number)
    name = ctypes.create_string_buffer(256)
    library.cuDeviceGetName(name, len(name), device)
    capability: list[int] = []
    for attribute in (_MAJOR, _MINOR):
        value = ctypes.c_int()
        library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    return f"{name.value.decode(errors='replace')} (sm_{capability[0]}{capability[1]})"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_ask()))
