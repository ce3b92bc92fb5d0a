"""Restructured sources do what the old ones did: every thread by itself makes the same accesses with the same values
(that all together are ordered is for the golden tests)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from restructured import LAUNCH, THREADS, alone, edited, engine, refusal, repaired

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import fix_all, fix_for, offers

GOLDEN = Path(__file__).parent / "golden"
NAMES = re.compile(r"// cuda-lsp: launch.*\n__global__ void (\w+)")
CASES = [(path.stem, name) for path in sorted(GOLDEN.glob("split_*.cu")) for name in NAMES.findall(path.read_text())]


@pytest.mark.parametrize(("file", "name"), CASES)
def test_every_thread_does_what_it_did(file: str, name: str) -> None:
    text = (GOLDEN / f"{file}.cu").read_text()
    after = edited(text, repaired(text, name))
    assert after != text
    for me in range(THREADS):
        assert alone(text, name, me) == alone(after, name, me)


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


@pytest.mark.parametrize(
    "at", ["  }}\n{0}\n  else {{", "  }} else\n{0}\n  {{", "  }} // one\n{0}\n  // other\n  else {{"]
)
def test_a_conditional_with_preprocessor_lines_at_its_else_is_not_split(at: str) -> None:
    said = refusal(f"""__global__ void k(int *a) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (a[t]) {{
    s[t] = 1;
{at.format("#define READ")}
    a[t] = s[63 - t];
  }}
}}
""")
    assert "more than `else` between the branches" in said


@pytest.mark.parametrize(
    "code",
    [
        "u = n > 3 ? (s[t] = s[t + 1]) : 0;",
        "if (n > 3 && (s[t] = s[t + 1]) > 2) u = 1;",
        "if (n > 3 || (s[t] = s[t + 1]) > 2) u = 1;",
        "u = SAME(s[t] = s[t + 1]);",
        "while ((s[t] = s[t + 1]) > 3) u++;",
        "int v = u++, w = s[t + 1], x = (s[t] = v); u = w + x;",
        "int v = u, w = (s[t] = s[t + 1 + u++]); u = v + w;",
        "int v = t + 1, w = (s[t] = s[v]); u = v + w;",
        "int &v = s[t + 1], w = (s[t] = v); u = v + w;",
        "u = ++n + (s[t] = s[t + n]);",
        "u = (n++, 4) + (s[t] = s[t + 1]);",
        "u = n << (s[t] = s[t + n++] & 7);",
        "u = n + (s[t] = bump(n, s[t + 1]));",
        "auto f = [&](int x) { n = 7; return x; }; u = sum(n, s[t] = f(s[t + 1]));",
    ],
)
def test_values_that_are_not_computed_first_or_always_stay(code: str) -> None:
    said = refusal(f"""#define SAME(x) x
