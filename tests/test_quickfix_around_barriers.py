"""Conditions taken apart around barriers that stay: what comes of it is proved, every thread by itself does what it
did, and all threads together finish with equal memory in every schedule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from edited import applied
from lowering import kernel

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.result import RunResult
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix.kept_barriers import reached_by_all
from quickfix.session import Session
from quickfix.verify import findings_of

GOLDEN = Path(__file__).parent / "golden"
BARRIERS = (Verdict.BARRIER_DIVERGENCE, Verdict.BARRIER_AFTER_EXIT)
RIGHT = (Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER)
NAME = re.compile(r"// cuda-lsp: launch.*\n__global__ void (\w+)")


def reached(text: str) -> Fix | FixRefusal:
    session = Session.open(Engine(), CheckRequest("/kept/a.cu", text), never)
    kernels = [k for k in session.kernels if findings_of(k.result)]
    missed = (f for k in kernels for f in findings_of(k.result) if f.code in BARRIERS)
    return reached_by_all(session, kernels, next(missed))


def edited(text: str) -> str:
    fix = reached(text)
    assert isinstance(fix, Fix), fix.text
    after = applied(text, fix.edits)
    (unit,) = [e.result for e in Engine().check(CheckRequest("/kept/a.cu", after)) if isinstance(e, UnitFinished)]
    assert not unit.syntax
    assert all(k.verdict in RIGHT for k in unit.kernels), [k.verdict for k in unit.kernels]
    return after


def alone(text: str, name: str, me: tuple[int, int], n: int) -> tuple[list[tuple[str, int, int, str, int]], set[str]]:
    """What one thread does when it is the only one, by object, offset, kind and value; and what of it is undefined."""
    text = re.sub(r"(__(?:global|device)__ \w+ \w+\()", r"\1int mx, int my, ", text)
    text = re.sub(r"threadIdx\.([xy])", r"m\1", text)
    text = re.sub(r"(?<=[ \t])(normalize|rotate|step)\(", r"\1(mx, my, ", text)
    text = text.replace("(mx, my, int mx, int my, ", "(int mx, int my, ")
    values = {"mx": me[0], "my": me[1], **dict.fromkeys(("n", "rows", "features", "count"), n), "lanes": 4, "cols": 9}
    result = run(kernel(text, name), ConcreteLaunch(values=values, seed=7))
    assert result.outcome == "finished", result.reason
    accesses = [(a.object.rsplit("$", 1)[0], a.offset, a.width, a.kind, a.value) for a in result.accesses]
    return accesses, result.undefined


def together(text: str, name: str, block: tuple[int, int, int], n: int, schedule: int) -> RunResult:
    values = {**dict.fromkeys(("n", "rows", "features", "count"), n), "lanes": 4, "cols": 9, "stride": 9}
    return run(kernel(text, name), ConcreteLaunch(block=block, values=values, seed=3), schedule)


def written(result: RunResult) -> dict[tuple[str, int], int]:
    """The last value of each cell of global memory that was written."""
    out: dict[tuple[str, int], int] = {}
    for a in result.accesses:
        if a.kind == "write" and "$" not in a.object:
            out[a.object, a.offset] = result.read(a.object, a.offset, a.width)
    return out


LAUNCH = "// cuda-lsp: launch grid=(1) block=(8,8)\n"
RETURNS = (
    LAUNCH
    + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  if (y >= n) return;
  s[y][x] = in[y * 8 + x];
  __syncthreads();
  out[y * 8 + x] = s[y][7 - x];
}
"""
)
CONTINUES = (
    LAUNCH
    + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  for (int i = 0; i < 4; i++) {
    int first = in[i * 64 + y];
    if (first == n) continue;
    int own = first + x;
    s[y][x] = own * in[x];
    __syncthreads();
    const int other = s[y][7 - x];
    __syncthreads();
    out[i * 64 + y * 8 + x] = other - own;
  }
}
"""
)
BREAKS = (
    LAUNCH
    + """__global__ void k(int *out, const int *in, int n) {
	__shared__ int s[8][8];
	int x = threadIdx.x, y = threadIdx.y;
	for (int i = 0; i < 4; i++) {
		s[y][x] = in[i * 64 + y * 8 + x];
		__syncthreads();
		out[i * 64 + y * 8 + x] = s[y][7 - x];
		__syncthreads();
		if (in[i * 8 + y] > n)
			break;
		out[i * 64 + y * 8 + x] += n;
	}
	out[256 + y * 8 + x] = n;
}
"""
)
NESTED = (
    LAUNCH
    + """__device__ void step(int *s, int *out, int n) {
  int x = threadIdx.x;
  int from = 7 - x;
  s[x] = n + x;
  __syncthreads();
  out[x] = s[from];
  __syncthreads();
}
"""
    + LAUNCH
    + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[8][8];
  int y = threadIdx.y;
  int *own = s[y];
  int *result = out + y * 8;
  if (y < n) {
    int limit = in[y];
    for (int i = 0; i < 3; i++) {
      if (i < limit) {
        step(own, result, i);
        __syncthreads();
      }
    }
    out[64 + y * 8 + threadIdx.x] = limit;
  }
}
"""
)
HALVES = (
    LAUNCH
    + """__global__ void k(int *out, const int *in, unsigned n) {
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  if (y < n) {
    s[y][x] = in[y * 8 + x];
    __syncthreads();
    int left = 8;
    while (left > 1) {
      left = left / 2;
      if (x < left) s[y][x] += s[y][x + left];
      __syncthreads();
    }
    out[y * 8 + x] = s[y][0];
  }
}
"""
)
LARGER = (
    LAUNCH
    + """__device__ int step(int *s, int v) {
  int x = threadIdx.x;
  s[x] = v;
  __syncthreads();
  int other = s[7 - x];
  __syncthreads();
  return other + s[x];
}
"""
    + LAUNCH
    + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y, half = 2;
  if (y < n) {
    int mean = half + abs( step(s[y], in[y * 8 + x]) / n);
    out[y * 8 + x] = mean - in[x];
  }
}
"""
)
GIVEN = (
    LARGER.replace("half = 2;", "half = 2, mean = 7;")
    .replace("int mean = half + abs( step(s[y], in[y * 8 + x]) / n);", "mean = step(s[y], in[y * 8 + x]);")
    .replace(
        "    out[y * 8 + x] = mean - in[x];\n  }", "    mean += step(s[y], half);\n  }\n  out[y * 8 + x] = mean / half;"
    )
    .replace("other + s[x]", "(other + s[x]) / v")
)
SHAPES = {
    "given": GIVEN,
    "larger": LARGER,
    "returns": RETURNS,
    "continues": CONTINUES,
    "breaks": BREAKS,
    "nested": NESTED,
    "halves": HALVES,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_every_thread_does_what_it_did(shape: str, ends: str) -> None:
    text = SHAPES[shape].replace("\n", ends)
    after = edited(text)
    assert after.count("\r\n") == (after.count("\n") if ends == "\r\n" else 0)
    assert after.count("__syncthreads") == text.count("__syncthreads")
    for me in ((0, 0), (5, 1), (2, 3), (7, 7)):
        for n in (0, 2, 5):
            assert alone(after, "k", me, n) == alone(text, "k", me, n)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_threads_together_finish_with_equal_memory(shape: str) -> None:
    text = SHAPES[shape]
    after = edited(text)
    for n in (0, 3, 8):
        results = [together(after, "k", (8, 8, 1), n, schedule) for schedule in range(3)]
        for result in results:
            assert result.outcome == "finished", result.reason
            assert not result.divergences
            assert written(result) == written(results[0])
        before = together(text, "k", (8, 8, 1), n, 1)
        if before.outcome == "finished" and not before.divergences:
            assert written(before) == written(results[0])


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("kept_*.cu")), ids=lambda path: path.stem)
def test_every_thread_of_a_whole_kernel_does_what_it_did(file: Path) -> None:
    text = file.read_text()
    after, (name,) = edited(text), NAME.findall(text)
    assert after.count("__syncthreads") == text.count("__syncthreads")
    for me in ((0, 0), (1, 1), (3, 2), (2, 3)):
        for n in (0, 2, 4):
            assert alone(after, name, me, n) == alone(text, name, me, n)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("if (y < n) {", "if (y < n) {  // rows", "lines not to itself"),
        ("if (y < n) {", "if (y /* row */ < n) {", "comment"),
        ("if (y < n) {", "if (int rows = y < n) {", "declares a variable"),
        ("left > 1", "left > 0", "may not end"),
        ("left > 1", "left != 1", "may not end"),
        ("left = left / 2;", "left -= in[0];", "may not end"),
        ("left = left / 2;", "left = left / 2;\n      if (x == 9) left = 3;", "may not end"),
        ("int left = 8;", "int left = 8;\n    if (s[y][0] == 3) { s[y][x] = 1; return; }", "middle of a statement"),
        ("int left = 8;", "int left = 8;\n    int pair[2] = {x, y};", ""),
        ("s[y][0];\n  }", "s[y][0];\n  } else {\n    out[y] = 0;\n  }", "`else`"),
        ("  if (y < n) {", "  { int left = 0; out[left] = 0; }\n  if (y < n) {", "means something else"),
        ("while (left > 1) {", "do {", "plain"),
        (
            "    __syncthreads();\n    int left",
            "    s[y][0] += __syncthreads_or(x == 2);\n    int left",
            "larger statement",
        ),
        ("left = left / 2;", "if (in[left] == 3) continue;\n      left = left / 2;", "skip the step"),
        ("left = left / 2;", "if (in[left] == 3) break;\n      left = left / 2;", "count in its body"),
        ("  if (y < n) {", "  int left = 8;\n  if (y < n) {", "means something else"),
        ("    int left = 8;\n", "", "from outside"),
        (
            "    __syncthreads();\n    int left = 8;",
            "#ifdef A\n    x++;\n#endif\n    __syncthreads();\n    int left = 8;",
            "",
        ),
        (
            "    int left = 8;",
            "#ifdef A\n    int more = 1;\n#else\n    int more = in[y];\n#endif\n    int left = 8 * more;",
            "reprocessor lines",
        ),
    ],
)
def test_what_cannot_be_taken_apart_says_why(old: str, new: str, said: str) -> None:
    text = HALVES.replace(old, new)
    assert text != HALVES
    if said == "from outside":
        text = text.replace("  int x =", "  int left = 8;\n  int x =")
    if new == "do {":
        text = text.replace("      __syncthreads();\n    }\n", "      __syncthreads();\n    } while (left > 1);\n")
    answer = reached(text)
    if said:
        assert isinstance(answer, FixRefusal), applied(text, answer.edits)
        assert said in answer.text
    else:
        assert isinstance(answer, Fix), answer.text


def test_threads_that_return_in_front_need_not_come_where_they_cannot() -> None:
    """They count as arrived; what the others pass has no value in them."""
    text = (
        LAUNCH
        + """__device__ void halve(volatile int *own, int x) {
  for (int n = 4; n > 0; n /= 2) {
    if (x < n) {
      *own = *own + own[n];
      __syncthreads();
    }
  }
}
"""
        + LAUNCH
        + """__global__ void k(int *out, const int *in, int rows) {
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  if (y >= rows) return;
  int *const own = s[y] + in[x] % 1 + x;
  *own = in[y * 8 + x];
  __syncthreads();
  halve(own, x);
  out[y * 8 + x] = s[y][0];
}
"""
    )
    fix = reached(text)
    assert isinstance(fix, Fix), fix.text
    after = applied(text, fix.edits)
    assert (
        "const bool taken = x < n;" in after or "if (x < n) {\n      *own = *own + own[n];\n    }\n    __sync" in after
    )
    assert "  if (y >= rows) return;\n" in after


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("int mean = step(own, in[x]);", "int mean = step(own, value, y < n);"),
        ("const int mean = -step(own, x) / n;", "int value = step(own, x, y < n);"),
        ("int mean = x > 3 ? 1 : step(own, x);", None),
        ("int mean = x > 3 && step(own, x);", None),
        ("int mean = (step(own, x) & 1) && x > 3;", "int value = step(own, x, y < n);"),
        ("int mean = s[y][x] * step(own, x);", None),
        ("int mean = step(own, x) * s[y][x];", "int value = step(own, x, y < n);"),
        ("int mean = step(own, half++) / n;", None),
        ("int mean = step(own, x) * half++;", None),
        ("int mean = 1; mean += step(own, x) / n;", "int value = step(own, x, y < n);"),
        ("int mean = step(own, step(own, x));", None),
        ("int mean = half * step(own, x + half);", "int value = step(own, x + half, y < n);"),
    ],
)
def test_a_call_in_a_larger_statement_is_made_in_front_of_it_where_that_is_the_same(
    statement: str, line: str | None
) -> None:
    """Nothing that is evaluated in front of it may be what the function writes, and it is made in any case."""
    text = LARGER.replace("int mean = half + abs( step(s[y], in[y * 8 + x]) / n);", statement.replace("; ", ";\n    "))
    text = text.replace("half = 2;", "half = 2;\n  int *own = s[y];")
    answer = reached(text)
    if line is None:
        assert isinstance(answer, FixRefusal), applied(text, answer.edits)
        assert "larger statement" in answer.text or "more than names" in answer.text
    else:
        assert line in edited(text)


@pytest.mark.parametrize(
    "braces",
    [
        ("  if (y < n)\n", ""),
        ("  if (y < n) {\n", " }"),
        ("  for (int i = 0; i < n / 2; i++)\n    if (y < n)\n", ""),
    ],
    ids=["none", "in the line", "loop"],
)
def test_a_call_in_a_branch_without_braces_or_lines_of_its_own_is_made_in_front_of_it(braces: tuple[str, str]) -> None:
    conditional = LARGER[LARGER.index("  if (y < n)") : LARGER.rindex("}")]
    call = "    out[y * 8 + x] = half + abs(step(s[y], in[y * 8 + x]) / n);"
    text = LARGER.replace(conditional, f"{braces[0]}{call}{braces[1]}\n")
    after = edited(text)
    assert "step(value, value2, y < n);" in after
    plain = edited(LARGER.replace(conditional, f"  if (y < n) {{\n{call}\n  }}\n"))
    for n in (0, 3, 8):
        result = together(after, "k", (8, 8, 1), n, 1)
        assert result.outcome == "finished", result.reason
        assert not result.divergences
        # In a loop it is done again.
        assert written(result) == written(together(plain, "k", (8, 8, 1), n, 1)) or "for" in braces[0]


@pytest.mark.parametrize(
    ("declared", "type_", "given", "read", "nothing"),
    [
        ("struct Pair { int a, b; };", "Pair", "{own[0], v}", ".a", "Pair()"),
        (
            "enum class Side { left, right };",
            "Side",
            "own[0] > v ? Side::left : Side::right",
            " == Side::left",
            "Side()",
        ),
        (
            "struct Pair { int a, b; Pair() = default; __device__ Pair(int x) : a(x), b(x) {} };",
            "Pair",
            "own[0]",
            ".b",
            "",
        ),
    ],
    ids=["structure", "enumerator", "constructor"],
)
def test_what_a_function_gives_that_does_nothing_is_of_its_type(
    declared: str, type_: str, given: str, read: str, nothing: str
) -> None:
    text = f"""{declared}
