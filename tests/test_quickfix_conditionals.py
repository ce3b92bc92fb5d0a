"""Conditionals that are split or opened up: what keeps them whole."""

from __future__ import annotations

import pytest
from edited import applied
from restructured import LAUNCH, alone, edited, refusal, repaired

from analyzers.model import Fix, FixRefusal


def test_what_cannot_be_declared_in_front_is_not_split() -> None:
    said = refusal("""__global__ void k(int *a) {
  int t = threadIdx.x;
  if (t < 48) {
    int own[20] = {t, t + 1};
    a[t] = own[0];
    a[t + 100] = a[own[1]];
  }
}
""")
    assert "`own`" in said


DECLARES = """struct Guard { int v; __device__ Guard(int x) : v(x) {} __device__ operator bool() const { return v; } };
__global__ void k(int *a, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, x = t + n;
  for (int i = 0; i < 2; ++i) {
    @ {
      s[t] = t;
      a[t] = s[t ^ 34];
      x /= 2;
    }
    &
  }
}
"""


@pytest.mark.parametrize(
    ("head", "behind", "said"),
    [
        ("if (int y = t % 2)", "", ""),
        ("if (const unsigned y = t % 2)", "", ""),
        ("if (int y = t + n; y % 3)", "", ""),
        ("if (int *y = t < n ? a + t : nullptr)", "", ""),
        ("if (int y = t % 2)", "for (int y = 0; y < 2; ++y) a[64 + t] = y;", ""),
        ("while (int y = x / 3)", "", ""),
        ("if (auto y = t % 2)", "", "declares a variable"),
        ("if (Guard y = t % 2)", "", "declares a variable"),
        ("if (int x = t % 2)", "a[64 + t] = x;", "declares a variable"),
        ("if (int y = t % 2 /* odd */)", "", "declares a variable"),
        ("while (const int y = x / 3)", "", "declares a variable"),
    ],
)
def test_what_a_condition_declares_is_declared_in_front(head: str, behind: str, said: str) -> None:
    text = DECLARES.replace("__global__", LAUNCH + "__global__").replace("@", head).replace("&", behind, 1)
    answer = repaired(text, "k")
    if said:
        assert isinstance(answer, FixRefusal)
        assert said in answer.text
        return
    after = edited(text, answer)
    assert "Take the declaration out of the condition, " in (answer.title if isinstance(answer, Fix) else "")
    for me in (1, 4, 6):
        assert alone(after, "k", me) == alone(text, "k", me)


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
      s[t] = x++;
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


def test_an_attribute_of_a_branch_stays_with_the_first_half() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) [[likely]] {
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
  }
}
"""
    )
    after = edited(text, repaired(text, "k"))
    assert "  if (taken) [[likely]] {\n    s[t] = in[t];\n  }\n  __syncthreads();\n" in after


def test_a_refusal_names_lines_of_the_text_as_it_is() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = in[t];
    int step = 32;
    do {
      __syncthreads();
      if (t < step) s[t] += s[t + step];
      if ((step >>= 1) == n) return;
    } while (step > 0);
    out[t] = s[t];
  }
}
"""
    )
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal)
    assert "Threads leave the loop in line 8" in said.text


