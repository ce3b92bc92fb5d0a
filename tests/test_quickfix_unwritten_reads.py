"""Reads of shared memory that a repair puts in front of everything that is written to what they read."""

from __future__ import annotations

import pytest
from restructured import THREADS, alone, edited, engine

from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix import answers
from quickfix.verify import RACES, findings_of

LAUNCH = "// cuda-lsp: launch grid=(1) block=(64)\n"
HEAD = """__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
"""


def repairs(body: str) -> tuple[str, list[Fix]]:
    text = LAUNCH + HEAD + body + "}\n"
    return text, [a for a in answers(engine(), CheckRequest("/restructured/unwritten.cu", text)) if isinstance(a, Fix)]


FIRST = [
    """\
  out[t] = s[t + 1];
  s[t] = in[t];
""",
    """\
  if (t < 32) out[t] = s[t + 32];
  if (t >= 32) s[t] = in[t];
""",
    # what is written before, or in other rounds, is written to other cells
    """\
  s[t] = in[t];
  out[t] = s[t + 65];
  s[t + 64] = 0;
""",
    """\
  for (int i = 0; i < n; ++i) s[t] += in[i];
  out[t] = s[t + 65];
  s[t + 64] = 0;
""",
    """\
  for (int i = 0; i < 2; ++i) out[t + i] = s[t + 65];
  s[t + 64] = 0;
""",
    # branches that declare another thing each by one name
    """\
  if (t < 32) {
    float v = in[t];
    s[t] = v;
    out[t] = s[t + 32] + v;
  } else {
    int v = n;
    s[t] = v;
    out[t] = s[t - 32] + v;
  }
""",
    """\
  float v = n;
  if (t < 32) {
    float v = in[t];
    s[t] = v;
    out[t] = s[t + 32] + v;
  } else {
    s[t] = v;
    out[t] = s[t - 32] + v;
  }
""",
    """\
  if (t < 32) {
    __shared__ float q[64];
    q[t] = in[t];
    s[t] = 1;
    out[t] = s[t + 32] + q[t];
  } else {
    __shared__ float q[64];
    q[t] = in[t];
    s[t] = 2;
    out[t] = s[t - 32] + q[t];
  }
""",
    """\
  switch (t & 1) {
    case 0:
      s[t] = in[t];
      out[t] = s[t + 1];
      break;
    default:
      s[t] = -in[t];
      out[t] = s[t - 1];
  }
""",
    # statements that are written anew, or stand elsewhere then
    """\
  s[t] = s[t + 1] + in[t];
""",
    """\
  s[t] = t < 63 ? s[t + 1] : 0;
""",
    """\
  if (t < 32) {
    s[t] = n;
    out[t] = s[t + 32];
  } else if (t < 50) {
    if (n > 3) {
      s[t + 64] = n;
    }
    s[t] = t;
  }
""",
    # one read of nothing among others
    """\
  __shared__ float w[64];
  w[t] = in[t + 64];
  __syncthreads();
  if (t < 32) {
    out[t] = s[t + 32];
    out[t + 64] = w[t + 32];
  } else {
    s[t] = in[t];
    w[t] = 0;
  }
""",
    # atomics read, too
    """\
  if (t >= 8) {
    atomicAdd(&s[t % 8], 1);
  } else {
    s[t] = 0;
  }
""",
]


@pytest.mark.parametrize("body", FIRST)
def test_what_puts_a_read_before_all_writes_is_a_choice(body: str) -> None:
    _, found = repairs(body)
    assert found
    assert not any(fix.applies_unasked for fix in found)
    assert any("may come first: nothing is written before to what" in a for fix in found for a in fix.assumes)
    assert all(fix.title.endswith("may come first") for fix in found)


WRITTEN = [
    """\
  s[t] = in[t];
  out[t] = s[t + 1];
""",
    """\
  s[t] = in[t];
  __syncthreads();
  out[t] = s[t ^ 1];
  s[t] = 0;
""",
    """\
  for (int i = 0; i < n; ++i) {
    out[t] += s[t ^ 1];
    __syncthreads();
    s[t] = i;
  }
""",
    """\
  for (int i = t; i < n; i += 64) s[i] = in[i];
  __syncthreads();
  out[t] = s[t ^ 1];
  s[t] = 0;
""",
    """\
  if (t < n) s[n - t] = 1;
  __syncthreads();
  out[t] = s[t ^ 1];
  s[t] = 0;
""",
    """\
  atomicAdd(&s[t / 2], 1.0f);
  __syncthreads();
  out[t] = s[t ^ 1];
  s[t] = 0;
""",
]