__device__ {type_} step(int *own, int v) {{
  int x = threadIdx.x;
  own[x] = v;
  __syncthreads();
  {type_} other = {given};
  __syncthreads();
  return other;
}}
{LAUNCH}__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  {type_} got = {type_}();
  if (y < n) {{
    got = step(s[y], in[x]);
    out[y * 8 + x] = got{read};
  }}
}}
"""
    answer = reached(text)
    if nothing:
        assert f"return taken ? other : {nothing};" in edited(text)
    else:
        assert isinstance(answer, FixRefusal)
        assert "made by code of its class" in answer.text


@pytest.mark.parametrize(
    ("before", "statement", "said"),
    [
        ("int *at = &half;\n  *at = 3;", "half * step(own, x)", "may change"),
        ("Kept kept = {own, 2};", "kept.turns * kept.turn(x)", "may change"),
        ("Kept kept = {own, 2};", "half * kept.turn(x)", ""),
    ],
)
def test_what_is_evaluated_in_front_of_a_call_is_nothing_that_it_changes(
    before: str, statement: str, said: str
) -> None:
    method = "  int *s, turns;\n  __device__ int turn(int v) {\n    int x = threadIdx.x;\n    turns++;\n    s[x] = v;\n"
    method += "    __syncthreads();\n    int other = s[7 - x];\n    __syncthreads();\n    return other;\n  }\n"
    text = LARGER.replace("half + abs( step(s[y], in[y * 8 + x]) / n)", statement)
    text = text.replace("half = 2;", f"half = 2;\n  int *own = s[y];\n  {before}")
    answer = reached(f"struct Kept {{\n{method}}};\n{text}")
    if said:
        assert isinstance(answer, FixRefusal), applied(text, answer.edits)
        assert said in answer.text
    else:
        assert isinstance(answer, Fix), answer.text


@pytest.mark.parametrize(("type_", "value"), [("const int &", "s[t ^ 1]"), ("int *", "s + s[t ^ 1] / 64")])
def test_a_function_returns_no_reference_to_a_value_that_is_gone(type_: str, value: str) -> None:
    """A pointer that no thread uses may be null; a reference needs a place."""
    text = f"""__device__ {type_}other(int *s, int t) {{
  s[t] = t;
  __syncthreads();
  return {value};
}}
{LAUNCH.replace("(8,8)", "(64)")}__global__ void k(int *out, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {type_.replace("const", "").replace("&", "").strip()} x;
  if (t < n) {{
    x = other(s, t);
    out[t] = x != 0;
  }}
}}
"""
    answer = reached(text)
    if type_.endswith("&"):
        assert isinstance(answer, FixRefusal), applied(text, answer.edits)
    else:
        after = edited(text)
        assert "  int *const value = other(s, t, t < n);\n" in after
        assert "  return taken ? s + s[t ^ 1] / 64 : 0;\n" in after


def test_a_function_that_takes_references_gets_no_copies() -> None:
    answer = reached(LARGER.replace("int v)", "const int &v)"))
    assert isinstance(answer, FixRefusal)
    assert "takes references" in answer.text


def test_a_variable_of_both_halves_is_declared_in_front() -> None:
    after = edited(CONTINUES)
    assert re.findall(r"^ +(?:const )?int (?:own|other)\b.*", after, re.MULTILINE) == [
        "    int own = first + x;",
        "    int other;",
    ]
    assert after.count("if (first != n) {") == 3


CHANGED = """#define ADVANCE t += 64
using Ref = int &;
struct P {{ int x; }};
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {before}
  if ({name} >= n) return;
  s[threadIdx.x] = in[t];
  __syncthreads();
  {change}
  out[threadIdx.x] = s[63 - threadIdx.x];
  __syncthreads();
  out[threadIdx.x + 64] = in[{name}];
}}
"""


@pytest.mark.parametrize(
    ("before", "name", "change"),
    [
        ("", "t", "t += 64;"),
        ("", "t", "ADVANCE;"),
        ("int &r = t;", "t", "r += 64;"),
        ("Ref r = t;", "t", "r += 64;"),
        ("int *p = &t;", "t", "*p += 64;"),
        ("P p = {t};", "p.x", "p.x += 64;"),
    ],
)
def test_a_condition_is_not_asked_again_where_its_variable_changes(before: str, name: str, change: str) -> None:
    assert f"  const bool taken = {name} < n;\n" in edited(CHANGED.format(before=before, name=name, change=change))


@pytest.mark.parametrize("before", ["", "int u = t; int &r = u; r++;", "P p = {t}; p.x++;"])
def test_a_condition_is_asked_again_where_others_change(before: str) -> None:
    assert "  if (t < n) {\n" in edited(CHANGED.format(before=before, name="t", change="out[t + 256] = 1;"))


def test_a_condition_of_a_macro_stays_whole() -> None:
    text = RETURNS.replace(LAUNCH, f"{LAUNCH}#define EITHER x < 3 || y < 5\n")
    text = text.replace("  out[y * 8 + x] = s[y][7 - x];", "  if (EITHER) {\n    out[y * 8 + x] = s[y][7 - x];\n  }")
    assert "  if (y < n && (EITHER)) {\n" in edited(text)


def test_a_macro_keeps_what_it_means() -> None:
    text = """__constant__ int scale;
