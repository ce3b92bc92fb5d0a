"""The 24 scenarios of AuCS's table I: the kernels as they were before their developers repaired them.

Fetches the sources at the parents of the commits that the paper lists into ``benchmarks/.cache``, checks each kernel in
one instance under one launch, asks for the repair of what the scenario is about, and writes ``benchmarks/aucs.md``.

    python -m benchmarks aucs [SCENARIO ...]
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.model import CheckOptions, Finding, Fix, FixRefusal, UnitResult, UserLaunch, Verdict
from analyzers.requests import CancelledError, CheckRequest, UnitFinished
from benchmarks.aucs_programs import SCENARIOS, Scenario
from benchmarks.repositories import fetched
from cuda_lsp.cli.fix import apply
from quickfix import fix_for, remove_redundant
from quickfix.verify import RACES

HERE: Final = Path(__file__).resolve().parent
_ROUNDS: Final = 16
"""Repairs one after the other, each of the first finding that is left."""
_SECONDS: Final = 30.0
"""Of processor time, for the check of a scenario, and for each repair."""
_GROUPS: Final = 3
"""Groups of findings whose repair is asked for before a scenario is given up."""
_BARRIER: Final = re.compile(r"__sync(?:threads|warp)\b")
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.MULTILINE)


@dataclass
class Outcome:
    """What became of one scenario."""

    before: int = 0
    """Findings that the scenario is about."""
    after: int = 0
    """Those that are left in the end."""
    barriers: int = 0
    """Barriers more than before."""
    kinds: tuple[str, ...] = ()
    checked: float = 0.0
    """Seconds of processor time for the check of the unit as it was."""
    repaired: float = 0.0
    """Seconds for all repairs, their proofs included."""
    note: str = ""

    @property
    def is_resolved(self) -> bool:
        return self.before > 0 and self.after == 0


def request(scenario: Scenario) -> CheckRequest:
    """The unit of a scenario: its own file, or one that includes it and names an instance of the kernel."""
    root = fetched(scenario.repository, [scenario.path])
    _fetch_included(scenario, root)
    path = root / scenario.path
    text = path.read_text(errors="replace")
    if scenario.unit:
        path, text = path.parent / "aucs_unit.cu", scenario.unit
    flags = translate((*(f"-I{root / folder}" for folder in scenario.folders), *scenario.flags), str(path.parent))
    launch = UserLaunch(grid=scenario.grid, block=scenario.block, values=scenario.values)
    options = CheckOptions(kernels=(scenario.instance,), launches=(launch,))
    unsaved = dict[str, str]()
    if scenario.without:
        word = re.compile(rf"\b{scenario.without}\b ?")
        unsaved[str(root / scenario.path)] = word.sub("", (root / scenario.path).read_text(errors="replace"))
    return CheckRequest(str(path), text, flags, unsaved=unsaved, options=options)


def _fetch_included(scenario: Scenario, root: Path) -> None:
    """What the sources include, as far as it is in the repository's own folders; what is not is remembered."""
    listed = root / ".absent"
    absent = set(listed.read_text().splitlines()) if listed.is_file() else set[str]()
    first = scenario.unit or (root / scenario.path).read_text(errors="replace")
    texts, seen = [(first, str(Path(scenario.path).parent))], set[tuple[str, str]]()
    while texts:
        text, beside = texts.pop()
        for name in _INCLUDE.findall(text):
            if (name, beside) not in seen and name.endswith(("pp", ".h", ".cuh")):
                seen.add((name, beside))
                paths = (os.path.normpath(f"{folder}/{name}") for folder in (beside, *scenario.folders))
                found = next((path for path in paths if _is_there(scenario, path, root, absent)), None)
                if found is not None:
                    texts.append(((root / found).read_text(errors="replace"), str(Path(found).parent)))
    listed.write_text("".join(f"{path}\n" for path in sorted(absent)))


def _is_there(scenario: Scenario, path: str, root: Path, absent: set[str]) -> bool:
    if path in absent:
        return False
    try:
        fetched(scenario.repository, [path])
    except OSError:
        absent.add(path)
    return (root / path).is_file()


def measured(scenario: Scenario) -> Outcome:
    """Check one scenario and repair it, as far as the time allows."""
    out = Outcome()
    gc.collect()  # what is left of the scenarios before is no part of this one
    try:
        _measure(scenario, out)
    except CancelledError:
        out.note = f"not within {_SECONDS:.0f} s of processor time"
    return out


def _stop() -> Callable[[], bool]:
    end = time.process_time() + _SECONDS
    return lambda: time.process_time() > end


def _measure(scenario: Scenario, out: Outcome) -> None:
    asked = request(scenario)
    engine = Engine()
    started = time.process_time()
    unit = _checked(engine, asked)
    out.checked = time.process_time() - started
    wrong = _about(scenario, unit)
    out.before = out.after = len(wrong)
    if not wrong:
        verdicts = sorted({k.verdict.value for k in unit.kernels}) or ["no such kernel"]
        out.note = f"nothing is found: {', '.join(verdicts)}{scenario.remark and '; ' + scenario.remark}"
    kinds: list[str] = []
    for _ in range(_ROUNDS):
        if not wrong:
            break
        started = time.process_time()
        answer = _repair(engine, asked, scenario, wrong)
        out.repaired += time.process_time() - started
        if isinstance(answer, FixRefusal):
            out.note = answer.text
            break
        kinds.append(answer.kind)
        asked, more = _edited(asked, answer)
        out.barriers += more
        engine = Engine()
        unit = _checked(engine, asked)
        wrong = _about(scenario, unit)
        out.after = len(wrong)
        out.kinds = tuple(dict.fromkeys(kinds))


