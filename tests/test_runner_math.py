"""The mathematical functions of CUDA are as accurate as its documentation says (CUDA C++ Programming Guide,
"Mathematical Functions Appendix"): the compiler's code for them stands on approximate instructions that the executor
computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from runner_launch import prepared, run

from gpu_runner.compile import Build

WIDE = np.longdouble
RNG = np.random.default_rng(11)
Range = tuple[float, float]
ULPS: Mapping[str, tuple[float, Range, Callable[[Any], Any]]] = {
    "sqrtf": (0, (0, 1e30), np.sqrt),
    "rsqrtf": (2, (1e-30, 1e30), lambda x: 1 / np.sqrt(x)),
    "cbrtf": (1, (-1e30, 1e30), np.cbrt),
    "expf": (2, (-80, 80), np.exp),
    "exp2f": (2, (-120, 120), np.exp2),
    "exp10f": (2, (-35, 35), lambda x: WIDE(10) ** x),
    "expm1f": (1, (-20, 80), np.expm1),
    "logf": (1, (1e-30, 1e30), np.log),
    "log2f": (1, (1e-30, 1e30), np.log2),
    "log10f": (2, (1e-30, 1e30), np.log10),
    "log1pf": (1, (-0.99, 1e10), np.log1p),
    "sinf": (2, (-1e5, 1e5), np.sin),
    "cosf": (2, (-1e5, 1e5), np.cos),
    "tanf": (4, (-1e4, 1e4), np.tan),
    "asinf": (2, (-1, 1), np.arcsin),
    "acosf": (2, (-1, 1), np.arccos),
    "atanf": (2, (-1e5, 1e5), np.arctan),
    "sinhf": (3, (-80, 80), np.sinh),
    "coshf": (2, (-80, 80), np.cosh),
    "tanhf": (2, (-9, 9), np.tanh),
    "asinhf": (3, (-1e10, 1e10), np.arcsinh),
    "acoshf": (4, (1, 1e10), np.arccosh),
    "atanhf": (3, (-0.999, 0.999), np.arctanh),
    "erff": (2, (-4, 4), lambda x: np.array([math.erf(v) for v in x], WIDE)),
    "erfcf": (4, (-4, 8), lambda x: np.array([math.erfc(v) for v in x], WIDE)),
    "tgammaf": (5, (0.1, 30), lambda x: np.array([math.gamma(v) for v in x], WIDE)),
}
"""Greatest difference from the correctly rounded result in units in the last place, where that is tried, and the
truth."""
DOUBLE: Mapping[str, tuple[float, Range, Callable[[Any], Any]]] = {
    "sqrt": (0, (0, 1e300), np.sqrt),
    "exp": (1, (-700, 700), np.exp),
    "log": (1, (1e-300, 1e300), np.log),
    "sin": (2, (-1e5, 1e5), np.sin),
    "cos": (2, (-1e5, 1e5), np.cos),
    "atan": (2, (-1e5, 1e5), np.arctan),
    "tanh": (1, (-20, 20), np.tanh),
    "cbrt": (1, (-1e300, 1e300), np.cbrt),
}


def inputs(within: Range, dtype: type[np.float32 | np.float64]) -> NDArray[np.longdouble]:
    """Evenly spread ones, small ones, and across magnitudes where the range is wide."""
    low, high = within
    found = [RNG.uniform(low, high, 400)]
    if high >= 1e10:
        sizes = 10 ** RNG.uniform(-8, math.log10(high), 400)
        found += [sizes, -sizes] if low < -1 else [sizes]
    if low <= 0:
        found.append(RNG.uniform(0, 1, 200))
    values = np.concatenate(found).astype(dtype)
    return np.clip(values[(values >= low) & (values <= high)], low, high).astype(dtype).astype(WIDE)


def error(got: NDArray[np.floating], truth: NDArray[np.longdouble], dtype: type[np.float32 | np.float64]) -> float:
    """The greatest difference in units in the last place of the truth."""
    unit = np.spacing(np.abs(truth).astype(dtype)).astype(WIDE)
    return float(np.max(np.abs(got.astype(WIDE) - truth) / unit))


@pytest.mark.parametrize("build", ["confirm", "shipped"])
@pytest.mark.parametrize("table", [ULPS, DOUBLE], ids=["float", "double"])
def test_functions_are_as_accurate_as_documented(
    table: Mapping[str, tuple[float, Range, object]], build: Build
) -> None:
    dtype, name = (np.float32, "float") if table is ULPS else (np.float64, "double")
    chosen = ULPS if table is ULPS else DOUBLE
    calls = "\n".join(f"case {n}: y = {f}(x); break;" for n, f in enumerate(chosen))
    source = f"""extern "C" __global__ void k(const {name} *in, {name} *out, const int *which, int n) {{
      for (int i = threadIdx.x; i < n; i += blockDim.x) {{
        {name} x = in[i], y = 0;
        switch (which[i]) {{ {calls} }}
        out[i] = y;
      }}
    }}"""
    given = [inputs(within, dtype) for _, within, _ in chosen.values()]
    which = np.concatenate([np.full(len(one), n, np.int32) for n, one in enumerate(given)])
    together = np.concatenate(given).astype(dtype)
    arguments = [together, np.zeros(len(together), dtype), which, len(together)]
    got = run(prepared(source, arguments, build=build), seconds=60).array(1, dtype)
    errors = {
        function: error(got[which == n], truth(given[n]), dtype)
        for n, (function, (_, _, truth)) in enumerate(chosen.items())
    }
    # The correctly rounded result is half a unit away from the truth at most.
    assert {f: round(e, 2) for f, e in errors.items() if e > chosen[f][0] + 0.501} == {}


def test_a_modifier_behind_the_type() -> None:
    """As cuRAND's headers write them."""
    source = """extern "C" __global__ void k(float *a) {
      float x = a[threadIdx.x], y, z;
      asm("lg2.approx.f32.ftz %0, %1;" : "=f"(y) : "f"(x));
      asm("rcp.approx.f32.ftz %0, %1;" : "=f"(z) : "f"(x));
      a[threadIdx.x] = y + z;
    }"""
    ran = run(prepared(source, [np.array([1, 2, 4, 1e-40], np.float32)], block=4))
    assert list(ran.array(0, np.float32)[:3]) == [1, 1.5, 2.25]
    assert math.isnan(float(ran.array(0, np.float32)[3]))  # a denormal counts as zero: both are infinite


