"""The headers that kernels compiled by NVRTC can include.

What is built in or small stands here: the names of NVRTC's own are empty files, since the runtime's declarations,
``printf``, ``assert`` and the mathematical functions need none. From version 13.5 on the library brings the others
along (``cuda_fp16.h``, cooperative groups, CCCL) and writes them into a folder when it is asked to; headers of the C++
standard library are then those of ``cuda::std``."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_BUILT_IN: Final = (
    "assert.h", "cassert", "cmath", "cstddef", "cstdio", "cstdlib", "cstring", "cuda_runtime.h", "cuda_runtime_api.h",
    "device_functions.h", "device_launch_parameters.h", "math.h", "stddef.h", "stdio.h", "stdlib.h", "string.h",
    "vector_functions.h", "vector_types.h",
)  # fmt: skip

_SIZES: Final = (("8", "char"), ("16", "short"), ("32", "int"), ("64", "long long"))


def _integers() -> str:
    lines = ["#pragma once"]
    for bits, base in _SIZES:
        signed = "signed char" if base == "char" else base
        lines.append(f"typedef {signed} int{bits}_t; typedef unsigned {base} uint{bits}_t;")
    lines.append("typedef long long intptr_t; typedef unsigned long long uintptr_t;")
    names = [f"{sign}int{bits}_t" for bits, _ in _SIZES for sign in ("", "u")]
    lines.append("namespace std { " + " ".join(f"using ::{name};" for name in names) + " }")
    return "\n".join(lines) + "\n"


_LIMITS: Final = """#pragma once
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""
_FLOAT: Final = """#pragma once
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-07f
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
"""

_VERSION: Final = """#pragma once
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
"""
"""Of the driver's header the part that libraries ask for in device code."""

HEADERS: Final[dict[str, str]] = dict.fromkeys(_BUILT_IN, "") | {
    "cuda.h": _VERSION,
    "cstdint": _integers(),
    "stdint.h": _integers(),
    "climits": _LIMITS,
    "limits.h": _LIMITS,
    "cfloat": _FLOAT,
    "float.h": _FLOAT,
}
"""Text by name."""


def texts_by_name(folder: Path | None, source: bytes) -> Mapping[str, str]:
    """The headers that are given to NVRTC as texts for a source, with the bundled ones in `folder` where that is not
    None. Those of ``cuda::std`` take half a second: they are for sources that speak of ``std``."""
    if folder is None:
        return HEADERS
    return {**HEADERS, **_standard(folder)} if b"std::" in source else {**_standard(folder), **HEADERS}


@cache
def _standard(folder: Path) -> Mapping[str, str]:
    """Headers of the C++ standard library that the bundled CCCL has in ``cuda::std``."""
    names = sorted(path.name for path in (folder / "cccl" / "cuda" / "std").iterdir() if path.is_file())
    return {
        name: (
            f"#pragma once\n#include <cuda/std/{name}>\nnamespace cuda {{ namespace std {{}} }}\n"
            "namespace std { using namespace ::cuda::std; }\n"
        )
        for name in names
    }


def installed(library: ctypes.CDLL, parent: str) -> Path | str:
    """The folder below `parent` with the headers that this NVRTC brings along, written there at the first call of this
    user; why there is none where the library has none or the folder cannot be written. Safe for several processes."""
    if not hasattr(library, "nvrtcInstallBundledHeaders"):
        return "this NVRTC brings no headers along: version 13.5 or a CUDA toolkit does"
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    folder = Path(parent) / f"nvrtc-{major.value}.{minor.value}"
    log = ctypes.c_char_p()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        code = library.nvrtcInstallBundledHeaders(str(folder).encode(), 0, ctypes.byref(log))
    except OSError as error:
        return f"the headers of NVRTC cannot be written to {folder}: {error.strerror or error}"
    if code != 0:
        why = (log.value or b"").decode("utf-8", "replace").strip()
        return f"the headers of NVRTC cannot be written to {folder}: {why}"
    return folder
