"""Kernels with the shape of the 24 scenarios that AuCS was measured on (`tests/repairs/aucs.cu`): each is repaired, by
a repair of the expected kind, and what comes of it is proved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, FixRefusal, KernelResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import fix_all, fix_for, remove_redundant

PATH = Path(__file__).parent / "repairs" / "aucs.cu"
TEXT = PATH.read_text(encoding="utf-8")
RIGHT = (Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER)


@dataclass(frozen=True)
class Case:
    """A kernel and the kind of its repair."""

    name: str
    kind: str


CASES = [
    Case(m["name"], m["kind"])
    for m in re.finditer(r"// repair: (?P<kind>[\w-]+)\n(?:(?!// repair:).*\n)*?__global__ void (?P<name>\w+)", TEXT)
]


def request(text: str, name: str) -> CheckRequest:
    return CheckRequest(str(PATH), text, options=CheckOptions(kernels=(name,)))


def checked(engine: Engine, text: str, name: str) -> KernelResult:
    (unit,) = [e.result for e in engine.check(request(text, name)) if isinstance(e, UnitFinished)]
    (kernel,) = unit.kernels
    return kernel


def repaired(engine: Engine, case: Case, text: str, before: KernelResult) -> Fix | FixRefusal:
    if case.kind == "guard-return":
        findings = (f for c in before.contexts for f in c.findings)
        late = next(f.group for f in findings if f.code is Verdict.BARRIER_AFTER_EXIT)
        return fix_for(engine, request(text, case.name), late)
    make = remove_redundant if case.kind == "remove-redundant" else fix_all
    return make(engine, request(text, case.name))


def test_there_are_24_scenarios() -> None:
    assert [c.name for c in CASES] == re.findall(r"__global__ void (\w+)", TEXT)
    assert len(CASES) == 24


STEPS = 3
"""Repairs one after the other: what one restructures, another cannot at the same time."""
KINDS = {"guard-return": "restructure", "remove-redundant": "remove-barrier"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_scenario_is_resolved(case: Case) -> None:
    text, kernel = TEXT, checked(Engine(), TEXT, case.name)
    assert kernel.verdict is not Verdict.RACE_FREE
    for step in range(STEPS):
        fix = repaired(Engine(), case, text, kernel)
        assert isinstance(fix, Fix), fix
        assert fix.kind == KINDS.get(case.kind, case.kind)
        assert fix.preferred == (case.kind != "guard-return")
        text = applied(text, fix.edits)
        kernel = checked(Engine(), text, case.name)
        if kernel.verdict in RIGHT:
            return
        assert step < STEPS - 1, kernel.verdict
