"""Restructured sources do what the old ones did: every thread by itself makes the same accesses with the same values
(that all together are ordered is for the golden tests)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from edited import applied
from lowering import kernel

from analyzers.engine import Engine
from analyzers.ir.kernel import Kernel
from analyzers.model import CheckOptions, Fix, FixRefusal, Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import answers, fix_all, fix_for

GOLDEN = Path(__file__).parent / "golden"
NAMES = re.compile(r"// cuda-lsp: launch.*\n__global__ void (\w+)")
CASES = [(path.stem, name) for path in sorted(GOLDEN.glob("split_*.cu")) for name in NAMES.findall(path.read_text())]
THREADS = 64
LAUNCH = "// cuda-lsp: launch grid=(1) block=(64)\n"


@cache
def engine() -> Engine:
    return Engine()


def repaired(text: str, name: str) -> Fix | FixRefusal:
    return fix_all(engine(), CheckRequest("/restructured/a.cu", text, options=CheckOptions(kernels=(name,))))


def edited(text: str, fix: Fix | FixRefusal) -> str:
    assert isinstance(fix, Fix), fix
    return applied(text, fix.edits)


@cache
def lonely(text: str, name: str) -> Kernel:
    """The kernel with the number of the thread as a parameter."""
    text = re.sub(r"(__global__ void \w+\()", r"\1int me, ", text.replace("threadIdx.x", "me"))
    return kernel(text, name)


def alone(text: str, name: str, me: int) -> list[tuple[object, ...]]:
    """What one thread does when it is the only one: its accesses by object, offset, kind and value, in order."""
    result = run(lonely(text, name), ConcreteLaunch(values={"me": me, "n": 3}, seed=7))
    assert result.outcome == "finished", result.reason
    return [(a.object.rsplit("$", 1)[0], a.offset, a.width, a.kind, a.value) for a in result.accesses]


@pytest.mark.parametrize(("file", "name"), CASES)
def test_every_thread_does_what_it_did(file: str, name: str) -> None:
    text = (GOLDEN / f"{file}.cu").read_text()
    after = edited(text, repaired(text, name))
    assert after != text
    for me in range(THREADS):
        assert alone(text, name, me) == alone(after, name, me)


def refusal(text: str) -> str:
    answer = repaired(LAUNCH + text, "k")
    assert isinstance(answer, FixRefusal), edited(LAUNCH + text, answer)
    return answer.text


def test_what_cannot_be_declared_in_front_is_not_split() -> None:
    said = refusal("""__global__ void k(int *a) {
  int t = threadIdx.x;
  if (t < 48) {
    int own[2] = {t, t + 1};
    a[t] = own[0];
    a[t + 100] = a[own[1]];
  }
}
""")
    assert "`own`" in said


def test_a_conditional_that_declares_is_not_split() -> None:
    said = refusal("""__global__ void k(int *a) {
  int t = threadIdx.x;
  if (int x = t % 2) {
    a[t] = x;
    a[t + 100] = a[t + 2];
  }
}
""")
    assert "declares a variable" in said


def test_preprocessor_lines_stay_where_they_are() -> None:
    said = refusal("""__global__ void k(int *a) {
  int t = threadIdx.x;
  a[t] = a[t + 1] +
#ifdef MORE
    2 *
#endif
    3;
}
""")
    assert "preprocessor" in said


def test_threads_that_leave_in_the_first_half_leave() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *a) {
  int t = threadIdx.x;
  if (t < 48) {
    a[t] = t;
    if (t == 5) return;
    a[t + 100] = a[47 - t];
  }
}
"""
    )
    answer = repaired(text, "k")
    if isinstance(answer, Fix):
        after = edited(text, answer)
        for me in (4, 5, 6, 50):
            assert alone(text, "k", me) == alone(after, "k", me)


def test_a_variable_is_not_declared_where_it_would_hide_another() -> None:
    said = refusal("""__global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, x = 5;
  for (int k = 0; k < 1; k++) {
    if (t < 48) {
      int x = t * 2;
      s[t] = x;
      out[x] = s[47 - t];
    }
    out[t + 200] = x;
  }
}
""")
    assert "`x` means something else" in said


def test_a_comma_in_a_condition_declares_nothing() -> None:
    said = refusal("""__global__ void k(int *a, int *b) {
  int t = threadIdx.x, x = 9, y = 0;
  if (y++, x = t % 2) {
    a[t] = b[t];
  } else {
    b[t] = a[t - 1];
  }
}
""")
    assert "comma" in said


