"""Conditions and values that a repair writes again: their names mean there what they did, and nothing that was made in
one place is made, assigned or ended in another way."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, alone, edited, engine, repaired

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = (
    LAUNCH
    + """__global__ void k(float *out, const float *in, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  const bool ok = t < n;
{}
}}
"""
)
LOOP = """for (int q = 0; q < 3; ++q) {
    {0}
    s[t] = in[t + q];
    __syncthreads();
    out[t] += s[t] + s[63 - t] + ok;
    __syncthreads();
  }"""


@pytest.mark.parametrize(
    "body",
    [
        "  if (ok) " + LOOP.replace("{0}", "const bool ok = t > q;"),
        "  if (!ok) return;\n  " + LOOP.replace("{0}", "const bool ok = t > q;"),
        "  if (!ok) return;\n  " + LOOP.replace("{0}", "out[t] += 1;\n    const int ok = t - q;"),
        "  " + LOOP.replace("{0}", "if (!ok) continue;\n    bool ok = in[t] > q;"),
        "  {\n    if (ok) {\n      bool ok = in[t] > 0;\n      s[t] = ok;\n      out[t] = s[63 - t] + ok;\n    }\n  }",
    ],
    ids=["loop", "return", "another type", "continue", "conditional"],
)
def test_a_condition_is_kept_where_its_name_is_hidden(body: str) -> None:
    text = KERNEL.format(body)
    request = CheckRequest("/restructured/a.cu", text)
    after = edited(text, next(a for a in answers(engine(), request) if isinstance(a, Fix)))
    assert "const bool taken = ok;" in after
    assert "if (taken) {" in after
    for me in (0, 1, 2, 3, 40):
        assert alone(after, "k", me) == alone(text, "k", me)


def test_a_variable_of_the_name_in_front_stays_another_one() -> None:
    text = KERNEL.format("  if (ok) {\n    const bool ok = t > 2;\n    s[t] = 1;\n    out[t] = s[63 - t] + ok;\n  }")
    after = edited(text, repaired(text, "k"))
    assert "const bool taken = ok;" in after
    assert "  if (taken) {\n    const bool ok = t > 2;\n    out[t]" in after
    for me in (0, 1, 2, 3, 40):
        assert alone(after, "k", me) == alone(text, "k", me)
    # of one that changes there can be no other
    said = repaired(text.replace("s[t] = 1;", "ok = s[t] = 1;").replace("const bool ok = t", "bool ok = t"), "k")
    assert isinstance(said, FixRefusal)
    assert said.text.startswith("`ok` is declared in front of the conditional as well")


def test_other_sections_of_a_switch_mean_their_own_variables() -> None:
    text = KERNEL.format(
        "  float v = 1;\n  switch (n) {\n  case 40:\n    if (ok) {\n      float v = in[t];\n      s[t] = v;\n"
        "      out[t] = s[63 - t] + v;\n    }\n    break;\n  case 41:\n    out[t] = v;\n    break;\n  }"
    )
    after = edited(text, repaired(text, "k"))
    assert "  case 40: {\n    float v;\n" in after


@pytest.mark.parametrize(
    "declared",
    [
        "struct F { float x; __device__ F &operator=(float v) { x = 2 * v; return *this; } };",
        "struct F { float x; template <class U> __device__ F &operator=(U &&v) { x = 2 * v.x; return *this; } };",
    ],
    ids=["of a number", "template"],
)
def test_what_has_an_assignment_of_its_own_is_not_assigned(declared: str) -> None:
    body = "  F g{in[t]};\n  if (t < n) {\n    F f = g;\n    s[t] = f.x;\n    out[t] = s[63 - t] + f.x;\n  }"
    said = repaired(f"{declared}\n{KERNEL.format(body)}", "k")
    assert isinstance(said, FixRefusal)
    assert said.text.startswith("`f` is declared in one half of a conditional")


CLASSES = """struct Q {
  float x, y;
  __device__ operator float() const { return 2 * y; }
  __device__ operator float() { return y; }
  __device__ float &operator[](int i) { return i ? y : x; }
  __device__ float operator[](int i) const { return i ? 2 * y : x; }
};
struct Guard {
  float *p;
  __device__ ~Guard() { *p += 100; }
};
struct Plain {
  float *p;
};
struct R {
  float a, b;
};
"""
TEMPLATE = (
    """template <class T, class G> __device__ void go(float *s, float *out, const T *in, int t, int n) {{
  if (t < n) {{
    {0}
    s[t] = 1;
    out[t] *= s[63 - t]{1};
  }}
}}
"""
    + LAUNCH
    + """__global__ void k(float *out, const {2} *in, int n) {{
  __shared__ float s[64];
  go<{2}, {3}>(s, out, in, threadIdx.x, n);
}}
"""
    + LAUNCH
    + """__global__ void other(float *out, const float *in, int n) {{
  __shared__ float s[64];
  go<float, {4}>(s, out, in, threadIdx.x, n);
}}
"""
)


@pytest.mark.parametrize(
    ("declared", "used", "classes", "assumed"),
    [
        ("const T v = in[t];", " + v[1]", ("Q", "Plain", "int *"), "`v` may as well be assigned where it was declared"),
        ("T v = in[t];", " + v.y", ("Q", "Plain", "int *"), "`v` may as well be assigned where it was declared"),
        ("G g{out + t};", "", ("float", "Plain", "Guard"), "the end of `g` does nothing"),
        ("G g[1] = {{out + t}};", "", ("float", "Plain", "Guard"), "the end of `g` does nothing"),
        ("const G &g = G{out + t};", "", ("float", "Plain", "Guard"), "the end of `g` does nothing"),
        ("auto g = G{out + t};", "", ("float", "Plain", "Guard"), "the end of `g` does nothing"),
        ("G g;\n    g.p = out + t;", " + *g.p", ("float", "Plain", "Guard"), "all threads may make `g`"),
        ("const T v = in[t];", " + v", ("float", "float *", "double *"), ""),
        ("const T v = in[t];", " + v.x", ("float4", "Plain", "R"), ""),
        ("T v = in[t];\n    G g{out + t};", " + v.x * *g.p", ("float2", "Plain", "Plain"), ""),
    ],
    ids=[
        "constant",
        "assignment",
        "end",
        "array",
        "reference",
        "deduced",
        "bare",
        "numbers",
        "vectors",
        "plain classes",
    ],
)
def test_what_only_an_instance_tells_is_assumed(
    declared: str, used: str, classes: tuple[str, str, str], assumed: str
) -> None:
    text = CLASSES + TEMPLATE.format(declared, used, *classes)
    if "v." in used or "v[" in used:
        text = text[: text.rindex(LAUNCH)]
    request = CheckRequest("/restructured/a.cu", text)
    fix = next(a for a in answers(engine(), request) if isinstance(a, Fix))
    assert [each.partition(":")[0] for each in fix.assumes] == ([f"Assumes that {assumed}"] if assumed else [])


def test_conversions_in_braces_may_be_others_of_what_is_no_constant() -> None:
    text = f"""{CLASSES}{LAUNCH}__global__ void k(float *out, const Q *in, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < n) {{
    const Q v = in[t];
    s[t] = v.x;
    R r = {{v, v}};
    out[t] = s[63 - t] + r.a + v.x;
  }}
}}
"""
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal)
    assert "Assumes that what `v` is handed to does the same where that is no constant" in said.text


@pytest.mark.parametrize(
    ("between", "used"),
    [("auto h = [](auto &q) { return g(q); };", "h(v)"), ("", "C<decltype(v)>::v"), ("", "C<decltype((v))>::v")],
    ids=["lambda", "type", "reference"],
)
def test_instances_may_be_others_for_what_is_no_constant(between: str, used: str) -> None:
    text = f"""template <class T> struct C {{
  static constexpr int v = __is_const(T);
}};
__device__ float g(float &x) {{ return x; }}
__device__ float g(const float &x) {{ return 2 * x; }}
{LAUNCH}__global__ void k(float *out, const float *in, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < n) {{
    const float v = in[t];
    s[t] = v;
    {between}
    out[t] = s[63 - t] + {used};
  }}
}}
"""
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal)
    assert "Assumes that what `v` is handed to does the same where that is no constant" in said.text


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ("size_t a = addr(&v);", "*(const float *)a"),
        ("Held a; a.set(&v);", "*(const float *)a.a"),
        ("size_t a = bound(v);", "*(const float *)a"),
        ("size_t a = 0; keep(a, &v);", "*(const float *)a"),
        ("Held a = made(&v);", "*(const float *)a.a"),
    ],
    ids=["returned", "method", "reference", "given", "class"],
)
def test_what_an_address_is_made_a_number_of_lasts(declared: str, kept: str) -> None:
    text = f"""__device__ size_t addr(const float *p) {{ return (size_t)p; }}
