"""Products of matrices in warps: what they give, and whose accesses race."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from runner_launch import prepared, run

from gpu_runner.cpu.body import Unsupported

RANDOM = np.random.default_rng(3)


def brain(numbers: NDArray[Any]) -> NDArray[np.uint16]:
    """The upper halves of numbers that need no more."""
    return (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def listed(letter: str, count: int, name: str) -> str:
    return ", ".join(f'"{letter}"({name}[{number}])' for number in range(count))


def braced(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{number}" for number in range(first, first + count)) + "}"


def mma(form: str, counts: tuple[int, int, int], letter: str = "r", factor: str = "r") -> str:
    """The statement that computes `d` of `a`, `b` and `c`; `counts`: of registers of `a`, `b`, and `c` and `d`."""
    a, b, c = counts
    places = ", ".join((braced(0, c), braced(c, a), braced(c + a, b), braced(c + a + b, c)))
    given = ", ".join((listed(factor, a, "a"), listed(factor, b, "b"), listed(letter, c, "c")))
    return f'asm volatile("mma.sync.aligned.{form} {places};" : {listed(f"={letter}", c, "d")} : {given});'


LANES = "int t = threadIdx.x, g = t / 4, q = t % 4;"


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_a_product_of_what_was_loaded_by_rows(type_: str) -> None:
    """As kernels do it: rows come from shared memory by ``ldmatrix``, those of the second factor transposed."""
    source = f"""
    __device__ unsigned at(const void *p) {{ return (unsigned)__cvta_generic_to_shared(p); }}
    extern "C" __global__ void k(const unsigned short *in, const unsigned short *more, float *out) {{
      __shared__ __align__(16) unsigned short s[256], u[128];
      {LANES} unsigned a[4], b[2]; float c[4] = {{1, 2, 3, 4}}, d[4];
      for (int i = t; i < 256; i += 32) s[i] = in[i];
      for (int i = t; i < 128; i += 32) u[i] = more[i];
      __syncwarp();
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%0,%1,%2,%3}}, [%4];" : {listed("=r", 4, "a")}
                   : "r"(at(s + t % 16 * 16 + t / 16 * 8)));
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%0,%1}}, [%2];" : {listed("=r", 2, "b")}
                   : "r"(at(u + t % 16 * 8)));
      {mma(f"m16n8k16.row.col.f32.{type_}.{type_}.f32", (4, 2, 4), "f").replace('"f"(a', '"r"(a')}
      for (int i = 0; i < 4; i++) out[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
    }}"""
    first, second = RANDOM.integers(-8, 8, (16, 16)), RANDOM.integers(-8, 8, (16, 8))
    bits = [brain(m) if type_ == "bf16" else m.astype(np.float16).view(np.uint16) for m in (first, second)]
    ran = run(prepared(source, [bits[0].copy(), bits[1].copy(), np.zeros(128, np.float32)]))
    added = np.zeros((16, 8))
    for row in range(16):
        added[row] = np.tile([1, 2] if row < 8 else [3, 4], 4)
    assert (ran.array(2, np.float32).reshape(16, 8) == first @ second + added).all()
    assert ran.races == set()


def test_a_product_in_tf32_leaves_the_low_bits_out() -> None:
    """a0 (g, q), a1 (g + 8, q), a2 (g, q + 4), a3 (g + 8, q + 4); b0 (q, g), b1 (q + 4, g)."""
    source = f"""extern "C" __global__ void k(const float *in, const float *more, float *out) {{
      {LANES} unsigned a[4], b[2]; float c[4] = {{}}, d[4];
      for (int i = 0; i < 4; i++) a[i] = __float_as_uint(in[(g + i % 2 * 8) * 8 + q + i / 2 * 4]);
      for (int i = 0; i < 2; i++) b[i] = __float_as_uint(more[(q + 4 * i) * 8 + g]);
      {mma("m16n8k8.row.col.f32.tf32.tf32.f32", (4, 2, 4), "f")}
      for (int i = 0; i < 4; i++) out[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
    }}"""
    first = RANDOM.integers(-9, 9, (16, 8)).astype(np.float32)
    second = RANDOM.integers(-9, 9, (8, 8)).astype(np.float32)
    low = (first.view(np.uint32) | np.uint32(0x1FFF)).view(np.float32)
    ran = run(prepared(source, [low, second, np.zeros(128, np.float32)]))
    assert (ran.array(2, np.float32).reshape(16, 8) == first @ second).all()


@pytest.mark.parametrize(("types", "saturates"), [("s8.u8", False), ("u8.s8", True), ("s8.s8", False)])
def test_a_product_of_bytes(types: str, saturates: bool) -> None:
    """a: row g for i < 4 and 8 <= i < 12, else g + 8; column 4 q + i % 4, 16 more from i = 8 on."""
    form = f"m16n8k32.row.col{'.satfinite' if saturates else ''}.s32.{types}.s32"
    source = f"""extern "C" __global__ void k(const unsigned char *in, const unsigned char *more, int *out, int add) {{
      {LANES} unsigned a[4] = {{}}, b[2] = {{}}; int c[4] = {{add, add, add, add}}, d[4];
      for (int i = 0; i < 16; i++)
        a[i / 4] |= in[(i < 4 || (i >= 8 && i < 12) ? g : g + 8) * 32 + 4 * q + i % 4 + i / 8 * 16] << 8 * (i % 4);
      for (int i = 0; i < 8; i++) b[i / 4] |= more[(4 * q + i % 4 + i / 4 * 16) * 8 + g] << 8 * (i % 4);
      {mma(form, (4, 2, 4))}
      for (int i = 0; i < 4; i++) out[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
    }}"""
    kinds = [np.int8 if kind == "s8" else np.uint8 for kind in types.split(".")]
    first = RANDOM.integers(0, 256, (16, 32)).astype(np.uint8)
    second = RANDOM.integers(0, 256, (32, 8)).astype(np.uint8)
    product = first.view(kinds[0]).astype(np.int64) @ second.view(kinds[1]).astype(np.int64)
    for add in (5, 0x7FFFFFF0):
        ran = run(prepared(source, [first, second, np.zeros(128, np.int32), add]))
        whole = product + add
        told = np.clip(whole, -(1 << 31), (1 << 31) - 1) if saturates else whole.astype(np.int32)
        assert (ran.array(2).reshape(16, 8) == told).all()


def test_a_product_in_double_precision() -> None:
    source = f"""extern "C" __global__ void k(const double *in, const double *more, double *out) {{
      {LANES} double a[1] = {{in[g * 4 + q]}}, b[1] = {{more[q * 8 + g]}}, c[2] = {{0.5, 0.25}}, d[2];
      {mma("m8n8k4.row.col.f64.f64.f64.f64", (1, 1, 2), "d", "d")}
      out[g * 8 + 2 * q] = d[0]; out[g * 8 + 2 * q + 1] = d[1];
    }}"""
    first, second = RANDOM.integers(-9, 9, (8, 4)) / 8, RANDOM.integers(-9, 9, (4, 8)) / 8
    ran = run(prepared(source, [first, second, np.zeros(64)]))
    assert (ran.array(2, np.float64).reshape(8, 8) == first @ second + np.tile([0.5, 0.25], 4)).all()


def test_halves_are_added_and_rounded_once() -> None:
    source = f"""extern "C" __global__ void k(unsigned *out, int rounds) {{
      {LANES} unsigned a[2] = {{0x3c003c00, 0x40004000}}, b[1] = {{0x3c003c00}}, c[2] = {{0, 0x64006400}}, d[2];
      for (int i = 0; i < rounds; i++) {{
        {mma("m16n8k8.row.col.f16.f16.f16.f16", (2, 1, 2))}
        c[0] = d[0]; c[1] = d[1];
      }}
      out[2 * t] = d[0]; out[2 * t + 1] = d[1];
    }}"""
    ran = run(prepared(source, [np.zeros(64, np.uint32), 3]))
    pairs = ran.array(0, np.uint32).view(np.float16).reshape(32, 4)
    assert (pairs[:, :2] == 24).all()  # three times eight ones
    assert (pairs[:, 2:] == 1024 + 3 * 16).all()


@pytest.mark.parametrize(("type_", "ones"), [("e4m3", 0x38), ("e5m2", 0x3C)])
def test_bytes_with_exponents(type_: str, ones: int) -> None:
    source = f"""extern "C" __global__ void k(float *out) {{
      {LANES} unsigned a[4], b[2]; float c[4] = {{}}, d[4];
      for (int i = 0; i < 4; i++) a[i] = {ones}u * 0x01010101u;
      for (int i = 0; i < 2; i++) b[i] = {ones + 0x80}u * 0x01010101u;
      {mma(f"m16n8k32.row.col.f32.{type_}.{type_}.f32", (4, 2, 4), "f")}
      for (int i = 0; i < 4; i++) out[4 * t + i] = d[i];
    }}"""
    ran = run(prepared(source, [np.zeros(128, np.float32)], arch=89))
    assert (ran.array(0, np.float32) == -32).all()


SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fragments(shape: tuple[int, int, int], layouts: str) -> None:
    """Rows of 48 elements in memory, of which the matrix has some; the result is stored by columns."""
    m, n, k = shape
    first_layout, second_layout = layouts.split(".")
    name = f"m{m}n{n}k{k}"
    eight = listed("=r", 8, "a")
    source = f"""extern "C" __global__ void k(const unsigned short *in, const unsigned short *more, const float *add,
                                           float *out) {{
      unsigned a[8], b[8]; float c[8], d[8];
      asm volatile("wmma.load.a.sync.aligned.{first_layout}.{name}.global.f16 {braced(0, 8)}, [%8], %9;"
                   : {eight} : "l"(in), "r"(48) : "memory");
      asm volatile("wmma.load.b.sync.aligned.{second_layout}.{name}.f16 {braced(0, 8)}, [%8], %9;"
                   : {eight.replace("a[", "b[")} : "l"(more), "r"(48) : "memory");
      asm volatile("wmma.load.c.sync.aligned.row.{name}.global.f32 {braced(0, 8)}, [%8], %9;"
                   : {listed("=f", 8, "c")} : "l"(add), "r"(48) : "memory");
      asm volatile("wmma.mma.sync.aligned.{layouts}.{name}.f32.f32 {braced(0, 8)}, {braced(8, 8)}, {braced(16, 8)}, "
                   "{braced(24, 8)};" : {listed("=f", 8, "d")}
                   : {listed("r", 8, "a")}, {listed("r", 8, "b")}, {listed("f", 8, "c")});
      asm volatile("wmma.store.d.sync.aligned.col.{name}.global.f32 [%0], {braced(1, 8)}, %9;"
                   :: "l"(out), {listed("f", 8, "d")}, "r"(48) : "memory");
    }}"""
    first, second, third = (RANDOM.integers(-8, 8, size) for size in ((m, k), (k, n), (m, n)))

    def wide(matrix: NDArray[Any], layout: str) -> NDArray[np.float32]:
        held = matrix if layout == "row" else matrix.T
        return np.pad(held, ((0, 0), (0, 48 - held.shape[1])), constant_values=99).astype(np.float32)

    halves = [wide(first, first_layout).astype(np.float16), wide(second, second_layout).astype(np.float16)]
    out = np.zeros((n, 48), np.float32)
    ran = run(prepared(source, [*halves, wide(third, "row"), out]))
    result, wanted = ran.array(3, np.float32).reshape(n, 48), first @ second + third
    assert (result[:, :m] == wanted.T).all()
    assert not result[:, m:].any()
    assert ran.races == set()


FRAGMENT = """extern "C" __global__ void k(const unsigned short *in, float *out) {
  __shared__ __align__(32) unsigned short s[256];
  __shared__ __align__(32) float r[256];
  unsigned a[8]; float c[8] = {};
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = in[i];
  FIRST
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7])
               : "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
  c[0] = a[0];
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
               :: "r"((unsigned)__cvta_generic_to_shared(r)), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
               "f"(c[5]), "f"(c[6]), "f"(c[7]) : "memory");
  SECOND
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = r[i];
}"""


@pytest.mark.parametrize(("first", "second"), [(True, True), (False, True), (True, False)])
def test_lanes_that_load_and_store_fragments_are_ordered_by_barriers_only(first: bool, second: bool) -> None:
    source = FRAGMENT.replace("FIRST", "__syncwarp();" * first).replace("SECOND", "__syncwarp();" * second)
    ran = run(prepared(source, [np.zeros(256, np.uint16), np.zeros(256, np.float32)]))
    assert {kinds for *_, kinds, _ in ran.races} == (set() if first and second else {"rw"})


def test_products_that_are_not_computed_are_named() -> None:
    source = f"""extern "C" __global__ void k(int *out) {{
      unsigned a[1] = {{}}, b[1] = {{}}; int c[2] = {{}}, d[2];
      {mma("m8n8k32.row.col.s32.s4.s4.s32", (1, 1, 2))}
      out[threadIdx.x] = d[0];
    }}"""
    with pytest.raises(Unsupported, match=r"mma\.sync\.aligned\.m8n8k32.*product of these types"):
        prepared(source, [np.zeros(32, np.int32)])
