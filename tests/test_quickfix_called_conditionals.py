"""Functions called by all threads instead of some: only where that shows nowhere else."""

from __future__ import annotations

import pytest
from restructured import edited, repaired

from analyzers.frontend.flags import translate
from analyzers.model import Fix

CALLED = """{before}__device__ void halve(float *s, int t, {by}) {{
  {first}if (t < 32) s[t] += s[t + by];
  __syncthreads();
  if (t < 16) s[t] += s[t + 16];
}}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in, int n) {{
  __shared__ float s[64];
  __shared__ int by;
  int t = threadIdx.x, u = 32;
  if (t < n) {{
    s[t] = in[t];
    __syncthreads();
    {call}
    __syncthreads();
    out[t] = s[t % 16];
  }}
}}
"""


@pytest.mark.parametrize(
    ("parts", "possible"),
    [
        ({"call": "halve(s, t, u);"}, True),
        ({"call": "halve(s, t, u);", "first": "if (by == 0) return;\n  "}, True),
        ({"call": "halve(s, t, 32);", "first": "if (by == 0) {\n    s[t] = 1;\n    return;\n  }\n  "}, False),
        ({"call": "halve(s, t, u++);"}, False),
        ({"call": "halve(s, t, by);"}, True),
        ({"call": "halve(s, t, in[t]);"}, True),
        ({"call": "halve(s, t, u);", "before": "__device__ void halve(float *s, int t, int by);\n"}, False),
        ({"call": "halve(s, t, u);", "first": "by += 2;\n#ifdef A\n  by += 1;\n#endif\n  "}, True),
        ({"call": "halve(s, t, u);", "first": "#ifdef A\n  s[t] = 1;\n#endif\n  "}, False),
        ({"call": "WITH(s, t, u);", "before": "#define WITH(a, b, c) halve(a, b, c)\n"}, False),
        ({"call": "halve(s, t);", "by": "int by = 32"}, False),
        ({"call": "halve(s, t, u);", "before": "__device__ void halve(float *s, int t) {\n  s[t] = 0;\n}\n"}, False),
        ({"call": "halve(s, t, u);", "before": '#include "halve.cuh"\n'}, False),
        (
            {
                "call": "halve(s, t, u);",
                "before": "struct S {\n  __device__ friend void halve(float *, int, S);\n};\n",
            },
            False,
        ),
    ],
    ids=[
        "plain",
        "return",
        "return among others",
        "step",
        "shared",
        "memory",
        "declared before",
        "directives",
        "another beginning",
        "macro",
        "defaults",
        "overload",
        "header",
        "friend",
    ],
)
def test_a_function_is_called_by_all_threads_only_if_that_shows_nowhere_else(
    parts: dict[str, str], possible: bool
) -> None:
    text = CALLED.format(**{"before": "", "first": "", "by": "int by", **parts})
    unsaved = {"/restructured/halve.cuh": "__device__ void halve(float *s, int t, int by);\n"}
    answer = repaired(text, "k", unsaved=unsaved)
    assert isinstance(answer, Fix) == possible, answer
    if isinstance(answer, Fix):
        after = edited(text, answer)
        passed = "u" if "u)" in text else "value"
        assert f"halve(s, t, {passed}, taken);" in after or f"halve(s, t, {passed}, t < n);" in after


@pytest.mark.parametrize(
    ("head", "flags", "possible"),
    [
        ("__device__", "", True),
        ("__device__", "-rdc=true", False),
        ("static __device__", "-rdc=true", True),
        ("__device__ __forceinline__", "-dc", True),
        ("template <int N = 1> __device__", "-rdc=true", True),
        ("namespace {\n__device__", "-rdc=true", True),
        ('extern "C" __device__', "-rdc=true", False),
    ],
)
def test_other_units_that_may_call_a_function_keep_its_signature(head: str, flags: str, possible: bool) -> None:
    text = CALLED.format(before="", first="", by="int by", call="halve(s, t, u);").replace("__device__", head, 1)
    text = text.replace("}\n// cuda", "}\n}\n// cuda", 1) if head.startswith("namespace") else text
    answer = repaired(text, "k", flags=translate(["nvcc", *flags.split(), "-c", "a.cu"], "/restructured"))
    assert isinstance(answer, Fix) == possible, answer


RETURNS = """__constant__ float v;
__device__ {result} total(float *s, int t) {{
  s[t] = t;
  {declares} = s[63 - t];
  return {value};
}}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0;
  if (t < n) sum = total(s, t);
  out[t] = sum;
}}
"""


@pytest.mark.parametrize(
    ("result", "declares", "value"),
    [("float", "float v", "v"), ("float", "const auto &v", "2 * v + 1"), ("auto", "float x", "s[t ^ 1]")],
)
def test_what_a_function_returns_keeps_its_meaning(result: str, declares: str, value: str) -> None:
    assert not isinstance(repaired(RETURNS.format(result=result, declares=declares, value=value), "k"), Fix)
