"""HGRD's table (seed 001, table 3) on the real programs: races found, true, false and missed.

Fetches the named files at pinned commits into ``benchmarks/.cache``, checks every program with and without what its
host code says, each in a process of its own, and writes ``benchmarks/hgrd.md``.

    python -m benchmarks hgrd [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.hostguide.program import Program as HostProgram
from analyzers.model import CheckOptions, KernelResult, UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished
from benchmarks.hgrd_programs import PROGRAMS, Access, Program, Race
from benchmarks.repositories import fetched
from benchmarks.sources import CACHE
from cuda_lsp.workspace.program_index import ProgramIndex

HERE = Path(__file__).resolve().parent
LIMIT = 120
"""Seconds after which the check of one program is ended."""

_REPORTED = (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
_TAG = re.compile(r"/\*@(\w+)@\*/")

Side = tuple[str, str, int]
"""An access that was found: what it does, the file and the line it stands in."""
Pair = tuple[str, Side, Side]
"""A race that was found: the kernel's name and its accesses in order."""


@dataclass
class Outcome:
    """What one check of one program gave; plain data."""

    found: int = 0
    true: int = 0
    false: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    """Kernels without a verdict, with the reasons."""
    benign: list[str] = field(default_factory=list[str])
    """Pairs of writes that collide with one value."""
    kernels: int = 0
    uncited: list[str] = field(default_factory=list[str])
    """Race-free kernels that do not name the assumption they have to."""
    facts: list[str] = field(default_factory=list[str])
    milliseconds: float = 0.0
    failure: str = ""


def expanded(template: str, tags: Sequence[str]) -> str:
    """The source that an Indigo template stands for.

    Each line holds variants of itself, each behind its ``/*@tag@*/``, the first behind none: the variant of a chosen
    tag is taken, or else the first."""
    lines: list[str] = []
    for line in template.splitlines():
        first, *rest = _TAG.split(line)
        variants = dict(zip(rest[::2], rest[1::2], strict=True))
        chosen = next((variants[tag] for tag in tags if tag in variants), first)
        lines.append(chosen.strip() if variants else line)
    return "\n".join(lines) + "\n"


def check(program: Program, use_host: bool) -> Outcome:
    """Check one program in this process, and compare."""
    unit, text, milliseconds = unit_of(program, use_host)

    @cache
    def lines(file: str) -> list[str]:
        return text.splitlines() if file == unit.path else Path(file).read_text(errors="replace").splitlines()

    outcome = compared(program, unit, lambda side: lines(side[1])[side[2] - 1])
    outcome.milliseconds = round(milliseconds, 1)
    return outcome


def unit_of(program: Program, use_host: bool) -> tuple[UnitResult, str, float]:
    """Check one program in this process: the result, the source it is of, and the milliseconds it took."""
    root = HERE.parent
    if program.repository is not None:
        root = fetched(program.repository, (program.unit, *program.headers, *program.host))
    path = root / program.unit
    text = path.read_text(errors="replace")
    if program.tags:
        text = expanded(text, program.tags)
    options = CheckOptions(use_host=use_host, kernels=program.kernels)
    flags = translate(program.flags, str(root))
    Engine().check(CheckRequest("/warm.cu", "__global__ void k() {}"))
    started = time.perf_counter()
    found = HostProgram()
    if program.host:
        found = ProgramIndex(str(root)).refresh({str(path): text}).program(str(path), lambda _: flags, program.kernels)
    request = CheckRequest(str(path), text, flags, options=options, program=found)
    events = Engine().check(request)
    unit = next(e.result for e in events if isinstance(e, UnitFinished))
    return unit, text, 1000 * (time.perf_counter() - started)


