"""Switches split between their sections: what keeps them whole."""

from __future__ import annotations

import pytest
from edited import applied
from restructured import LAUNCH, THREADS, alone, edited, refusal, repaired

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix import answers

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
        ("t % 3", "", "if (t) return;", "case 1", "goes on into the next one"),
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


SECTIONS = {
    "falls": "  case 0:\n    s[t] = t;\n  case 1:\n    out[t] = s[t ^ 32];\n    break;\n  default:\n    out[t] = 9;\n",
    "says so": "  case 0:\n    s[t] = t;\n    [[fallthrough]];\n  case 1:\n    out[t] = s[t ^ 32];\n",
    "three": "  case 2:\n    out[t] = 1;\n  case 0:\n    s[t] = t;\n    break;\n  case 3:\n    s[t] = 5;\n"
    "  case 4:\n  case 1:\n    out[t] = s[t ^ 32];\n  default:\n    out[64] = t;\n",
    "default falls": "  default:\n    s[t] = t;\n  case 1:\n    out[t] = s[t ^ 32];\n    break;\n"
    "  case 2:\n    out[t] = 4;\n",
    "behind default": "  default: s[t] = t; break;\n  case 3: s[t] = 1; // on\n  case 1: out[t] = s[t ^ 32]; break;\n",
    "returns": "  case 0:\n    s[t] = t;\n    return;\n  case 1:\n    out[t] = s[t ^ 32];\n",
    "returns in between": "  case 0:\n    s[t] = t;\n    if (t & 1) return;\n    out[t] = 3;\n    break;\n"
    "  case 1:\n    out[t] = s[t ^ 32];\n    break;\n  }\n  switch (t) {\n  case 5:\n    out[64] = 1;\n",
    "one line": "  case 0: s[t] = t; break;\n  case 1: out[t] = s[t ^ 32]; break;\n  default: out[t] = 2;\n",
}


@pytest.mark.parametrize("which", SECTIONS)
@pytest.mark.parametrize("selector", ["p[t] % 5", "p[t]++ % 4", "t % 3"])
def test_a_thread_does_the_same_in_a_switch_that_is_split(which: str, selector: str) -> None:
    head = "__global__ void k(int *s, int *out, int *p) {\n  int t = threadIdx.x;\n"
    text = LAUNCH + head + f"  switch ({selector}) {{\n{SECTIONS[which]}  }}\n}}\n"
    after = edited(text, repaired(text, "k"))
    assert after.count("switch (selected)") > 1, after
    for me in range(THREADS):
        assert alone(text, "k", me) == alone(after, "k", me), after


WITHIN = {
    "first": "  case 0:\n    s[t] = t;\n    out[t] = s[t ^ 1];\n    break;\n  default:\n    out[t] = 5;\n",
    "default": "  case 1:\n    out[t] = 1;\n    break;\n  default:\n    s[t] = t;\n    out[t] = s[t ^ 1];\n",
    "falls": "  case 2:\n    out[t] = 1;\n  case 0:\n    s[t] = t;\n    out[t] = s[t ^ 1];\n"
    "  case 1:\n    out[t] = 5;\n",
    "returns": "  case 0:\n    s[t] = t;\n    return;\n  case 1:\n    out[t] = s[t ^ 32];\n",
    "returns in between": "  case 0:\n    s[t] = t;\n    if (t & 1) return;\n    out[t] = 3;\n    break;\n"
    "  case 1:\n    out[t] = s[t ^ 32];\n    break;\n  }\n  switch (t) {\n  case 5:\n    out[64] = 1;\n",
    "one line": "  case 0: s[t] = t; out[t] = s[t ^ 1]; break;\n  case 1: out[t] = 3; break;\n  default: out[t] = 5;\n",
}


