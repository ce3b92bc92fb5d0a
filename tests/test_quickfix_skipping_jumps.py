"""`continue` in a loop that all threads make: what it skips is guarded, and each thread does what it did."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, in_a_block, refusal, repaired

SIDES = """__global__ void k(int *out, const int *in, int b, int e) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int i = b; i < e; i++) {
    @
    sum += 2 * i;
    out[t] = sum;
  }
}
"""
SIDE = "if (t & 1) {\n      s[t] = i;\n      if (in[i & 3] == t) continue;\n      sum += i;\n    } "
READS = "else {\n      sum += s[t ^ 1];\n    }"
BODIES = {
    "a side": (
        "if (t & 1) {\n      s[t] = i;\n      if (in[i & 3] == t) continue;\n      sum += i;\n    } " + READS,
        1,
    ),
    "both sides": (
        SIDE
        + "else {\n      sum += s[t ^ 1];\n      if (i % 3 == 0) {\n        sum++;\n        continue;\n      }\n    }",
        1,
    ),
    "in front, too": ("if (i % 5 == 4) continue;\n    " + SIDE + READS, 1),
    "deeper": (
        SIDE.replace("if (in[i & 3] == t)", "if (sum > 3) {\n        if (in[i & 3] == t)").replace(
            "sum += i;", "sum += i;\n      }\n      sum ^= i;"
        )
        + READS,
        1,
    ),
    "its own loop": (
        SIDE.replace("if (in[i & 3] == t) ", "for (int j = 0; j < 3; ++j) if (j == 1) ") + READS,
        0,
    ),
}


@pytest.mark.parametrize("which", BODIES)
def test_a_thread_does_the_same_where_a_side_goes_on(which: str) -> None:
    body, flags = BODIES[which]
    text = SIDES.replace("@", body)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert after.count("bool skipped = false;") == flags
    for begin, end in ((0, 0), (0, 7), (3, 12)):
        assert in_a_block(after, begin, end) == in_a_block(text, begin, end), after


def test_nothing_behind_the_sides_needs_no_flag() -> None:
    text = SIDES.replace("@", BODIES["a side"][0]).replace("    sum += 2 * i;\n    out[t] = sum;\n", "")
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert "skipped" not in after
    assert "if (in[i & 3] != t) {\n        sum += i;\n      }\n    }" in after


def test_a_name_that_is_taken() -> None:
    text = SIDES.replace("@", BODIES["a side"][0]).replace("sum = 0", "sum = 0, skipped = 4")
    assert "bool skipped2 = false;" in edited(LAUNCH + text, repaired(LAUNCH + text, "k"))


@pytest.mark.parametrize(
    ("jump", "says"),
    [
        ("NEXT(in[i & 3] == t);", "reach together"),
        ("switch (in[i & 3]) {\n      case 2: sum++; continue;\n      default: sum--;\n      }", "a statement"),
        ("if (in[i & 3] == t) continue;\n#ifdef MORE\n      }\n      {\n#endif", "no other build has other code"),
    ],
)
def test_jumps_that_stay(jump: str, says: str) -> None:
    body = BODIES["a side"][0].replace("if (in[i & 3] == t) continue;", jump)
    assert says in refusal("#define NEXT(c) if (c) continue\n" + SIDES.replace("@", body))


def test_what_is_said_at_a_label_that_goes_is_said_of_what_follows() -> None:
    text = """\
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in) {
  __shared__ float s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t > 50) goto store;
  s[t] += s[t + 1];
store:  // write it out
  out[t] = s[t];
}
"""
    after = edited(text, repaired(text, "k"))
    assert "store" not in after
    assert "\n  // write it out\n  out[t] = s[t];\n" in after
