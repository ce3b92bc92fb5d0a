"""Repairs of random kernels held against executions: is any offered repair wrong, or more than is needed?

Every repair of every kernel is judged by `benchmarks.generated.repairs`. Writes ``benchmarks/repairs.md``.

    python -m benchmarks repairs [--count 2000] [--jobs 2] [--minutes M]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from analyzers.engine import Engine
from benchmarks.generated.repairs import Judged, judged

HERE: Final = Path(__file__).resolve().parent
SIZE: Final = 5
"""Statements of a kernel."""
BATCH: Final = 10

_INTRODUCTION: Final = """# Repairs of random kernels

`python -m benchmarks repairs`; kernels of the reference's generator, with one block each; every repair that is offered
is made, and the edited text checked and executed ([generated](generated)). A **contradiction** is a race or a missed
barrier that is not reported of the edited text, a thread that makes other accesses than before (updates made atomic
aside), memory that depends on the schedule though nothing races, or an inserted barrier without which no race comes
back.
"""


def batch(start: int, end: int) -> list[Judged]:
    """Judge the seeds of a range in this process."""
    engine = Engine()
    return [judged(engine, seed, SIZE) for seed in range(start, end)]


def table(found: Sequence[Judged], asked: int, seconds: float) -> str:
    """The results as Markdown."""
    wrong = [(j.seed, text) for j in found for text in j.contradictions]
    kinds = Counter(kind for j in found for kind in j.kinds)
    fewer = f" (of {asked:,} asked for, as many as the time allowed)" if len(found) < asked else ""
    count = f"{len(found):,} kernels{fewer}, {sum(kinds.values()):,} repairs, {len(wrong)} contradictions"
    repaired = sum(bool(j.kinds) for j in found)
    out = [
        _INTRODUCTION,
        f"**{count}**, in {seconds / 60:.0f} minutes beside other work; {repaired:,} kernels with a repair.",
        "",
        "| repair | offered |",
        "|---|---|",
        *(f"| {kind} | {n} |" for kind, n in kinds.most_common()),
    ]
    if wrong:
        out += ["", "| seed | contradiction |", "|---|---|"]
        out += [f"| {seed} | {text.replace('|', '¦')} |" for seed, text in wrong]
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks repairs", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="how many kernels")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no batch after so many")
    chosen = parser.parse_args(arguments)
    started, found = time.monotonic(), list[Judged]()
    starts = list(range(0, chosen.count, BATCH))
    with ProcessPoolExecutor(chosen.jobs) as pool:
        while starts and time.monotonic() < started + 60 * chosen.minutes:
            now, starts = starts[: chosen.jobs], starts[chosen.jobs :]
            ends = [min(s + BATCH, chosen.count) for s in now]
            for judgements in pool.map(batch, now, ends):
                found += judgements
    text = table(found, chosen.count, time.monotonic() - started)
    print(text)
    (HERE / "repairs.md").write_text(text)


if __name__ == "__main__":
    main()