__device__ int bump(int &n, int x) {{ n += 10; return x; }}
__device__ int sum(int a, int b) {{ return a + b; }}
__global__ void k(int *a, int n) {{
  __shared__ int s[129];
  int t = threadIdx.x, u = 0;
  {code}
  a[t] = u;
}}
""")
    assert "are in one statement (line 8): there is no place between them." in said


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("u = n + (s[t] = sum(s[t], -s[t + 1]));", "int value = sum(s[t], -s[t + 1]);"),
        ("u = n + (s[t] = sum(s[t + 1]));", "int value = sum(s[t + 1]);"),
        ("u = (s[t] = bump(n, s[t + 1])) + n;", "int value = bump(n, s[t + 1]);"),
        ("u = s[t] /= p[s[t + 1] & 1].few;", "int value = p[s[t + 1] & 1].few;"),
        ("u = s[t] %= (p[s[t + 1] & 1].few);", "int value = (p[s[t + 1] & 1].few);"),
        ("u = s[t] /= p[s[t + 1] & 1].all;", "unsigned int value = p[s[t + 1] & 1].all;"),
    ],
)
def test_a_value_that_comes_first_does_what_it_did(code: str, value: str) -> None:
    text = f"""struct Part {{
  unsigned few : 3;
  unsigned all;
}};
__device__ int bump(int &n, int x) {{
  n += 10;
  return x;
}}
__device__ int sum(int a, int b = 3) {{
  return a + b;
}}
{LAUNCH}__global__ void k(int *a, int n) {{
  __shared__ int s[65];
  Part p[2];
  int t = threadIdx.x, u = 0;
  p[0].few = p[0].all = 2;
  p[1].few = p[1].all = 3;
  s[t] = -7 - t;
  if (t == 0) s[64] = 3;
  __syncthreads();
  {code}
  a[t] = u;
}}
"""
    after = edited(text, repaired(text, "k"))
    assert value in after
    for me in (0, 5, 30):
        assert alone(after, "k", me)[-1] == alone(text, "k", me)[-1]


@pytest.mark.parametrize(
    ("update", "declared"),
    [
        ("s[t] += s[B - 1 - t] * 2", "float value = "),
        ("s[t] -= (s[B - 1 - t] + n) / B", "float value = "),
        ("s[t] += -s[B - 1 - t] * n", "float value = "),
        ("s[t] += s[B - 1 - t] * w[0]", "double value = "),
        ("q[t][1] += q[B - 1 - t][1]", "float value = "),
        ("c[t] |= c[B - 1 - t] & ~c[B - 1 - t]", "int value = "),
        ("c[t] |= c[B - 1 - t] ^ c[(t + 1) % B]", "int value = "),
        ("c[t] += *&c[B - 1 - t]", "auto value = "),
        ("h[t] += h[B - 1 - t] + h[(t + 1) % B]", "auto value = "),
        ("m[t] += m[B - 1 - t] * 2", "auto value = "),
        ("s[t] += twice(s[B - 1 - t])", "auto value = "),
    ],
    ids=[
        "product",
        "quotient",
        "opposite",
        "wider",
        "rows",
        "bits",
        "integers",
        "address",
        "promoted",
        "parameter",
        "call",
    ],
)
def test_what_a_template_leaves_open_has_a_type_where_no_parameter_is_in_it(update: str, declared: str) -> None:
    text = f"""template <typename T> __device__ T twice(T x) {{ return x + x; }}
template <int B, typename T> __global__ void k(T *out, const double *w, int n) {{
  __shared__ float s[B], q[B][2];
  __shared__ int c[B];
  __shared__ short h[B];
  __shared__ T m[B];
  int t = threadIdx.x;
  s[t] = q[t][1] = c[t] = h[t] = m[t] = out[t];
  __syncthreads();
  {update};
  __syncthreads();
  out[t] = s[t] + q[t][1] + c[t] + h[t] + m[t];
}}
void run(float *out, const double *w, int n) {{ k<64><<<1, 64>>>(out, w, n); }}
"""
    after = edited(text, repaired(text, "k"))
    assert f"  {declared}" in after


def test_a_divisor_of_a_template_that_may_be_a_bit_field_stays() -> None:
    answer = repaired(
        """template <typename T>
__global__ void k(T *a) {
  __shared__ T s[65];
  struct { unsigned few : 3; } p[2] = {2, 3};
  int t = threadIdx.x;
  s[t] = -t;
  __syncthreads();
  s[t] /= p[s[t + 1] & 1].few;
  a[t] = s[t];
}
void host(int *a) { k<<<1, 64>>>(a); }
""",
        "k",
    )
    assert isinstance(answer, FixRefusal)
    assert "are in one statement (line 8): there is no place between them." in answer.text


CELL = """struct Cell {{
  int value;
  {0}
}};
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(Cell *a) {{
  int t = threadIdx.x;
  a[t] = a[t + 1];
}}
"""


@pytest.mark.parametrize(
    "member",
    ["__device__ Cell(const Cell &other) : value(other.value + 1) {}", "~Cell();", "volatile int seen;"],
)
def test_what_code_copies_does_not_go_through_a_variable(member: str) -> None:
    free = CELL.format("__device__ Cell() {}")
    assert "Cell value = a[t + 1];" in edited(free, repaired(free, "k"))
    assert isinstance(repaired(CELL.format(member), "k"), FixRefusal)


LOOPS = """__global__ void k(int *out, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x, i = 0;
  {0}
}}
"""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "if (t < 40) { // some\n    do {\n      s[t] = i;\n      out[t] += s[39 - t];\n    } while (++i < n);\n  }",
            "has its lines not to itself",
        ),
    ],
)
def test_what_is_not_rewritten_says_why_in_a_line(code: str, why: str) -> None:
    text = LOOPS.format(code)
    if "line" in why:
        text = text.replace("\n  /*", " /*")
    assert why in refusal(text)


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
      if (sub + half < left + 2) more = part[threadIdx.x + half];
      part[threadIdx.x] += more;
    }
    __syncthreads();
    left = half - 2;
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
    # are back for the first ones, and want barriers of their own. That barriers are kept for all is not tried first.
    monkeypatch.setattr("analyzers.races.check.MAX_RACES", 12)
    monkeypatch.setattr("quickfix.group.MANY", 8)
    fix = fix_all(Engine(), CheckRequest("/restructured/a.cu", NEAREST))
    assert edited(NEAREST, fix).count("__syncthreads();") == 4


def test_many_barriers_that_threads_miss_are_kept_for_all() -> None:
    fix = fix_all(engine(), CheckRequest("/restructured/a.cu", NEAREST))
    assert edited(NEAREST, fix).count("__syncthreads();") == 5
    assert isinstance(fix, Fix)
    assert fix.title.startswith("Let all threads get to the 5 barriers")


def test_statements_that_meet_in_one_place_are_split_together_with_one_barrier_there() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(short *a) {
  int t = threadIdx.x;
  a[t] = 3 * a[(t + 1) % 64];
  a[t] -= a[(t + 1) % 64];
}
"""
    fix = fix_all(engine(), CheckRequest("/restructured/a.cu", text))
    after = edited(text, fix)
    assert (
        fix.title.startswith("Split the statements in lines 4 and 5 and insert 3 ") if isinstance(fix, Fix) else False
    )
    assert after.count("__syncthreads();") == 3
    assert re.search(r"__syncthreads\(\);\s*__syncthreads", after) is None


