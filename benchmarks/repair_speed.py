"""How long repairs take: the list of what may be repaired, and each repair with its proofs, over the kernels of
``tests/repairs`` and ``tests/golden``. Writes ``benchmarks/repair_speed.md``.

    python -m benchmarks repair_speed
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Final

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import available, fix_for

HERE: Final = Path(__file__).resolve().parent
_FILES: Final = sorted((HERE.parent / "tests" / "repairs").glob("*.cu")) + sorted(
    (HERE.parent / "tests" / "golden").glob("*.cu")
)
_KERNEL: Final = re.compile(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)")


def measured(path: Path) -> tuple[float, list[tuple[float, bool]]]:
    """Seconds for the list, and for each repair of a checked file with whether there is one."""
    request = CheckRequest(str(path), path.read_bytes().decode())
    engine = Engine()
    (unit,) = [e.result for e in engine.check(request) if isinstance(e, UnitFinished)]
    started = time.process_time()
    offers = available(unit)
    listed = time.process_time() - started
    found: list[tuple[float, bool]] = []
    for offer in offers:
        started = time.process_time()
        answer = fix_for(engine, request, offer.group)
        found.append((time.process_time() - started, isinstance(answer, Fix)))
    return listed, found


def table(lists: Sequence[float], repairs: Sequence[tuple[float, bool]], kernels: int) -> str:
    """The figures as Markdown."""

    def row(name: str, seconds: Sequence[float]) -> str:
        cuts = quantiles(seconds, n=20, method="inclusive") if len(seconds) > 1 else [*seconds] * 19
        values = (cuts[9], cuts[18], max(seconds))
        return f"| {name} | {len(seconds)} | {' | '.join(f'{1000 * v:.1f}' for v in values)} |"

    return "\n".join(
        [
            "# How long repairs take",
            "",
            f"`python -m benchmarks repair_speed`, processor time of one process: {kernels} kernels in the files of",
            "`tests/repairs` and `tests/golden`, each file checked before. *List*: what may be repaired in a file,",
            "without a proof. *Repair*: one group of findings, from asking to the proved edit or to why there is none.",
            "Milliseconds.",
            "",
            "| | number | median | 95 % | most |",
            "|---|---|---|---|---|",
            row("list", lists),
            row("repair", [seconds for seconds, _ in repairs]),
            row("repair that there is", [seconds for seconds, there in repairs if there]),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    argparse.ArgumentParser(prog="python -m benchmarks repair_speed", description=__doc__).parse_args(arguments)
    lists: list[float] = []
    repairs: list[tuple[float, bool]] = []
    kernels = 0
    for path in _FILES:
        kernels += len(_KERNEL.findall(path.read_text(encoding="utf-8")))
        listed, found = measured(path)
        lists.append(listed)
        repairs += found
    text = table(lists, repairs, kernels)
    print(text)
    (HERE / "repair_speed.md").write_text(text)


if __name__ == "__main__":
    main()