def compared(program: Program, unit: UnitResult, line_of: Callable[[Side], str]) -> Outcome:
    """Count what was found in a unit against what is true of the program.

    A race that is reported, definite or possible, is a kernel and two accesses, whatever the number of launches,
    instances and scopes it was found in; it is one expected race when the kernels have the same name, the accesses
    do the same, and each stands in a line with the expected piece of source."""
    outcome = Outcome(kernels=len(unit.kernels), failure=unit.failure.text if unit.failure else "")
    pairs = found_pairs(unit.kernels)
    missed = set(program.races)
    for pair in pairs:
        race = next((r for r in program.races if _is(pair, r, line_of)), None)
        if race is None:
            outcome.false.append(_text(pair))
        else:
            missed.discard(race)
    outcome.found = len(pairs)
    outcome.true = len(program.races) - len(missed)
    outcome.missed = [f"{r.kernel}: {r.first.statement.strip()} / {r.second.statement.strip()}" for r in missed]
    outcome.benign = [_text(pair) for pair in found_pairs(unit.kernels, (Verdict.BENIGN_RACE,))]
    for kernel in unit.kernels:
        reasons = sorted({f"{r.kind}: {r.text}" for c in kernel.contexts for r in c.reasons})
        if kernel.verdict is Verdict.UNKNOWN or reasons:
            outcome.unknown.append(f"{kernel.name}: {'; '.join(reasons)}")
        assumptions = [a for c in kernel.contexts for a in c.assumptions]
        if program.cited and not any(program.cited in a for a in assumptions):
            outcome.uncited.append(kernel.name)
    outcome.facts = sorted({f"{f.kind}: {f.text}" for k in unit.kernels for c in k.contexts for f in c.facts})
    return outcome


def found_pairs(kernels: Sequence[KernelResult], codes: Collection[Verdict] = _REPORTED) -> list[Pair]:
    """The races that are reported, each once."""
    pairs: set[Pair] = set()
    for kernel in kernels:
        for finding in (f for c in kernel.contexts for f in c.findings if f.code in codes):
            first, second = sorted((a.kind, a.span.path, a.span.line) for a in finding.accesses)
            pairs.add((kernel.name.partition("<")[0], first, second))
    return sorted(pairs)


def _is(pair: Pair, race: Race, line_of: Callable[[Side], str]) -> bool:
    def fits(side: Side, access: Access) -> bool:
        return side[0] == access.kind and access.statement in line_of(side)

    kernel, first, second = pair
    orders = ((first, second), (second, first))
    return kernel == race.kernel and any(fits(a, race.first) and fits(b, race.second) for a, b in orders)


def _text(pair: Pair) -> str:
    kernel, *sides = pair
    return f"{kernel}: " + " with ".join(f"{kind} in line {line}" for kind, _, line in sides)


def run(programs: Sequence[Program]) -> dict[str, dict[str, Outcome]]:
    """Outcomes by program, with the host's facts and without; each check in its own process."""
    results: dict[str, dict[str, Outcome]] = {}
    for program in programs:
        results[program.name] = {mode: _in_process(program.name, mode) for mode in ("host", "no-host")}
        print(_row(program, results[program.name]), flush=True)
    return results


def _in_process(name: str, mode: str) -> Outcome:
    command = [sys.executable, "-m", "benchmarks.hgrd", "--one", name, mode]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(failure=f"no answer in {LIMIT} s", milliseconds=1000.0 * LIMIT)
    if done.returncode:
        return Outcome(failure=(done.stderr.strip().splitlines() or ["the process died"])[-1])
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def is_right(program: Program, outcome: Outcome) -> bool:
    """Whether nothing is wrong or open in a program's row."""
    wrong = outcome.false or outcome.missed or outcome.unknown or outcome.uncited or outcome.failure
    return not wrong and outcome.kernels > 0


def has_known_alarm(program: Program, outcome: Outcome) -> bool:
    """Whether a check without host facts shows the false alarm that the program is known for; benign where the writes
    that collide are proved to write one value."""
    return any(_is_known(program, f) for f in (*outcome.false, *outcome.benign))


def _is_known(program: Program, pair: str) -> bool:
    return pair.startswith(f"{program.alarming}:" if program.alarming else "")


def _alarm(program: Program, outcome: Outcome) -> str:
    if not has_known_alarm(program, outcome):
        return "**no**"
    return "yes" if any(_is_known(program, f) for f in outcome.false) else "benign"


_COLUMNS = (
    "program",
    "host facts it needs",
    "expected",
    "found",
    "true",
    "false",
    "missed",
    "unknown kernels",
    "right",
    "facts used",
    "ms",
    "without host: known alarm",
    "ms",
)
_HEADER = ("| " + " | ".join(_COLUMNS) + " |", "|---" * len(_COLUMNS) + "|")

