"""Returns of functions that a kernel calls, in front of a place where a barrier is missing: what is behind them is
guarded. `tests/golden/split_return_in_called.cu` has more."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

PAIR = "struct Pair {\n  int a, b;\n};\n"
CALLED = """{before}__device__ {type} step(int *s, int *out, int t, int n) {{
  {returns}
  s[t] = t;
  {last}
}}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int n) {{
  __shared__ int s[64];
  {calls}
}}
"""


def answered(**parts: str) -> tuple[str, str]:
    """The edited text, which has no race, or nothing; and the reason or the title."""
    filled = {
        "before": "",
        "type": "void",
        "returns": "if (t >= n) return;",
        "last": "out[t] = s[t ^ 32];",
        "calls": CALL,
        **parts,
    }
    text = CALLED.format(**filled)
    (answer,) = answers(Engine(), CheckRequest("/called_returns/a.cu", text))
    if isinstance(answer, FixRefusal):
        return "", answer.text
    after = applied(text, answer.edits)
    (kernel,) = Engine().analyse(CheckRequest("/called_returns/a.cu", after)).result.kernels
    assert kernel.verdict is Verdict.RACE_FREE, after
    assert isinstance(answer, Fix)
    return after, answer.title


CALL = "step(s, out, threadIdx.x, n);"
TWICE = f"{CALL}\n  __syncthreads();\n  {CALL}"
VALUE = "out[threadIdx.x] = step(s, out, threadIdx.x, n);"


def test_what_is_behind_a_return_is_guarded_for_all_calls() -> None:
    after, title = answered(calls=TWICE)
    assert title.startswith("Guard the rest of `step` instead of `return`, split the conditional in line 2 and insert")
    assert "  if (taken) {\n    s[t] = t;\n  }\n  __syncthreads();\n  if (taken) {\n    out[t] = s[t ^ 32];" in after
    assert "return" not in after


def test_what_is_returned_early_is_returned_in_the_end() -> None:
    after, _ = answered(type="int", returns="if (t >= n) return n + 1;", last="return s[t ^ 32];", calls=VALUE)
    assert "  if (taken) {\n    return s[t ^ 32];\n  }\n  return n + 1;\n}" in after


@pytest.mark.parametrize(
    ("kind", "value", "last"),
    [("Pair", "{t, 2}", "Pair{s[t ^ 32], t}"), ("const char *", '"a//b"', 's[t ^ 32] > n ? "c" : "d"')],
)
def test_values_in_braces_and_literals_are_returned(kind: str, value: str, last: str) -> None:
    returns = f"if (t >= n) return {value};"
    calls = "auto found = step(s, out, threadIdx.x, n);\n  out[threadIdx.x] = sizeof(found);"
    after, _ = answered(type=kind, returns=returns, last=f"return {last};", calls=calls, before=PAIR)
    assert f"    return {last};\n  }}\n  return {value};\n}}" in after


def test_what_acts_before_it_returns_does_so_first() -> None:
    returns = "if (t >= n) {\n    atomicAdd(out + 64, 1);\n    return 7;\n  }"
    after, _ = answered(type="int", returns=returns, last="return s[t ^ 32];", calls=VALUE)
    assert "    atomicAdd(out + 64, 1);\n  } else {\n    s[t] = t;\n  }\n  __syncthreads();\n  if (!taken) {" in after


def test_what_the_conditional_has_by_itself_is_kept_in_a_variable() -> None:
    returns = "if (t >= n) {\n    int old = atomicAdd(out + 64, 1);\n    return old;\n  }"
    after, _ = answered(type="int", returns=returns, last="return s[t ^ 32];", calls=VALUE)
    assert "  int result;\n  const bool taken = t >= n;\n  if (taken) {\n    int old = " in after
    assert "    result = old;\n  } else {\n    s[t] = t;\n  }\n  __syncthreads();\n  if (!taken) {" in after
    assert "    return s[t ^ 32];\n  }\n  return result;\n}" in after


def test_what_a_loop_has_by_itself_is_kept_in_a_variable() -> None:
    returns = "for (int i = 0; i < 4; i++)\n    if ((t >> i) == n) return i;"
    after, _ = answered(type="int", returns=returns, last="return s[t ^ 32];", calls=VALUE)
    assert "  bool left = false;\n  int result;\n  for (int i" in after
    assert "    if ((t >> i) == n) { left = true; result = i; break; }\n" in after
    assert "    return s[t ^ 32];\n  }\n  return result;\n}" in after


def test_a_switch_is_left_by_break_first() -> None:
    after, _ = answered(returns="switch (t % 4) {\n  case 0: return;\n  default: out[t] = 1;\n  }")
    assert "case 0: left = true; break;" in after
    assert after.count("if (!left) {") == 2


EARLY = {"type": "int", "last": "return s[t ^ 32] + EARLY;", "before": "#define EARLY 1\n"}


@pytest.mark.parametrize(
    "line",
    [
        '#pragma push_macro("EARLY")\n#pragma pop_macro("EARLY")',
        "/**/ #undef EARLY\n#define EARLY 3",
        "#\\\nundef EARLY\n#define EARLY 3",
        "#define OTHER 2\n#undef ONE\n#define ONE 3",
        "%:undef EARLY\n#define EARLY 3",
    ],
)
def test_a_macro_of_what_is_returned_may_be_defined_anew_in_many_ways(line: str) -> None:
    before = "#define ONE 1\n#define EARLY ONE\n" if "ONE" in line else EARLY["before"]
    _, why = answered(**{**EARLY, "before": before, "returns": f"if (t >= n) return EARLY;\n{line}"})
    assert "Macros are defined anew behind the jump" in why


@pytest.mark.parametrize("line", ["#define OTHER 3", "/*\n#undef EARLY\n*/", "#pragma unroll", "#ifdef OTHER\n#endif"])
def test_other_lines_of_the_preprocessor_are_not_in_the_way(line: str) -> None:
    last = f"{line}\n  for (int i = 0; i < 2; i++) s[t] += i;\n  return s[t ^ 32];"
    after, _ = answered(**{**EARLY, "returns": "if (t >= n) return EARLY;", "last": last})
    assert "return EARLY;" in after


def test_a_character_is_no_preprocessor_line() -> None:
    after, _ = answered(returns="if (t >= n || n == '#') return;")
    assert "taken" in after


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (
            {"returns": "if (n) {\n    if (t >= n)\n      return;\n    out[t] = 1;\n  }", "calls": TWICE},
            "Some threads return from `step` in line 4, not by a statement of its body by itself.",
        ),
        (
            {
                "returns": "if (t >= n) {\n    int old = out[t];\n    return {old, 1};\n  }",
                "type": "Pair",
                "before": PAIR,
            },
            "For what is returned in line 5 no variable can be declared.",
        ),
        (
            {"returns": "if (t >= n) return s[0];", "type": "int"},
            "Other threads access what is returned in line 2, and would be ordered before it.",
        ),
        (
            {
                "returns": "for (int i = 0; i < 4; i++)\n    if ((t >> i) == n) return {i, 1};",
                "type": "Pair",
                "before": PAIR,
            },
            "`return` in line 6 leaves the loop with a value that is not there behind it.",
        ),
        (
            {"returns": "if (t >= n) /* none */ return;"},
            "There is a comment between the condition and the jump in line 2.",
        ),
        (
            {"returns": "if (int m = t - n; m >= 0) return;"},
            "The condition in line 2 declares a variable or is not plain.",
        ),
        (
            {
                "before": "#define EARLY 1\n",
                "returns": "if (t >= n) return EARLY;\n#undef EARLY\n#define EARLY 3",
                "type": "int",
                "last": "return s[t ^ 32] + EARLY;",
            },
            "Macros are defined anew behind the jump in line 3.",
        ),
    ],
    ids=["nested", "own variable", "raced for", "counter", "comment", "declares", "defined anew"],
)
def test_what_is_not_guarded_says_why(parts: dict[str, str], why: str) -> None:
    last = "return s[t ^ 32];" if parts.get("type") == "int" else "out[t + 64] = s[t ^ 32];"
    calls = VALUE.replace("out[threadIdx.x]", "out[threadIdx.x + 64]") if parts.get("type") == "int" else CALL
    assert answered(**{"last": last, "calls": calls, **parts}) == ("", why)