@pytest.mark.parametrize("build", ["confirm", "shipped"])
def test_what_is_no_number_as_an_integer(build: Build) -> None:
    """0 between 32 bits, and else the highest bit alone, as the PTX manual says of `cvt`; infinities are clamped."""
    source = """extern "C" __global__ void k(const float *f, const double *d, long long *out) {
      int t = threadIdx.x;
      long long *o = out + 8 * t;
      o[0] = (int)f[t]; o[1] = (unsigned)f[t]; o[2] = (long long)f[t]; o[3] = (long long)(unsigned long long)f[t];
      o[4] = (int)d[t]; o[5] = (unsigned)d[t]; o[6] = (long long)d[t]; o[7] = (long long)(unsigned long long)d[t];
    }"""
    values = [math.nan, -math.nan, math.inf, -math.inf, -2.75, 300.5]
    arguments = [np.array(values, np.float32), np.array(values, np.float64), np.zeros(8 * len(values), np.int64)]
    ran = run(prepared(source, arguments, block=len(values), build=build))
    least, most, low, high = -(2**63), 2**63 - 1, -(2**31), 2**31 - 1
    of_none = [0, 0, least, least, low, 2**31, least, least]
    above = [high, 2**32 - 1, most, -1, high, 2**32 - 1, most, -1]
    below = [low, 0, least, 0, low, 0, least, 0]
    negative, ordinary = [-2, 0, -2, 0] * 2, [300] * 8
    found = ran.array(2, np.int64).reshape(len(values), 8).tolist()
    assert found == [of_none, of_none, above, below, negative, ordinary]


@pytest.mark.parametrize("build", ["confirm", "shipped"])
def test_the_bits_of_what_is_no_number(build: Build) -> None:
    """Single and half precision make one NaN only, without a sign; what is copied or only changes its sign keeps its
    bits."""
    source = """
    extern "C" __global__ void k(const float *f, const double *d, unsigned *single, unsigned short *halves) {
      float zero = f[0], infinite = f[1], given = f[2];
      float made[] = {
        zero / zero, infinite - infinite, zero * infinite, sqrtf(-infinite), __fsqrt_rn(f[3]), given + 1, given * given,
        fmaf(given, 1, 2), __fmaf_rz(given, 1, 2), __fadd_rd(infinite, -infinite), rsqrtf(f[3]), __log2f(f[3]),
        __sinf(infinite), fminf(given, zero / zero), (float)d[0], __fdividef(zero, zero), logf(f[3]), 0,
      };
      asm("cvt.f32.f16 %0, %1;" : "=f"(made[17]) : "h"((unsigned short)0xfe01));
      for (int i = 0; i < 18; i++) single[i] = __float_as_uint(made[i]);
      single[18] = __float_as_uint(given);
      ((float *)single)[19] = f[3] > 0 ? zero : given;
      single[20] = __float_as_uint(f[4]);
      atomicAdd((float *)single + 21, infinite);
      atomicAdd((float *)single + 21, -infinite);
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(halves[0]) : "f"(zero / zero));
      asm("add.f16 %0, %1, %2;" : "=h"(halves[1]) : "h"((unsigned short)0x7c00), "h"((unsigned short)0xfc00));
      asm("fma.rn.f16 %0, %1, %1, %1;" : "=h"(halves[2]) : "h"((unsigned short)0xfe01));
      asm("cvt.rn.f16.f64 %0, %1;" : "=h"(halves[3]) : "d"(d[0]));
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(halves[4]) : "f"(given));
    }"""
    given = np.array([0, np.inf, 0, -1, 0], np.float32)
    given.view(np.uint32)[[2, 4]] = 0xFFC12345, 0x7F800001
    arguments = [given, np.array([-np.nan]), np.zeros(22, np.uint32), np.zeros(5, np.uint16)]
    ran = run(prepared(source, arguments, block=1, build=build))
    found = ran.array(2, np.uint32).tolist()
    assert {n: hex(bits) for n, bits in enumerate(found[:18]) if bits != 0x7FFFFFFF} == {}
    assert [hex(bits) for bits in found[18:]] == ["0xffc12345", "0xffc12345", "0x7f800001", "0x7fffffff"]
    assert ran.array(3, np.uint16).tolist() == [0x7FFF] * 5
