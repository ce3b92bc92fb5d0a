"""Matrices between shared memory and registers: what each lane gets, and whose accesses race."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import prepared, run

from gpu_runner.cpu.layout import Fault

HEAD = """
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
"""


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_loaded_and_stored_fragments(count: int, transposed: bool) -> None:
    names = ", ".join(f"%{n}" for n in range(count))
    ins = ", ".join(f'"r"(r[{n}])' for n in range(count))
    outs = ", ".join(f'"=r"(r[{n}])' for n in range(count))
    form = f"sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.shared.b16"
    shifted = ", ".join(f"%{n + 1}" for n in range(count))
    source = f"""{HEAD}
    extern "C" __global__ void k(const unsigned short *in, unsigned *out, unsigned short *back) {{
      __shared__ __align__(16) unsigned short s[256], d[256];
      int t = threadIdx.x; unsigned r[4];
      for (int i = t; i < 256; i += 32) {{ s[i] = in[i]; d[i] = 0; }}
      __syncthreads();
      asm volatile("ldmatrix.{form} {{{names}}}, [%{count}];" : {outs} : "r"(at(s + t * 8 % {count * 64})));
      for (int m = 0; m < {count}; m++) out[t * 4 + m] = r[m];
      asm volatile("stmatrix.{form} [%0], {{{shifted}}};" :: "r"(at(d + t * 8 % {count * 64})), {ins} : "memory");
      __syncthreads();
      for (int i = t; i < 256; i += 32) back[i] = d[i];
    }}"""
    data = np.random.default_rng(1).integers(0, 1 << 16, 256).astype(np.uint16)
    ran = run(prepared(source, [data, np.zeros(128, np.uint32), np.zeros(256, np.uint16)]))
    out = ran.array(1, np.uint32).reshape(32, 4)
    for lane in range(32):
        for matrix in range(count):
            rows = data[64 * matrix : 64 * matrix + 64].reshape(8, 8)
            rows = rows.T if transposed else rows
            low, high = (int(rows[lane // 4, 2 * (lane % 4) + half]) for half in (0, 1))
            assert out[lane, matrix] == low | high << 16
    back = ran.array(2, np.uint16)
    assert (back[: 64 * count] == data[: 64 * count]).all()
    assert not back[64 * count :].any()
    assert ran.races == set()


def test_the_lane_that_gives_the_address_accesses_the_row() -> None:
    source = f"""{HEAD}
    extern "C" __global__ void k(unsigned *out) {{
      __shared__ __align__(16) unsigned s[128];
      int t = threadIdx.x; unsigned r;
      for (int i = 0; i < 4; i++) s[t * 4 + i] = t;
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : "r"(at(s + 4 * (t GIVEN))));
      out[t] = r;
    }}"""
    assert run(prepared(source.replace("GIVEN", ""), [np.zeros(32, np.uint32)])).races == set()
    assert run(prepared(source.replace("GIVEN", "^ 1"), [np.zeros(32, np.uint32)])).races
    ran = run(prepared(source.replace("GIVEN", "+ 25"), [np.zeros(32, np.uint32)]))
    assert (ran.execution.seen[0].op, ran.execution.seen[0].thread) == (Fault.OUT_OF_BOUNDS, 7)