@pytest.mark.parametrize("which", WITHIN)
@pytest.mark.parametrize("selector", ["p[t] % 5", "p[t]++ % 3"])
def test_a_section_is_split_between_its_statements(which: str, selector: str) -> None:
    head = "__global__ void k(int *s, int *out, int *p) {\n  int t = threadIdx.x;\n"
    text = LAUNCH + head + f"  switch ({selector}) {{\n{WITHIN[which]}  }}\n}}\n"
    after = edited(text, repaired(text, "k"))
    assert after.count("switch (selected)") == 2
    for me in range(THREADS):
        assert alone(text, "k", me) == alone(after, "k", me), after


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("if (t == 3) break;\n    s[t] = t;\n    out[t] = s[t ^ 1];", "bool skipped = false;"),
        (
            "s[t] = t;\n    if (p[t] == 3) {\n      p[t] = 4;\n      break;\n    }\n    out[t] = s[t ^ 1];",
            "",
        ),
        (
            "if (t == 3) break;\n    s[t] = t;\n    out[t] = s[t ^ 1];\n    if (t == 4) break;\n    p[t]++;",
            "taken;",
        ),
    ],
)
def test_a_section_that_some_threads_leave_early_is_split(section: str, expected: str) -> None:
    text = LAUNCH + EARLY.replace("@", section)
    after = edited(text, repaired(text, "k"))
    assert expected in after
    for me in (0, 1, 3, 4):
        assert alone(text, "k", me) == alone(after, "k", me), after


EARLY = """__global__ void k(int *s, int *out, int *p) {
  int t = threadIdx.x;
  switch (p[t] & 1) {
  case 0:
    @
    break;
  default:
    out[t] = 5;
  }
}
"""


def test_a_switch_that_is_a_branch_gets_braces() -> None:
    text = LAUNCH + SWITCH.replace("switch", "if (t < 40) switch").format("t / 32", "", "break;", "default")
    after = edited(text, repaired(text, "k"))
    assert "if (taken) {" in after
    for me in range(THREADS):
        assert alone(text, "k", me) == alone(after, "k", me), after