def test_what_a_called_function_reads_goes_first() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__device__ float at(const float *s, int i) { return s[i]; }
__global__ void k(float *a) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  s[t] = t > 0 ? at(s, t - 1) : at(s, 63);
  a[t] = s[t];
}
"""
    after = edited(text, fix_all(engine(), CheckRequest("/restructured/a.cu", text)))
    assert "  float value = t > 0 ? at(s, t - 1) : at(s, 63);\n  __syncthreads();\n  s[t] = value;\n" in after


@pytest.mark.parametrize("last", ["s[63 - t] + taken", "taken + s[63 - t]"])
def test_names_of_the_code_are_not_numbered_with_new_ones(last: str) -> None:
    text = f"""__device__ int taken, taken2;
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *a, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {{
    s[t] = 4;
    __syncthreads();
    a[t] = {last};
  }}
}}
"""
    after = edited(text, repaired(text, "k"))
    assert "  const bool taken2 = t < n;\n" in after
    assert f"    a[t] = {last};\n" in after


RETURNS = """__global__ void k(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (i >= n) return;
  s[t] = in[i];
  __syncthreads();
  float v = s[255 - t];
  s[t] = v * 2;
  out[i] = s[(t + 1) % 256];
}
void run(float *out, const float *in, int n) { k<<<(n + 255) / 256, 256>>>(out, in, n); }
"""


def test_behind_a_return_a_guard_is_offered_beside_the_barrier() -> None:
    request = CheckRequest("/restructured/r.cu", RETURNS)
    first, guard, *_ = offers(engine(), request)
    assert first.preferred
    assert "if (i >= n) return;" in edited(RETURNS, first)
    assert not guard.preferred
    assert set(guard.groups) > set(first.groups)
    assert guard.cost == "+2 barriers"  # three for one
    after = edited(RETURNS, guard)
    assert "return" not in after
    (unit,) = [
        e.result for e in engine().check(CheckRequest("/restructured/r.cu", after)) if isinstance(e, UnitFinished)
    ]
    assert all(k.verdict is Verdict.RACE_FREE for k in unit.kernels)


STEPS = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void first(float *a) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int k : {1, 2, 4}) s[t] += s[(t + k) & 63];
  a[t] = s[t];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void second(float *a) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int k : {1, 2, 4})
    if (t >= k) { float v = s[t - k]; s[t] += v; }
  a[t] = s[t];
}
"""


def test_what_the_search_for_one_kernel_shows_is_not_repaired_with_another() -> None:
    first, second = offers(engine(), CheckRequest("/restructured/a.cu", STEPS))
    own = STEPS.index("__global__ void second")
    assert edited(STEPS, first)[-(len(STEPS) - own) :] == STEPS[own:]
    assert edited(STEPS, second)[:own] == STEPS[:own]


def test_a_race_in_the_argument_of_a_macro_is_said_to_be_in_a_macro() -> None:
    said = refusal("""#define USE(x) (x)
__global__ void k(int *a) {
  __shared__ int s[129];
  int t = threadIdx.x;
  USE(s[t] = s[t + 1]);
  a[t] = s[t];
}
""")
    assert "are in one use of a macro (line 6): nothing is put into it." in said


