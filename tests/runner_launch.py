"""Small launches for the tests of the CPU executor and the detector."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu.execute import Kernel, prepare, resident_blocks
from gpu_runner.cpu.launch import Array, Execution, Launch, Scalar
from gpu_runner.detector.detect import Detector
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.session import shape_of

Argument = NDArray[Any] | int | float


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
    passed: list[Array | Scalar] = []
    for argument in arguments:
        if isinstance(argument, int):
            passed.append(Scalar(struct.pack("<I", argument & 0xFFFFFFFF)))
        elif isinstance(argument, float):
            passed.append(Scalar(struct.pack("<f", argument)))
        else:
            passed.append(Array(argument.tobytes()))
    wide = (grid, 1, 1) if isinstance(grid, int) else grid
    deep = (block, 1, 1) if isinstance(block, int) else block
    return prepare(module_of(source, build, arch), "k", Launch(wide, deep, tuple(passed), dynamic_shared), lock_step)


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
    return Ran(kernel.run(detector.consume, seed, seconds), kernel, detector)
