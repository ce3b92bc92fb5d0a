"""Barriers that some threads miss: no repair turns round what they order, and atomic operations are ordered, too."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, alone, edited, engine, repaired

from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """__global__ void k(int *a, const int *d, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
{body}
}}
"""
CONSUMER_FIRST = """  if (t >= 32) {
    __syncthreads();
    a[t] = s[t - 32];
  } else {
    s[t] = d[t];
    __syncthreads();
  }"""


def verdicts(text: str) -> list[Verdict]:
    return [k.verdict for k in engine().analyse(CheckRequest("/matched/a.cu", text)).result.kernels]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            CONSUMER_FIRST,
            """  const bool taken = t >= 32;
  if (!taken) {
    s[t] = d[t];
  }
  __syncthreads();
  if (taken) {
    a[t] = s[t - 32];
  }""",
        ),
        (
            """  if (d[t] > 3) {
    s[t] = 1;  // first
    __syncthreads();
    a[t] = s[63 - t];
    __syncthreads();
    // then
    s[t] = a[t];
  } else {
    s[t] = 2;
    __syncthreads();
    __syncthreads();
    s[t] = 9;
  }
  a[t] += s[t];""",
            """  const bool taken = d[t] > 3;
  if (taken) {
    s[t] = 1;  // first
  } else {
    s[t] = 2;
  }
  __syncthreads();
  if (taken) {
    a[t] = s[63 - t];
  }
  __syncthreads();
  if (taken) {
    // then
    s[t] = a[t];
  } else {
    s[t] = 9;
  }
  a[t] += s[t];""",
        ),
        (
            """  const bool odd = t % 2;
  if (!odd) {
    __syncthreads();
    int v = s[t + 1];
    a[t] = v;
  } else {
    int v = d[t];
    s[t] = v;
    __syncthreads();
  }""",
            """  const bool odd = t % 2;
  if (odd) {
    int v = d[t];
    s[t] = v;
  }
  __syncthreads();
  if (!odd) {
    int v = s[t + 1];
    a[t] = v;
  }""",
        ),
        (
            """  if (t < 32) {
    const int v = d[t], w = 1 + d[t + 1];
    s[t] = v;
    __syncthreads();
    a[t] = s[t + 32] + w;
    int u = s[t + 33];
    __syncthreads();
    s[t] = u + v;
  } else {
    const int v = d[t];
    s[t] = v;
    __syncthreads();
    int u = s[t - 32];
    a[t] = u;
    __syncthreads();
    s[t] = v - u;
  }""",
            """  const bool taken = t < 32;
  int v;
  int w;
  int u;
  if (taken) {
    v = d[t], w = 1 + d[t + 1];
    s[t] = v;
  } else {
    v = d[t];
    s[t] = v;
  }
  __syncthreads();
  if (taken) {
    a[t] = s[t + 32] + w;
    u = s[t + 33];
  } else {
    u = s[t - 32];
    a[t] = u;
  }
  __syncthreads();
  if (taken) {
    s[t] = u + v;
  } else {
    s[t] = v - u;
  }""",
        ),
    ],
    ids=["consumer first", "two barriers", "kept condition", "own variables"],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_one_barrier_stands_for_those_of_both_branches(body: str, after: str, ends: str) -> None:
    text = (LAUNCH + KERNEL.format(body=body)).replace("\n", ends)
    answer = repaired(text, "k")
    assert isinstance(answer, Fix), answer
    assert "by one for both branches" in answer.title or "by 2 for both branches" in answer.title
    new = edited(text, answer)
    assert new == (LAUNCH + KERNEL.format(body=after)).replace("\n", ends)
    assert verdicts(new) == [Verdict.RACE_FREE]
    for me in (0, 1, 31, 32, 63):
        assert alone(text, "k", me) == alone(new, "k", me)


@pytest.mark.parametrize(
    "body",
    [
        (
            "  if (t >= 32) {\n    __syncthreads();\n    a[t] = s[t - 32];\n  }\n"
            "  if (t < 32) {\n    s[t] = d[t];\n    __syncthreads();\n  }"
        ),
        (
            "  if (t >= 32) {\n    __syncthreads();\n    a[t] = s[t - 32];\n    return;\n  }\n"
            "  s[t] = d[t];\n  __syncthreads();"
        ),
        (
            "  switch (t / 32) {\n  case 1:\n    __syncthreads();\n    a[t] = s[t - 32];\n    break;\n"
            "  case 0:\n    s[t] = d[t];\n    __syncthreads();\n    break;\n  }"
        ),
        (
            "  int m = t / 16;\n  switch (m) {\n  case 2:\n    __syncthreads();\n    a[t] = s[t - 32];\n    break;\n"
            "  case 0:\n    s[t] = d[t];\n  case 1:\n    __syncthreads();\n  }"
        ),
        (
            "  if (t >= 32) {\n    __syncthreads();\n    a[t] = s[t - 32];\n  }\n"
            "  if (t < 16) s[t] = d[t];\n  if (t < 32) __syncthreads();"
        ),
        (
            "  if (t >= 32) {\n    for (int j = 0; j < n; j++) {\n      __syncthreads();\n      a[t] += s[t - 32];\n"
            "      __syncthreads();\n    }\n  } else {\n    for (int j = 0; j < n; j++) {\n      s[t] = d[j];\n"
            "      __syncthreads();\n      __syncthreads();\n    }\n  }"
        ),
        CONSUMER_FIRST.replace(
            "    __syncthreads();\n    a[t] =", "    typedef int T;\n    __syncthreads();\n    a[t] = (T)"
        ),
        CONSUMER_FIRST.replace("    s[t] = d[t];", "#ifdef OTHER\n    s[t] = 3;\n#endif\n    s[t] = d[t];"),
    ],
    ids=[
        "two conditionals",
        "return",
        "switch",
        "falling through",
        "stronger condition",
        "loops",
        "declared",
        "preprocessor",
    ],
)
def test_nothing_that_a_barrier_orders_is_turned_round(body: str) -> None:
    text = LAUNCH + KERNEL.format(body=body)
    found = list(answers(engine(), CheckRequest("/matched/a.cu", text)))
    assert not [a.title for a in found if isinstance(a, Fix)]
    said = [a.text for a in found if isinstance(a, FixRefusal)]
    assert any("may wait for each other: `s[t]`" in each and "would come after `s[t - 32]`" in each for each in said)


@pytest.mark.parametrize(
    "body",
    [
        (
            "  if (t < 32) {\n    s[t] = d[t];\n    __syncthreads();\n  } else {\n    __syncthreads();\n"
            "    a[t] = s[t - 32];\n  }"
        ),
        CONSUMER_FIRST.replace("s[t - 32]", "s[t]"),
    ],
    ids=["producer first", "other cells"],
)
def test_what_stands_in_the_order_of_the_barriers_is_repaired(body: str) -> None:
    text = LAUNCH + KERNEL.format(body=body)
    answer = repaired(text, "k")
    assert isinstance(answer, Fix), answer
    assert verdicts(edited(text, answer)) == [Verdict.RACE_FREE]


ATOMIC = "    atomicAdd(&s[0], d[t]);\n    __syncthreads();\n    a[t] = atomicAdd(&s[0], 0);\n"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            f"  if (t < n) {{\n{ATOMIC}  }}",
            (
                "  if (t < n) {\n    atomicAdd(&s[0], d[t]);\n  }\n  __syncthreads();\n"
                "  if (t < n) {\n    a[t] = atomicAdd(&s[0], 0);\n  }"
            ),
        ),
        (
            '  if (t < n) {\n    if (t == 0) printf("a");\n    __syncthreads();\n    printf("b");\n  }',
            '  if (t < n && t == 0) printf("a");\n  __syncthreads();\n  if (t < n) {\n    printf("b");\n  }',
        ),
    ],
    ids=["atomics", "output"],
)
def test_a_barrier_that_orders_what_is_no_race_stays(body: str, after: str) -> None:
    text = LAUNCH + KERNEL.format(body=body)
    assert verdicts(text) == [Verdict.BARRIER_DIVERGENCE]
    new = edited(text, repaired(text, "k"))
    assert new == LAUNCH + KERNEL.format(body=after)
    assert verdicts(new) == [Verdict.RACE_FREE]


@pytest.mark.parametrize(
    "body",
    [
        f"  if (t % 2) {{\n{ATOMIC}  }} else {{\n    __syncthreads();\n    atomicMax(&s[0], 7);\n  }}",
        f"  for (int j = 0; j < d[t]; j++) {{\n{ATOMIC}  }}",
        (
            "  volatile int *v = s;\n  if (t % 2) {\n    v[t] = d[t];\n    __syncthreads();\n    a[t] = v[64 - t];\n"
            "  } else __syncthreads();"
        ),
    ],
    ids=["branches", "loop", "volatile"],
)
def test_no_barrier_that_orders_what_is_no_race_is_just_removed(body: str) -> None:
    text = LAUNCH + KERNEL.format(body=body)
    for answer in answers(engine(), CheckRequest("/matched/a.cu", text)):
        if isinstance(answer, Fix):
            assert edited(text, answer).count("__syncthreads") >= 1
            assert "Remove" not in answer.title
        else:
            assert "orders more than races" in answer.text or "order more than races" in answer.text


def test_what_meets_in_other_iterations_only_is_not_turned_round() -> None:
    """Threads do the same in equal iterations, and none waits for another one at another barrier."""
    body = (
        "  for (int j = 0; j < d[t]; j++) {\n    if (j % 2 == 0) {\n      __syncthreads();\n      a[t] += s[63 - t];\n"
        "    } else {\n      s[t] = j;\n      __syncthreads();\n    }\n  }"
    )
    found = answers(engine(), CheckRequest("/matched/a.cu", LAUNCH + KERNEL.format(body=body)))
    said = [a.text for a in found if isinstance(a, FixRefusal)]
    assert said
    assert not any("may wait for each other" in each for each in said)
