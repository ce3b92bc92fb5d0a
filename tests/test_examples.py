"""The examples are what they say they are, and `make demo` works on the real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from expectations import check

from analyzers.model import Verdict

EXAMPLES = Path(__file__).parent.parent / "examples"
VERDICTS = {
    "center_rows.cu": {"row_means<256>": Verdict.DATA_RACE, "subtract_means": Verdict.RACE_FREE},
    "transpose.cu": {"transpose": Verdict.RACE_FREE, "transpose_in_place": Verdict.RACE_FREE},
    "heat.cu": {"heat": Verdict.DATA_RACE},
    "histogram.cu": {
        "histogram": Verdict.RACE_FREE,
        "running_sum": Verdict.REDUNDANT_BARRIER,
        "median_bin": Verdict.POSSIBLE_DATA_RACE,
    },
}


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_the_verdicts_of_an_example(name: str) -> None:
    path = EXAMPLES / name
    unit = check(path.read_text(encoding="utf-8"), str(path)).unit
    found = {kernel.name: kernel.verdict for kernel in unit.kernels}
    assert found == VERDICTS[name]
    assert unit.syntax == ()


def test_every_example_has_a_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.cu")} == set(VERDICTS)


def test_the_demonstration_shows_every_step() -> None:
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")], capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for part in (
        "error: data-race",
        "part[t] = sum;",
        "~~~~~~~",
        "thread (128, 0, 0)",
        "+  __syncthreads();",
        "race-free: row_means<256>",
        "assert(width % kColumns == 0)",
        "No diagnostics are left.",
    ):
        assert part in run.stdout, part
