"""Loops whose bounds depend on the thread: the bound of the last or the first thread for all of them, the same accesses
after it, and what keeps a vote in the test."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine, in_a_block, repaired

from analyzers.requests import CheckRequest
from quickfix import offers

KERNEL = """__global__ void k(int *out, const int *in, int b, int e) {{
  __shared__ int s[64];
  {before}
  for ({loop}) {{
    s[threadIdx.x] = i;
    out[threadIdx.x] += s[63 - threadIdx.x];{last}
  }}
}}
"""
T = "int t = threadIdx.x;"
LAST = "const int last = blockDim.x - 1;"
ENDS = ((-3, 40), (9, 70), (2, -20))


def kernel_of(before: str, loop: str, last: str = "") -> str:
    return KERNEL.format(before=before, loop=loop, last=last and "\n    " + last)


def first_of(text: str) -> str:
    """After the first repair."""
    return edited(text, next(offers(engine(), CheckRequest("/restructured/b.cu", text))))


BOUNDS = [
    (T, "int i = 0; i < t; i++", LAST, "i < last"),
    (T, "int i = 0; t > i; ++i", LAST, "last > i"),
    (T, "int i = 0; i < t / 32 + 2; i++", LAST, "i < last / 32 + 2"),
    (T, "int i = 0; i < (t >> 2); i++", LAST, "i < (last >> 2)"),
    (T, "int i = 0; i < t * t; i += 50", LAST, "i < last * last"),
    (T, "int i = 0; i < (t > 20 ? 20 : t); i++", LAST, "i < (last > 20 ? 20 : last)"),
    (T, "int i = 1; i <= t; i *= 2", LAST, "i <= last"),
    (T, "int i = 1; i < t; i <<= 1", LAST, "i < last"),
    (T, "int i = b; i < t + e; i++", LAST, "i < last + e"),
    (T, "int i = 0, limit = e; i < t + limit; i++", LAST, "i < last + limit"),
    (T, "int i = -3; i < t; i++", LAST, "i < last"),
    (T, "int i = 0; i <= t && i < e; i++", LAST, "i <= last && i < e"),
    (T, "int i = 0; i < e && i < t; i++", LAST, "i < e && i < last"),
    # Less than nothing is nothing, whatever `e` is.
    (T, "int i = 0; i < t * (e & 7); i++", LAST, "i < last * (e & 7)"),
    (T + " int i;", "i = 0; i < t; i++", LAST, "i < last"),
    (T + " const int m = in[0];", "int i = 0; i < t + m; i++", LAST, "i < last + m"),
    (T + " if (e < 5) return;", "int i = 0; i < t; i++", LAST, "i < last"),
    ("int t = threadIdx.x, lane = t % 32;", "int i = 0; i < t; i++", LAST, "i < last"),
    ("unsigned t = threadIdx.x;", "int i = b; i < t; i++", "const unsigned int last = blockDim.x - 1;", "i < last"),
    ("const auto t = threadIdx.x;", "int i = 0; i < t; i++", "const unsigned int last = blockDim.x - 1;", "i < last"),
    ("long long t = threadIdx.x;", "int i = 0; i < t * 2; i++", "const long long last = blockDim.x - 1;", "last * 2"),
    (
        "int tx = threadIdx.x; const int row = tx + 3 * blockIdx.x;",
        "int i = 0; i < row; i++",
        "const int last_row = last + 3 * blockIdx.x;",
        "i < last_row",
    ),
    (
        "int row = blockIdx.x * blockDim.x + threadIdx.x;",
        "int i = 0; i <= row; i++",
        "const int last_row = blockIdx.x * blockDim.x + blockDim.x - 1;",
        "i <= last_row",
    ),
    ("", "int i = 0; i < threadIdx.x; i++", "", "i < blockDim.x - 1"),
    ("", "int i = 0; i < 2 * threadIdx.x; i++", "", "i < 2 * (blockDim.x - 1)"),
    ("", "unsigned i = 0; i < threadIdx.x + 3; i += 3", "", "i < blockDim.x - 1 + 3"),
    (T + " int last = 5;", "int i = 0; i < t; i++", "const int last2 = blockDim.x - 1;", "i < last2"),
    (T + " const int top = blockDim.x - 1;", "int i = 0; i < t; i++", "", "i < top"),
    # Of what becomes less, that of the first thread.
    (T, "int i = 0; i < e - t; i++", "", "i < e;"),
    (T, "int i = 0; i <= e - 2 * t - 1; i++", "", "i <= e - 1;"),
    (T, "int i = 0; i < e - t / 2 && i < b; i++", "", "i < e && i < b;"),
    ("", "int i = 0; i < blockDim.x - threadIdx.x; i++", "", "i < blockDim.x;"),
    ("", "int i = 0; i < blockDim.x - 1 - threadIdx.x; i++", "", "i < blockDim.x - 1;"),
    (
        "int row = threadIdx.x + blockIdx.x * blockDim.x;",
        "int i = 0; i < e - row; i++",
        "const int first_row = blockIdx.x * blockDim.x;",
        "i < e - first_row",
    ),
    # Downwards it is the least one.
    (T, "int i = e; i > t; i--", "", "i > 0;"),
    (T, "int i = e; i >= 20 - t; i--", LAST, "i >= 20 - last"),
]


@pytest.mark.parametrize(("before", "loop", "declared", "test"), BOUNDS)
def test_a_loop_up_to_the_number_of_a_thread_is_made_up_to_that_of_one_for_all(
    before: str, loop: str, declared: str, test: str
) -> None:
    text = kernel_of(before, loop)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    head = next(line for line in after.splitlines() if "for (" in line)
    assert "__syncthreads_or" not in after
    assert test in head
    assert (declared in after) if declared else ("const int last" not in after and "first" not in after)
    for begin, end in ENDS:
        assert in_a_block(after, begin, end) == in_a_block(text, begin, end), after


VOTED = [
    # Not the last thread and not the first one has most to do, or not in blocks of every size.
    (T, "int i = 0; i < t % 8; i++", ""),
    (T, "int i = 0; i < (t & 7); i++", ""),
    (T, "int i = 0; i < (t ^ 1); i++", ""),
    (T, "int i = -9; i < t * (int(blockDim.x) - 62); i++", ""),
    (T, "int i = -9; i < (b - 5) * (60 - t); i++", ""),
    (T, "int i = 0; i < (t < 40 ? t : 10); i++", ""),
    ("signed char t = threadIdx.x * 3;", "int i = 0; i < t; i++", ""),
    # A bound may wrap around, or a counter may and be below it again.
    (T, "unsigned i = 0; i < (t - 5u) % 256u; i++", ""),
    ("", "unsigned i = b & 7; i < (e & 63) - threadIdx.x && i < 70; i++", ""),
    ("", "unsigned i = b; i < e + threadIdx.x && i < 70; i += 7", ""),
    # The counter is another one in each thread, or somebody looks at it behind the loop.
    (T, "int i = t & 1; i < t; i++", ""),
    (T, "int i = 0; i < t; i += 1 + (t & 1)", ""),
    (T, "int i = 0; i < t; i++", "i += in[2] & 1;"),
    (T + " int i = 0;", "; i < t; i++", "e = i;"),
    (T, "int i = 0; i < t; i++", "int &other = i; out[64] = other;"),
    # What the bound is made of changes, or is not known.
    (T + " t += in[1] & 3;", "int i = 0; i < t; i++", ""),
    (T, "int i = 0; i < t; i++", "if (i == 3) t--;"),
    (T, "int i = 0; i < t + e; i++", "e--;"),
    (T + " const int m = in[t] & 31;", "int i = 0; i < m; i++", ""),
    (T + " int m = 3; if (t == 5) m = 7;", "int i = 0; i < t + m; i++", ""),
    (T + " float f = t;", "int i = 0; i < f; i++", ""),
    (T + " int &r = t;", "int i = 0; i < r; i++", ""),
    # Not all threads come to the loop, or they leave it otherwise.
    (T + " if (t > 40) return;", "int i = 0; i < t; i++", ""),
    (T, "int i = 0; i < t; i++", "if (i == e) break;"),
    (T, "int i = 0; i < t || i < e; i++", ""),
    # With each thread's own number, the product may overflow that the last one computes.
    (T, "int i = 0; i * (t + 1) < e; i++", ""),
    (T, "int i = 0; i < e / (t + 1); i++", ""),
]


@pytest.mark.parametrize(("before", "loop", "last"), VOTED)
def test_other_loops_keep_a_vote(before: str, loop: str, last: str) -> None:
    text = LAUNCH + kernel_of(before, loop, last)
    after = edited(text, repaired(text, "k"))
    assert "__syncthreads_or(" in after
    for begin, end in ((2, 7), (9, 70)):
        assert in_a_block(after, begin, end) == in_a_block(text, begin, end), after


@pytest.mark.parametrize(
    "loop",
    [
        "unsigned i = 4294967110u; i < 4294967200u + (t < 64 ? t : 63); i += 100",
        "unsigned char i = 0; i < t * 8; i += 100",
    ],
)
def test_a_counter_that_begins_anew_would_be_below_the_bound_of_a_thread_that_is_through(loop: str) -> None:
    text = LAUNCH + kernel_of(T, loop)
    assert "__syncthreads_or(" in edited(text, repaired(text, "k"))


def test_a_name_that_is_hidden_at_the_loop_is_not_written_there() -> None:
    text = LAUNCH + kernel_of("int c = e & 3, row = c + threadIdx.x;", "int i = 0; i < row; i++").replace(
        "  for", "  if (b < 100) {\n  int c = 1000;\n  for"
    ).replace("\n  }\n}", " out[64] = c;\n  }\n  }\n}")
    assert "__syncthreads_or(i < row)" in edited(text, repaired(text, "k"))


def test_a_bound_in_two_dimensions() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(16,4)
__global__ void k(int *out, const int *in, int b, int e) {
  __shared__ int s[64];
  const int t = threadIdx.y * blockDim.x + threadIdx.x, x = threadIdx.x;
  for (int i = 0; i < BOUND; i++) {
    s[t] = i;
    out[t] += s[63 - t];
  }
}
"""
    bounds = {
        "t": ("const int last_t = (blockDim.y - 1) * blockDim.x + blockDim.x - 1;", "i < last_t;"),
        "64 - t": ("", "i < 64;"),
        "x": (LAST, "i < last;"),
        "threadIdx.y - threadIdx.x + 64": ("", "__syncthreads_or("),
    }
    for bound, (declared, test) in bounds.items():
        before = text.replace("BOUND", bound)
        after = first_of(before)
        assert declared in after
        assert test in after
        for end in (0, 9):
            assert in_a_block(after, 0, end, (16, 4, 1)) == in_a_block(before, 0, end, (16, 4, 1)), bound


