"""Loops that jumps make: where they begin and end, and what separates their iterations."""

from __future__ import annotations

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest, never
from quickfix import fix_all
from quickfix.backward_jumps import JumpLoop, jump_loops
from quickfix.session import Session

KERNEL = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *data, int n) {
  __shared__ int s[65];
  int t = threadIdx.x, i = 0, j = 0;
outer:
  j = 0;
inner:
  s[t] = data[t] + s[t + 1];
  if (++j < n) {
    data[t] = j;
    goto inner;
  }
  if (++i < n) goto outer;
  if (i > 90) goto done;
  data[t] = s[t];
done:
  data[t] += 1;
}
"""


def test_jumps_back_are_loops_and_jumps_ahead_are_none() -> None:
    request = CheckRequest("/jumps/a.cu", KERNEL)
    trees = Session.open(Engine(), request, never).trees
    (function,) = trees.functions
    found = jump_loops(function.body, trees.texts[request.path])
    assert [(loop.name, loop.line) for loop in found] == [("outer:", 5), ("inner:", 7)]
    outer, inner = found
    assert outer.first < inner.first < inner.last < outer.last
    assert inner.holds(inner.first + 1)
    assert inner.holds(inner.last)
    assert not inner.holds(inner.first)
    assert not inner.holds(inner.last + 1)
    assert isinstance(inner, JumpLoop)


def test_a_barrier_in_such_a_loop_costs_what_it_does_in_one() -> None:
    text = KERNEL.replace("data[t] + s[t + 1]", "data[t]; data[t] += s[t + 1]")
    fix = fix_all(Engine(), CheckRequest("/jumps/a.cu", text))
    assert isinstance(fix, Fix)
    assert "per iteration of the loop at line 5" in fix.cost or "per iteration of the loop at line 7" in fix.cost