LIMIT = """  int i = threadIdx.x;
  while (i < limit) {
    s[threadIdx.x] = a[i];
    a[i + 1000] = s[63 - threadIdx.x];
    i += 64;
  }
"""


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void k(int *a, int n) {\n  __shared__ int s[64], limit;\n  limit = n;\n  __syncthreads();\n",
        "__device__ int limit;\n__global__ void k(int *a) {\n  __shared__ int s[64];\n",
        "__global__ void k(int *a, int *n) {\n  __shared__ int s[64];\n  int &limit = *n;\n",
        "#define limit (a[7])\n__global__ void k(int *a) {\n  __shared__ int s[64];\n",
    ],
)
def test_a_limit_that_other_threads_may_change_is_not_asked_again(head: str) -> None:
    text = head.replace("__global__", LAUNCH + "__global__") + LIMIT + "}\n"
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal), edited(text, said)
    assert "read memory" in said.text


def test_a_step_does_not_move_to_where_its_names_are_hidden() -> None:
    said = refusal("""__global__ void k(const int *a, int *out, int n, int d) {
  __shared__ int s[64];
  for (int i = threadIdx.x * 2; i < n; i += d) {
    int d = a[i];
    s[threadIdx.x] = d;
    out[threadIdx.x] = s[63 - threadIdx.x];
  }
}
""")
    assert "hides" in said


def test_what_is_volatile_stays_volatile() -> None:
    said = refusal("""__global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 48) {
    volatile int k = t;
    s[k] = t;
    out[k] = s[47 - t];
  }
}
""")
    assert "`k`" in said


