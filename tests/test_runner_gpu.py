"""The GPU executor without a GPU: instrumented PTX is assembled by ptxas, and run with its queues on the processor."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runner_launch import launched, module_of, prepared, rehearsed_only, rehearsing, watched
from runner_launch import run as run_on_cpu

from analyzers.engine import Engine
from benchmarks.run_suite import FOLDER, run
from gpu_runner import harness, session
from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu.body import Unsupported
from gpu_runner.cpu.launch import Array, Launch
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Notice, Outcome
from gpu_runner.gpu import driver
from gpu_runner.gpu.driver import Device, DriverError, NoGpu
from gpu_runner.gpu.instrument import instrument
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.ptx.parse import parse
from gpu_runner.ptx.render import render
from gpu_runner.request import ArrayArgument, Request, RunResult

FILES = sorted(FOLDER.glob("*.cu"))


@cache
def engine() -> Engine:
    return Engine()


@pytest.fixture(autouse=True, scope="module")
def _free_engine() -> Generator[None, None, None]:
    yield
    engine.cache_clear()


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_what_goes_through_the_queues_shows_what_is_true_of_a_program(file: Path) -> None:
    # The routine waits for lanes and for the records in front, which makes schedules more alike: it takes more of them.
    ran = list(run(file, engine(), tuple(range(16)), rehearsing))
    assert {r.program.name: r.wrong for r in ran if r.wrong} == {}


@pytest.mark.parametrize("build", ["confirm", "shipped"])
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_instrumented_programs_are_ptx(
    file: Path, build: Build, require_program: Callable[[str], str], tmp_path: Path
) -> None:
    ptxas = require_program("ptxas")
    module = parse(compile_source(file.read_text(), file.name, CompileOptions(build, compiler="nvrtc")).ptx)
    for entry in [function.name for function in module.functions if function.kind == "entry"]:
        instrumented = instrument(module, entry).module
        text = render(instrumented)
        assert parse(text) == instrumented
        # An assembler may be older than the compiler; nothing newer is used.
        (tmp_path / "k.ptx").write_text(re.sub(r"^\.version .*", ".version 8.0", text))
        command = [ptxas, "-arch=sm_80", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


STENCIL = """
__device__ int offset = 1;
__device__ __noinline__ int at(const int *s, int i) { return s[i & 63]; }
extern "C" __global__ void k(int *a, int n) {
  __shared__ int s[64];
  __shared__ char bytes[3];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * 64 + t];
  bytes[t % 3] = t;
  __syncthreads();
  a[blockIdx.x * 64 + t] = at(s, t + offset) + at(s, t) + n;
  if (t == 0) atomicAdd(&a[64 * gridDim.x], 1);
}
"""


def test_a_run_gives_the_results_and_as_many_records_as_on_the_cpu() -> None:
    a = np.arange(2 * 64 + 1, dtype=np.int32)
    kernel = launched(STENCIL, [a, 5], 2, 64)
    execution, detector = watched(kernel)
    there = run_on_cpu(prepared(STENCIL, [a, 5], 2, 64))
    assert execution.outcome is Outcome.DONE
    assert execution.arrays[0] == there.execution.arrays[0]
    assert execution.records == there.execution.records
    races = detector.races()
    assert {kernel.sites[int(race["first_site"])].functions for race in races} == {("k",)}
    chains = [site.functions for site in kernel.sites if len(site.functions) == 2]
    assert len(set(chains)) == 1
    lines = {site.stack[1].position.column for site in kernel.sites if len(site.stack) == 2 and site.stack[1]}
    assert len(chains) == 2 * len({site.instruction for site in kernel.sites if len(site.stack) == 2}), lines


def test_lanes_in_step_are_compressed() -> None:
    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x] = threadIdx.x; a[a[threadIdx.x] * 7 % 32] = 1; }'
    kernel = launched(source, [np.zeros(32, np.int32)])
    kernel.run()
    figures = kernel.figures
    assert figures is not None
    assert (figures.accesses, figures.lanes) == (3, 96)
    assert (figures.progressions, figures.valued, figures.value_progressions) == (2, 2, 2)
    # Two units for a write in step, one for the read, ten for the other write, one for the end.
    assert figures.bytes == 32 * (2 + 1 + 10 + 1)


def test_a_small_queue_is_drained_while_the_kernel_runs() -> None:
    source = 'extern "C" __global__ void k(int *a) { for (int i = 0; i < 50; i++) a[(threadIdx.x * i) % 32] += i; }'
    kernel = launched(source, [np.zeros(32, np.int32)], 3, 64, ring_units=128)
    execution = kernel.run()
    assert execution.outcome is Outcome.DONE
    assert execution.records == 3 * 64 * 100 + 3, "and the beginnings of the blocks"


def test_an_access_outside_ends_the_thread_and_is_told() -> None:
    source = 'extern "C" __global__ void k(int *a, int n) { a[threadIdx.x] = 1; a[(threadIdx.x == 3) * n] = 2; }'
    kernel = launched(source, [np.zeros(32, np.int32), 1 << 28])
    execution = kernel.run()
    (seen,) = execution.seen
    assert (seen.kind, seen.op, seen.thread) == (Notice.FAULT, Fault.OUT_OF_BOUNDS, 3)
    near = launched(source, [np.zeros(32, np.int32), 40]).run()
    assert [each.op for each in near.seen] == [Fault.OUT_OF_BOUNDS]
    crooked = 'extern "C" __global__ void k(char *a) { *(int *)(a + 2) = threadIdx.x; }'
    assert [each.op for each in launched(crooked, [np.zeros(32, np.int32)]).run().seen] == [Fault.MISALIGNED]


def test_assertions_and_traps_are_told() -> None:
    source = """
    #include <cassert>
    extern "C" __global__ void k(int *a) { assert(a[threadIdx.x] < 5); if (threadIdx.x == 2) __trap(); a[0] = 1; }
    """
    execution = launched(source, [np.arange(8, dtype=np.int32)], block=8).run()
    assert {(each.op, each.thread) for each in execution.seen} == {(Fault.ASSERTION, 5), (Fault.TRAP, 2)}


@rehearsed_only
def test_threads_that_wait_for_ever_are_stopped() -> None:
    source = 'extern "C" __global__ void k(volatile int *a) { while (a[0] == 0) { } }'
    execution = launched(source, [np.zeros(1, np.int32)]).run(seconds=0.5)
    assert execution.outcome is Outcome.PAUSED
    assert "0.5 s" in execution.note
    source = 'extern "C" __global__ void k(int *a) { if (threadIdx.x < 32) asm("bar.sync 1, 64;"); a[0] = 1; }'
    stuck = launched(source, [np.zeros(1, np.int32)], block=40).run(seconds=0.5)
    assert stuck.outcome is Outcome.STUCK
    assert len(stuck.waiting) == 32


def test_a_kernel_runs_again_from_the_same_contents() -> None:
    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x] += 1; }'
    kernel = launched(source, [np.zeros(32, np.int32)])
    assert kernel.run().arrays == kernel.run().arrays
    kernel.relaunch(Launch((1, 1, 1), (16, 1, 1), (Array(np.full(32, 7, np.int32).tobytes()),)))
    assert np.frombuffer(kernel.run().arrays[0], np.int32).tolist() == [8] * 16 + [7] * 16
    kernel.relaunch(Launch((1, 1, 1), (16, 1, 1), (Array(bytes(256)),)))
    assert np.frombuffer(kernel.run().arrays[0], np.int32).tolist() == [1] * 16 + [0] * 48
    kernel.close()


POINTERS = """
__device__ __noinline__ int twice(int *a, int i) { return a[i] * 2; }
__device__ __noinline__ int next(int *a, int i) { return a[i + 1] + 1; }
extern "C" __global__ void k(int *a, int *out, int which) {
  int (*f)(int *, int) = which ? next : twice;
  int t = threadIdx.x;
  a[t] = t;
  if (t != 5) out[t] = f(a, t);
}
"""


@pytest.mark.parametrize("which", [0, 1])
def test_calls_through_pointers_are_followed(which: int, require_program: Callable[[str], str], tmp_path: Path) -> None:
    arguments = [np.zeros(33, np.int32), np.zeros(32, np.int32), which]
    kernel = launched(POINTERS, arguments)
    execution, detector = watched(kernel)
    assert execution.outcome is Outcome.DONE
    there = run_on_cpu(prepared(POINTERS, arguments, 1, 32))
    assert execution.records == there.execution.records
    races = detector.races()
    assert len(races) == which
    if which == 0:
        assert execution.arrays == there.execution.arrays
        assert np.frombuffer(execution.arrays[1], np.int32)[4:7].tolist() == [8, 0, 12]
    else:
        sides = {kernel.sites[int(races[0][side])].functions[0] for side in ("first_site", "second_site")}
        assert {"k"} < sides
        assert any("next" in side for side in sides)
    text = render(instrument(module_of(POINTERS), "k").module)
    (tmp_path / "k.ptx").write_text(re.sub(r"^\.version .*", ".version 8.0", text))
    command = [require_program("ptxas"), "-arch=sm_80", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_logged_is_refused_by_name() -> None:
    source = """
    extern "C" __global__ void k(int *a) {
      __shared__ int s[4];
      asm volatile("cp.async.bulk.commit_group;");
    }"""
    with pytest.raises(Unsupported, match=r"cp\.async\.bulk"):
        launched(source, [np.zeros(4, np.int32)], arch=90)


def test_what_the_kernel_prints_is_kept() -> None:
    source = """
    extern "C" int printf(const char *, ...);
    extern "C" __global__ void k(int *a) { if (threadIdx.x == 3) printf("%d of %s\\n", a[1], "two"); }"""
    before = os.dup(1)
    try:
        assert launched(source, [np.array([5, 7], np.int32)]).run().printed == "7 of two\n"
        assert os.fstat(1) == os.fstat(before)
    finally:
        os.close(before)


def test_a_seed_holds_warps_up_and_another_one_others() -> None:
    source = """
    extern "C" __global__ void k(int *next, int *order) {
      if (threadIdx.x % 32 == 0) order[threadIdx.x / 32] = atomicAdd(next, 1);
    }"""
    kernel = launched(source, [np.zeros(1, np.int32), np.zeros(8, np.int32)], block=256)
    orders = {kernel.run(seed=seed).arrays[1] for seed in range(8)}
    assert len(orders) > 4


def test_ptx_of_a_newer_version_than_the_driver_s_is_tried_as_of_the_driver_s() -> None:
    asked: list[bytes] = []

    class Old(Rehearsal):
        def cuModuleLoadDataEx(self, image: bytes, count: int, options: list[str], values: list[Any]) -> Any:  # noqa: N802
            asked.append(image.split(b"\n")[0])
            if b".version 8.2" not in image:
                said = (
                    b"ptxas application ptx input, line 1; fatal   : Unsupported .version 9.9; current version is '8.2'"
                )
                values[0][: len(said)] = said
                return 222, None
            return super().cuModuleLoadDataEx(image, count, options, values)

    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x] = 1; }'
    assert launched(source, [np.zeros(32, np.int32)], on=Device(Old())).run().outcome is Outcome.DONE
    assert len(asked) == 2
    assert asked[1] == b".version 8.2"


def test_without_a_gpu_the_message_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(driver.importlib, "import_module", missing)
    with pytest.raises(NoGpu, match=r"cuda-lsp\[gpu\]"):
        driver.find()

    def none_there(_flags: int) -> tuple[int]:
        return (100,)

    def message(_code: int) -> tuple[int, bytes]:
        return 0, b"no device"

    def found(_name: str) -> Any:
        return SimpleNamespace(cuInit=none_there, cuGetErrorString=message)

    monkeypatch.setattr(driver.importlib, "import_module", found)
    with pytest.raises(NoGpu, match="cuInit: no device"):
        driver.find()


@rehearsed_only
def test_the_assembler_s_log_is_in_the_message() -> None:
    with pytest.raises(DriverError, match="JIT compilation failed; line 1: unexpected"):
        rehearsing().load("nonsense", "k")


def test_arrays_that_no_shadow_memory_fits_beside_are_refused() -> None:
    module = module_of('extern "C" __global__ void k(int *a) { a[threadIdx.x] = 1; }')
    asked = Request("k", (1, 1, 1), (32, 1, 1), (ArrayArgument("i32", 1 << 16),), memory=1 << 21)
    with pytest.raises(MemoryError):
        session.run_module(asked, module, None, rehearsing())
    assert session.run_module(replace(asked, memory=1 << 23), module, None, rehearsing()).status == "finished"


@pytest.mark.parametrize("trouble", ["no GPU", "a driver that loads nothing", "a kernel that it refuses"])
def test_auto_takes_the_processor_where_a_gpu_cannot_run_the_kernel(
    trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Rehearsal):
        def cuModuleLoadDataEx(self, image: bytes, count: int, options: list[str], values: list[Any]) -> Any:  # noqa: N802
            return 218, None

    def found() -> Device:
        if trouble == "no GPU":
            raise NoGpu("there is none")
        return Device(Broken() if "driver" in trouble else Rehearsal())

    monkeypatch.setattr(session, "find", found)
    volatile = "volatile __shared__ double4 s; s.x = 1; a[0] = s.x;"
    matrix = 'unsigned r = 0; asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(0), "r"(r));'
    body = matrix if "refuses" in trouble else volatile
    source = (
        f'extern "C" __global__ void k(int *a) {{ __shared__ __align__(16) int t[64]; t[0] = 1; {body} a[1] = 2; }}'
    )
    told: list[bool] = []

    def once(request: Request) -> RunResult:
        return session.serve(request, told.append)

    monkeypatch.setattr(harness, "run_once", once)
    asked = Request("k", (1, 1, 1), (32, 1, 1), (ArrayArgument("i32", 64),), source=source, arch=90, compiler="nvrtc")
    result = harness.run(replace(asked, device="auto", seeds=(0,)))
    assert (result.status, result.device) == ("finished", "")
    # The limits of a process are for where it runs.
    assert told == ([False] if trouble == "no GPU" else [True, False])
    if trouble != "no GPU":
        assert harness.run(replace(asked, device="gpu", seeds=(0,))).status in ("unsupported", "device")