def test_what_may_divide_by_zero_stays_under_its_condition() -> None:
    text = (
        """#define PART(x) ((x) / n)
#define HALF(x) ((x) / 2)
"""
        + LAUNCH
        + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (n > 0 && t < 40) {
    int half = HALF(t);
    int part = PART(t);
    s[t] = in[t];
    out[t] = s[39 - t] + part + half;
  }
}
"""
    )
    after = edited(text, repaired(text, "k"))
    assert "\n  int half = HALF(t);\n  int part;\n  if (taken) {\n    part = PART(t);\n" in after


MEANT = """#define UNDER(x) ((x) < n)
struct Size {{ int v; }};
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const int *in, Size size, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x, c = 0;
  {before}
  if ({condition}) {{
    int v = in[t];
    s[t] = v;
    out[t] = s[t ^ 1] + v + c;
  }}
  {behind}
}}
"""


@pytest.mark.parametrize(
    ("before", "condition", "behind", "said"),
    [
        ("", "t < n /* int x = 3; */", "", ""),
        ("", "t != ';' && t != ',' && t != '(' && t < n", "", ""),
        ("", '"int x = 1;"[t & 7] != 0 && t < n', "", ""),
        ("", "(c = t + n) < 90", "", ""),
        ("", "UNDER(t)", "", ""),
        ("auto small = [&](int x) { int y = x; return y < n; };", "small(t)", "", ""),
        ("", "[&](int x) { int y = x; return y < n; }(t)", "", "declares a variable"),
        ("", "int x = t - n", "", ""),
        ("", "int x = t; x < n", "", ""),
        ("", "t < n", "out[t + 64] = size.v;  // v", ""),
        ("", "t < n", "for (int v = 0; v < 3; ++v) out[64 * v + t + 64] = v;", ""),
        ("", "t < n", "{ int v = 3; out[t + 64] = v; }", ""),
        ("{ int v = 3; out[t + 64] = v; }", "t < n", "", ""),
    ],
)
def test_what_a_condition_and_a_name_mean_the_tree_tells(before: str, condition: str, behind: str, said: str) -> None:
    text = MEANT.format(before=before, condition=condition, behind=behind)
    answer = repaired(text, "k")
    if said:
        assert isinstance(answer, FixRefusal)
        assert said in answer.text
    else:
        assert "if (taken) {" in edited(text, answer)


@pytest.mark.parametrize(
    ("known", "behind"),
    [("__device__ int v;", "out[t + 64] = v;"), ("__device__ int v(int x) { return x; }", "out[t + 64] = v(t);")],
)
def test_a_name_of_a_function_is_not_hidden_either(known: str, behind: str) -> None:
    text = known + "\n" + MEANT.format(before="", condition="t < n", behind=behind)
    for hidden in (text, f"#define CALL {behind}\n" + text.replace(f"  {behind}\n}}", "  CALL\n}")):
        answer = repaired(hidden, "k")
        assert isinstance(answer, FixRefusal), edited(hidden, answer)
        assert "`v` means something else" in answer.text


DECLARED = """struct Made {{ int x; __device__ Made() : x(1) {{}} }};
struct Packed {{ int low : 4; int high : 28; }};
struct Node {{ const int *at; }};
struct Ref {{ int &r; }};
struct Seen {{ const int &r; }};
struct Made2 {{
  int x;
  __device__ Made2(int v) : x(v) {{}}
  __device__ int at(const Made2 &o) const {{ return x + o.x; }}
}};
__device__ const int *addr(const int &x) {{ return &x; }}
__device__ const int *held(Seen s) {{ return &s.r; }}
struct Array {{
  int d[2];
  __device__ const int *data() const {{ return d; }}
  __device__ const Array &self() const {{ return *this; }}
}};
__device__ int both(int v, int *a, int *b) {{ *a = v; *b = -v; return v & 1; }}
{0}__global__ void k(int *out, const int *in, Packed *p, int n, Node *node, Node own, Made2 made) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  const int *v = in, **vv = &v;
  auto seen = [&] {{ return *v; }};
  if (t < n) {{
    {1}
    s[t] = in[t];
    {2}
    out[t] = s[n - 1 - t] + {3};
  }}
}}
"""


@pytest.mark.parametrize(
    ("declaration", "between", "used", "why"),
    [
        ("const float &r = in[t];", "", "r", "`r` refers to what is not the same everywhere"),
        ("const int &r = in[in[t]];", "", "r", "`r` refers to what is not the same everywhere"),
        ("const int &r = p[t].low;", "", "r", "`r` refers to what is not the same everywhere"),
        ("const int &r = t + n;", "", "r", "`r` refers to what is not the same everywhere"),
        ("int i = t; const int &r = in[i];", "i = 0;", "r", "not declared at the beginning of a line"),
        ("int i = t;\n    const int &r = in[i];", "i = 0;", "r", "what `r` refers to may be another"),
        ("const int *q = in;\n    const int &r = q[t];", "q += 2;", "r", "what `r` refers to may be another"),
        ("Made v[2];", "", "v[1].x", "`v` is declared in one half"),
        ("int v[2] = {in[t], /* two */ 2};", "", "v[1]", "`v` is declared in one half"),
        ("int v[20] = {in[t]};", "", "v[1]", "`v` is declared in one half"),
        ("int v[2], w = in[t];", "v[1] = w;", "v[1]", "`v` is declared in one half"),
        ('char v[] = "ab";', "", "v[1]", "`v` is declared in one half"),
        ("__align__(16) int v[4];", "v[1] = t;", "v[1]", "cannot be moved"),
        ("Made z; v = &z.x;", "", "*v", "`z` is declared in one half of a conditional and may be led to from there"),
        ("__align__(16) int z[4]; z[1] = t; v = z;", "", "v[1]", "cannot be moved"),
        ("const int &z = in[t] + 1; v = &z;", "", "*v", "and may be led to from there"),
        ("auto f = [&]() -> const int & { return t; }; v = &f();", "", "*v", "`f` is declared in one half"),
    ],
)
def test_what_is_not_the_same_in_front_or_later_is_not_declared_there(
    declaration: str, between: str, used: str, why: str
) -> None:
    said = repaired(DECLARED.format(LAUNCH, declaration, between, used), "k")
    assert isinstance(said, FixRefusal), said
    assert why.lower() in said.text.lower()


@pytest.mark.parametrize(
    ("declaration", "between", "used", "lasts"),
    [
        ("int z = in[t]; v = &z;", "", "*v", "int z;"),
        ("int z[2]; v = z;", "z[1] = t;", "v[1]", "int z[2];"),
        ("int z = in[t];\n    const int *w = &z;", "", "*w", "int z;\n  const int *w;"),
        ("int z = in[t]; node[t].at = &z;", "", "*v", "int z;"),
        ("int z = in[t]; const int *w = &z; v = w;", "", "*v", "int z;"),
        ("int z = in[t];", "", "(int)sizeof(z)", "int z;"),
        ("int z = in[t];", "", "decltype(z)(3)", "int z;"),
        ("int a, b; a = both(t, &a, &b);", "", "1", ""),
        ("int a, b; v = in + both(t, &a, &b);", "", "*v", "int a, b;"),
        ("static const int z[2] = {1, 2}; v = z;", "", "*v", ""),
        ("int z[2]; z[1] = in[t];", "s[t] = z[1];", "*v", ""),
        ("int z = in[t]; v = addr(z);", "", "*v", "int z;"),
        ("Array z = {in[t], 2}; v = z.data();", "", "v[1]", "Array z;"),
        ("Array z = {in[t], 2}; v = z.self().d;", "", "v[1]", "Array z;"),
        ("int z[2]; z[1] = t; for (const int &e : z) v = &e;", "", "*v", "int z[2];"),
        ("int z = in[t]; int &r = z; v = &r;", "", "*v", "int z;"),
        ("int z = in[t]; v = &z;", "", "**vv", "int z;"),
        ("int z = in[t]; v = &z;", "", "seen()", "int z;"),
        ("int z = in[t];", "s[t] = addr(z) != in;", "*v", ""),
        ("int z = in[t]; v = held(Seen{z});", "", "*v", "int z;"),
        (
            "int z = in[t]; unsigned long long a = (unsigned long long)&z;",
            "",
            "*(int *)a",
            "int z; unsigned long long a;",
        ),
        ("Made2 z(in[t]);", "s[t] += z.at(made);", "*v", ""),
        ("auto f = [&](int i) { return own.at[i]; };", "s[t] += f(t);", "own.at[t]", ""),
        ("auto f = [&](int i) { return in[i] * 2; };", "s[t] += f(t);", "[&] { return *v; }()", ""),
    ],
)
def test_what_the_second_half_may_be_led_to_lasts(declaration: str, between: str, used: str, lasts: str) -> None:
    text = DECLARED.format(LAUNCH, declaration, between, used)
    fix = repaired(text, "k")
    assert isinstance(fix, Fix), fix
    after = applied(text, fix.edits)
    head = after[after.index("auto seen =") : after.index("if (taken)")]
    assert head.partition("};")[2].replace("const bool taken = t < n;", "").split() == lasts.split(), after


@pytest.mark.parametrize(
    ("declaration", "between", "used", "front"),
    [
        ("const int LEN = 4; int z[LEN];", "z[3] = in[t];", "z[3]", "const int LEN = 4; int z[LEN];"),
        ("int z = in[t];\n    const int LEN = 4;\n    int y[LEN] = {z};", "", "y[1]", "const int LEN = 4; int y[LEN];"),
        ("int z = in[t];\n    const int LEN = t + 4;", "", "LEN", "const int LEN = t + 4;"),
        (
            "int z = in[t];\n    const int H = 2;\n    const int LEN = H * 2;\n    int y[LEN];",
            "y[3] = z;",
            "y[3]",
            "const int H = 2; const int LEN = H * 2; int y[LEN];",
        ),
        ("int z = in[t];\n    const int LEN = z + 4;", "", "LEN", "int LEN;"),
        (
            "int z = in[t];\n    const int H = t + 2;\n    t = 5;\n    const int LEN = t + H;",
            "",
            "LEN + H",
            "const int H = t + 2; int LEN;",
        ),
        ("int z = t;\n    z++;\n    const int LEN = z;", "", "LEN", "int LEN;"),
        ("__shared__ int z[64];\n    z[t] = t;", "", "z[t]", "__shared__ int z[64];"),
        ("int y = t;\n    __shared__ int z[64];\n    z[t] = y;", "", "z[t]", "__shared__ int z[64];"),
        ("int z = in[t];\n#undef SIZE\n#define SIZE 9\n    const int LEN = SIZE;", "", "LEN", "int LEN;"),
        ("int z = in[t];\n    const int LEN = __LINE__;", "", "LEN", "int LEN;"),
        ("int z = t; Ref h{z}; h.r = 5;\n    const int LEN = t + 1;", "", "LEN", "const int LEN = t + 1;"),
        ("Ref h{t}; h.r = 5;\n    const int LEN = t + 1;", "", "LEN", "int LEN;"),
        ("int y = t;\n    volatile __shared__ int z[64];\n    z[t] = y;", "", "z[t]", "volatile __shared__ int z[64];"),
        ("static_assert(sizeof(int) == 4);\n    int z = in[t];", "", "z", "int z;"),
        ('int z = in[t];\n    asm volatile("" : "+r"(z));', "", "z", "int z;"),
    ],
)
def test_constants_and_shared_memory_go_in_front_as_they_are(
    declaration: str, between: str, used: str, front: str
) -> None:
    text = DECLARED.format(LAUNCH, declaration, between, used)
    after = edited(text, repaired(text, "k"))
    head = after[after.index("auto seen =") : after.index("if (taken)")]
    assert head.partition("};")[2].replace("const bool taken = t < n;", "").split() == front.split(), after


TWICE = """  if (t < n - 1) {
    int z = in[t + 1];
    s[t] = z;
    out[t + 64] = s[n - 2 - t] + z;
  }
}
"""


def test_a_second_conditional_uses_the_variable_of_the_first() -> None:
    text = DECLARED.format(LAUNCH, "int z = in[t];", "__syncthreads();", "z").replace("    __syncthreads();\n", "")
    first = edited(text, repaired(text, "k")).rstrip().removesuffix("}") + "  __syncthreads();\n" + TWICE
    after = edited(first, repaired(first, "k"))
    assert (after.count("int z;"), after.count("if (taken2) {")) == (1, 2), after


def test_a_variable_that_may_be_asked_for_once_more_is_not_used_again() -> None:
    said = repaired(
        LAUNCH
        + """__global__ void k(int *out, const int *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, c = 0;
  int z;
  z = in[t];
top:
  out[t + 64] += z;
  __syncthreads();
  if (t < n) {
    int z = in[t] * 2;
    s[t] = z;
    out[t] = s[63 - t] + z;
  }
  __syncthreads();
  if (c++ < 2) goto top;
}
""",
        "k",
    )
    assert isinstance(said, FixRefusal), said
    assert "`z` is declared in front of the conditional as well" in said.text


@pytest.mark.parametrize("behind", ["out[t] += z;", "auto last = [&] { return z; }; out[t] += last();"])
def test_a_variable_that_is_still_used_is_not_used_again(behind: str) -> None:
    text = DECLARED.format(LAUNCH, "int z = in[t];", "__syncthreads();", "z").replace("    __syncthreads();\n", "")
    first = edited(text, repaired(text, "k")).rstrip().removesuffix("}") + "  __syncthreads();\n"
    said = repaired(first + TWICE.removesuffix("}\n") + f"  {behind}\n}}\n", "k")
    assert isinstance(said, FixRefusal), said
    assert "`z` means something else around the conditional" in said.text