def test_a_number_that_may_wrap_around_is_no_base() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *a, int n) {
  __shared__ int s[64];
  signed char t = threadIdx.x;
  for (int i = t; i < n; i += 64) {
    s[threadIdx.x] = a[i];
    a[i + 1000] = s[63 - threadIdx.x];
  }
}
"""
    )
    answer = repaired(text, "k")
    assert isinstance(answer, FixRefusal) or "base" not in edited(text, answer)


UNEVEN = """__global__ void k(int *out, {0} b, {0} e) {{
  __shared__ int s[64];
  for ({0} i = b + {1}threadIdx.x; {2}) {{
    s[threadIdx.x] = i;
    out[threadIdx.x] = s[63 - threadIdx.x];
  }}
}}
"""


def in_a_block(text: str, begin: int, end: int) -> list[list[tuple[object, ...]]]:
    """The accesses of each thread of a block, in order: object, offset and kind."""
    result = run(kernel(text, "k"), ConcreteLaunch(block=(64, 1, 1), values={"b": begin, "e": end}, seed=3))
    assert result.outcome == "finished", result.reason
    found: list[list[tuple[object, ...]]] = [[] for _ in range(THREADS)]
    for a in result.accesses:
        found[a.thread].append((a.object, a.offset, a.kind))
    return found


@pytest.mark.parametrize(
    ("kind", "head", "begin", "end"),
    [
        ("unsigned", "i < e; i++", 2**32 - 10, 5),
        ("unsigned", "i < e; i++", 2**32 - 70, 2**32 - 1),
        ("unsigned", "i < e; i += 7", 2**32 - 90, 2**32 - 20),
        ("unsigned", "i <= e; i++", 2**32 - 80, 2**32 - 2),
        ("int", "i < e; i++", 2**31 - 90, 2**31 - 1),
        ("int", "i <= e; i++", 2**31 - 70, 2**31 - 2),
        ("int", "e > i; i += 2", 2**31 - 90, 2**31 - 4),
    ],
)
def test_a_loop_made_by_all_threads_does_the_same_near_the_end_of_the_range(
    kind: str, head: str, begin: int, end: int
) -> None:
    text = UNEVEN.format(kind, "(int)" if kind == "int" else "", head)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert in_a_block(after, begin, end) == in_a_block(text, begin, end)


def test_a_base_is_for_strides_of_whole_rows_only() -> None:
    """With `i += 32` the number of a thread may wrap around above a base that has not come to its end."""
    heads = {"blockDim.x": True, "64": True, "128": True, "32": False, "n": False}
    for step, based in heads.items():
        text = LAUNCH + UNEVEN.format("unsigned", "", f"i < e; i += {step}").replace("b + ", "").replace(" b,", " n,")
        answer = repaired(text, "k")
        assert not isinstance(answer, Fix) or ("base" in edited(text, answer)) == based, step


INSIDE_OUT = """__global__ void k(int *a, int *out, int n, int m) {{
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 48) {{
    for ({0}) {{
      s[t] = a[i] + t;
      __syncthreads();
      out[t] += s[47 - t];
      __syncthreads();
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("head", "ends"),
    [
        ("int i = 0; i < n; i++", True),
        ("int i = 0; i < 100; i += 3", True),
        ("int i = 32; i > 0; i >>= 1", True),
        ("int i = 0; i <= n; i++", False),
        ("int i = 0; i < n; i += 2", False),
        ("int i = 0; i < n; i += m", False),
        ("int i = 1; i < n; i *= 2", False),
        ("int i = 0; i != n; i++", False),
        ("unsigned char i = 0; i < 300; i++", False),
        ("int i = 0; i < (unsigned)n; i++", False),
    ],
)
def test_a_loop_leaves_its_condition_only_if_it_ends_without_it(head: str, ends: bool) -> None:
    answer = repaired(LAUNCH + INSIDE_OUT.format(head), "k")
    assert isinstance(answer, Fix) == ends, answer


def test_a_return_that_protects_the_head_of_a_loop_stays_in_front_of_it() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (n == 0 || t >= 48) return;
  for (int i = 0; i < 1024; i += n) {
    s[t] = i + t;
    __syncthreads();
    out[t] += s[47 - t];
    __syncthreads();
  }
}
"""
    )
    for answer in answers(engine(), CheckRequest("/restructured/a.cu", text)):
        assert not isinstance(answer, Fix), applied(text, answer.edits)


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
        ({"call": "halve(s, t, 32);", "first": "if (by == 0) return;\n  "}, False),
        ({"call": "halve(s, t, u++);"}, False),
        ({"call": "halve(s, t, by);"}, False),
        ({"call": "halve(s, t, in[t]);"}, False),
        ({"call": "halve(s, t, u);", "before": "__device__ void halve(float *s, int t, int by);\n"}, False),
        ({"call": "halve(s, t, u);", "first": "#ifdef A\n  s[t] = 1;\n#endif\n  "}, True),
        ({"call": "WITH(s, t, u);", "before": "#define WITH(a, b, c) halve(a, b, c)\n"}, False),
        ({"call": "halve(s, t);", "by": "int by = 32"}, False),
        ({"call": "halve(s, t, u);", "before": "__device__ void halve(float *s, int t) {\n  s[t] = 0;\n}\n"}, False),
    ],
    ids=[
        "plain",
        "return",
        "step",
        "shared",
        "memory",
        "declared before",
        "directives",
        "macro",
        "defaults",
        "overload",
    ],
)
def test_a_function_is_called_by_all_threads_only_if_that_shows_nowhere_else(
    parts: dict[str, str], possible: bool
) -> None:
    text = CALLED.format(**{"before": "", "first": "", "by": "int by", **parts})
    answer = repaired(text, "k")
    assert isinstance(answer, Fix) == possible, answer
    if isinstance(answer, Fix):
        assert "halve(s, t, u, taken);" in edited(text, answer)


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


STRIDED = """{before}
// cuda-lsp: launch grid=(1) block=(128)
__global__ void k(float *out, const float *in, int n, int m) {{
  __shared__ float s[128];
  int tid = threadIdx.x;
  float sum = 0;
  for (int i = tid; i < n; i += blockDim.x) {{
    s[threadIdx.x] = in[i];
    sum += s[(threadIdx.x + 64) % 128];
    {last};
  }}
  out[threadIdx.x] = sum;
}}
"""


@pytest.mark.parametrize(
    ("before", "last", "based"),
    [
        ("", "sum += 1", True),
        ("__device__ void advance(int &x) { x++; }", "advance(tid)", False),
        ("", "int &r = tid; r += 1", False),
        ("#define BUMP tid += 1", "BUMP", False),
    ],
)
def test_a_number_of_a_thread_that_others_may_change_is_no_start(before: str, last: str, based: bool) -> None:
    text = STRIDED.format(before=before, last=last)
    answer = repaired(text, "k")
    assert ("base + tid" in edited(text, answer) if isinstance(answer, Fix) else False) == based


def test_a_macro_that_goes_on_with_the_next_iteration_is_seen() -> None:
    text = STRIDED.format(before="#define SKIP_IF(c) if (c) continue", last="SKIP_IF(m == 5); sum += 1")
    assert not isinstance(repaired(text, "k"), Fix)


ANYWAY = """// cuda-lsp: launch grid=(2) block=(256)
__global__ void k(float *out, const float *in, int count, int each) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x, sub = i % each;
  if (i / each >= count) return;
  part[threadIdx.x] = in[i];
  __syncthreads();
  int left = each;
  while (left > 1) {
    int half = (1 + left) >> 1;
    if (sub < half) {
      float more = 0;
      if (sub + half < left) more = part[threadIdx.x + half];
      part[threadIdx.x] += more;
    }
    __syncthreads();
    left = half;
  }
  if (sub == 0) out[i / each] = part[threadIdx.x];
}
"""


def test_a_barrier_between_accesses_that_race_anyway_is_not_taken_away() -> None:
    request = CheckRequest("/restructured/a.cu", ANYWAY)
    (unit,) = [e.result for e in engine().check(request) if isinstance(e, UnitFinished)]
    found = [f for k in unit.kernels for c in k.contexts for f in c.findings]
    assert any(f.code is Verdict.POSSIBLE_DATA_RACE for f in found)
    for group in {f.group for f in found if f.code is Verdict.BARRIER_AFTER_EXIT}:
        answer = fix_for(engine(), request, group)
        text = edited(ANYWAY, answer) if isinstance(answer, Fix) else ANYWAY
        assert "__syncthreads" in text.partition("while")[2]


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


NEAREST = """__global__ void nearest(unsigned *out, const unsigned *train, unsigned features, unsigned queries) {
  unsigned f = blockDim.x * blockIdx.x + threadIdx.x;
  unsigned tid = threadIdx.x;
  __shared__ unsigned s_dist[256], s_idx[256];
  s_dist[tid] = 1024;
  s_idx[tid] = 0;
  if (f < features) {
    for (unsigned j = 0; j < queries; j++) {
      s_dist[tid] = train[f] ^ j;
      s_idx[tid] = f;
      __syncthreads();
      if (tid < 128) {
        if (s_dist[tid + 128] < s_dist[tid]) {
          s_dist[tid] = s_dist[tid + 128];
          s_idx[tid] = s_idx[tid + 128];
        }
      }
      __syncthreads();
      if (tid < 64) {
        if (s_dist[tid + 64] < s_dist[tid]) {
          s_dist[tid] = s_dist[tid + 64];
          s_idx[tid] = s_idx[tid + 64];
        }
      }
      __syncthreads();
      if (tid < 32) {
        if (s_dist[tid + 32] < s_dist[tid]) {
          s_dist[tid] = s_dist[tid + 32];
          s_idx[tid] = s_idx[tid + 32];
        }
      }
      __syncthreads();
      if (tid == 0)
        out[j * gridDim.x + blockIdx.x] = s_idx[0];
      __syncthreads();
    }
  }
}
void run(unsigned *out, const unsigned *train, unsigned features, unsigned queries) {
  nearest<<<2, 256>>>(out, train, features, queries);
}
"""


def test_races_that_nobody_asked_about_while_there_were_others_are_repaired_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Without its barriers the kernel has more colliding pairs than are asked about; the last ones show when barriers
    # are back for the first ones, and want barriers of their own.
    monkeypatch.setattr("analyzers.races.check.MAX_RACES", 12)
    fix = fix_all(Engine(), CheckRequest("/restructured/a.cu", NEAREST))
    assert edited(NEAREST, fix).count("__syncthreads();") == 4


PROTECTED = """__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = n;
  __syncthreads();
  int own = {own};
  if ({condition}) {{
    for (int i = {start}; {test}; {step}) {{
      s[t] = in[t + i];
      out[t] += s[(t + 1) % 40];
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("own", "condition", "start", "test", "step", "why"),
    [
        ("0", "n > 0 && t < 40", "0", "i < 64", "i += n", "may not end"),
        ("t < 40 ? 4 : 0", "t < 40", "0", "i < 64", "i += own", "may not end"),
        ("0", "n > 0 && t < 40", "n", "i < 64", "i *= 2", "may not end"),
        ("0", "n > 0 && t < 40", "0", "i < 1024 / n", "i++", "divide by zero"),
    ],
)
def test_a_condition_that_protects_the_head_of_a_loop_stays_around_it(
    own: str, condition: str, start: str, test: str, step: str, why: str
) -> None:
    assert why in refusal(PROTECTED.format(own=own, condition=condition, start=start, test=test, step=step))


def test_what_a_pointer_points_to_lives_as_long_as_it_is_used() -> None:
    refusal("""__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = n;
  __syncthreads();
  if (t < n) {
    int own = in[t];
    const int *p = &own;
    s[t] = *p;
    out[t] = s[(t + 1) % 64] + *p;
  }
}
""")
