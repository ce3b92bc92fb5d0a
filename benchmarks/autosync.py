"""AutoSync's kernels: the shapes of its micro benchmarks, and the 18 of its second table, whose barriers are removed
first; the repair puts barriers where they are needed.

Fetches the kernels of GPUVerify's benchmark suite at a pinned commit into ``benchmarks/.cache``, checks and repairs
each under the launch that its header states (``--gridDim``, ``--blockDim``), with ``__requires`` as facts of the host,
and writes ``benchmarks/autosync.md``.

    python -m benchmarks autosync [KERNEL ...]
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from analyzers.analysed import UnitAnalysis
from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.gaps import Body, FunctionTree
from analyzers.model import CheckOptions, Dim3, FixRefusal, UnitResult, UserLaunch, Verdict
from analyzers.requests import CheckRequest, UnitFinished, never
from benchmarks.repositories import Repository, fetched
from cuda_lsp.cli.fix import apply
from quickfix import fix_all
from quickfix.cost import CONDITIONAL_COST, LOOP_COST

HERE: Final = Path(__file__).resolve().parent

_SUITE: Final = Repository("mc-imperial/GPUVerifyBenchmarks", "18a258eb01af9744f36b372a5e7c3e14fd5cfdb8")


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel of the table: what its developers wrote and what AutoSync inserted."""

    name: str
    path: str
    original: int
    autosync: int
    headers: tuple[str, ...] = ()
    declared: str = ""
    """What a reader knows of functions whose bodies are not in the suite; in front of the kernel."""


_REDUCTION: Final = "6_Advanced/reduction"

ROWS: Final = (
    Row("convolutionColumns", "3_Imaging/convolutionSeparable/convolutionColumnsKernel.cu", 1, 1),
    Row("convolutionRows", "3_Imaging/convolutionSeparable/convolutionRowsKernel.cu", 1, 1),
    Row("d_transpose", "3_Imaging/recursiveGaussian/d_transpose.cu", 1, 1),
    Row(
        "nlm2",
        "3_Imaging/imageDenoising/imageDenoising_nlm2_kernel.cu",
        1,
        1,
        ("common.h",),
        "__device__ __attribute__((const)) float lerpf(float, float, float); ",
    ),
    Row("matrixMul", "0_Simple/matrixMul/matrixMul.cu", 2, 2),
    Row("mergeHistogram256", "3_Imaging/histogram/mergeHistogram256Kernel.cu", 1, 1, ("common.h",)),
    Row("mergeHistogram64", "3_Imaging/histogram/mergeHistogram64Kernel.cu", 1, 1, ("common.h",)),
    Row("reduce0", f"{_REDUCTION}/reduce0.cu", 2, 1, ("common.h",)),
    Row("reduce1", f"{_REDUCTION}/reduce1.cu", 2, 2, ("common.h",)),
    Row("reduce2", f"{_REDUCTION}/reduce2.cu", 2, 1, ("common.h",)),
    Row("reduce3", f"{_REDUCTION}/reduce3.cu", 2, 1, ("common.h",)),
    Row("reduce5", f"{_REDUCTION}/reduce5.cu", 4, 3, ("common.h",)),
    Row("reduce6", f"{_REDUCTION}/reduce6.cu", 4, 3, ("common.h",)),
    Row("sobol", "4_Finance/SobolQRNG/sobol.cu", 1, 1),
    Row("sum0", "6_Advanced/simpleHyperQ/sum.cu", 2, 2),
    Row("sum1", "6_Advanced/concurrentKernels/sum.cu", 2, 2),
    Row("uniformUpdate", "6_Advanced/scan/uniformUpdate.cu", 1, 1, ("common.h",)),
    Row("uniform_add", "6_Advanced/shfl_scan/uniform_add.cu", 1, 1),
)

SHAPES: Final = HERE.parent / "tests" / "repairs" / "autosync.cu"
"""Own kernels of the shapes of the paper's micro benchmarks, among others."""
MICRO: Final[dict[str, int | None]] = {
    "straight_line": 1,
    "between_conditionals": 1,
    "within_an_iteration": 1,
    "across_iterations": 1,
    "two_races": 1,
    "two_races_in_nested_loops": 1,
    "both_in_nested_loops": 2,
    "both_in_a_loop": 2,
    "middle_conditional": None,
}
"""Kernel -> the barriers that AutoSync inserts; None: where it gives up the cheapest place (section III-E)."""

_FLAGS: Final = ("-D__requires(e)=__builtin_assume(e)", "-D__invariant(e)=0", "-D__assert(e)=0")
"""What GPUVerify's annotations mean here: preconditions are facts, invariants are hints for its prover."""

_BARRIER: Final = re.compile(r"^(?!\s*#)(.*?)\b(?:__)?syncthreads\s*\(\s*\)\s*;", re.MULTILINE)


