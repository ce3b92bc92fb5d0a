"""``printf`` of kernels against the C library's: every conversion with flags, widths and precisions."""

from __future__ import annotations

import ctypes
import itertools
import struct
import sys
from random import Random

import pytest

from gpu_runner.cpu.printing import formatted

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="C libraries differ in what C leaves open")

FLAGS = ["", "-", "+", " ", "#", "0", "-0", "+0", "#0", "+ ", "-#", " 0", "+#0"]
WIDTHS = ["", "1", "12"]
PRECISIONS = ["", ".", ".1", ".3", ".14"]
INTEGERS = [0, 1, -1, 7, 8, 255, 32768, 2147483647, -2147483648, 123456]
LONGS = [0, 1, -1, 1 << 40, -(1 << 63), (1 << 63) - 1]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e300,
    5e-324,
    2.5,
    3.5,
    1e-5,
    123456789.0,
    float("inf"),
    float("-inf"),
    2.0 - 2**-52,
]


_snprintf = ctypes.CDLL(None).snprintf


def library(form: str, *arguments: ctypes.c_int | ctypes.c_longlong | ctypes.c_double | ctypes.c_char_p) -> str:
    buffer = ctypes.create_string_buffer(1024)
    _snprintf(buffer, ctypes.c_size_t(1024), form.encode(), *arguments)
    return buffer.value.decode()


def forms() -> list[str]:
    return ["%" + "".join(parts) for parts in itertools.product(FLAGS, WIDTHS, PRECISIONS)]


@pytest.mark.parametrize("conversion", ["d", "i", "u", "o", "x", "X", "hd", "hhu", "hhd", "hx"])
def test_integers(conversion: str) -> None:
    for form, value in itertools.product(forms(), INTEGERS):
        asked = form + conversion
        printed = formatted(asked, struct.pack("<i", value), str)
        assert printed == library(asked, ctypes.c_int(value)), (asked, value)


@pytest.mark.parametrize("conversion", ["lld", "llu", "lo", "zx", "llX"])
def test_integers_of_eight_bytes(conversion: str) -> None:
    for form, value in itertools.product(forms(), LONGS):
        asked = form + conversion
        printed = formatted(asked, struct.pack("<q", value), str)
        assert printed == library(asked, ctypes.c_longlong(value)), (asked, value)


@pytest.mark.parametrize("conversion", list("eEfFgGaA"))
def test_floating_point_numbers(conversion: str) -> None:
    random = Random(conversion)
    several = [random.uniform(-1, 1) * 10 ** random.randint(-12, 12) for _ in range(20)]
    for form, value in itertools.product(forms(), [*FLOATS, *several]):
        asked = form + conversion
        printed = formatted(asked, struct.pack("<d", value), str)
        assert printed == library(asked, ctypes.c_double(value)), (asked, value)


def test_what_is_no_number_has_no_sign() -> None:
    for value in (float("nan"), -float("nan")):
        for asked in ("%f", "%+.3g", "[%06e]", "%-8Fx", "% a"):
            assert formatted(asked, struct.pack("<d", value), str) == library(asked, ctypes.c_double(float("nan")))


def test_texts_and_letters() -> None:
    for flags, width, precision in itertools.product(["", "-"], WIDTHS, PRECISIONS):
        asked = f"[%{flags}{width}{precision}s]"
        assert formatted(asked, struct.pack("<Q", 1), lambda _: "hello") == library(asked, ctypes.c_char_p(b"hello"))
        asked = f"[%{flags}{width}c]"
        assert formatted(asked, struct.pack("<i", 65), str) == library(asked, ctypes.c_int(65))


@pytest.mark.parametrize("sizes", [(12, 3), (-12, 3), (12, -1), (0, 0)])
def test_widths_and_precisions_that_are_arguments(sizes: tuple[int, int]) -> None:
    for asked, code, value in (("[%*.*f]", "d", ctypes.c_double(2.75)), ("[%*.*d]", "i", ctypes.c_int(42))):
        packed = struct.pack(f"<ii{code}", *sizes, value.value)
        assert formatted(asked, packed, str) == library(asked, *map(ctypes.c_int, sizes), value), asked
