"""Litmus tests of fences, after figure 4 of BARRACUDA: what the PTX model allows, and what is seen where they are run.

Each test is a few relaxed accesses with a fence in each thread, in two blocks or in two warps of one block. Many
instances are launched at once; the two sides of each wait for each other, so that they overlap, and other threads
stress the memory. Without a GPU the same launches are rehearsed on the CPU executor. Writes ``benchmarks/litmus.md``.

    python -m benchmarks litmus [--instances 4096] [--launches 256]
"""

from __future__ import annotations

import argparse
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from benchmarks.litmus_model import Fence, Operation, Program, Read, Scope, Write, outcomes
from gpu_runner import session
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.gpu.driver import Device, NoGpu, find
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.naming import entry_named
from gpu_runner.ptx.parse import parse
from gpu_runner.request import ArrayArgument, Request

HERE: Final = Path(__file__).resolve().parent
FenceName = Literal["none", "cta", "gl", "sys"]
Where = Literal["blocks", "warps"]
_SCOPES: Final[dict[str, Scope]] = {"cta": "cta", "gl": "gpu", "sys": "sys"}
_STRIDE: Final = 64
"""Words between the places of two instances."""
_FEWER: Final = (0, 2, 4)
"""Powers of two by which a launch has fewer instances than there may be."""
_STRIDES: Final = (_STRIDE, 1, 33, 8)
_STRESS: Final = (0, 8, 32, 128, 0, 16, 64)
_REHEARSED: Final = (32, 6)
"""Instances and launches without a GPU."""
FENCES: Final[tuple[tuple[FenceName, FenceName], ...]] = (
    ("none", "none"),
    ("cta", "cta"),
    ("cta", "gl"),
    ("gl", "cta"),
    ("gl", "none"),
    ("none", "gl"),
    ("gl", "gl"),
    ("sys", "sys"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A test without its fences: the accesses of each thread before and behind its fence, and the values of registers
    that no interleaving gives."""

    name: str
    what: str
    sides: tuple[tuple[Operation, Operation], tuple[Operation, Operation]]
    weak: tuple[tuple[str, int], ...]


SHAPES: Final = (
    Shape(
        "mp",
        "message passing: `x = 1; fence1; y = 1` beside `r0 = y; fence2; r1 = x`",
        ((Write("x", 1), Write("y", 1)), (Read("y", "r0"), Read("x", "r1"))),
        (("r0", 1), ("r1", 0)),
    ),
    Shape(
        "sb",
        "store buffering: `x = 1; fence1; r0 = y` beside `y = 1; fence2; r1 = x`",
        ((Write("x", 1), Read("y", "r0")), (Write("y", 1), Read("x", "r1"))),
        (("r0", 0), ("r1", 0)),
    ),
    Shape(
        "lb",
        "load buffering: `r0 = x; fence1; y = 1` beside `r1 = y; fence2; x = 1`",
        ((Read("x", "r0"), Write("y", 1)), (Read("y", "r1"), Write("x", 1))),
        (("r0", 1), ("r1", 1)),
    ),
)


def program(shape: Shape, fences: tuple[FenceName, FenceName], where: Where) -> Program:
    """The test for `litmus_model`."""
    threads = tuple(
        (before, *(() if name == "none" else (Fence(_SCOPES[name]),)), behind)
        for (before, behind), name in zip(shape.sides, fences, strict=True)
    )
    return Program(threads, (0, 1) if where == "blocks" else (0, 0))


def source(shape: Shape, fences: tuple[FenceName, FenceName], where: Where) -> str:
    """The test as CUDA C++: instance n has its places at ``n * stride``."""
    sides: list[str] = []
    for (before, behind), name in zip(shape.sides, fences, strict=True):
        fence = "" if name == "none" else f'  asm volatile("membar.{name};" ::: "memory");\n'
        sides.append(f"{_access(before)}{fence}{_access(behind)}")
    role = "blockIdx.x % 2" if where == "blocks" else "threadIdx.x / 32"
    instance = "blockIdx.x / 2" if where == "blocks" else "blockIdx.x"
    return f"""__global__ void litmus(unsigned *x, unsigned *y, unsigned *arrived, unsigned *r, unsigned *scratch,
                       unsigned stride, unsigned stress) {{
  unsigned role = {role}, n = {instance};
  if (threadIdx.x % 32 != 0) {{
    for (unsigned k = 0; k < stress; ++k)
      asm volatile("{{ .reg .u32 t; ld.relaxed.gpu.u32 t, [%0]; st.relaxed.gpu.u32 [%1], t; }}"
                   :: "l"(scratch + (k * 97 + blockIdx.x * 31 + threadIdx.x) % 4096),
                      "l"(scratch + (k * 61 + threadIdx.x) % 4096) : "memory");
    return;
  }}
  if (role > 1) return;
  unsigned r0 = 0, r1 = 0, seen = 0;
  x += n * stride;
  y += n * stride;
  atomicAdd(arrived + n, 1);
  for (unsigned k = 0; k < 100000 && seen < 2; ++k)
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(arrived + n) : "memory");
  if (role == 0) {{
{sides[0]}  }} else {{
{sides[1]}  }}
{_kept(shape, 0)}{_kept(shape, 1)}}}
"""


def _access(operation: Operation) -> str:
    if isinstance(operation, Write):
        text = f'"st.relaxed.gpu.u32 [%0], %1;" :: "l"({operation.place}), "r"({operation.value})'
    else:
        assert isinstance(operation, Read)
        text = f'"ld.relaxed.gpu.u32 %0, [%1];" : "=r"({operation.register}) : "l"({operation.place})'
    return f'  asm volatile({text} : "memory");\n'


def _kept(shape: Shape, role: int) -> str:
    names = [operation.register for operation in shape.sides[role] if isinstance(operation, Read)]
    return "".join(f"  if (role == {role}) r[2 * n + {name[1:]}] = {name};\n" for name in names)


def seen(
    shape: Shape, fences: tuple[FenceName, FenceName], where: Where, device: Device, instances: int, launches: int
) -> Counter[tuple[int, int]]:
    """How often (r0, r1) was what. Launches differ in how many instances there are at once, how far apart their places
    are, and how much other threads stress the memory. Raises `DriverError`."""
    text = source(shape, fences, where)
    compiled = compile_source(text, "litmus.cu", CompileOptions("shipped", compiler="nvrtc"))
    module = parse(compiled.ptx)
    entry = entry_named(module, "litmus")
    loaded = device.load(compiled.ptx, entry)
    sizes = [4 * count for count in (instances * _STRIDE, instances * _STRIDE, instances, 2 * instances, 4096)]
    places = [device.allocate(size) for size in sizes]
    pointers = [place.to_bytes(8, "little") for place in places]
    found: Counter[tuple[int, int]] = Counter()
    for number in range(launches):
        for place, size in zip(places, sizes, strict=True):
            device.write(place, bytes(size))
        many = max(1, instances >> _FEWER[number % len(_FEWER)])
        stride = _STRIDES[number // len(_FEWER) % len(_STRIDES)]
        stress = 0 if launches < len(_STRESS) else _STRESS[number % len(_STRESS)]
        grid, block = (2 * many if where == "blocks" else many), (32 if where == "blocks" else 64)
        scalars = [struct.pack("<I", value) for value in (stride, stress)]
        device.launch(loaded, (grid, 1, 1), (block, 1, 1), 0, [*pointers, *scalars], False)
        while device.running():
            pass
        values = struct.unpack(f"{2 * many}I", device.read(places[3], 8 * many))
        found.update(zip(values[::2], values[1::2], strict=True))
    for place in places:
        device.free(place)
    device.unload(loaded)
    return found


def detected(fences: tuple[FenceName, FenceName], where: Where) -> bool:
    """Whether the race detector calls message passing with a plain `x` a race."""
    first, second = ("" if name == "none" else f'asm volatile("membar.{name};" ::: "memory");' for name in fences)
    role = "blockIdx.x" if where == "blocks" else "threadIdx.x / 32"
    text = f"""__global__ void passing(unsigned *x, unsigned *y, unsigned *r) {{
  if (threadIdx.x % 32 != 0) return;
  if ({role} == 0) {{
    *x = 1;
    {first}
    asm volatile("st.relaxed.gpu.u32 [%0], 1;" :: "l"(y) : "memory");
  }} else {{
    unsigned seen = 0;
    while (seen == 0) asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(y) : "memory");
    {second}
    *r = *x;
  }}
}}
"""
    one = ArrayArgument("u32", 1)
    grid, block = ((2, 1, 1), (32, 1, 1)) if where == "blocks" else ((1, 1, 1), (64, 1, 1))
    request = Request("passing", grid, block, (one, one, one), ("x", "y", "r"), source=text, compiler="nvrtc")
    result = session.serve(request)
    if result.status != "finished":
        raise RuntimeError(f"passing {fences}: {result.status}: {result.message}")
    return any(race.address.startswith("x[") for race in result.races)


_INTRODUCTION: Final = """# Litmus tests of fences