@pytest.mark.parametrize("body", WRITTEN)
def test_what_may_have_been_written_is_nothing_to_assume(body: str) -> None:
    _, found = repairs(body)
    assert any(fix.applies_unasked for fix in found)
    assert not any("come first" in a for fix in found for a in fix.assumes)


def test_global_memory_may_be_filled_by_the_host() -> None:
    text = (
        LAUNCH
        + "__global__ void k(float *a, float *out) {\n  int t = threadIdx.x;\n  out[t] = a[t + 1];\n  a[t] = 0;\n}\n"
    )
    found = [a for a in answers(engine(), CheckRequest("/restructured/filled.cu", text)) if isinstance(a, Fix)]
    assert found[0].applies_unasked


BOTH = [
    """\
  if (t < 32) {
    s[t] = in[t];
    out[t] = s[t + 32];
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    # a branch that only writes, and more statements than those that collide
    """\
  if (t % 2 == 0) {
    int i = t;
    s[i] = in[t];
    out[t] = s[t + 1];
    out[t + 64] = 1;
  } else {
    s[t] = 7;
  }
""",
    # a condition that is kept already, and one with an effect
    """\
  const bool low = t < 32;
  if (low) {
    s[t] = in[t];
    out[t] = s[t + 32];
  } else {
    s[t] = 3;
    out[t] = s[t - 32];
  }
""",
    """\
  int m = t;
  if (m++ < 32) {
    s[t] = in[m];
    out[t] = s[t + 32];
  } else {
    s[t] = m;
    out[m - 1] = s[t - 32];
  }
""",
    # a section of a `switch`, braces in lines of their own, comments at the braces, what one branch itself reads
    """\
  switch (n) {
    case 0:
      if (t < 32) {
        s[t] = in[t];
        out[t] = s[t + 32];
      } else {
        s[t] = 1;
        out[t] = s[t - 32];
      }
      break;
    case 1:
      out[t] = 1;
  }
""",
    """\
  if (t < 32)  // low half
  {
    s[t] = in[t];
    out[t] = s[t + 32];
  }
  else
  {
    s[t] = 1;
    out[t] = s[t - 32];
    // done
  }
""",
    """\
  if (t < 32) {  // low
    s[t] = in[t];
    out[t] = s[t + 32];
  } else {
    s[t] = 1;
    out[t] = s[t - 32];
  }
""",
    """\
  if (in[t] > 0) {
    s[t] = in[t];
    out[t] = s[63 - t];
  } else {
    s[t] = 0;
  }
""",
    # variables that both parts of a branch use, alike in both branches
    """\
  if (t < 32) {
    float v = in[t];
    s[t] = v;
    out[t] = s[t + 32] + v;
  } else {
    float w = in[t];
    s[t] = w;
    out[t] = s[t - 32] + w;
  }
""",
    """\
  if (t < 32) {
    const float v = in[t];  // mine
    s[t] = v;
    out[t] = s[t + 32] + v;
  } else {
    const float v = in[t];
    const int o = 2 * t, q = t + 1;
    s[t] = v;
    out[o] = s[t - 32] + v + q;
  }
""",
    """\
  if (t < 32) {
    float r[2] = {in[t], 0};
    s[t] = r[0];
    out[t] = s[t + 32] + r[1];
  } else {
    float r[2] = {in[t], 1};
    float *p = &s[t];
    *p = r[0];
    out[t] = p[-32] + r[1];
  }
""",
    """\
  if (t < 32) {
    float v = in[t];
    s[t] = v;
    out[t] = s[t + 32] + v;
  } else {
    s[t] = 1;
    float v = s[t - 32];
    out[t] = v;
  }
""",
    # whose name is another's in front, and references
    """\
  double v = 1;
  if (t < 32) {
    float v = 0;
    s[t] = in[t];
    out[t] = s[t + 32] + sizeof(v);
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32] + v;
  }
