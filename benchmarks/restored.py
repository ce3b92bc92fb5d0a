"""Barriers taken out of programs that nobody here wrote: which does a repair put back, and how long does that take?

Takes a folder with one program in each folder below, such as the ``src`` of HeCBench; takes out one
``__syncthreads()`` at a time, asks for the repairs of what is wrong then and was not before, applies the first that
there is, checks the text again, and writes ``benchmarks/restored.md``.

    git clone https://github.com/zjin-lcf/HeCBench
    python -m benchmarks restored HeCBench/src --pattern '*-cuda' --jobs 2
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.blanking import blanked
from analyzers.frontend.lexical import source_bytes
from analyzers.model import Fix, UnitResult
from analyzers.requests import CheckRequest
from benchmarks.collection import in_processes, source_of
from benchmarks.revisions import revision
from cuda_lsp.cli import inputs
from cuda_lsp.cli.check import apart
from cuda_lsp.cli.fix import apply
from cuda_lsp.cli.requests import Requests, Selection
from quickfix import fix_for
from quickfix.verify import REPAIRABLE, PairKey, findings_of, key_of

HERE: Final = Path(__file__).resolve().parent
LIMIT: Final = 400
"""Seconds of processor time for one program."""
_MOST: Final = 3
"""Barriers that are taken out of one file."""
_GROUPS: Final = 4
"""Groups of findings that a repair is asked of, for one barrier."""
_BARRIER: Final = re.compile(rb"\b__syncthreads\s*\(\s*\)\s*;")


@dataclass
class Taken:
    """What became of one barrier."""

    file: str
    line: int
    outcome: str
    """``restored``, ``left`` where something is wrong after the repair that was not before, ``elsewhere`` where another
    file is edited, ``refused``, or ``unseen`` where nothing is wrong without the barrier."""
    check: float = 0.0
    """Seconds of processor time for the check without it."""
    repair: float = 0.0
    """For the repair; of a refusal, for the one that took longest."""
    text: str = ""
    """The title of the repair, or the reason why there is none."""


@dataclass
class Program:
    """The barriers of one program; plain data."""

    name: str
    taken: list[Taken] = field(default_factory=list[Taken])
    failures: list[str] = field(default_factory=list[str])


def taken_out(folder: str) -> Program:
    """Judge barriers of one program in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    os.chdir(Path(folder).parent)
    name = Path(folder).name
    program = Program(name)
    requests = Requests(Selection(), (name,))
    main_files, _ = apart(inputs.collect((name,), Counter()))
    for file in main_files:
        if file.text is not None and b"__syncthreads" in source_bytes(file.text):
            program.taken += _of_file(requests.request(file, file.text))
    return program


def _of_file(request: CheckRequest) -> Iterator[Taken]:
    before = Engine().result(request)
    if before.failure is not None:
        return
    known, seen = _wrong(before), 0
    text = source_bytes(request.text)
    found = list(_BARRIER.finditer(blanked(text)))
    random.Random(Path(request.path).name).shuffle(found)
    for match in found:
        if seen == _MOST:
            return
        # The places of everything else stay.
        without = text[: match.start()] + b"{}".ljust(len(match[0])) + text[match.end() :]
        taken = _judged(replace(request, text=without.decode("utf-8", "surrogateescape")), known)
        seen += taken.outcome != "unseen"
        yield replace(taken, file=os.path.relpath(request.path), line=text.count(b"\n", 0, match.start()) + 1)


def _judged(request: CheckRequest, known: Collection[PairKey]) -> Taken:
    """What a repair makes of a text without a barrier. `known`: what was wrong with it."""
    engine, started = Engine(), time.process_time()
    new = _wrong(engine.result(request))
    taken = Taken("", 0, "refused", round(time.process_time() - started, 2))
    groups = list(dict.fromkeys(group for key, group in new.items() if key not in known))
    if not groups:
        return replace(taken, outcome="unseen")
    for group in groups[:_GROUPS]:
        started = time.process_time()
        answer = fix_for(engine, request, group)
        seconds = round(time.process_time() - started, 2)
        if isinstance(answer, Fix):
            return replace(taken, outcome=_after(request, answer, known), repair=seconds, text=answer.title)
        if seconds >= taken.repair:
            taken = replace(taken, repair=seconds, text=answer.text)
    return taken


def _wrong(result: UnitResult) -> dict[PairKey, str]:
    """The group of each finding that a repair is looked for unasked."""
    return {key_of(f): f.group for k in result.kernels for f in findings_of(k) if f.code in REPAIRABLE}


def _after(request: CheckRequest, fix: Fix, known: Collection[PairKey]) -> str:
    """The outcome of a repair."""
    edits = tuple(e for e in fix.edits if e.span.path == request.path)
    if len(edits) < len(fix.edits):
        return "elsewhere"
    left = _wrong(Engine().result(replace(request, text=apply(request.text, edits))))
    return "restored" if len(left) <= len(known) else "left"


def table(programs: Sequence[Program], source: str) -> str:
    """The results as Markdown."""
    taken = [t for program in programs for t in program.taken]
    outcomes = Counter(t.outcome for t in taken)
    asked = [t for t in taken if t.outcome != "unseen"]
    checks, repairs = sorted(t.check for t in asked), sorted(t.repair for t in asked)
    lines = [
        "# Barriers that were taken out",
        "",
        f"`python -m benchmarks restored`; {source}. Of each file up to {_MOST} barriers are taken out whose absence",
        "is found, one at a time, in an order by lot; a repair is asked of what is wrong then and was not before, with",
        f"nothing known but the check, and its result checked again. Measured at revision {revision()}.",
        "",
        f"**{outcomes['restored']} of {len(asked)} are restored**: nothing is wrong behind the repair that was not",
        f"wrong with the barrier. Without {outcomes['unseen']} others nothing new is found: they are redundant, or",
        "what they order is among the findings with them, too.",
        "",
        "| seconds of processor time | median | 95 % | most |",
        "|---|---|---|---|",
        f"| check | {_spread(checks)} |",
        f"| repair, all its proofs included | {_spread(repairs)} |",
        "",
        "## Not restored",
        "",
        *(f"- {t.file}:{t.line}: {t.outcome}: {t.text}" for t in asked if t.outcome != "restored"),
        "",
        "## Failed",
        "",
        *(f"- {p.name}: {failure}" for p in programs for failure in p.failures),
        "",
    ]
    return "\n".join(lines)


def _spread(seconds: Sequence[float]) -> str:
    return f"{median(seconds):.2f} | {quantiles(seconds, n=20)[-1]:.2f} | {seconds[-1]:.2f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks restored")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pattern", default="*", help="of the programs' folders")
    parser.add_argument("--source", default="", help="how the table calls the collection")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    if given.folder is None:
        print("restored: left out, as it takes a folder with programs")
        return
    root = given.folder.resolve()
    folders = sorted(f for f in root.glob(given.pattern) if f.is_dir())
    programs: list[Program] = []
    for program in in_processes(taken_out, folders, given.jobs, _failed):
        programs.append(program)
        outcomes = Counter(t.outcome for t in program.taken)
        print(f"{program.name:32} {', '.join(f'{n} {what}' for what, n in outcomes.items())}", flush=True)
    programs.sort(key=lambda p: p.name)
    (HERE / "restored.md").write_text(table(programs, given.source or source_of(root)))


def _failed(folder: Path) -> Program:
    return Program(folder.name, failures=[f"no answer in {LIMIT} s of processor time"])


if __name__ == "__main__":
    main()