struct Held {{
  size_t a;
  __device__ void set(const float *p) {{ a = (size_t)p; }}
}};
__device__ size_t bound(const float &p) {{ return (size_t)&p; }}
__device__ void keep(size_t &a, const float *p) {{ a = (size_t)p; }}
__device__ Held made(const float *p) {{ return {{(size_t)p}}; }}
{LAUNCH}__global__ void k(float *out, const float *in, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int r = 0; r < 3; ++r) {{
    if (t + r >= n) continue;
    float v = in[t + r];
    {declared}
    s[t] = v;
    __syncthreads();
    out[t] += s[63 - t] + {kept};
    __syncthreads();
  }}
}}
"""
    after = edited(text, repaired(text, "k"))
    assert after.index("float v;") < after.index("if (taken)")


def test_comments_in_declarations_stay() -> None:
    text = KERNEL.format(
        "  if (t < n) {\n    float /* metres */ v = in[t];\n    float w; // in feet\n    w = v;\n    s[t] = v;\n"
        "    out[t] = s[63 - t] + v + w;\n  }"
    )
    after = edited(text, repaired(text, "k"))
    assert "    /* metres */ v = in[t];\n" in after
    assert "// in feet\n" in after


@pytest.mark.parametrize(
    "declared",
    ["float // in feet\n        w; w = in[t];", "float // feet \\\n          and more\n        w = in[t];"],
    ids=["line", "continued"],
)
def test_comments_to_the_end_of_a_line_swallow_no_code(declared: str) -> None:
    text = KERNEL.format(
        f"  if (t < n) {{\n    out[t] = 5;\n    {declared}\n    s[t] = w;\n    out[t] = s[63 - t] + w;\n  }}"
    )
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal)
    assert said.text.startswith("There is a comment in the declaration in line")


MACROS = """#define FUNCTIONS __device__ float f(float &) { return 1; } __device__ float f(const float &) { return 2; }
FUNCTIONS
#define CLASS struct Q { float x; __device__ float get() { return x; } __device__ float get() const { return 0; } };
CLASS
"""


@pytest.mark.parametrize(
    ("declared", "used", "name"),
    [
        ("const float v = in[t];", "f(v)", "f"),
        ("const Q v = {in[t]};", "v.get()", "get"),
        ("Q v = {in[t]};", "v.x", ""),
    ],
)
def test_what_one_macro_writes_is_told_apart(declared: str, used: str, name: str) -> None:
    body = f"  if (t < n) {{\n    {declared}\n    s[t] = 1;\n    out[t] = s[63 - t] + {used};\n  }}"
    said = repaired(MACROS + KERNEL.format(body), "k")
    assert isinstance(said, FixRefusal) == bool(name), said
    if isinstance(said, FixRefusal):
        assert said.text.startswith(f"`{name}` would mean something else")


def test_what_a_reference_in_a_value_changes_is_changed() -> None:
    """An argument in the value of a variable is one."""
    used = KERNEL.format("  float v = in[t];\n  if (t < n) {\n    s[t] = v;\n    out[t] = s[63 - t] + v;\n  }")
    changed = used.replace("    s[t] = v;", "    float w = next(v);\n    s[t] = w;")
    text = "__device__ float next(float &x) { return x++; }\n" + changed
    after = edited(text, repaired(text, "k"))
    for me in (0, 2, 40):
        assert alone(after, "k", me) == alone(text, "k", me)


def test_comments_go_with_the_barriers_that_they_are_behind() -> None:
    text = KERNEL.format(
        "  if (t < n) {\n    s[t] = in[t];\n    __syncthreads();  // wait\n    out[t] = s[63 - t];\n"
        "    __syncthreads(); /* all */\n    s[t] = 1;\n  }"
    )
    after = edited(text, repaired(text, "k"))
    assert "\n  __syncthreads();  // wait\n" in after
    assert "\n  __syncthreads(); /* all */\n" in after


def test_macros_that_change_in_between_mean_what_they_did() -> None:
    text = """#define STEP 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in, int n) {
  __shared__ float s[72];
  int t = threadIdx.x, j = 3;
  if (t < n) {
    const int j = t + STEP;
    s[t] = in[t];
#undef STEP
#define STEP 2
    out[t] = s[j];
  }
  out[t] += j;
}
"""
    for after in (a for a in answers(engine(), CheckRequest("/restructured/a.cu", text)) if isinstance(a, Fix)):
        assert edited(text, after).count("t + STEP") == 1


def test_what_is_declared_once_more_has_the_literals_that_it_had() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in, int n) {
  __shared__ float s[72];
  int t = threadIdx.x, i = 3;
  if (t < n) {
    const float &r = in[t + ('b' - 'a')];
    int i = 'z' - 'a' /* 25 */ + t;
    s[t] = r + i;
    out[t] = s[63 - t] + r + i;
  }
  out[t] += i;
}
"""
    after = edited(text, repaired(text, "k"))
    assert "_" not in after.replace("cuda-lsp", "").replace("__", "")
    assert after.count("in[t + ('b' - 'a')]") == 2
    assert after.count("'z' - 'a'") == 2
    assert after.count("/* 25 */") == 1
    for me in (0, 1, 2, 3, 40):
        assert alone(after, "k", me) == alone(text, "k", me)