#define SCALED(v) ((v) * scale)
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    int scale = t + 3;
    for (int j = 0; j < 3; ++j) {
      s[t] = in[t + j] + scale;
      __syncthreads();
      out[t + j * 64] = s[n - 1 - t];
      __syncthreads();
    }
  }
  out[t + 512] = SCALED(t);
}
"""
    answer = reached(text)
    assert isinstance(answer, FixRefusal)
    assert "`scale` means something else" in answer.text


LASTING = """// cuda-lsp: launch grid=(4) block=(64)
struct Cell {{ int x; __device__ Cell(int v) : x(v) {{}} }};
__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  const int *p = in;
  if (i >= n) return;
  {0}
  s[t] = own[0];
  __syncthreads();
  out[i] = s[t ^ 1] + *p;
}}
"""


@pytest.mark.parametrize(
    ("declared", "front"),
    [
        ("int own[4];\n  own[0] = in[i];\n  p = own;", "int own[4];"),
        ("const int *own = in + i;\n  int v = in[i];\n  p = &v;", "int v;"),
        ("const int *own = in + i;\n  int v = in[i], *q = &v;\n  s[t] = *q;", ""),
    ],
)
def test_what_a_pointer_leads_to_behind_the_barrier_lasts(declared: str, front: str) -> None:
    text = LASTING.format(declared)
    fix = reached(text)
    assert isinstance(fix, Fix), fix
    after = applied(text, fix.edits)
    head = after[after.index("const int *p = in;") : after.index("if (i < n) {")]
    assert (front in head) if front else ("int v" not in head), after


def test_what_cannot_be_declared_in_front_and_has_to_last_is_named() -> None:
    said = reached(LASTING.format("const int *own = in + i;\n  Cell v(in[i]);\n  p = &v.x;"))
    assert isinstance(said, FixRefusal), said
    assert "`v` is declared in one half of a conditional" in said.text
