"""Random kernels, checked and run: does a run of what a CUDA compiler makes of the text contradict any verdict?

Each is compiled by NVRTC (``-G``) and executed on the processor under the race detector, at its launches and at the
witness of each definite race (``benchmarks.generated.executed``). Writes ``benchmarks/differential.md``.

    python -m benchmarks differential [--count 10000] [--jobs 2] [--minutes M] [--resume]
    python -m benchmarks differential --seed 17      # show one kernel and what contradicts it
    python -m benchmarks differential --device gpu   # run them on the GPU; writes benchmarks/differential_gpu.md

Outcomes are noted in ``benchmarks/.cache/differential.jsonl`` as they come, one line a kernel: ``--resume`` runs the
seeds of ``--first`` to ``--count`` that are not noted there, and the table is of all that are.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from analyzers.engine import Engine
from benchmarks.generated.executed import RunOutcome, compare_runs
from benchmarks.generated.kernels import sample
from benchmarks.noted import Notes
from gpu_runner.gpu.driver import Device, find

HERE: Final = Path(__file__).resolve().parent
NOTES: Final = HERE / ".cache" / "differential.jsonl"
BATCH: Final = 20
"""Kernels that are compiled in one go."""
_RENEWED: Final = 30
"""Batches after which a process begins with an empty engine: its caches grow."""

_INTRODUCTION = """# Verdicts against runs

`python -m benchmarks differential --count 10000 --jobs 2`; `--resume` goes on where the last one was stopped, and
`--seed N` shows the kernel that a seed names. The kernels of [random.md](random.md), checked from their text as a user
would, then compiled by NVRTC and executed on the processor
under the race detector: at each launch that the text allows, in two orders, and at the witness of each definite race.
Compiler, executor and detector share nothing with the analysis and its reference but the text. A **contradiction** is
a race or a divergent barrier that was called absent or is not among the findings, or a definite race that does not
happen at its witness."""

_engine: list[tuple[Engine, int]] = []
_device: list[Device] = []
"""The GPU, once it is asked for."""


def outcomes(seeds: Sequence[int], most: int, gpu: bool = False) -> list[RunOutcome]:
    """Check and run one file of samples in this process. Raises `NoGpu` where one is asked for and missing."""
    engine, used = _engine.pop() if _engine else (Engine(), 0)
    _engine.append((Engine(), 0) if used >= _RENEWED else (engine, used + 1))
    if gpu and not _device:
        _device.append(find())
    return compare_runs(engine, [sample(seed, most) for seed in seeds], device=_device[0] if gpu else None)


def measured(seeds: Sequence[int], jobs: int, most: int, deadline: float, gpu: bool = False) -> Iterator[RunOutcome]:
    """The outcomes of the seeds, as far as the time allows."""
    batches = iter(seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH))
    # A process that is forked from one that has talked to the driver cannot.
    context = get_context("spawn") if gpu else None
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting: set[Future[list[RunOutcome]]] = set()
        while True:
            while (
                len(waiting) < jobs + 1 and time.monotonic() < deadline and (batch := next(batches, None)) is not None
            ):
                waiting.add(pool.submit(outcomes, batch, most, gpu))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()


def table(found: Sequence[RunOutcome], count: int, revisions: Sequence[str] = (), gpu: str = "") -> str:
    """The results as Markdown. `revisions`: those that the outcomes are of, where it is more than one. `gpu`: its name,
    where they ran on one."""
    wrong = [o for o in found if o.contradictions]
    asked = f" (of {count} asked for, as many as the time allowed)" if len(found) < count else ""
    introduction = _INTRODUCTION
    if gpu:
        introduction = introduction.replace(" --jobs 2`;", " --jobs 2 --device gpu`;", 1)
        introduction = introduction.replace("on the processor\n", f"on a GPU ({gpu})\n", 1)
    out = [introduction, "", f"**{len(found)} kernels{asked}, {len(wrong)} contradictions.**", ""]
    checked, executed = sum(o.checked for o in found), sum(o.executed for o in found)
    out.append(
        f"{sum(o.proofs for o in found)} launches that were called free of races ran without one; "
        f"{sum(o.witnesses for o in found)} witnesses of definite races were run. "
        f"{(checked + executed) / 60:.0f} minutes of one process: {1000 * checked / len(found):.0f} ms a kernel for "
        f"the analysis, {1000 * executed / len(found):.0f} ms for translation and runs."
    )
    if len(revisions) > 1:
        out[-1] += f" In {len(revisions)} parts, one after the other, of the revisions {', '.join(revisions)}."
    reasons = Counter(reason for o in found for reason in o.not_run)
    out += ["", "| why a run says nothing | runs |", "|---|---|"]
    out += [f"| {reason} | {n} |" for reason, n in reasons.most_common()] or ["| nothing | |"]
    if wrong:
        out += ["", "| seed | contradiction |", "|---|---|"]
        out += [f"| {o.seed} | {o.contradictions[0].replace('|', '¦')} |" for o in wrong]
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with ``--seed``, show one kernel."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks differential", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="the seeds below this")
    parser.add_argument("--first", type=int, default=0, help="and from this on")
    parser.add_argument("--resume", action="store_true", help="keep what is noted, and run what is not")
    parser.add_argument("--notes", type=Path, help="where outcomes are noted")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="where kernels run")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--most", type=int, default=12, help="statements of a kernel, patterns and nested ones aside")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no kernel after so many")
    parser.add_argument("--seed", type=int, help="show this kernel only")
    chosen = parser.parse_args(arguments)
    if chosen.seed is not None:
        print(sample(chosen.seed, chosen.most).text)
        print(*outcomes([chosen.seed], chosen.most, chosen.device == "gpu"), sep="\n")
        return
    deadline = time.monotonic() + 60 * chosen.minutes
    gpu = find().name if chosen.device == "gpu" else ""
    notes = Notes(chosen.notes or NOTES.with_stem(NOTES.stem + "_gpu" * bool(gpu)), RunOutcome, {"most": chosen.most})
    if not chosen.resume:
        notes.forget()
    seeds = notes.missing(range(chosen.first, chosen.count))
    for outcome in measured(seeds, chosen.jobs, chosen.most, deadline, bool(gpu)):
        notes.add(outcome)
        for text in outcome.contradictions:
            print(f"seed {outcome.seed}: {text}", file=sys.stderr, flush=True)
    text = table(notes.outcomes(), chosen.count, list(dict.fromkeys(notes.revisions().values())), gpu)
    print(text)
    (HERE / f"differential{'_gpu' * bool(gpu)}.md").write_text(text)


if __name__ == "__main__":
    main()
