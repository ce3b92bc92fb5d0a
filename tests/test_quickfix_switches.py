"""Switches split between their sections: what keeps them whole."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, THREADS, alone, edited, refusal, repaired

SWITCH = """__global__ void k(int *s, int *out, int *p) {{
  int t = threadIdx.x;
  switch ({0}) {{
  case 0:
    {1}s[t] = t;
    {2}
  {3}:
    out[t] = s[t ^ 32];
  }}
}}
"""


@pytest.mark.parametrize(
    ("head", "first", "end", "label", "why"),
    [
        ("t / 32", "", "", "case 1", "goes on into the next one"),
        ("t / 32", "", "return;", "case 1", "jumps out of it"),
        ("t / 32", "", "if (t) break;", "case 1", "goes on into the next one"),
        ("t / 32", "int x; ", "break;", "default", "declares what the next one may use"),
        ("int x = t / 32", "", "break;", "default", "declares a variable"),
        ("t += 0, t / 32", "", "break;", "default", "comma"),
        ("t / 32", "", "break;\n#ifdef MORE\n  case 7: break;\n#endif\n", "default", "preprocessor lines"),
        ("t / 32", "", "break;", "case '\\1'", "labels"),
    ],
)
def test_a_switch_that_cannot_be_split(head: str, first: str, end: str, label: str, why: str) -> None:
    assert why in refusal(SWITCH.format(head, first, end, label))


def test_what_a_switch_selects_by_is_evaluated_once() -> None:
    text = LAUNCH + SWITCH.format("p[t]++ % 2", "", "break;", "default")
    after = edited(text, repaired(text, "k"))
    assert after.count("p[t]++") == 1
    for me in range(THREADS):
        assert alone(text, "k", me) == alone(after, "k", me)