@dataclass
class Outcome:
    """What became of one kernel."""

    name: str
    original_verdict: str = ""
    """Of the kernel as its developers wrote it."""
    races: int = 0
    """Without its barriers."""
    inserted: int | None = None
    cost: Fraction = Fraction(0)
    """Of the barriers inserted, by AutoSync's model: a factor for each loop and each conditional around one."""
    original_cost: Fraction = Fraction(0)
    trials: int = 0
    """Edited texts that the oracle judged."""
    verdict: str = ""
    """Of the repaired kernel, decided anew."""
    milliseconds: float = 0.0
    """For the repair, its proofs included; the kernel without barriers is checked already."""
    note: str = ""


class _Counting(Engine):
    """An engine that counts the edited texts it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.trials = 0

    def retry(
        self,
        request: CheckRequest,
        kernels: Sequence[str],
        stop: Callable[[], bool] = never,
        *,
        for_device: bool = False,
    ) -> UnitAnalysis:
        self.trials += 1
        return super().retry(request, kernels, stop, for_device=for_device)


def source(row: Row) -> tuple[Path, str]:
    """The kernel's file and its text."""
    folder = f"CUDA50/{row.path.rpartition('/')[0]}"
    root = fetched(_SUITE, [f"CUDA50/{row.path}", *(f"{folder}/{h}" for h in row.headers)])
    path = root / "CUDA50" / row.path
    return path, path.read_text(errors="replace").replace("__global__", f"{row.declared}__global__", 1)


def without_barriers(text: str) -> str:
    """The text without its barrier statements; lines stay where they are."""
    while True:
        fewer = _BARRIER.sub(r"\1", text)
        if fewer == text:
            return text
        text = fewer


def launch_of(text: str) -> UserLaunch:
    """The launch that the first lines state."""

    def dimension(name: str) -> Dim3 | None:
        found = re.search(rf"--{name}=\[?([\d,]+)\]?", text)
        if found is None:
            return None
        numbers = [int(n) for n in found[1].split(",")]
        x, y, z = (*numbers, 1, 1)[:3]
        return (x, y, z)

    return UserLaunch(grid=dimension("gridDim"), block=dimension("blockDim"))


def repaired(row: Row, *, lockstep: bool) -> Outcome:
    """Remove the barriers of one kernel, and repair it."""
    path, text = source(row)
    options = CheckOptions(launches=(launch_of(text),), warp_lockstep=lockstep, redundancy=False)
    definitions = tuple(f for f in re.findall(r"(?<=\s)-D\S+", text.partition("#")[0]))
    flags = translate((*_FLAGS, *definitions), str(path.parent))
    out = Outcome(row.name)
    original = CheckRequest(str(path), text, flags, options=options)
    out.original_verdict, out.original_cost = _verdict(_checked(Engine(), original)), cost(original)
    engine = _Counting()
    request = CheckRequest(str(path), without_barriers(text), flags, options=options)
    unit = _checked(engine, request)
    out.races = sum(len(c.findings) for k in unit.kernels for c in k.contexts)
    started = time.process_time()
    answer = fix_all(engine, request)
    out.milliseconds = (time.process_time() - started) * 1e3
    out.trials = engine.trials
    if isinstance(answer, FixRefusal):
        out.note = answer.text
        return out
    out.inserted = sum(len(re.findall("sync(?:threads|warp)", e.new_text)) for e in answer.edits)
    edited = CheckRequest(str(path), apply(request.text, answer.edits), flags, options=options)
    out.verdict, out.cost = _verdict(_checked(Engine(), edited)), cost(edited)
    return out


def micro() -> list[tuple[str, Outcome]]:
    """The kernels of the micro benchmarks, repaired one by one."""
    text = SHAPES.read_text(encoding="utf-8")
    found: list[tuple[str, Outcome]] = []
    for name in MICRO:
        out = Outcome(name)
        engine = _Counting()
        request = CheckRequest(str(SHAPES), text, options=CheckOptions(kernels=(name,), redundancy=False))
        unit = _checked(engine, request)
        out.races = sum(len(c.findings) for k in unit.kernels for c in k.contexts)
        started = time.process_time()
        answer = fix_all(engine, request)
        out.milliseconds = (time.process_time() - started) * 1e3
        out.trials = engine.trials
        if isinstance(answer, FixRefusal):
            out.note = answer.text
        else:
            out.inserted = sum(len(re.findall("sync(?:threads|warp)", e.new_text)) for e in answer.edits)
            edited = CheckRequest(str(SHAPES), apply(text, answer.edits), options=request.options)
            out.verdict, out.cost = _verdict(_checked(Engine(), edited)), cost(edited)
        found.append((name, out))
    return found


def cost(request: CheckRequest) -> Fraction:
    """What the barrier statements of a text cost together."""
    text = request.text.encode()
    places = [m.end(1) for m in re.finditer(_BARRIER.pattern.encode(), text, re.MULTILINE)]
    unit = Engine().inspect(request, (), never).unit
    trees = function_trees(unit.device, [(request.path, at) for at in places])
    return sum((_price(trees.at(request.path, at), at) for at in places), Fraction(0))


