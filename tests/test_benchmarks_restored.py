"""The benchmark that takes barriers out of programs."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.collection import in_processes
from benchmarks.restored import Program, table, taken_out

SOURCE = """__global__ void reverse(int *o, const int *d) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = d[t];
  // __syncthreads();
  __syncthreads();
  o[t] = s[63 - t];
  __syncthreads();
}
int main() {
  int *o, *d;
  cudaMalloc(&o, 256);
  cudaMalloc(&d, 256);
  reverse<<<1, 64>>>(o, d);
}
"""


def test_barriers_are_taken_out_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "reverse-cuda"
    folder.mkdir()
    (folder / "main.cu").write_text(SOURCE)
    (program,) = in_processes(taken_out, [folder], 1, lambda f: Program(f.name, failures=["died"]))
    assert not program.failures
    outcomes = {(t.file, t.line): t.outcome for t in program.taken}
    assert outcomes == {("reverse-cuda/main.cu", 6): "restored", ("reverse-cuda/main.cu", 8): "unseen"}
    (restored,) = (t for t in program.taken if t.outcome == "restored")
    assert restored.text.startswith("Insert __syncthreads() after line ")
    text = table([program, Program("other", [restored])], "two programs")
    assert "**2 of 2 are restored**" in text
    assert "Without 1 others" in text


def test_a_program_whose_process_dies_has_failed(tmp_path: Path) -> None:
    (program,) = in_processes(_ended, [tmp_path], 1, lambda f: Program(f.name, failures=["died"]))
    assert program.failures == ["died"]


def _ended(folder: str) -> Program:
    os._exit(len(folder))