def test_a_bound_comes_first_and_a_vote_beside_it() -> None:
    text = LAUNCH + kernel_of(T, "int i = 0; i < t / 2; i++")
    first, other = offers(engine(), CheckRequest("/restructured/b.cu", text))
    assert (first.preferred, other.preferred) == (True, False)
    assert first.groups == other.groups
    assert "et all threads make the last one's iterations of the loop in line 5" in first.title
    assert "et all threads make all iterations of the loop in line 5" in other.title
    assert first.cost == "+2 barriers per iteration of the loop at line 5"
    assert "for (int i = 0; __syncthreads_or(i < t / 2);) {" in edited(text, other)


def test_barriers_that_threads_miss_are_in_a_loop_with_a_bound_for_all() -> None:
    text = LAUNCH + kernel_of(T, "int i = 0; i < t; i++").replace("= i;", "= i;\n    __syncthreads();")
    after = first_of(text)
    assert "for (int i = 0; i < last; i++) {" in after
    assert in_a_block(after, 0, 0) == in_a_block(text, 0, 0)


@pytest.mark.parametrize(
    ("head", "declared"),
    [
        ("for (int i = r; i < t / 4; i++)", "    const int last = blockDim.x - 1;\n    for (int i = r; i < last / 4;"),
        ("for (int i = 0; i < t / 4 + r; i++)", "for (int i = 0; i < last / 4 + r;"),
        ("const int to = t / 4 + r; for (int i = 0; i < to; i++)", "const int last_to = last / 4 + r;"),
        ("for (int i = 0; i < kept / 4; i++)", "__syncthreads_or("),
        ("for (int i = 0; i < all / 4; i++)", "__syncthreads_or("),
    ],
)
def test_a_bound_in_a_loop_around(head: str, declared: str) -> None:
    text = f"""{LAUNCH}__global__ void k(int *out, const int *in, int b, int e) {{
  __shared__ int s[64];
  int t = threadIdx.x, kept = t;
  for (int r = 0, q = 0; r < 3; r++) {{
    int all = t + q;
    {head} {{
      s[t] = i;
      out[t] += s[63 - t];
    }}
    kept++, q += in[t] & 1;
  }}
}}
""".replace("; for", ";\n    for")
    after = first_of(text)
    assert declared in after
    assert in_a_block(after, 0, 0) == in_a_block(text, 0, 0)