def _price(tree: FunctionTree | None, at: int) -> Fraction:
    """LC^loops x IC^conditionals around a place."""
    price = Fraction(1)
    body: Body | None = tree.body if tree is not None else None
    while body is not None:
        price *= Fraction(LOOP_COST) ** body.loops
        price *= CONDITIONAL_COST if body.role in ("then", "else", "case") else 1
        inner = (b for s in body.statements for b in s.bodies if b.start <= at < b.end)
        body = next(inner, None)
    return price


def _checked(engine: Engine, request: CheckRequest) -> UnitResult:
    for event in engine.check(request):
        if isinstance(event, UnitFinished):
            return event.result
    raise AssertionError("a check ends with its unit")


def _verdict(unit: UnitResult) -> str:
    if unit.failure is not None:
        return unit.failure.text
    worst = min((k.verdict for k in unit.kernels), key=lambda v: v.rank, default=Verdict.UNKNOWN)
    return worst.value


_INTRODUCTION: Final = """# AutoSync's kernels

`python -m benchmarks autosync`; the kernels are fetched from GPUVerify's benchmark suite at a pinned commit, none is in
this repository. Their barriers are removed, then the repair of the whole file is asked for, under the launch and the
preconditions that the file states. *Original*: the barriers its developers wrote; *AutoSync*: those it inserted (Anand
and Polikarpova, FMCAD 2018, table II). *Cost*: 100 for each loop and 1/2 for each conditional around a barrier, summed.
*Trials*: edited texts that the oracle judged. *Verdict*: of the repaired kernel, decided anew, and of the original.
Milliseconds of processor time: for the repair, proofs included, of a file that has been checked. Barriers of a warp
cost nothing here. Files that state `--warp-sync=32` are
repaired with `warp-lockstep` too. The suite has no body for the
function `lerpf` that nlm2 calls: for its row it is declared to use no memory.
"""

_HEADER: Final = (
    "| kernel | races | original | AutoSync | inserted | cost | of the original | trials | verdict | original | ms |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)


def is_right(row: Row, out: Outcome) -> bool:
    """As few barriers as AutoSync, no more expensive than the original, and a verdict no worse than its."""
    few = out.inserted is not None and out.inserted <= row.autosync
    return few and out.cost <= out.original_cost and out.verdict == out.original_verdict


def _line(row: Row, out: Outcome) -> str:
    inserted = f"**{out.note}**" if out.inserted is None else str(out.inserted)
    mark = "" if is_right(row, out) else " (**not right**)"
    return (
        f"| {out.name}{mark} | {out.races} | {row.original} | {row.autosync} | {inserted} | {float(out.cost):g} | "
        f"{float(out.original_cost):g} | {out.trials} | {out.verdict} | {out.original_verdict} "
        f"| {out.milliseconds:.0f} |"
    )


def table(results: Sequence[tuple[Row, Outcome]]) -> str:
    """The results as Markdown."""
    right = sum(is_right(row, out) for row, out in results)
    slowest = max(out.milliseconds for _, out in results) / 1000
    head = f"**{right} of {len(results)} rows right; the slowest repair takes {slowest:.1f} s.**"
    return "\n".join([_INTRODUCTION, head, "", *_HEADER, *(_line(row, out) for row, out in results)]) + "\n"


def is_as_cheap(name: str, out: Outcome) -> bool:
    """As few barriers as AutoSync, one where that gives up, and no race left."""
    return out.inserted is not None and out.inserted <= (MICRO[name] or 1) and out.verdict == "race-free"


def micro_table(results: Sequence[tuple[str, Outcome]]) -> str:
    """The results of the micro benchmarks as Markdown."""
    right = sum(is_as_cheap(name, out) for name, out in results)
    lines = [
        "## Micro benchmarks\n",
        "Own kernels of the shapes of the paper's eight, and of its example of a conditional in the middle, where it",
        "gives up the cheapest place (`tests/repairs/autosync.cu`).\n",
        f"**{right} of {len(results)} rows right.**\n",
        "| kernel | races | AutoSync | inserted | cost | trials | verdict | ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, out in results:
        inserted = f"**{out.note}**" if out.inserted is None else str(out.inserted)
        mark = "" if is_as_cheap(name, out) else " (**not right**)"
        lines.append(
            f"| {name}{mark} | {out.races} | {MICRO[name] or '–'} | {inserted} | {float(out.cost):g} | {out.trials} "
            f"| {out.verdict} | {out.milliseconds:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with kernels, print their rows only."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks autosync", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="only these rows")
    chosen = parser.parse_args(arguments).kernels
    results: list[tuple[Row, Outcome]] = []
    for row in (r for r in ROWS if not chosen or r.name in chosen):
        results.append((row, repaired(row, lockstep=False)))
        if "--warp-sync=32" in source(row)[1]:
            locked = repaired(row, lockstep=True)
            locked.name += " (warp-lockstep)"
            results.append((row, locked))
    text = table(results)
    if not chosen:
        text += "\n" + micro_table(micro())
    print(text)
    if not chosen:
        (HERE / "autosync.md").write_text(text)


if __name__ == "__main__":
    main()