def test_one_split_where_one_parts_the_accesses_of_all_races() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(128)
__global__ void k(int *o) {
  __shared__ int s[128];
  int t = threadIdx.x;
  switch (t & 3) {
  case 0: s[t] = 1; break;
  case 1: s[t] = 2; break;
  default: o[t] += s[t ^ 2];
  }
}
"""
    fix = next(a for a in answers(Engine(), CheckRequest("/switches/one.cu", text)) if isinstance(a, Fix))
    after = applied(text, fix.edits)
    assert after.count("switch (selected) {") == 2
    assert "  case 1: s[t] = 2; break;\n  }\n  __syncwarp();\n  switch (selected) {\n" in after


FALLING = """__global__ void k(int *s, int *out, int mode) {{
  int t = threadIdx.x;
  {0}switch (mode) {{
  case 1:
    s[t] = t;{1}
  case 2:
    {2}
    break;
  default:
    out[t] = 9;
  }}
}}
"""


@pytest.mark.parametrize(
    ("loop", "goes_on", "next_one", "line"),
    [
        ("", "", "out[t] = s[t ^ 32];", "    s[t] = t;"),
        ("", "\n    [[fallthrough]];", "out[t] = s[t ^ 32];", "    s[t] = t;"),
        ("", " // on", "{ out[t] = s[t ^ 32]; }", "    s[t] = t; // on"),
        ("", "\n    { out[t] = 1;\n    [[fallthrough]]; }", "out[t] = s[t ^ 32];", "    s[t] = t;"),
        ("", "\n    if (mode > 3) break;", "out[t] = s[t ^ 32];", "    if (mode > 3) break;"),
        ("", "\n  case 5:\n    out[t] = 3;", "out[t] = s[t ^ 32];", "    s[t] = t;"),
        ("", "\n    if (t < 9) break;", "s[t ^ 32] = 1;", "    s[t] = t;"),
    ],
)
def test_a_barrier_where_a_section_goes_on_into_the_next(loop: str, goes_on: str, next_one: str, line: str) -> None:
    """All threads select the same section: no split. In front of the label, other values do not wait."""
    text = LAUNCH + FALLING.format(loop, goes_on, next_one)
    after = edited(text, repaired(text, "k"))
    assert after == text.replace(line + "\n", line + "\n    __syncthreads();\n")


def test_between_iterations_no_barrier_parts_fallthrough_and_label() -> None:
    text = LAUNCH + FALLING.format("for (int i = 0; i < 9; ++i) ", "\n    [[fallthrough]];", "out[t] += s[t ^ 32];")
    after = edited(text, repaired(text, "k"))
    assert after.count("__syncthreads();") == 2
    assert "[[fallthrough]];\n  case 2" in after


def test_a_section_that_threads_leave_is_not_gone_on_from() -> None:
    text = LAUNCH + FALLING.format("", "\n    return;", "out[t] = s[t ^ 32];").replace("(mode)", "(1 + t / 32)")
    assert edited(text, repaired(text, "k")).count("switch (selected)") == 2


def test_a_barrier_where_those_that_fall_meet_the_others() -> None:
    text = LAUNCH + FALLING.format("", "", "out[t] = s[t ^ 32];").replace("(mode)", "(1 + t / 32)")
    after = edited(text, repaired(text, "k"))
    assert after == text.replace("  case 2:\n", "  case 2:\n    __syncthreads();\n")


OUTER = """__global__ void k(int *s, int *out, int mode) {{
  int t = threadIdx.x;
  switch (mode) {{
  case 3:{0}
    if (t % 3 == 0) {{
      s[t] = t;
    }} else {{
      out[t] = s[t ^ 32];
    }}
    {1}
  default:
    out[t] = 9;
  }}
}}
"""


@pytest.mark.parametrize(("label", "end"), [("", "break;"), ("  // three", "[[fallthrough]];"), ("\n  case 4:", "")])
def test_a_section_in_which_something_is_declared_gets_braces(label: str, end: str) -> None:
    text = LAUNCH + OUTER.format(label, end)
    after = edited(text, repaired(text, "k"))
    assert "case 3: {" in after or "case 4: {" in after
    for me in (0, 1, 2, 35):
        assert alone(text.replace("mode)", "n)"), "k", me) == alone(after.replace("mode)", "n)"), "k", me)


def test_a_section_that_declares_what_the_next_one_may_use_gets_none() -> None:
    assert "section of a `switch`" in refusal(OUTER.format("\n    int kept;", "kept = t;"))


def test_what_a_last_section_declares_no_new_label_passes() -> None:
    """The split puts labels behind the last section, past whose declarations threads would jump."""
    last = "    int more = t + 1;\n    out[t] = s[t ^ 32] + more;\n"
    text = LAUNCH + SWITCH.format("t / 24", "", "break;", "default").replace("    out[t] = s[t ^ 32];\n", last)
    after = edited(text, repaired(text, "k"))
    assert "  default: {\n    int more = t + 1;" in after
    for me in (0, 1, 24, 33, 63):
        assert alone(text, "k", me) == alone(after, "k", me)


TWO_SPLITS = """__global__ void k(int *out, int n) {
  __shared__ int s[64], q[64];
  int t = threadIdx.x;
  switch (t / 32) {
  case 0:
    q[t] = t + 9;
    for (int i = 0; i <= t % 3; i++) {
      out[t] += s[t];
      s[63 - t] = t + 1;
      s[t] += s[(t + 1) % 64];
    }
    break;
  case 2:
    s[63 - t] = t + 8;
  default:
    if (t % 2 == 1) {
      out[t] += s[t];
      out[t] += q[63 - t];
    }
    switch (n % 4) {
    default: {
      out[t] += q[t];
    }
    case 0:
      out[t] += s[63 - t];
    case 3:
      s[t] += s[t];
      out[t] += s[t ^ 16];
    case 1:
      break;
    }
  }
}
"""


def test_steps_that_do_not_go_together_are_made_one_by_one() -> None:
    found = answers(Engine(), CheckRequest("/switches/a.cu", LAUNCH + TWO_SPLITS))
    assert not [a.text for a in found if not isinstance(a, Fix) and "compile" in a.text]
