"""What is found does not depend on what the process did before, nor on the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_NODES = """
from analyzers.ir import expr as e
names = {names!r}
for n in names:
    e.sym(n, e.I32)
a, b = (e.sym(n, e.I32) for n in ("param:a", "param:b"))
total = e.add(e.mul(b, a), e.cast(e.TID[0], e.I32))
same = e.compare("eq", e.const(7), a)
print(total, same, e.opaque("load", e.F32, (total,)).rank, sorted({{a, b, total}}, key=lambda n: n.rank), {{a, b}})
"""

_RESULTS = """
import sys
from analyzers.engine import Engine
from analyzers.requests import CheckRequest, UnitFinished
for path in sys.argv[1:]:
    with open(path) as file:
        events = list(Engine().check(CheckRequest(path, file.read())))
for kernel in next(e.result.kernels for e in events if isinstance(e, UnitFinished)):
    for c in kernel.contexts:
        print(c.verdict, c.launch, c.findings, c.assumptions, c.facts, sep="\\n")
"""


def _printed(*arguments: str, seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_expressions_are_the_same_whatever_was_made_first() -> None:
    first, second = (
        _printed("-c", _NODES.format(names=names), seed=seed)
        for seed, names in ((1, ["param:a", "param:b"]), (2, ["param:b", "loop:1#0", "param:a"]))
    )
    assert first == second


def _rows(first: str, second: str) -> str:
    return f"""__global__ void rows_{first}(float *out, int {first}, int {second}) {{
  int i = blockIdx.x * {first} + threadIdx.x * {second};
  out[i + 1] = out[i];
}}
void run(float *out, int n, int b) {{
  if (n > 0 && b > 0) rows_{first}<<<({first} + {second} - 1) / {second}, {second}>>>(out, {first}, {second});
}}
"""


def test_results_are_the_same_after_other_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a.cu", tmp_path / "b.cu"
    a.write_text(_rows("n", "b"))
    b.write_text(_rows("b", "n"))
    alone = _printed("-c", _RESULTS, str(a), seed=1)
    assert "Finding(" in alone
    assert _printed("-c", _RESULTS, str(b), str(a), seed=2) == alone