`python -m benchmarks litmus`, after figure 4 of BARRACUDA: two threads, a fence in each, and how often they see what no
interleaving of their accesses gives. Accesses are `.relaxed.gpu`, fences `membar` (which is `fence.sc`).

{tests}

*Model*: whether the memory consistency model of the PTX ISA allows the outcome, by going through all executions
([litmus_model.py](litmus_model.py)). *Detector*: message passing with a plain `x`, waiting for `y`: whether
`cuda-lsp run` calls it a race, which it has to where the model allows the outcome. *CPU executor*: seen in {cpu}
instances; it interleaves threads, so that it never shows a weak outcome: that is why races are told from the order of
events and not from results. *GPU*: {gpu}

On GPUs of 2012 to 2015 the paper saw `mp` between blocks fail with `cta` fences in both threads only, and takes one
`gl` fence for enough. The model wants fences of sufficient scope in both, and the detector follows the model. An H200
showed the same as those: weak outcomes between blocks, and none where one of the two fences is of device scope."""


def _table(rows: Sequence[str], cpu: int, gpu: str) -> str:
    tests = "\n".join(f"- **{shape.name}**, {shape.what}; weak: {_values(shape)}" for shape in SHAPES)
    head = "| test | threads in | fence1 | fence2 | model | detector | CPU executor | GPU |\n" + "|---" * 8 + "|"
    return "\n".join([_INTRODUCTION.format(tests=tests, cpu=f"{cpu:,}", gpu=gpu), "", head, *rows]) + "\n"


def _values(shape: Shape) -> str:
    return ", ".join(f"`{name} = {value}`" for name, value in shape.weak)


def _told(counts: Counter[tuple[int, int]] | None, shape: Shape) -> str:
    return "" if counts is None else f"{counts[shape.weak[0][1], shape.weak[1][1]]:,}"


def main(arguments: list[str] | None = None) -> None:
    """Run, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks litmus", description=__doc__)
    parser.add_argument("--instances", type=int, default=4096, help="of a test in one launch, on a GPU")
    parser.add_argument("--launches", type=int, default=256, help="of a test, on a GPU")
    chosen = parser.parse_args(arguments)
    try:
        device = find()
        count = sum(max(1, chosen.instances >> _FEWER[k % len(_FEWER)]) for k in range(chosen.launches))
        gpu = f"{device.name}, in {count:,} instances, some of them with stress."
    except NoGpu as error:
        device, gpu = None, f"not run, none was at hand ({error})."
    rows: list[str] = []
    for shape in SHAPES:
        for where in ("blocks", "warps"):
            for fences in FENCES:
                allowed = shape.weak in outcomes(program(shape, fences, where))
                race = ("race" if detected(fences, where) else "ordered") if shape.name == "mp" else ""
                rehearsed = seen(shape, fences, where, Device(Rehearsal()), *_REHEARSED)
                real = seen(shape, fences, where, device, chosen.instances, chosen.launches) if device else None
                model = "allowed" if allowed else "forbidden"
                cells = [shape.name, where, *fences, model, race, _told(rehearsed, shape), _told(real, shape)]
                rows.append(f"| {' | '.join(cells)} |")
                print(rows[-1], flush=True)
    cpu = sum(_REHEARSED[0] >> _FEWER[k % len(_FEWER)] for k in range(_REHEARSED[1]))
    (HERE / "litmus.md").write_text(_table(rows, cpu, gpu))


if __name__ == "__main__":
    main()
