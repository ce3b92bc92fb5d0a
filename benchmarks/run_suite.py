"""The suite of small programs in ``tests/runs``: what each says about itself, what a run shows, what the check says.

Each kernel stands with its launch (``// cuda-lsp: launch``) and its truth in front of it:

    // run: clean
    // run: race intra-warp inter-block      the scopes of its races, no more and no less
    // run: benign                           races of equal values only
    // run: divergence                       threads at different barriers

``// racy`` ends the lines whose accesses race. Where the check differs from the truth, ``// check: VERDICT because …``
says so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.model import Dim3, Verdict
from analyzers.requests import CheckRequest
from cuda_lsp.running.arguments import arguments_for
from gpu_runner import session
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.gpu.decoder import Figures
from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.execute import GpuKernel
from gpu_runner.kernel import AnyKernel
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.request import Request, RunResult

FOLDER: Final = Path(__file__).resolve().parent.parent / "tests" / "runs"
SEEDS: Final = (0, 1, 2, 3)

_KERNEL: Final = re.compile(r"^__global__ void (\w+)\(", re.MULTILINE)
_LAUNCH: Final = re.compile(r"^// cuda-lsp: launch grid=\((\d+)\) block=\((\d+)\)$", re.MULTILINE)
_TRUTH: Final = re.compile(
    r"^// run: (clean|benign|divergence|race((?: (?:intra-warp|intra-block|inter-block))+))$", re.MULTILINE
)
_CHECK: Final = re.compile(r"^// check: (\S+) because (.+)$", re.MULTILINE)
_RACY: Final = re.compile(r"//.*\bracy\s*$")
_AGREEING: Final = {
    "clean": (Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT),
    "benign": (Verdict.BENIGN_RACE,),
    "divergence": (Verdict.BARRIER_DIVERGENCE,),
    "race": (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE),
}


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel of the suite."""

    file: Path
    name: str
    grid: Dim3
    block: Dim3
    truth: str
    """``clean``, ``race``, ``benign`` or ``divergence``."""
    scopes: frozenset[str]
    lines: frozenset[int]
    """Where accesses race."""
    verdict: str
    """What the check says where that is not the truth, and why."""
    because: str


def programs(file: Path) -> list[Program]:
    """The programs of one file, in order. Raises ValueError for one that does not say what is true of it."""
    text = file.read_text(encoding="utf-8")
    starts = [*(match.start() for match in _KERNEL.finditer(text)), len(text)]
    found: list[Program] = []
    behind = 0
    for match, end in zip(_KERNEL.finditer(text), starts[1:], strict=True):
        head = text[behind : match.start()]
        launch, truth, check = _LAUNCH.search(head), _TRUTH.search(head), _CHECK.search(head)
        if launch is None or truth is None:
            raise ValueError(f"{file.name}: {match[1]} has no launch, or does not say what is true of it")
        behind = text.find("\n}\n", match.start(), end) + 2
        first = text.count("\n", 0, match.start()) + 1
        body = text[match.start() : behind].splitlines()
        lines = frozenset(number for number, line in enumerate(body, first) if _RACY.search(line))
        kind = truth[1].split()[0]
        if (kind == "race") != bool(lines):
            raise ValueError(f"{file.name}: {match[1]} marks {len(lines)} lines as racy, and is said to be {kind}")
        found.append(
            Program(
                file,
                match[1],
                (int(launch[1]), 1, 1),
                (int(launch[2]), 1, 1),
                kind,
                frozenset((truth[2] or "").split()),
                lines,
                check[1] if check else "",
                check[2] if check else "",
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Ran:
    """One program, run and checked."""

    program: Program
    result: RunResult
    verdict: Verdict
    run_seconds: float
    """Translation, compilation and all seeds; the compiler aside."""
    check_seconds: float
    module: model.Module
    mangled: str
    figures: Figures | None = None
    """Of the records of the last run, on a GPU."""

    @property
    def wrong(self) -> list[str]:
        """What of the run is not as the program says."""
        program, result = self.program, self.result
        real = [race for race in result.races if not race.same_value]
        scopes = frozenset(race.scope for race in real)
        lines = frozenset(a.places[0].line for race in real for a in (race.first, race.second) if a.places)
        kinds = {fault.kind for fault in result.faults}
        wrong: list[str] = []
        if result.status != "finished":
            wrong.append(f"{result.status}: {result.message}")
        if kinds != ({"divergent-barrier"} if program.truth == "divergence" else set()):
            wrong.append(f"other findings: {', '.join(sorted(kinds)) or 'none'}")
        if (scopes, lines) != (program.scopes, program.lines):
            seen = ", ".join(sorted(scopes)) or "none"
            wrong.append(f"races {seen} on lines {sorted(lines)}, not on {sorted(program.lines)}")
        if program.truth == "benign" and not result.races:
            wrong.append("no race of equal values")
        return wrong

    @property
    def check_agrees(self) -> bool:
        """Whether the check says what is true."""
        return self.verdict in _AGREEING[self.program.truth]


def run(
    file: Path, engine: Engine, seeds: tuple[int, ...] = SEEDS, device: Callable[[], Device] | None = None
) -> Iterator[Ran]:
    """Check and run every program of a file. `device`: makes the GPU to run each on, instead of the processor."""
    text = file.read_text(encoding="utf-8")
    analysis = engine.analyse(CheckRequest(f"/runs/{file.name}", text))
    found = {kernel.kernel.base_name: kernel for kernel in analysis.kernels}
    compiled = compile_source(text, f"/runs/{file.name}", CompileOptions(compiler="nvrtc"))
    module = parse(compiled.ptx)
    for program in programs(file):
        yield _ran(program, found[program.name], module, seeds, device)


def _ran(
    program: Program,
    analysis: KernelAnalysis,
    module: model.Module,
    seeds: tuple[int, ...],
    device: Callable[[], Device] | None,
) -> Ran:
    parameters = [(p.name, p.type_text) for p in analysis.kernel.parameters]
    arguments, _ = arguments_for(parameters, (), program.grid, program.block)
    request = Request(
        analysis.kernel.mangled,
        program.grid,
        program.block,
        arguments,
        tuple(name for name, _ in parameters),
        seeds=seeds,
    )
    started = time.perf_counter()
    known: dict[str, AnyKernel] = {}
    result = session.run_module(request, module, known, device() if device is not None else None)
    seconds = time.perf_counter() - started
    checked = sum(context.milliseconds for context in analysis.result.contexts) / 1000
    figures = next((kernel.figures for kernel in known.values() if isinstance(kernel, GpuKernel)), None)
    return Ran(program, result, analysis.result.verdict, seconds, checked, module, analysis.kernel.mangled, figures)
