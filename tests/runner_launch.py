"""Small launches for the tests of the CPU executor and the detector."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu.execute import Kernel, prepare, resident_blocks
from gpu_runner.cpu.launch import Array, Execution, Launch, Scalar
from gpu_runner.detector.detect import Detector
from gpu_runner.detector.shards import ShardedDetector
from gpu_runner.gpu.driver import Device, find
from gpu_runner.gpu.execute import GpuKernel
from gpu_runner.gpu.execute import prepare as on_gpu
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.session import shape_of

Argument = NDArray[Any] | int | float | bytes


@cache
def module_of(source: str, build: Build = "confirm", arch: int = 80) -> model.Module:
    return parse(compile_source(source, "/k.cu", CompileOptions(build=build, arch=arch, compiler="nvrtc")).ptx)


def prepared(
    source: str,
    arguments: Sequence[Argument] = (),
    grid: int | tuple[int, int, int] = 1,
    block: int | tuple[int, int, int] = 32,
    build: Build = "confirm",
    dynamic_shared: int = 0,
    lock_step: bool = False,
    arch: int = 80,
) -> Kernel:
    """The kernel ``k`` of a source, compiled for the CPU; arrays are passed by pointer, int as 4 bytes, float as 4."""
    wide = (grid, 1, 1) if isinstance(grid, int) else grid
    deep = (block, 1, 1) if isinstance(block, int) else block
    return prepare(
        module_of(source, build, arch), "k", Launch(wide, deep, _passed(arguments), dynamic_shared), lock_step
    )


def _passed(arguments: Sequence[Argument]) -> tuple[Array | Scalar, ...]:
    passed: list[Array | Scalar] = []
    for argument in arguments:
        if isinstance(argument, bytes):  # a structure
            passed.append(Scalar(argument))
        elif isinstance(argument, int):
            passed.append(Scalar(struct.pack("<I", argument & 0xFFFFFFFF)))
        elif isinstance(argument, float):
            passed.append(Scalar(struct.pack("<f", argument)))
        else:
            passed.append(Array(argument.tobytes()))
    return tuple(passed)


ON_GPU = os.environ.get("CUDA_LSP_TESTS_ON") == "gpu"
rehearsed_only = pytest.mark.skipif(ON_GPU, reason="what it shows, or how it ends, is the rehearsal's")


def rehearsing() -> Device:
    """The device of the GPU executor's tests: a rehearsal on the CPU, or the GPU where the environment asks for it
    (``CUDA_LSP_TESTS_ON=gpu``)."""
    return _gpu() if ON_GPU else Device(Rehearsal())


@cache
def _gpu() -> Device:
    return find()


def launched(
    source: str,
    arguments: Sequence[Argument],
    grid: int = 1,
    block: int = 32,
    on: Device | None = None,
    arch: int = 80,
    **options: Any,
) -> GpuKernel:
    """The kernel ``k`` of a source, instrumented for a GPU."""
    launch = Launch((grid, 1, 1), (block, 1, 1), _passed(arguments))
    return on_gpu(module_of(source, arch=arch), "k", launch, on or rehearsing(), **options)


def watched(
    kernel: GpuKernel, seconds: float = 20.0, shards: int = 1, seed: int = 0
) -> tuple[Execution, ShardedDetector]:
    """One run of it under the detector."""
    detector = ShardedDetector(shape_of(kernel, kernel.launch.blocks), kernel.sites.table(), shards)
    return kernel.run(detector.consumers, seed, seconds), detector


@dataclass(frozen=True)
class Ran:
    execution: Execution
    kernel: Kernel
    detector: Detector

    def array(self, number: int, dtype: Any = np.int32) -> NDArray[Any]:
        """The `number`-th array argument after the run."""
        return np.frombuffer(self.execution.arrays[number], dtype)

    @property
    def races(self) -> set[tuple[int, int, str, str]]:
        """(line, line, kinds, relation) of the races, benign ones with ``same`` in the relation."""
        found: set[tuple[int, int, str, str]] = set()
        for race in self.detector.races():
            lines = sorted(self.line(int(race[f"{which}_site"])) for which in ("first", "second"))
            kinds = "".join("?rwau"[int(race["kinds"]) >> shift & 15] for shift in (0, 4))
            relation = ("warp", "block", "grid")[int(race["relation"]) & 15]
            found.add((lines[0], lines[1], "".join(sorted(kinds)), relation + "-same" * (int(race["relation"]) >> 4)))
        return found

    def line(self, site: int) -> int:
        """Line of the outermost call that leads to a site."""
        located = [location for location in self.kernel.sites[site].stack if location is not None]
        return located[-1].position.line if located else 0


def run(kernel: Kernel, seed: int = 0, seconds: float = 20.0) -> Ran:
    launch = kernel.launch
    shape = shape_of(kernel, resident_blocks(launch))
    detector = Detector(shape, kernel.sites.table())
    return Ran(kernel.run([detector.consume], seed, seconds), kernel, detector)
