"""Random kernels, as source text, checked and executed: does any verdict contradict an execution?

Every sample (``benchmarks.generated``) is checked as a user would, by the engine, from its text; then the reference
executes it at all launches that the text allows. Writes ``benchmarks/random.md``.

    python -m benchmarks random [--count 20000] [--jobs 2] [--minutes M] [--resume]
    python -m benchmarks random --seed 17      # show one kernel, its verdict and what contradicts it

Outcomes are noted in ``benchmarks/.cache/random.jsonl`` as they come, one line a kernel: ``--resume`` runs the seeds
that are not noted there, and the table is of all that are.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, Final, get_args

from analyzers.engine import Engine
from analyzers.model import Verdict
from benchmarks.generated.compare import Outcome, Truth, compare
from benchmarks.generated.kernels import sample
from benchmarks.noted import Notes
from benchmarks.revisions import spans

HERE: Final = Path(__file__).resolve().parent
NOTES: Final = HERE / ".cache" / "random.jsonl"
BATCH: Final = 10
"""Kernels in one file."""
_RENEWED: Final = 60
"""Batches after which a process begins with an empty engine: its caches grow."""

_INTRODUCTION = """# Random kernels

`python -m benchmarks random --count 20000 --jobs 2`; `--resume` goes on where the last one was stopped; a seed names a
kernel, `--seed N` shows it. Each is CUDA source text: loops of all kinds, guards, early returns, `switch`, `goto`,
barriers, atomics, shuffles, patterns of real kernels with and without a flaw, launched by a comment, by host code or by
nobody ([generated](generated)). It is checked from its text as a user would, then executed thread by thread by the
reference at each launch that the text allows, with memory all equal, colliding and spread, in several orders. A
**contradiction** is a race or a missed barrier of an execution that is neither reported nor named as undecided, a
definite finding that does not happen at its witness, or a barrier called redundant without which an execution has other
races (each barrier alone, and all together)."""

_engine: list[tuple[Engine, int]] = []


def outcomes(seeds: Sequence[int]) -> list[Outcome]:
    """Check and execute one file of samples in this process."""
    engine, used = _engine.pop() if _engine else (Engine(), 0)
    _engine.append((Engine(), 0) if used >= _RENEWED else (engine, used + 1))
    return compare(engine, [sample(seed) for seed in seeds])


def measured(seeds: Sequence[int], jobs: int, deadline: float) -> Iterator[Outcome]:
    """The outcomes of the seeds in order, as far as the time allows."""
    batches = [seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)]
    with ProcessPoolExecutor(jobs) as pool:
        waiting: dict[int, Future[list[Outcome]]] = {}
        begun = done = 0
        while done < len(batches):
            while begun < len(batches) and len(waiting) < 4 * jobs and time.monotonic() < deadline:
                waiting[begun] = pool.submit(outcomes, batches[begun])
                begun += 1
            if done not in waiting:
                return
            wait([waiting[done]], return_when=FIRST_COMPLETED)
            yield from waiting.pop(done).result()
            done += 1


def table(found: Sequence[Outcome], asked: int, at: Mapping[int, str]) -> str:
    """The results as Markdown. ``at``: the revision that each seed's is of."""
    wrong = [o for o in found if o.contradictions]
    out = [_INTRODUCTION, ""]
    fewer = f" (of {asked:,} asked for, as many as the time allowed)" if len(found) < asked else ""
    out.append(f"**{len(found):,} kernels{fewer}, {len(wrong)} contradictions.**")
    contexts = sum(o.contexts for o in found)
    checked, executed = sum(o.checked for o in found), sum(o.executed for o in found)
    out.append(
        f"{contexts:,} launch contexts; {(checked + executed) / 60:.0f} minutes of one process: "
        f"{1000 * checked / contexts:.0f} ms a context for the analysis (parsing aside), "
        f"{1000 * executed / len(found):.0f} ms a kernel for the executions. Judged: {spans(at)}."
    )
    out += ["", "What the executions of the kernels with each verdict showed:", ""]
    out += _crossed(found)
    free = sum(o.verdict in _FREE for o in found)
    racy = sum(o.verdict in ("data-race", "possible-data-race") for o in found)
    out += ["", f"Called free of races: {free / len(found):.0%}; with a race: {racy / len(found):.0%}.", ""]
    reasons = Counter(reason for o in found for reason in o.reasons)
    out += ["| what was left undecided | kernels |", "|---|---|"]
    out += [f"| {reason} | {n} |" for reason, n in reasons.most_common()] or ["| nothing | |"]
    alarms = [o for o in found if o.alarms]
    out.append("")
    share = f"{len(alarms)} kernels ({len(alarms) / len(found):.2%})"
    out.append(
        "Possible races and missed barriers that were reported at launches with all sizes known, in kernels where "
        f"memory steers nothing, and that no execution showed: in {share}."
    )
    if wrong:
        out += ["", "| seed | contradiction |", "|---|---|"]
        out += [f"| {o.seed} | {text.replace('|', '¦')} |" for o in wrong for text in o.contradictions[:1]]
    return "\n".join(out) + "\n"


_FREE: Final = ("race-free", "redundant-barrier", "barrier-after-exit")


def _crossed(found: Iterable[Outcome]) -> list[str]:
    """Verdicts by what executions showed."""
    counts = Counter((o.verdict, o.truth) for o in found)
    truths = get_args(Truth)
    rows = [f"| verdict | {' | '.join(truths)} | all |", "|---" * (len(truths) + 2) + "|"]
    for verdict in (v.value for v in Verdict):
        row = [counts[verdict, truth] for truth in truths]
        if any(row):
            rows.append(f"| `{verdict}` | {' | '.join(str(n) if n else '' for n in row)} | {sum(row)} |")
    sums = [sum(n for (_, seen), n in counts.items() if seen == truth) for truth in truths]
    rows.append(f"| all | {' | '.join(map(str, sums))} | {sum(sums)} |")
    return rows


def _read(**fields: Any) -> Outcome:
    """An outcome from what JSON makes of it."""
    for name in ("contradictions", "reasons", "alarms"):
        fields[name] = tuple(fields[name])
    return Outcome(**fields)


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with ``--seed``, show one kernel."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks random", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many kernels")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no kernel after so many")
    parser.add_argument("--resume", action="store_true", help="keep what is noted, and run what is not")
    parser.add_argument("--notes", type=Path, default=NOTES, help="where outcomes are noted")
    parser.add_argument("--seed", type=int, help="show this kernel only")
    chosen = parser.parse_args(arguments)
    if chosen.seed is not None:
        print(sample(chosen.seed).text)
        (outcome,) = outcomes([chosen.seed])
        print(f"{outcome.verdict}; executions: {outcome.truth}", *outcome.contradictions, *outcome.alarms, sep="\n")
        return
    deadline = time.monotonic() + 60 * chosen.minutes
    notes = Notes(chosen.notes, _read)
    if not chosen.resume:
        notes.forget()
    for outcome in measured(notes.missing(range(chosen.count)), chosen.jobs, deadline):
        notes.add(outcome)
        for text in outcome.contradictions:
            print(f"seed {outcome.seed}: {text}", file=sys.stderr, flush=True)
        for text in outcome.alarms:
            print(f"seed {outcome.seed}, not seen in executions: {text}", file=sys.stderr, flush=True)
    text = table(notes.outcomes(), chosen.count, notes.revisions())
    print(text)
    (HERE / "random.md").write_text(text)
