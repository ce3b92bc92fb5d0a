"""Repairs of random kernels held against executions: is any offered repair wrong, or more than is needed?

Every repair of every kernel is judged by `benchmarks.generated.repairs`. What has been judged is kept in the cache by
batches of seeds, so that a run may be broken off and taken up again; ``benchmarks/repairs.md`` is written of all that
is there, and says of which seeds and revisions that is.

    python -m benchmarks repairs [--count 2000] [--blocks 1] [--jobs 2] [--minutes M] [--anew]

Kernels of two blocks have files of their own (``benchmarks/repairs_two_blocks.md``).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from analyzers.engine import Engine
from benchmarks.generated.repairs import Judged, judged
from benchmarks.revisions import revision, spans
from benchmarks.sources import CACHE

HERE: Final = Path(__file__).resolve().parent
SIZE: Final = 5
"""Statements of a kernel."""
BATCH: Final = 10
KEPT: Final = {1: CACHE / "repairs.jsonl", 2: CACHE / "repairs_two_blocks.jsonl"}
"""One line for each batch that has been judged, by the blocks of a grid."""
WRITTEN: Final = {1: HERE / "repairs.md", 2: HERE / "repairs_two_blocks.md"}

_INTRODUCTION: Final = """# Repairs of random kernels{title}

`python -m benchmarks repairs{options}`; kernels of the reference's generator, with {blocks} each; every repair that is
offered is made, and the edited text checked and executed ([generated](generated)). A **contradiction** is a race or a
missed barrier that is not reported of the edited text, a thread that makes other accesses than before (updates made
atomic aside), memory that depends on the schedule though nothing races and no choice says that it does, or an inserted
barrier without which no race comes back.
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The seeds from `start` on that one process has judged, and the revision of the project that it did this with."""

    start: int
    revision: str
    seconds: float
    found: tuple[Judged, ...]


def batch(start: int, end: int, revision: str, blocks: int = 1) -> Batch:
    """Judge the seeds of a range in this process."""
    engine, started = Engine(), time.process_time()
    found = tuple(judged(engine, seed, SIZE, blocks=blocks) for seed in range(start, end))
    return Batch(start, revision, time.process_time() - started, found)


def kept(path: Path) -> dict[int, Batch]:
    """The batches of earlier runs, by their first seed; the latest of each. A line that was not written to its end is
    left out."""
    found: dict[int, Batch] = {}
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        judgements = (Judged(j["seed"], tuple(j["kinds"]), tuple(j["contradictions"])) for j in one["found"])
        found[one["start"]] = Batch(one["start"], one["revision"], one["seconds"], tuple(judgements))
    return found


def keep(path: Path, one: Batch) -> None:
    """Put a batch behind the others, in a line of its own whatever the last one was cut to."""
    with path.open("a+b") as file:
        file.seek(0)
        lines = file.read()
        cut = lines != b"" and not lines.endswith(b"\n")
        file.write((b"\n" if cut else b"") + json.dumps(asdict(one)).encode() + b"\n")


def left_to_judge(known: Mapping[int, Batch], count: int) -> list[int]:
    """The first seeds of the batches that are not known, or were cut short where fewer kernels were asked for."""
    return [s for s in range(0, count, BATCH) if s not in known or len(known[s].found) < min(BATCH, count - s)]


def table(batches: Sequence[Batch], asked: int, blocks: int = 1) -> str:
    """The results as Markdown."""
    words = {"title": "", "options": "", "blocks": "one block"}
    if blocks == 2:
        words = {"title": " of two blocks", "options": " --blocks 2", "blocks": "two blocks"}
    found = [j for one in batches for j in one.found]
    wrong = [(j.seed, text) for j in found for text in j.contradictions]
    kinds = Counter(kind for j in found for kind in j.kinds)
    fewer = f" (of {asked:,} asked for, as many as the time allowed)" if len(found) < asked else ""
    count = f"{len(found):,} kernels{fewer}, {sum(kinds.values()):,} repairs, {len(wrong)} contradictions"
    repaired = sum(bool(j.kinds) for j in found)
    minutes = sum(one.seconds for one in batches) / 60
    at = {j.seed: one.revision for one in batches for j in one.found}
    out = [
        _INTRODUCTION.format(**words),
        f"**{count}**, in {minutes:.0f} minutes of processor time; {repaired:,} kernels with a repair.",
        f"Judged: {spans(at)}.",
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
    parser.add_argument("--blocks", type=int, choices=(1, 2), default=1, help="how many blocks a grid has")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no batch after so many")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs have judged")
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    file = KEPT[chosen.blocks]
    file.parent.mkdir(parents=True, exist_ok=True)
    if chosen.anew:
        file.unlink(missing_ok=True)
    known = kept(file)
    at = revision()
    starts = left_to_judge(known, chosen.count)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        while starts and time.monotonic() < started + 60 * chosen.minutes:
            now, starts = starts[: chosen.jobs], starts[chosen.jobs :]
            ends = [min(s + BATCH, chosen.count) for s in now]
            for one in pool.map(batch, now, ends, [at] * len(now), [chosen.blocks] * len(now)):
                known[one.start] = one
                keep(file, one)
    text = table([known[start] for start in sorted(known)], chosen.count, chosen.blocks)
    print(text)
    WRITTEN[chosen.blocks].write_text(text)


if __name__ == "__main__":
    main()
