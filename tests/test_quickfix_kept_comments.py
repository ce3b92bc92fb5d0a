"""Comments at barriers that a repair puts elsewhere go where these go."""

from __future__ import annotations

import pytest
from restructured import alone, edited, engine, repaired

from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix.hoisting import hoisted

HEAD = """\
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
"""


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            """\
  if (t < n) {
    s[t] = in[t];
    // all are there,
    /* or will be */
    __syncthreads();  // wait for them
  }
  out[t] = s[63 - t];
""",
            """\
  if (t < n) {
    s[t] = in[t];
  }
  // all are there,
  /* or will be */
  __syncthreads();  // wait for them
  out[t] = s[63 - t];
""",
        ),
        # one that stands there twice
        (
            """\
  if (t < n) {
    // a step
    s[t] = in[t];
    // a step
    __syncthreads();
  }
  out[t] = s[63 - t];
""",
            """\
  if (t < n) {
    // a step
    s[t] = in[t];
  }
  // a step
  __syncthreads();
  out[t] = s[63 - t];
""",
        ),
        (
            """\
  if (t < n) {
    s[t] = in[t];  // the value
                   // of this thread
    __syncthreads();
  }
  out[t] = s[63 - t];
""",
            """\
  if (t < n) {
    s[t] = in[t];  // the value
                   // of this thread
  }
  __syncthreads();
  out[t] = s[63 - t];
""",
        ),
        (
            """\
  if (t < n) {
    s[t] = in[t];
    // all are there

    __syncthreads();
  }
  out[t] = s[63 - t];
""",
            """\
  if (t < n) {
    s[t] = in[t];
    // all are there

  }
  __syncthreads();
  out[t] = s[63 - t];
""",
        ),
        (
            """\
  if (t < n) {
    s[t] = in[t];
    // all are there
    __syncthreads();  // so
    // now the others
    float own = s[t];
    out[t] = own + s[63 - t];
  }
""",
            """\
  const bool taken = t < n;
  if (taken) {
    s[t] = in[t];
  }
  // all are there
  __syncthreads();  // so
  if (taken) {
    // now the others
    float own = s[t];
    out[t] = own + s[63 - t];
  }
""",
        ),
        (
            """\
  if (t < n) {
    s[t] = in[t];
    __syncthreads();
    out[t] = s[63 - t];
    /* over two
     * lines */
    // and one
    __syncthreads();
    s[t] = 1;
  }
""",
            """\
  const bool taken = t < n;
  if (taken) {
    s[t] = in[t];
  }
  __syncthreads();
  if (taken) {
    out[t] = s[63 - t];
  }
  /* over two
   * lines */
  // and one
  __syncthreads();
  if (taken) {
    s[t] = 1;
  }
""",
        ),
        (
            """\
  if (t < n) {
    s[t] = in[t];
    // wait
    __syncthreads();
    out[t] = s[63 - t];
    // wait
    __syncthreads();
    s[t] = 1;
    // More is said of the last one than there is code between it and the one before.
    __syncthreads();
    out[t] += s[63 - t];
  }
""",
            """\
  const bool taken = t < n;
  if (taken) {
    s[t] = in[t];
  }
  // wait
  __syncthreads();
  if (taken) {
    out[t] = s[63 - t];
  }
  // wait
  __syncthreads();
  if (taken) {
    s[t] = 1;
  }
  // More is said of the last one than there is code between it and the one before.
  __syncthreads();
  if (taken) {
    out[t] += s[63 - t];
  }
""",
        ),
    ],
    ids=["moved", "twice", "goes on", "apart", "kept", "block", "in order"],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_comments_go_with_their_barrier(body: str, after: str, ends: str) -> None:
    text = (HEAD + body + "}\n").replace("\n", ends)
    new = edited(text, repaired(text, "k"))
    assert new == (HEAD + after + "}\n").replace("\n", ends)
    for me in range(0, 64, 7):
        assert alone(text, "k", me) == alone(new, "k", me)


def test_comments_with_the_same_words_elsewhere_stay_there() -> None:
    body = "  if (t < n) {\n    s[t] = in[t];\n    // wait\n    __syncthreads();\n  }\n  out[t] = s[63 - t];\n}\n"
    other = (
        HEAD.replace(" k(", " other(") + "  s[t] = in[t];\n  // wait\n  __syncthreads();\n  out[t] = s[63 - t];\n}\n"
    )
    after = edited(HEAD + body + other, repaired(HEAD + body + other, "k"))
    assert after.endswith("  }\n  // wait\n  __syncthreads();\n  out[t] = s[63 - t];\n}\n" + other)


def test_blocks_of_comments_of_both_branches_stay_whole() -> None:
    text = (
        HEAD
        + """\
  if (t < 32) {
    s[t] = in[t];
    /*
     * the upper half
     */
    __syncthreads();
    out[t] = s[t + 32];
  } else {
    s[t] = 1;
    /*
     * the lower half
     */
    __syncthreads();
    out[t] = s[t - 32];
  }
}
"""
    )
    after = edited(text, repaired(text, "k"))
    assert "  /*\n   * the upper half\n   */\n  /*\n   * the lower half\n   */\n  __syncthreads();\n" in after


def test_a_comment_in_front_of_a_branch_without_braces_stays() -> None:
    branch = "  if (t < 32)\n    // the lower half\n    __syncthreads();  // wait\n"
    body = "  s[t] = in[t];\n" + branch + "  out[t] = s[63 - t];\n}\n"
    after = edited(HEAD + body, repaired(HEAD + body, "k"))
    assert after.count("// the lower half") == 1
    assert after.count("// wait") == 1


def test_comments_leave_a_loop_with_their_barrier() -> None:
    text = (
        HEAD
        + """\
  s[t] = in[t];
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    // before any is read
    __syncthreads(); /* once */
    sum += s[(t + i) % 64];
  }
  out[t] = sum;
}
"""
    )
    request = CheckRequest("/restructured/a.cu", text)
    (fix,) = hoisted(engine(), request, engine().result(request), lambda: False)
    assert isinstance(fix, Fix)
    moved = "  // before any is read\n  __syncthreads(); /* once */\n  for ("
    assert moved in edited(text, fix)


def test_what_a_macro_ends_with_is_no_place_for_a_comment() -> None:
    body = """\
  for (int i = 0; i < 4; ++i) {
    out[t] += s[63 - t];
    if (t < 40) {
      SYNC
      s[t] = in[t + i];
      SYNC  // all
    }
  }
"""
    text = "#define SYNC __syncthreads();\n" + HEAD + body + "}\n"
    after = edited(text, repaired(text, "k"))
    assert "    }\n    SYNC  // all\n  }\n" in after


def test_comments_of_both_branches_stand_at_the_one_barrier() -> None:
    text = (
        HEAD
        + """\
  if (t < 32) {
    s[t] = in[t];
    // all of them
    __syncthreads();  // one
    out[t] = s[t + 32];
  } else {
    s[t] = 1;
    // all of them
    __syncthreads();  // two
    out[t] = s[t - 32];
  }
}
"""
    )
    after = edited(text, repaired(text, "k"))
    assert "  }\n  // all of them\n  __syncthreads();  // one  // two\n  if (taken) {" in after


def test_a_comment_between_a_barrier_and_what_follows_it_in_its_line_is_said_once() -> None:
    body = "  if (t < n) {\n    s[t] = in[t];\n    __syncthreads(); /* then */ out[t] = s[63 - t];\n  }\n"
    after = edited(HEAD + body + "}\n", repaired(HEAD + body + "}\n", "k"))
    assert after.count("/* then */") == 1
