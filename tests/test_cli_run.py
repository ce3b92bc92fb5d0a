"""`cuda-lsp run`: from a file with host code to the races that its kernel had when it was executed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.cli import main
from gpu_runner import harness
from gpu_runner.request import Request, RunResult

pytestmark = pytest.mark.usefixtures("lasting_workers")


def line_of(race: dict[str, Any]) -> int:
    """The later one of a race's accesses in the text."""
    return max(int(race[side]["places"][0]["line"]) for side in ("first", "second"))


SOURCE = """#include <vector>
#include <torch/extension.h>
#include "twice.cuh"
struct Pair { float x, y; };
std::vector<float> kept;
namespace ns {
template <int N> __global__ void shift(float *a, const Pair *p, int n, bool fixed) {
  __shared__ float s[N];
  int i = threadIdx.x;
  s[i] = a[i] + twice(p[i].x);
  if (fixed) __syncthreads();
  float v = s[(i + 1) % N];
  if (i < n) a[i] = v;
}
void start(at::Tensor t) { shift<64><<<1, 64>>>(t.data_ptr<float>(), nullptr, 64, true); }
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "twice.cuh").write_text("#pragma once\n__device__ inline float twice(float v) { return 2 * v; }\n")
    path = tmp_path / "shift.cu"
    path.write_text(SOURCE)
    return path


def arguments(file: Path, fixed: int, *more: str) -> list[str]:
    return ["run", f"{file}:shift", "--grid", "1", "--block", "64", "--arg", f"fixed={fixed}", "--seeds", "2", *more]


def test_a_race_is_shown_and_fails(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 0, "--arg", "a=64:iota", "--arg", "n=64")) == 1
    out, err = capsys.readouterr()
    assert f"{file}:12: intra-block data race on shared s[" in out or f"{file}:10: intra-block data race" in out
    assert "        float v = s[(i + 1) % N];" in out
    assert "in 2 runs" in out
    assert "not given: p: 16384 elements, zeros" in err


def test_a_run_without_races_says_so_and_no_more(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 1, "--arg", "n=64", "--format", "json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "finished"
    assert document["races"] == []
    assert document["kernel"] == "ns::shift<64>"


def test_a_kernel_or_parameter_that_is_not_there_is_a_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 1, "--arg", "m=3")) == 2
    assert "has no parameter m; it has a, p, n, fixed" in capsys.readouterr().err
    command = arguments(file, 1)
    command[1] = f"{file}:absent"
    assert main.main(command) == 2


def test_findings_of_the_check_are_confirmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "neighbours.cu"
    path.write_text(
        """__global__ void neighbours(int *a, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
  int left = i > 0 && i < n ? a[i - 1] : 0;
  if (i < n) a[where[i]] = left;
}
void start(int *a, const int *where, int n) { neighbours<<<(n + 255) / 256, 256>>>(a, where, n); }
"""
    )
    assert main.main(["run", f"{path}:neighbours", "--seeds", "2"]) == 1
    out = capsys.readouterr().out
    assert f"{path}:" in out
    assert "\nconfirmed\n" in out
    (first, *_) = out.split("\nconfirmed\n")[1:]
    assert first.count(" written by thread ") + first.count(" read by thread ") == 2  # of the finding's race alone
    assert "\n  seen in the same runs:\n      " in first

    path.write_text("__global__ void fine(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n")
    assert main.main(["run", f"{path}:fine"]) == 0
    assert capsys.readouterr().out.startswith(
        "grid (2, 1, 1), block (64, 1, 1) (a: 1024 elements, zeros)\nno race seen"
    )
    assert main.main(["run", f"{path}:fine", "--grid", "1"]) == 2


def test_a_run_that_no_schedule_ends_is_not_a_clean_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wait.cu"
    path.write_text(
        """__global__ void wait(volatile int *flag, int *out, int n) {
  out[threadIdx.x / n] = threadIdx.x;
  while (flag[0] == 0) { }
}
"""
    )
    command = ["run", f"{path}:wait", "--grid", "1", "--block", "4", "--seconds", "0.3"]
    assert main.main([*command, "--arg", "n=1"]) == 4
    assert "no race seen in 1 run, which did not come to its end" in capsys.readouterr().out
    assert main.main([*command, "--arg", "n=2"]) == 1
    assert "1 race in 1 run, which did not come to its end" in capsys.readouterr().out
    assert main.main([*command, "--arg", "n=1", "--arg", "flag=1,1", "--format", "json", "--seeds", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["ended"]) == (2, 2)


def test_what_a_run_cannot_show_of_barriers_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "barriers.cu"
    path.write_text(
        """__global__ void skips(int *a) { if (threadIdx.x < 5) { __syncthreads(); } a[threadIdx.x] = 1; }