def test_a_loop_in_another_one_up_to_the_same_number_has_one_name_for_it() -> None:
    text = LAUNCH + kernel_of(T, "int r = 0; r < t / 8; r++").replace(
        "    s[", "    for (int i = 0; i < t; i++) {\n    s["
    ).replace("];\n  }", "];\n    }\n  }")
    after = first_of(text)
    assert after.count("blockDim.x - 1") == 1
    assert "for (int i = 0; i < last; i++) {" in after


CALLED = """__device__ void f(int *s, int *out, int e) {{
  int t = threadIdx.x;
  for (int i = -100; i < t * e; i++) {{
    s[t] = i;
    out[t] += s[63 - t];
  }}
}}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out) {{
  __shared__ int s[64];
  f(s, out, 2);
}}
// Here is no race: each thread reads what nobody writes.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void other(int *out) {{
  __shared__ int s[64];
  f(s, out, {0});
}}
"""


@pytest.mark.parametrize(("factor", "test"), [("3", "i < last * e;"), ("-2", "__syncthreads_or(i < t * e)")])
def test_a_bound_does_for_all_that_call_the_function(factor: str, test: str) -> None:
    assert test in first_of(CALLED.format(factor))


def test_a_bound_is_not_for_kernels_that_were_not_looked_at() -> None:
    text = CALLED.format("3")
    assert "__syncthreads_or(i < t * e)" in edited(text, repaired(text, "k"))