_INTRODUCTION = """# HGRD's programs

`python -m benchmarks hgrd`; the sources are fetched from their repositories at pinned commits, none is in this
repository. The pattern of warpCommunicate, whose source is not public, is our own file.

A reported race (`data-race` or `possible-data-race`) is a kernel and two accesses, whatever the number of launches,
instances and scopes it is found in. It counts as an expected one (`benchmarks/hgrd_programs.py`) when the kernel's
name, what the accesses do and the source lines they stand in are the expected ones; else it is false. A row is right
when nothing is false, missed or unknown. A program that needs host facts has to show, without them, an alarm in the
kernel that it is known for, which is *benign* where the threads that collide there are proved to write one value.
Milliseconds: the check alone, parsing included, in a process with its modules loaded."""


def _row(program: Program, outcomes: dict[str, Outcome]) -> str:
    with_host, without = outcomes["host"], outcomes["no-host"]
    cells = [
        program.name,
        program.guided,
        len(program.races),
        with_host.found,
        with_host.true,
        len(with_host.false),
        len(with_host.missed),
        f"{len(with_host.unknown)} of {with_host.kernels}",
        "yes" if is_right(program, with_host) else "**no**",
        len(with_host.facts),
        f"{with_host.milliseconds:.0f}",
        _alarm(program, without) if program.guided else "",
        f"{without.milliseconds:.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def table(programs: Sequence[Program], results: dict[str, dict[str, Outcome]]) -> str:
    """The results as Markdown."""
    of_paper = [(p, results[p.name]) for p in programs if p.in_paper]
    hosts = [r["host"] for _, r in of_paper]
    guided = [(p, r) for p, r in of_paper if p.guided]
    true, false, missed = (sum(n) for n in zip(*((o.true, len(o.false), len(o.missed)) for o in hosts), strict=True))
    right = sum(is_right(p, r["host"]) for p, r in of_paper)
    alarms = sum(has_known_alarm(p, r["no-host"]) for p, r in guided)
    summary = (
        f"**{true} true races of {sum(len(p.races) for p, _ in of_paper)}, {false} false, {missed} missed; {right} of "
        f"{len(of_paper)} programs right, {sum(o.milliseconds for o in hosts) / 1000:.1f} s in all. Without host facts "
        f"{alarms} of {len(guided)} host-guided programs show the alarm they are known for.**"
    )
    out = [_INTRODUCTION, "", summary, "", *_HEADER, *(_row(p, results[p.name]) for p in programs)]
    for title, key in (("Wrong or open", "host"), ("Alarms without host facts", "no-host")):
        out += ["", f"## {title}", ""]
        for p in programs:
            o = results[p.name][key]
            lists = [("false", o.false), ("missed", o.missed)]
            if key == "host":
                lists += [("unknown", o.unknown), ("does not cite the row pitch", o.uncited)]
                lists += [("failed", [o.failure] if o.failure else [])]
            for what, texts in lists if key == "host" or p.guided else ():
                shown = texts[:6] + ([f"and {len(texts) - 6} more"] if len(texts) > 6 else [])
                out += [f"- {p.name}: {what}: {t}" for t in shown]
    out += ["", "## Host facts that the proofs used", ""]
    out += [
        f"- {p.name}: " + "; ".join(f"`{f}`" for f in results[p.name]["host"].facts)
        for p in programs
        if results[p.name]["host"].facts
    ]
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with program names, print their rows only."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks hgrd", description=__doc__)
    parser.add_argument("programs", nargs="*", help="only these rows")
    parser.add_argument("--one", nargs=2, metavar=("PROGRAM", "MODE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        name, mode = options.one
        program = next(p for p in PROGRAMS if p.name == name)
        print(json.dumps(asdict(check(program, mode == "host"))))
        return
    programs = [p for p in PROGRAMS if not options.programs or p.name in options.programs]
    print("\n".join(_HEADER))
    results = run(programs)
    if options.programs:
        for p in programs:
            print(json.dumps({m: asdict(o) for m, o in results[p.name].items()}, indent=1))
        return
    CACHE.mkdir(exist_ok=True)
    (CACHE / "hgrd.json").write_text(json.dumps({n: {m: asdict(o) for m, o in r.items()} for n, r in results.items()}))
    (HERE / "hgrd.md").write_text(table(programs, results))
    print((HERE / "hgrd.md").read_text().split("## Wrong")[0])


if __name__ == "__main__":
    main()