""",
    """\
  if (t < 32) {
    float &cell = s[t];
    cell = in[t];
    out[t] = s[t + 32] + cell;
  } else {
    float &cell = s[t], &other = s[t - 32];
    cell = 1;
    out[t] = other;
  }
""",
    # and that something points to
    """\
  float z = 1, *p = &z;
  if (t < 32) {
    float v = in[t];
    p = &v;
    s[t] = 3;
    out[t] = s[t + 32] + *p;
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    """\
  float z = 1, *p = &z;
  if (t < 32) {
    float v[2] = {in[t], 2};
    p = v;
    s[t] = 3;
    out[t] = s[t + 32] + *p;
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    """\
  const float *p = in;
  const float *&r = p;
  if (t < 32) {
    float v = in[t];
    r = &v;
    s[t] = in[t];
    out[t] = s[t + 32] + *p;
  } else {
    s[t] = 1;
    out[t] = s[t - 32];
  }
""",
]


@pytest.mark.parametrize("body", BOTH)
def test_both_branches_write_before_any_reads(body: str) -> None:
    text, found = repairs(body)
    best = next(fix for fix in found if fix.applies_unasked)
    assert best.title.startswith("Split both branches of the conditional in line ")
    after = edited(text, best)
    for me in range(0, THREADS, 5):
        assert alone(text, "k", me) == alone(after, "k", me)
    assert after.count("//") == text.count("//")
    (kernel,) = engine().result(CheckRequest("/restructured/unwritten.cu", after)).kernels
    assert not [f for f in findings_of(kernel) if f.code in RACES]


SWAPPED = """\
  if (t < 32) {
    out[t] = s[t + 32];
  } else {
    s[t] = in[t];
  }
"""


def test_the_branch_that_writes_comes_first_where_nothing_is_to_be_read_before() -> None:
    text, found = repairs(SWAPPED)
    assert found[0].applies_unasked
    assert found[0].title.startswith("Swap the branches of the conditional in line ")
    after = edited(text, found[0])
    assert after.index("s[t] = in[t]") < after.index("__syncthreads()") < after.index("out[t] = s[t + 32]")
    _, found = repairs("  s[t] = in[t];\n  __syncthreads();\n" + SWAPPED)
    assert found[0].applies_unasked
    assert found[0].title.startswith("Split the conditional in line ")


AT_ELSE = [
    # another order may be meant: of memory that the host fills, of cells that are read as they were
    """\
  if (t < 32) {
    out[t] = out[t + 32];
  } else {
    out[t] = in[t];
  }
""",
    """\
  __shared__ float a[64];
  s[t] = in[t + 64];
  __syncthreads();
  if (t < 32) {
    a[t] = in[t];
    out[t] = s[t + 32];
  } else {
    s[t] = 0;
    out[t] = a[t - 32];
  }
""",
    # of what an earlier round has written
    """\
  for (int i = 0; i < 4; ++i) {
    if ((t + i) % 2) {
      s[t] = in[i];
      out[t] += s[t ^ 1];
    } else {
      s[t] = i;
      out[t] -= s[t ^ 1];
    }
    __syncthreads();
  }
""",
    # of cells that were filled before, in another row of one array
    """\
  __shared__ float m[2][64];
  m[0][t] = in[t];
  __syncthreads();
  if (t < 32) {
    m[1][t] = in[t];
    out[t] = m[0][t + 32];
  } else {
    m[0][t] = 0;
    out[t] = m[1][t - 32];
  }
""",
    # of what the branch itself has written in an earlier round
    """\
  for (int i = 0; i < 2; ++i) {
    if (t < 32) {
      if (i == 0) {
        s[t + 32] = in[t];
      } else {
        out[t] = s[t + 32];
      }
    } else {
      if (i == 1) s[t] = 0;
    }
    __syncthreads();
  }
""",
]


@pytest.mark.parametrize("body", AT_ELSE)
def test_what_may_be_read_as_it_was_is_read_first(body: str) -> None:
    text, found = repairs(body)
    assert found[0].applies_unasked
    assert found[0].title.startswith("Split the conditional in line ")
    after = edited(text, found[0])
    for me in range(0, THREADS, 5):
        assert alone(text, "k", me) == alone(after, "k", me)


@pytest.mark.parametrize("rounds", ["2", "n"])
def test_what_other_rounds_write_elsewhere_is_nothing_to_read(rounds: str) -> None:
    _, found = repairs(IN_ROUNDS.replace("ROUNDS", rounds))
    assert found[0].title.startswith("Swap the branches of the conditional in line ")
    assert found[0].applies_unasked


IN_ROUNDS = """\
  for (int i = 0; i < ROUNDS; ++i) {
    if (t < 32) {
      out[t] += s[i * 64 + t + 32];
    } else {
      s[i * 64 + t] = in[i];
    }
  }
"""


def test_races_that_need_nothing_assumed_are_repaired_without() -> None:
    text, found = repairs(BESIDE)
    sure = [fix for fix in found if fix.applies_unasked]
    assert [edited(text, fix).count("__sync") for fix in sure] == [1]
    assert any("may come first" in fix.title for fix in found)


BESIDE = """\
  __shared__ float a[64];
  a[t] = in[t];
  out[t] = a[t ^ 1];
  out[t + 64] = s[t + 1];
  s[t] = 1;
"""


def test_blocks_of_a_cluster_write_what_others_read() -> None:
    found = [a for a in answers(engine(), CheckRequest("/restructured/cluster.cu", CLUSTER)) if isinstance(a, Fix)]
    assert found[0].applies_unasked


CLUSTER = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2, 1, 1) k(const float *in, float *out) {
  __shared__ float s[64];
  auto c = cg::this_cluster();
  int t = threadIdx.x;
  float *p = c.map_shared_rank(s, c.block_rank() ^ 1);
  c.sync();
  p[t] = in[t];
  c.sync();
  out[blockIdx.x * 64 + t] = s[t ^ 1];
  s[t] = 0;
  c.sync();
}
"""


@pytest.mark.parametrize("calls", ["TWICE", "step(s, in, out, t, 0);\n  step(s, in, out, t, 1)"])
def test_an_earlier_call_writes_what_a_later_one_reads(calls: str) -> None:
    found = [a for a in answers(engine(), CheckRequest("/restructured/calls.cu", CALLS % calls)) if isinstance(a, Fix)]
    assert found
    assert not any("Swap" in fix.title for fix in found)


CALLS = """
__device__ void step(float *s, const float *in, float *out, int t, int c) {
  if (t < 32) {
    if (c == 0) {
      s[t + 32] = in[t];
    } else {
      out[t] = s[t + 32];
    }
  } else {
    if (c == 1) s[t] = 0;
  }
  __syncthreads();
}
#define TWICE step(s, in, out, t, 0); step(s, in, out, t, 1)
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  %s;
}
"""


def test_of_several_reads_at_one_place_each_is_looked_at() -> None:
    found = [a for a in answers(engine(), CheckRequest("/restructured/places.cu", PLACES)) if isinstance(a, Fix)]
    assert {group for fix in found for group in fix.groups}
    assert all(fix.title.count("may come first") for fix in found)


PLACES = """
#define STEP(t) out[t] = s[t + 1]; s[t] = in[t]; out[t + 64] = s[t]
// cuda-lsp: launch grid=(1) block=(64)
__global__ void statements(const float *in, float *out) {
  __shared__ float s[128];
  STEP(threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void objects(const float *in, float *out, int n) {
  __shared__ float s[128], w[128];
  int t = threadIdx.x;
  w[t] = in[t];
  w[t + 64] = in[t];
  __syncthreads();
  const float *p = n ? w : s;
  out[t] = p[t + 1];
  s[t] = 0;
}
"""


def test_what_a_function_that_is_not_seen_may_write_is_not_proved_to_be_nothing() -> None:
    found = [a for a in answers(engine(), CheckRequest("/restructured/unseen.cu", UNSEEN)) if isinstance(a, Fix)]
    assert found
    assert not any("Swap" in fix.title for fix in found)


UNSEEN = """
__device__ void ex(float *s, float *out, int t) {
  if (t < 32) {
    out[t] = s[t + 32];
  } else {
    s[t] = 1;
  }
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[128];
  ex(s, out, threadIdx.x);
}
__device__ void fill(float *);
// cuda-lsp: launch grid=(1) block=(64)
__global__ void filled(float *out) {
  __shared__ float s[128];
  fill(s);
  __syncthreads();
  ex(s, out, threadIdx.x);
}
"""


NOT_BOTH = [
    # writes behind reads, and branches that collide in what they write
    """\
  if (t < 32) {
    s[t] = in[t];
    out[t] = s[t + 32];
    s[t] = 0;
  } else {
    s[t] = 1;
    out[t] = s[t - 32];
  }
""",
    """\
  if (t < 32) {
    s[t] = in[t];
    out[t] = s[t + 32];
  } else {
    s[t - 32] = 1;
    s[t] = 1;
  }
""",
    # two statements in a line, and a branch without braces
    """\
  if (t < 32) {
    s[t] = in[t]; out[t] = s[t + 32];
  } else {
    s[t] = 1; out[t] = s[t - 32];
  }
""",
    """\
  if (t < 32) {
    s[t] = in[t];
    out[t] = s[t + 32];
  } else
    s[t] = 1;
""",
    # lines of the preprocessor
    """\
  if (t < 32) {
    s[t] = in[t];
#ifndef QUIET
    out[t] = s[t + 32];
#endif
  } else {
    s[t] = 1;
  }
""",
    # comments that go on in the next line, names that mean something else behind
    """\
  if (t < 32) {
    s[t] = in[t]; /* what follows
                     reads */
    out[t] = s[t + 32];
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    """\
  typedef int T;
  if (t < 32) {
    typedef float T;
    s[t] = in[t];
    out[t] = (T)s[t + 32];
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    """\
  enum { N = 3 };
  if (t < 32) {
    enum { N = 2 };
    s[t] = in[t];
    out[t] = s[t + 32] * N;
  } else {
    s[t] = -in[t];
    out[t] = s[t - 32];
  }
""",
    """\
  if (t < 32) {
    struct P { float a; };
    s[t] = in[t];
    P p = {s[t + 32]};
    out[t] = p.a;
  } else {
    s[t] = 1;
    out[t] = s[t - 32];
  }
""",
]


@pytest.mark.parametrize("body", NOT_BOTH)
def test_where_both_branches_cannot_be_parted_nothing_is_applied_unasked(body: str) -> None:
    text, found = repairs(body)
    assert not any(fix.applies_unasked for fix in found)
    for fix in found:
        assert "Split both branches" not in fix.title
        for me in (3, 40):
            assert alone(text, "k", me) == alone(edited(text, fix), "k", me)


@pytest.mark.parametrize("body", [BOTH[0], SWAPPED])
def test_lines_end_and_begin_as_they_did(body: str) -> None:
    text = (LAUNCH + HEAD + body + "}\n").replace("  ", "\t").replace("\n", "\r\n")
    found = [a for a in answers(engine(), CheckRequest("/restructured/crlf.cu", text)) if isinstance(a, Fix)]
    assert found[0].applies_unasked
    after = edited(text, found[0])
    assert after.count("\n") == after.count("\r\n")
    assert not any(line.startswith(" ") for line in after.splitlines())


def test_other_kernels_of_the_file_do_not_matter() -> None:
    """Branches that exchange are split in both as well where another kernel has races of its own."""
    exchange = """\
  if (t < 32) {
    s[t] = in[t];
    out[t] = s[t + 64];
  } else {
    s[t + 32] = in[t];
    out[t] = s[t - 32];
  }
"""
    text = LAUNCH + HEAD + exchange + "}\n" + LAUNCH + HEAD.replace(" k(", " other(")
    text += "  s[t] = in[t];\n  out[t] = s[63 - t];\n}\n"
    found = answers(engine(), CheckRequest("/restructured/two.cu", text))
    titles = [a.title for a in found if isinstance(a, Fix) and a.applies_unasked]
    assert any(title.startswith("Split both branches of the conditional in line 5") for title in titles), titles