__global__ void leaves(int *a, int n) {
  if (threadIdx.x >= n) return;
  a[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x ^ 1] = 2;
}
void go(int *a, int n) { skips<<<1, 64>>>(a); leaves<<<1, 64>>>(a, n); }
"""
    )
    assert main.main(["run", f"{path}:skips", "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"barrier-divergence: .*\nnot confirmed in \d+ runs\n  A barrier does not wait for threads that", out
    )
    assert main.main(["run", f"{path}:leaves", "--seeds", "1"]) == 0
    assert "barrier-after-exit" not in capsys.readouterr().out  # CUDA defines it


def test_a_run_shows_a_mask_that_does_not_name_a_lane(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "masks.cu"
    path.write_text(
        """__device__ int first(unsigned lanes, int v) { return __shfl_sync(lanes, v, 0); }
__global__ void some(int *a, int n) {
  int t = threadIdx.x;
  if (t < n) a[t] = first(0xff, t);
}
void go(int *a) { some<<<1, 64>>>(a, 12); }
"""
    )
    assert main.main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "masks.cu:1:54: lane-not-in-mask in some" in out
    assert "Lane not in mask: thread (8, 0, 0) comes to `__shfl_sync(lanes, v, 0)`" in out
    assert "name its lane, 8\n" in out
    assert "thread (8, 0, 0) of block (0, 0, 0) comes to it\n" in out
    assert main.main(["run", f"{path}:some", "--seeds", "1"]) == 1
    assert re.search(r"lane-not-in-mask: .*\nconfirmed", capsys.readouterr().out)


def test_memory_is_named_as_the_source_declares_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cells.cu"
    path.write_text(
        """struct Pair { float x, y; };
__device__ unsigned ticket;
__device__ float table[4][8];
__device__ float inner(float v) {
  __shared__ float tile[64];
  tile[threadIdx.x] = v;
  return tile[63 - threadIdx.x];
}
__global__ void cells(float *out) {
  extern __shared__ short dyn[];
  __shared__ float tile[4][17];
  __shared__ Pair pairs[64];
  int t = threadIdx.x;
  tile[t % 4][t / 4] = t;
  pairs[t].y = t;
  dyn[t] = t;
  table[t % 4][3] = t;
  ticket = t;
  out[t] = tile[3][t / 16] + pairs[63].y + dyn[63] + inner(t);
}
"""
    )
    given = ["--grid", "1", "--block", "64", "--shared", "128", "--seeds", "1", "--format", "json"]
    assert main.main(["run", f"{path}:cells", *given]) == 1
    races = json.loads(capsys.readouterr().out)["races"]
    found = {(line_of(race), race["space"], race["address"]) for race in races}
    assert {(line, space) for line, space, _ in found} == {
        (7, "shared"), (17, "global"), (18, "global"), (19, "shared"),
    }  # fmt: skip
    for line, pattern in (
        (7, r"tile\[\d+\]"),
        (17, r"table\[[0-3]\]\[3\]"),
        (18, "ticket"),
        (19, r"tile\[3\]\[\d\]|pairs\[63\] \+ 4 bytes|dyn\[63\]"),
    ):
        assert all(re.fullmatch(pattern, cell) for at, _, cell in found if at == line), found
    assert {cell.split("[")[0] for at, _, cell in found if at == 19} == {"tile", "pairs", "dyn"}


def test_a_finding_is_not_confirmed_by_a_race_on_another_array_of_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "line.cu"
    path.write_text(
        """__global__ void both(int *a, int *b) { a[threadIdx.x] = b[threadIdx.x + 1]; b[threadIdx.x] = a[0]; }