def test_what_a_function_is_given_is_no_number_of_a_thread() -> None:
    text = CALLED.format("threadIdx.x").replace("f(s, out, 2)", "f(s, out, threadIdx.x & 3)").replace("t * e", "t + e")
    assert "__syncthreads_or(i < t + e)" in first_of(text)


def test_a_bound_does_for_all_instances() -> None:
    text = """template <typename T> __global__ void k(T *out, T n) {
  __shared__ T s[64];
  int t = threadIdx.x;
  for (T i = 0; i < n - t; i++) {
    s[t] = i;
    out[t] += s[63 - t];
  }
}
void run(int *a, TYPE *c, int n) { k<int><<<1, 64>>>(a, n); k<TYPE><<<1, 32>>>(c, n); }
"""
    assert "for (T i = 0; i < n; i++) {" in first_of(text.replace("TYPE", "long"))
    assert "__syncthreads_or(i < n - t)" in first_of(text.replace("TYPE", "unsigned"))


def test_a_loop_of_a_block_that_is_one_warp_has_barriers_of_the_warp() -> None:
    text = (LAUNCH + kernel_of(T, "int i = 0; i < t; i++")).replace("(64)", "(32)").replace("63 -", "31 -")
    after = first_of(text)
    assert "for (int i = 0; i < last; i++) {" in after
    assert "__syncwarp();" in after


def test_a_bound_that_another_build_has_not_is_no_repair_to_be_made_unasked() -> None:
    before = "\n#ifdef TWICE\n  int t = 2 * threadIdx.x;\n#else\n  int t = threadIdx.x;\n#endif"
    text = LAUNCH + kernel_of(before, "int i = 0; i < t; i++")
    first = next(offers(engine(), CheckRequest("/restructured/b.cu", text)))
    assert LAST in edited(text, first)
    assert "assumes that no other build has other code from line 5 on" in first.title
    assert not first.preferred


@pytest.mark.parametrize(
    ("head", "before", "test"),
    [
        ("", "int t = threadIdx.x;", "int i = 39990; i < (short)-t + e; i++"),
        ("#define CC 3\n", "int t = threadIdx.x + CC;\n#undef CC\n#define CC -40", "int i = 0; i < t; i++"),
        (
            "",
            "unsigned n = e; long long row = threadIdx.x * 4ll + blockIdx.x * n + blockIdx.y * n;",
            "int i = 0; i < b - row; i++",
        ),
    ],
    ids=["a sign behind a cast", "a macro with another value", "a sum that is wider for the thread"],
)
def test_a_bound_that_is_written_means_what_it_was_made_of(head: str, before: str, test: str) -> None:
    text = head + LAUNCH.replace("grid=(1)", "grid=(2,2)") + kernel_of(before, test)
    assert "__syncthreads_or(" in edited(text, repaired(text, "k"))
