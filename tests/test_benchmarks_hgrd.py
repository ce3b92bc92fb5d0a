"""How the benchmark of HGRD's programs takes templates apart and counts what it finds."""

from __future__ import annotations

from expectations import check

from benchmarks.hgrd import Outcome, compared, expanded, has_known_alarm
from benchmarks.hgrd_programs import PROGRAMS, Access, Program, Race

_KERNEL = """__global__ void k(int *a) {
  a[0] += 1;
  a[threadIdx.x + 1] = 2;
}
void f(int *a) { k<<<1, 32>>>(a); }
"""


def _counts(*races: Race) -> tuple[int, int, int, int]:
    lines = _KERNEL.splitlines()
    outcome = compared(Program("p", "k.cu", races=races), check(_KERNEL).unit, lambda side: lines[side[2] - 1])
    return outcome.found, outcome.true, len(outcome.false), len(outcome.missed)


def test_a_template_line_gives_the_variant_of_its_tag() -> None:
    template = "a; /*@x@*/ b; /*@y@*/ c;\n  d;\ne; /*@x@*/\n"
    assert expanded(template, ()) == "a;\n  d;\ne;\n"
    assert expanded(template, ("x",)) == "b;\n  d;\n\n"
    assert expanded(template, ("y",)) == "c;\n  d;\ne;\n"


def test_races_count_by_kernel_access_and_line() -> None:
    read, write = Access("read", "a[0] += 1;"), Access("write", "a[0] += 1;")
    both = (Race("k", read, write), Race("k", write, write))
    assert _counts(*both) == (2, 2, 0, 0)
    assert _counts(Race("k", write, read)) == (2, 1, 1, 0)
    assert _counts(*both, Race("k", write, Access("write", "= 2;"))) == (2, 2, 0, 1)
    assert _counts(Race("other", read, write)) == (2, 0, 2, 1)


def test_a_collision_of_equal_values_is_a_benign_alarm() -> None:
    guided = next(p for p in PROGRAMS if p.alarming)
    pair = f"{guided.alarming}: write in line 7 with write in line 7"
    assert has_known_alarm(guided, Outcome(false=[pair]))
    assert has_known_alarm(guided, Outcome(benign=[pair]))
    assert not has_known_alarm(guided, Outcome(benign=["other: write in line 7 with write in line 7"]))