__global__ void one(int *a, int *b, const int *k) { if (k[0] != k[0]) a[0] = threadIdx.x; b[0] = threadIdx.x; }
void go(int *a, int *b) { both<<<1, 64>>>(a, b); one<<<1, 64>>>(a, b, b + 64); }
"""
    )
    assert main.main(["run", f"{path}:both", "--seeds", "1"]) == 1
    said = re.split(r"^/.*data-race: ", capsys.readouterr().out, flags=re.MULTILINE)[1:]
    shown = [(re.search(r"on global `(\w)`", text), re.search(r"data race on global (\w)\[", text)) for text in said]
    assert sorted((claim[1], seen[1]) for claim, seen in shown if claim and seen) == [("a", "a"), ("b", "b")]
    assert main.main(["run", f"{path}:one", "--seeds", "1", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    claims = {
        (finding["confirmed"], finding["run"]["races"][0]["address"][0]) for finding in found if finding["confirmed"]
    }
    assert claims == {(True, "b")}


def test_writes_of_one_value_do_not_confirm_that_values_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "equal.cu"
    path.write_text(
        """__global__ void put(int *out, const int *in, const int *v) {
  if (in[threadIdx.x] > 5) out[in[threadIdx.x] - 5] = v[threadIdx.x];
}
__global__ void same(int *out, const int *in) {
  int i = in[threadIdx.x];
  out[i & 255] = i + ((i >> 1) << 1) - i;
}
__global__ void read(int *out, int *x) {
  if (threadIdx.x < 32) out[0] = 1;
  else x[threadIdx.x] = out[0];
}
void go(int *a, int *b) { put<<<1, 64>>>(a, b, b + 1000); same<<<1, 64>>>(a, b); read<<<1, 64>>>(a, b); }
"""
    )
    assert main.main(["run", f"{path}:put", "--seeds", "1", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["confirmed"]
    assert not found["run"]["races"][0]["same_value"]
    # `v` lies behind `in` in one array, of which other contents were looked for.
    assert any("in: " in text for text in found["run"]["inputs"])
    # A reader makes the race of the writes a definite one, whatever they write.
    assert main.main(["run", f"{path}:read", "--seeds", "1", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert found
    assert all(each["confirmed"] for each in found)
    main.main(["run", f"{path}:same", "--seeds", "1"])
    told = capsys.readouterr().out
    assert re.search(
        r"^not confirmed in \d+ runs: the accesses met, and wrote the same value each time$", told, re.MULTILINE
    )
    assert "both write the same value" in told
    assert re.search(r"^  \d benign races? in \d+ runs", told, re.MULTILINE)


def test_threads_that_did_not_end_are_told_in_the_words_of_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "stuck.cu"
    path.write_text(
        """__device__ void turn(volatile int *flag) {
  while (!*flag) { }
}
__global__ void spins(volatile int *flag) {
  if (threadIdx.x == 0) turn(flag);
  __syncthreads();
}
__global__ void waits(int *a) {
  int t = threadIdx.x;
  if (t < 8) a[t] = __shfl_sync(0xffff, t, 0);
  else if (t < 16) __syncthreads();
}
"""
    )
    sizes = ["--grid", "1", "--block", "32", "--seeds", "1", "--seconds", "0.5"]
    assert main.main(["run", f"{path}:spins", *sizes]) == 4
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f"{path}:6: thread (1, 0, 0) of block (0, 0, 0) and 30 others wait at a barrier")
    assert lines[at + 1] == "        __syncthreads();"
    at = next(
        n for n, line in enumerate(lines) if line.startswith(f"{path}:2: thread (0, 0, 0) of block (0, 0, 0) was ")
    )
    assert lines[at].endswith((" was at the end of a loop", " was at a read"))
    assert lines[at + 1 : at + 3] == ["        while (!*flag) { }", f"        called from {path}:5"]
    assert main.main(["run", f"{path}:waits", *sizes]) == 1
    out = capsys.readouterr().out
    assert f"{path}:10: thread (0, 0, 0) of block (0, 0, 0) and 7 others wait for other lanes of their warp\n" in out
    assert f"{path}:11: thread (8, 0, 0) of block (0, 0, 0) and 7 others wait at a barrier\n" in out
    assert not re.search(r"\((?:bar|shfl|bra|ld)\b", out)


def test_what_a_run_lacks_is_told_in_the_words_of_the_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lacks.cu"
    path.write_text(
        """__global__ void sample(cudaTextureObject_t t, float *o) { o[threadIdx.x] = tex2D<float>(t, 1, 1); }
__global__ void inner(int *a) { a[threadIdx.x] = 1; }
__global__ void outer(int *a) {
  inner<<<1, 32>>>(a);
}
__global__ void before(int *a) {
  int own[2] = {1, 2};
  if (threadIdx.x == 1) a[(int)threadIdx.x - 2] = 1;
  if (threadIdx.x == 2) own[a[0] + 4000000] = 1;
  a[threadIdx.x] = own[a[1]];
}
"""
    )
    sizes = ["--grid", "1", "--block", "32", "--seeds", "1"]
    assert main.main(["run", f"{path}:sample", *sizes]) == 3
    assert "    textures: a run has none; give the kernel the data as an array (line 1)\n" in capsys.readouterr().out
    assert main.main(["run", f"{path}:outer", *sizes]) == 3
    out = capsys.readouterr().out
    assert "    launches of kernels from the device: run the inner kernel by itself (line 4)\n" in out
    assert main.main(["run", f"{path}:before", *sizes]) == 1
    out = capsys.readouterr().out
    assert f"{path}:8: access outside of every array: a[-1], which has 1024 elements\n" in out
    assert f"{path}:9: access outside of every array: memory of the thread's own, " in out


def test_a_witness_that_no_gpu_could_launch_is_not_the_last_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.cu"
    path.write_text("__global__ void k(int *a) { a[0] = threadIdx.x; }\n")

    def too_large(request: Request) -> RunResult:
        if request.goal is not None:
            return RunResult("launch", "a grid of many blocks")
        return RunResult("finished", runs=1, ended=1)

    monkeypatch.setattr(harness, "run", too_large)
    assert main.main(["run", f"{path}:k", "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [found["run"]["status"] for found in document["findings"]] == ["launch"]
    assert [found["run"]["status"] for found in document["inputs"]] == ["finished"]