def _repair(engine: Engine, asked: CheckRequest, scenario: Scenario, wrong: Sequence[Finding]) -> Fix | FixRefusal:
    if any(f.code is Verdict.REDUNDANT_BARRIER for f in wrong):
        return remove_redundant(engine, asked, _stop())
    answer: Fix | FixRefusal = FixRefusal("")
    for group in list(dict.fromkeys(f.group for f in wrong))[:_GROUPS]:
        answer = fix_for(engine, asked, group, _stop())
        if isinstance(answer, Fix):
            break
    return answer


def _edited(asked: CheckRequest, fix: Fix) -> tuple[CheckRequest, int]:
    """The request with the texts that a fix edits, and how many barriers these have more."""
    texts = dict(asked.unsaved)
    more = 0
    for path in {e.span.path for e in fix.edits}:
        old = asked.text if path == asked.path else texts.get(path) or Path(path).read_text(errors="replace")
        edits = tuple(e for e in fix.edits if e.span.path == path)
        texts[path] = apply(old, edits)
        more += len(_BARRIER.findall(texts[path])) - len(_BARRIER.findall(old))
    main = texts.pop(asked.path, asked.text)
    return CheckRequest(asked.path, main, asked.flags, unsaved=texts, options=asked.options), more


def _about(scenario: Scenario, unit: UnitResult) -> list[Finding]:
    """The findings of the kind that the scenario is about, on its memory."""
    codes = {
        "data race": RACES,
        "barrier divergence": {Verdict.BARRIER_DIVERGENCE, Verdict.BARRIER_AFTER_EXIT},
        "redundant barrier": {Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_DIVERGENCE},
    }[scenario.bug]
    found = (f for k in unit.kernels for c in k.contexts for f in c.findings if f.code in codes)
    return [f for f in found if any(re.search(scenario.on, a.text) for a in f.accesses)]


def _checked(engine: Engine, asked: CheckRequest) -> UnitResult:
    for event in engine.check(asked, _stop()):
        if isinstance(event, UnitFinished):
            return event.result
    raise AssertionError("a check ends with its unit")


_INTRODUCTION: Final = """# AuCS's scenarios

`python -m benchmarks aucs`; the kernels are fetched at the parents of the commits that table I of AuCS (Wu et al., ASE
2019) lists, those of GkleeTests, which no commit repaired, as they are now; none is in this repository. Each is checked
in one instance under one launch with all its dimensions.
*About*: findings of the scenario's kind on the memory that its commit is about, before and after the repairs, which are
asked for one after the other. *Barriers*: how many the repaired text has more. Seconds of processor time for the check
of the whole unit, and for all repairs together with their proofs. AuCS resolves 20 of the 24. Own kernels of the same
shapes, all repaired, are in `tests/repairs/aucs.cu`.
"""

_HEADER: Final = (
    "| project | commit | kernel | bug | AuCS | here | about | left | repair | barriers | check s | repair s |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
)


def _line(scenario: Scenario, out: Outcome) -> str:
    here = "yes" if out.is_resolved else f"**no**: {out.note}"
    if scenario.without and out.is_resolved:
        here += f", without `{scenario.without}`: {scenario.remark}"
    kinds = ", ".join(out.kinds)
    return (
        f"| {scenario.repository.name.partition('/')[2]} | {scenario.revision} | {scenario.kernel} | {scenario.bug} | "
        f"{'yes' if scenario.aucs else 'no'} | {here} | {out.before} | {out.after} | {kinds} | {out.barriers:+d} | "
        f"{out.checked:.1f} | {out.repaired:.1f} |"
    )


def table(results: Sequence[tuple[Scenario, Outcome]]) -> str:
    """The results as Markdown."""
    resolved = sum(out.is_resolved for _, out in results)
    changed = sum(out.is_resolved and bool(s.without) for s, out in results)
    but = f", {changed} of them in a source that is not as it was" if changed else ""
    head = f"**{resolved} of {len(results)} scenarios resolved{but}.**"
    return "\n".join([_INTRODUCTION, head, "", *_HEADER, *(_line(s, o) for s, o in results)]) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with scenarios, print their rows only."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks aucs", description=__doc__)
    parser.add_argument("scenarios", nargs="*", help="only these kernels or commits")
    chosen = parser.parse_args(arguments).scenarios
    results: list[tuple[Scenario, Outcome]] = []
    for scenario in SCENARIOS:
        if not chosen or scenario.kernel in chosen or scenario.revision in chosen:
            results.append((scenario, measured(scenario)))
            print(_line(*results[-1]), flush=True)
    if not chosen:
        (HERE / "aucs.md").write_text(table(results))


if __name__ == "__main__":
    main()
