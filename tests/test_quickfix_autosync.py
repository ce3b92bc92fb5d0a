"""Missing barriers of the shapes that AutoSync was measured on (`tests/repairs/autosync.cu`): as many barriers as the
cheapest repair needs, each of them needed, in the places where they cost least."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, KernelResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import fix_all

PATH = Path(__file__).parent / "repairs" / "autosync.cu"
TEXT = PATH.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Case:
    """A kernel and what its repair has to look like."""

    name: str
    barriers: int
    within: bool
    """The barrier stands directly before or behind the line marked `within`."""


CASES = [
    Case(m["name"], int(m["count"]), bool(m["within"]))
    for m in re.finditer(
        r"// repair: (?P<count>\d+)(?P<within> within)?\n(?://.*\n)*__global__ void (?P<name>\w+)", TEXT
    )
]


def test_every_kernel_has_an_expectation() -> None:
    assert [c.name for c in CASES] == re.findall(r"__global__ void (\w+)", TEXT)


def checked(text: str, name: str) -> KernelResult:
    request = CheckRequest(str(PATH), text, options=CheckOptions(kernels=(name,)))
    (unit,) = [e.result for e in Engine().check(request) if isinstance(e, UnitFinished)]
    (kernel,) = unit.kernels
    return kernel


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_cheapest_repair(case: Case) -> None:
    assert checked(TEXT, case.name).verdict in (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
    fix = fix_all(Engine(), CheckRequest(str(PATH), TEXT, options=CheckOptions(kernels=(case.name,))))
    assert isinstance(fix, Fix), fix
    barriers = [e for e in fix.edits if re.search(r"__sync(?:threads|warp)\(\);", e.new_text)]
    assert len(barriers) == case.barriers, [(e.span.line, e.new_text) for e in fix.edits]
    assert checked(applied(TEXT, fix.edits), case.name).verdict in (Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT)
    for edit in fix.edits:
        fewer = tuple(e for e in fix.edits if e is not edit)
        verdict = checked(applied(TEXT, fewer), case.name).verdict
        assert verdict in (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE), f"not needed: line {edit.span.line}"
    if case.within:
        marked = 1 + TEXT[: TEXT.index("// within")].count("\n")
        (edit,) = barriers
        assert edit.span.line in (marked, marked + 1)
