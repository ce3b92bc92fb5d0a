"""Headers that kernels include and NVRTC has no file for: what they declare is built in, or stands here.

The names of NVRTC's own are empty files: the runtime's, ``printf``, ``assert`` and the mathematical functions need
none."""

from __future__ import annotations

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

HEADERS: Final[dict[str, str]] = dict.fromkeys(_BUILT_IN, "") | {
    "cstdint": _integers(),
    "stdint.h": _integers(),
    "climits": _LIMITS,
    "limits.h": _LIMITS,
    "cfloat": _FLOAT,
    "float.h": _FLOAT,
}
"""Text by name."""