VALUE = """struct Value {{
  int i;
  __device__ Value &operator=(const Value &other) {{ i = other.i; return *this; }}
}};
#define EITHER(c, a, b) ((c) ? (a) : (b))
{0}__global__ void k(int *a, Value *v) {{
  __shared__ int s[64];
  __shared__ Value w[64];
  int t = threadIdx.x, x = 0;
  Value y;
  s[t] = a[t];
  w[t] = v[t];
  __syncthreads();
  {1}
  a[t] = x + y.i;
}}
"""


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        # What is dropped may be copied by code of its class.
        ("(t & 1) ? (w[t] = v[t]) : (y = w[63 - t]);", "not all threads of the block reach"),
        ("EITHER(t & 1, s[t] = t, x = s[63 - t]);", "inside a macro"),
        ("(t & 1) ? (s[t] = t) : /* even */ (x = s[63 - t]);", "a comment around a side of the conditional expression"),
        ("x = (t & 1) ? (s[t] = t) : s[63 - t];", "in one statement"),
    ],
)
def test_other_conditional_expressions_stay(statement: str, why: str) -> None:
    answer = repaired(VALUE.format(LAUNCH, statement), "k")
    assert isinstance(answer, FixRefusal), answer
    assert why in answer.text or "one use of a macro" in answer.text


def test_a_macro_that_writes_more_than_the_target_keeps_its_statement_whole() -> None:
    said = refusal("""#define AFTER(x) y = 0; x
__global__ void k(int *a) {
  int t = threadIdx.x, y = 1;
  AFTER(a[t]) = a[t + 1 + y];
}
""")
    assert said == "`a[t]` and `a[t + 1 + y]` are in one use of a macro (line 5): nothing is put into it."


TYPES = """{0}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k({1} *out, const {1} *in, const float *w) {{
  __shared__ {1} s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  s[t] {2};
  out[t] = s[t];
}}
"""


@pytest.mark.parametrize(
    ("named", "name", "value", "declared"),
    [
        ("", "float", "+= s[t + 1] * w[t]", "float value = "),
        ("typedef double real;", "real", "+= s[t + 1] * 2", "real value = "),
        ("typedef double real;", "real", "= s[t + 1] * 2.5f", "real value = "),
        ("typedef double real;", "real", "+= s[t + 1] * 2.5f", "auto value = "),
        ("typedef double real;", "real", "+= s[t + 1] * w[t]", "auto value = "),
        ("typedef short small;", "small", "+= s[t + 1] * 2", "auto value = "),
        ("typedef short small;", "small", "/= s[t + 1] * s[t + 2]", "auto value = "),
        ("typedef short small;", "small", "/= -s[t + 1]", "auto value = "),
        ("typedef short small;", "small", "/= (s[t + 1])", "small value = "),
        ("#define REAL double", "REAL", "+= 2 * s[t + 1]", "REAL value = "),
        ("#ifdef WIDE\n#define REAL double\n#else\n#define REAL float\n#endif", "REAL", "= s[t + 1]", "REAL value = "),
        ("#define REAL float", "REAL", "+= sqrtf(1) / (1 + s[t + 1])", "auto value = "),
        ("#define REAL float", "REAL", "+= (REAL)2 * s[t + 1]", "auto value = "),
        ("#define REAL float", "float", "+= (float)2 * s[t + 1]", "float value = "),
        # a macro that is more than a type, and one of a pointer
        ("#define REAL volatile float", "REAL", "+= 2 * s[t + 1]", "auto value = "),
    ],
)
def test_types_have_the_names_that_are_right_in_other_builds(named: str, name: str, value: str, declared: str) -> None:
    text = TYPES.format(named, name, value)
    if "volatile" in named:
        text = text.replace("__shared__ REAL", "__shared__ float").replace("const REAL", "const float")
        text = text.replace("REAL *out", "float *out").replace("*w", "*w, REAL *x").replace("2 * s", "x[0] * s")
    assert declared in edited(text, repaired(text, "k"))


def test_a_field_of_another_name_space_has_no_name_here() -> None:
    text = """typedef int real;
namespace sim { typedef float real; struct P { real m; }; }
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(sim::P *out) {
  __shared__ sim::P s[72];
  int t = threadIdx.x;
  s[t].m = out[t].m;
  __syncthreads();
  s[t].m = s[t + 1].m;
  out[t] = s[t];
}
"""
    assert "auto value = s[t + 1].m" in edited(text, repaired(text, "k"))
