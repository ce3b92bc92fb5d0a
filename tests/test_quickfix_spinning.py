"""New barriers in kernels whose threads wait in a loop for what others write."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine

from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """__global__ void k(int *o, const int *d) {{
  __shared__ {type} flag;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
{body}
}}
"""
SIGNALLED = "  if (t == 9) flag = 1;\n  if (t == 0) while (flag == 0);\n"
READ = "  if (t == 0) o[0] = s[5];\n  s[t] = d[t];\n"


def found(body: str, type_: str) -> tuple[list[str], list[str]]:
    """The texts after the repairs, and what is said where there is none."""
    text = LAUNCH + KERNEL.format(body=body, type=type_)
    answered = list(answers(engine(), CheckRequest("/spinning/a.cu", text)))
    new = [edited(text, a) for a in answered if isinstance(a, Fix)]
    for each in new:
        kernels = engine().analyse(CheckRequest("/spinning/a.cu", each)).result.kernels
        assert kernels[0].verdict is not Verdict.DATA_RACE
    return new, [a.text for a in answered if isinstance(a, FixRefusal)]


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (f"  if (t == 0) while (atomicAdd(&flag, 0) < 63);\n{READ}  if (t) atomicAdd(&flag, 1);", "int"),
        (f"  if (t == 0) while (flag == 0);\n{READ}  if (t == 9) flag = 1;", "volatile int"),
        (
            (
                "  if (t < 32) {\n    if (t == 0) while (flag == 0);\n    s[t] = d[t];\n    __syncthreads();\n"
                "    o[t] = s[31 - t];\n  }\n  if (t == 40) flag = 1;"
            ),
            "volatile int",
        ),
    ],
    ids=["atomic", "volatile", "missed barrier"],
)
def test_no_barrier_keeps_threads_from_a_write_that_others_wait_for(body: str, type_: str) -> None:
    new, said = found(body, type_)
    assert not new
    assert said


@pytest.mark.parametrize(
    ("body", "barrier"),
    [
        (f"  if (t == 0) while (flag == 0);\n{READ}  if (t == 32) flag = 1;", "  __syncwarp();"),
        (f"{SIGNALLED}{READ}", "  __syncwarp();"),
        (f"{SIGNALLED}  __syncthreads();\n{READ}  if (t == 9) flag = 2;", "s[5];\n  __syncwarp();"),
    ],
    ids=["another warp", "written before", "written again"],
)
def test_barriers_stand_where_the_write_is_made_all_the_same(body: str, barrier: str) -> None:
    new, _ = found(body, "volatile int")
    assert new
    assert barrier in new[0]


ANSWERED = """__device__ int ready, ack;
__global__ void k(int *o) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {{
    if (t == {waiting}) while (atomicAdd(&ack, 0) == 0) {{}}
    s[t] = t;
    o[t] = s[63 - t];
    {signal}
  }} else if (t == 0) {{
    while (atomicAdd(&ready, 0) == 0) {{}}
    atomicExch(&ack, 1);
  }}
}}
void go(int *o) {{ k<<<2, 64>>>(o); }}
"""


@pytest.mark.parametrize(
    ("waiting", "signal", "repaired"),
    [
        (63, "if (t == 0) atomicExch(&ready, 1);", False),
        (0, "if (t == 0) atomicExch(&ready, 1);", True),
        (63, "", True),
    ],
    ids=["by another thread", "by the thread that waits", "no answer"],
)
def test_no_barrier_keeps_a_thread_from_what_another_block_answers(waiting: int, signal: str, repaired: bool) -> None:
    """Where the thread that waits is the one that signals, it waits in vain without the barrier, too."""
    text = ANSWERED.format(waiting=waiting, signal=signal)
    answered = list(answers(engine(), CheckRequest("/spinning/b.cu", text)))
    assert answered
    assert any(isinstance(a, Fix) for a in answered) == repaired, answered


def test_a_barrier_that_is_seldom_there_tells_nothing_of_what_threads_wait_for() -> None:
    """Neither is it taken out of its condition, nor is there another one beside it."""
    text = ANSWERED.format(waiting=63, signal="if (t == 0) atomicExch(&ready, 1);")
    text = text.replace("    o[t] = s", "    if (n > 64) __syncthreads();\n    o[t] = s").replace(
        "(int *o)", "(int *o, int n)"
    )
    answered = list(answers(engine(), CheckRequest("/spinning/c.cu", text.replace("(o);", "(o, n);"))))
    assert answered
    assert not any(isinstance(a, Fix) for a in answered), answered


WAITS = {
    "left by a jump": "if (t == 63) { for (;;) { if (atomicAdd(&ack, 0)) break; } }",
    "left by goto": "if (t == 63) { again: if (atomicAdd(&ack, 0) == 0) goto again; }",
    "goes on by continue": "if (t == 63) for (;;) { if (atomicAdd(&ack, 0) == 0) continue; break; }",
    "a variable that is set": (
        "if (t == 63) { bool done = false; while (!done) { if (atomicAdd(&ack, 0) != 0) done = true; } }"
    ),
    "an array of the thread": (
        "if (t == 63) { int got[2] = {0, 0}; int i = t & 1; while (!got[i]) { got[i] = atomicAdd(&ack, 0); } }"
    ),
    "shared memory": "if (t >= 32) while (!got[t]) got[t] = t == 63 ? atomicAdd(&ack, 0) : 1;",
    "global memory": "if (t == 63) while (!o[500]) o[500] = atomicAdd(&ack, 0);",
    "a vote": "if (t >= 32) while (!__any_sync(~0u, t == 63 && atomicAdd(&ack, 0))) {}",
    "a shuffle": (
        "if (t >= 32) { int f; do { f = 0; if (t == 63) f = atomicAdd(&ack, 0); f = __shfl_sync(~0u, f, 31); } "
        "while (f == 0); }"
    ),
    "in a helper": "if (t == 63) await(&ack);",
    "a volatile view": "if (t == 63) while (*(volatile int *)&ack == 0) {}",
    "with a limit of its own": "if (t == 63) for (int i = 0; i < n && atomicAdd(&ack, 0) == 0; i++) {}",
}
HELPER = """__device__ void await(int *p) { for (;;) if (atomicAdd(p, 0)) return; }
"""


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_however_a_wait_is_written_no_barrier_keeps_a_thread_from_what_it_is_for(wait: str) -> None:
    text = ANSWERED.format(waiting=63, signal="if (t == 0) atomicExch(&ready, 1);")
    text = HELPER + text.replace("if (t == 63) while (atomicAdd(&ack, 0) == 0) {}", wait)
    text = text.replace("(int *o)", "(int *o, int n)").replace("(o);", "(o, n);").replace("s[64];", "s[64], got[64];")
    answered = list(answers(engine(), CheckRequest("/spinning/d.cu", text)))
    assert answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered
    said = [a.text for a in answered if isinstance(a, FixRefusal)]
    assert any("threads that wait for" in each and "`ready` (line 10)" in each for each in said), said


@pytest.mark.parametrize(
    "wait",
    ["while (flag == 0);", "while (*(volatile int *)&flag == 0);", "{ int got = 0; while (!got) got |= flag; }"],
    ids=["plain", "volatile", "gathered"],
)
def test_a_plain_write_may_be_what_threads_wait_for(wait: str) -> None:
    body = f"  if (t == 63) {wait}\n  s[t] = d[t];\n  o[t] = s[63 - t];\n  if (t == 0) flag = 1;"
    answered = list(answers(engine(), CheckRequest("/spinning/h.cu", LAUNCH + KERNEL.format(body=body, type="int"))))
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered
    said = [a.text for a in answered if isinstance(a, FixRefusal)]
    assert any("those that write `flag` (line " in each for each in said), said


@pytest.mark.parametrize(
    ("loop", "write"),
    [
        ("for (int i = t; i < flag; i += 64) o[i] = 1;", "if (t == 9) flag = 5;"),
        ("int i = t; while (s[i] < t) i += 64;", "s[63 - t] = d[t];"),
        ("int i = 0; while (i != s[t]) i++;", "s[63 - t] = d[t];"),
    ],
    ids=["a count", "a search", "up to a value"],
)
def test_a_loop_over_data_that_are_written_anew_is_no_wait(loop: str, write: str) -> None:
    """Threads come to its end whatever others write: a barrier between the two is what lacks."""
    new, said = found(f"  {loop}\n  {write}", "int")
    assert any(f"__syncthreads();\n  {write}" in each for each in new), (new, said)


CARRIED = """__device__ int ready[{count}], ack[{count}];
__global__ void k(int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {{
    for (int i = 0; i < 4; i++) {{
      {signal}
      s[t] = t + i;
      o[t] = s[63 - t];
      {wait}
    }}
  }} else if (t == 0) {{
    for (int i = 0; i < 4; i++) {{
      while (atomicAdd(&ready[i], 0) == 0) {{}}
      atomicExch(&ack[i], 1);
    }}
  }}
}}
void go(int *o, int n) {{ k<<<2, 64>>>(o, n); }}
"""


def test_a_wait_in_one_iteration_may_be_for_a_write_in_the_next() -> None:
    text = CARRIED.format(
        count=8,
        signal="if (t == 0 && i > 0) atomicExch(&ready[i - 1], 1);",
        wait="if (t == 63 && i < 3) while (atomicAdd(&ack[i], 0) == 0) {}",
    )
    answered = list(answers(engine(), CheckRequest("/spinning/e.cu", text)))
    assert answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


CHAIN = """__device__ int flags[64], sums[64];
__global__ void chain(int *o, const int *in) {{
  __shared__ int before;
  int t = threadIdx.x, b = blockIdx.x;
  if (t == 0) {{
    int p = 0;
    if (b > 0) {{
      while (atomicAdd(&flags[{awaited}], 0) == 0) {{}}
      __threadfence();
      p = sums[b - 1];
    }}
    before = p;
  }}
  o[b * 64 + t] = before;
  if (t == 63) {{
    sums[b] = before + in[b];
    __threadfence();
    atomicExch(&flags[b], 1);
  }}
}}
void go(int *o, const int *in) {{ chain<<<5, 64>>>(o, in); }}
"""


@pytest.mark.parametrize(("awaited", "repaired"), [("b - 1", True), ("(b + 1) % 5", False)], ids=["chain", "ring"])
def test_blocks_that_wait_for_lower_ones_only_wait_for_none_of_their_own_writes(awaited: str, repaired: bool) -> None:
    text = CHAIN.format(awaited=awaited)
    answered = list(answers(engine(), CheckRequest("/spinning/f.cu", text)))
    assert any("Insert __syncthreads() after line 13" in a.title for a in answered if isinstance(a, Fix)) == repaired


@pytest.mark.parametrize(("awaited", "repaired"), [("b - 1", True), ("(b + 1) % n", False), ("b % gridDim.x", False)])
def test_chains_go_on_in_the_next_iterations(awaited: str, repaired: bool) -> None:
    text = f"""__global__ void wave(int *o, const int *d, int *flag, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int b = blockIdx.x; b < n; b += gridDim.x) {{
    if (t == 0 && b > 0) while (atomicAdd(&flag[{awaited}], 0) == 0) {{}}
    s[t] = d[b * 64 + t];
    o[b * 64 + t] = s[63 - t];
    if (t == 63) atomicExch(&flag[b], 1);
    __syncthreads();
  }}
}}
void go(int *o, const int *d, int *flag, int n) {{ wave<<<16, 64>>>(o, d, flag, n); }}
"""
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/w.cu", text)) if isinstance(a, Fix)]
    assert any("Insert __syncthreads() after line 6" in title for title in titles) == repaired, titles


def test_other_locks_than_the_one_that_is_waited_for_hold_nobody_up() -> None:
    """Who gives the one lock back has not to wait for the other before."""
    text = """__device__ int one, two;
__global__ void k(int *o, int *p, int *q) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(&one, 0, 1) != 0) {}
    __threadfence();
    p[0]++;
    __threadfence();
    atomicExch(&one, 0);
  }
  s[t] = t;
  o[blockIdx.x * 64 + t] = s[63 - t];
  if (t == 32) {
    while (atomicCAS(&two, 0, 1) != 0) {}
    __threadfence();
    q[0]++;
    __threadfence();
    atomicExch(&two, 0);
  }
}
void go(int *o, int *p, int *q) { k<<<4, 64>>>(o, p, q); }
"""
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/g.cu", text)) if isinstance(a, Fix)]
    assert any("Insert __syncthreads() after line 12" in title for title in titles), titles


LOCKED = """__device__ int lock;
__global__ void k(int *o, int *p) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {first}
  s[t] = t;
  o[blockIdx.x * 64 + t] = s[63 - t];
  {second}
}}
void go(int *o, int *p) {{ k<<<4, 64>>>(o, p); }}
"""
TAKE = "while (atomicCAS(&lock, 0, 1) != 0) {} __threadfence();"
GIVE = "__threadfence(); atomicExch(&lock, 0);"
EACH = (
    "for (bool done = false; !done;) if (atomicCAS(&lock, 0, 1) == 0) { __threadfence(); p[0]++; __threadfence(); "
    "atomicExch(&lock, 0); done = true; }"
)


@pytest.mark.parametrize(
    ("first", "second", "repaired"),
    [
        (f"if (t == 0) {{ {TAKE} p[0]++; {GIVE} }}", f"if (t == 32) {{ {TAKE} p[0]++; {GIVE} }}", True),
        (EACH, EACH, True),
        (f"if (t == 0) {{ {TAKE} }}", f"if (t == 0) {{ p[0]++; {GIVE} }}", True),
        (f"if (t % 32 == 0) {{ {TAKE} }}", f"if (t % 32 == 0) {{ p[0]++; {GIVE} }}", False),
    ],
    ids=["two sections", "two sections of each thread", "one section of one thread", "one section of two threads"],
)
def test_a_barrier_between_sections_is_none_inside_of_one(first: str, second: str, repaired: bool) -> None:
    """Inside of one it is passed where no other thread of the block wants the lock."""
    text = LOCKED.format(first=first, second=second)
    answered = list(answers(engine(), CheckRequest("/spinning/i.cu", text)))
    titles = [a.title for a in answered if isinstance(a, Fix)]
    assert any("Insert __syncthreads() after line 6" in title for title in titles) == repaired, answered


def test_an_answer_may_be_passed_on_inside_of_another_block() -> None:
    text = ANSWERED.format(waiting=63, signal="if (t == 0) atomicExch(&ready, 1);")
    answer = "  } else {\n    if (t == 32) { while (atomicAdd(&ready, 0) == 0) {} atomicExch(&x, 1); }\n"
    answer += "    if (t == 0) { while (atomicAdd(&x, 0) == 0) {} atomicExch(&ack, 1); }\n  }\n}\n"
    start, end = text.index("  } else if"), text.index("void go")
    text = text[:start] + answer + text[end:]
    text = text.replace("s[64];", "s[64], x; if (t0 == 0) x = 0; __syncthreads();").replace(
        "int *o)", "int *o, int t0)", 1
    )
    text = text.replace("(o);", "(o, 1);")
    answered = list(answers(engine(), CheckRequest("/spinning/j.cu", text)))
    assert answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


@pytest.mark.parametrize("passed", ["", "  __syncthreads();\n"], ids=["alone", "beside one of the block"])
def test_no_barrier_of_the_grid_keeps_a_block_from_a_write_that_another_waits_for(passed: str) -> None:
    text = """#include <cooperative_groups.h>
__device__ int ready;
__global__ void k(int *b, int *o) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x == 0) while (atomicAdd(&ready, 0) == 0) {}
  b[i] = i;
PASSED  o[i] = b[127 - i];
  if (blockIdx.x == 1 && threadIdx.x == 0) atomicExch(&ready, 1);
}
void go(int *b, int *o) {
  void *arguments[] = {&b, &o};
  cudaLaunchCooperativeKernel((void *)k, dim3(2), dim3(64), arguments, 0, 0);
}
""".replace("PASSED", passed)
    answered = list(answers(engine(), CheckRequest("/spinning/k.cu", text)))
    assert answered
    assert not any("sync()" in a.title for a in answered if isinstance(a, Fix)), answered
    apart = text.replace("while (atomicAdd(&ready, 0) == 0) {}", "o[200] = 1;")
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/l.cu", apart)) if isinstance(a, Fix)]
    assert any("sync()" in title for title in titles), titles


ORDINARY = {
    "a hash table, cleared for each batch": """
  for (int b = 0; b < n; b++) {
    s[t] = -1;
    __syncthreads();
    int h = d[b * 64 + t] & 63;
    while (atomicCAS(&s[h], -1, t) != -1) h = (h + 1) & 63;
    o[b * 64 + t] = s[t];
    __syncthreads();
  }""",
    "a queue that is begun again": """
  if (t == 0) x = 0;
  __syncthreads();
  int i;
  while ((i = atomicAdd(&x, 1)) < n) atomicAdd(&o[i], 1);
  if (t == 0) x = 0;
  __syncthreads();
  while ((i = atomicAdd(&x, 1)) < n) atomicAdd(&o[i], 2);""",
    "a queue of warps": """
  for (int q = 0; q < 4; q++) {
    if (t == 0) x = 0;
    __syncthreads();
    for (;;) {
      int i;
      if (t % 32 == 0) i = atomicAdd(&x, 1);
      i = __shfl_sync(~0u, i, 0);
      if (i >= n) break;
      atomicAdd(&o[i * 32 + t % 32], q);
    }
  }""",
    "a maximum by retries": """
  for (int r = 0; r < n; r++) {
    if (t == 0) x = 0;
    __syncthreads();
    int most;
    while ((most = atomicMax(&x, d[t])) < d[t]) {}
    o[r * 64 + t] = x;
    __syncthreads();
  }""",
    "until nothing changes": """
  for (int r = 0; r < n; r++) {
    s[t] = d[r * 64 + t];
    x = 1;
    __syncthreads();
    while (x) {
      __syncthreads();
      if (t == 0) x = 0;
      int best = max(s[t], s[(t + 1) & 63]);
      __syncthreads();
      if (best > s[t]) { s[t] = best; x = 1; }
      __syncthreads();
    }
    o[r * 64 + t] = s[63 - t];
  }""",
    "a stop in each round": """
  for (int r = 0; r < n; r++) {
    if (t == 0) x = 0;
    __syncthreads();
    for (int i = t; i < 1024; i += 64) {
      if (atomicAdd(&x, 0)) break;
      if (d[i] == r) atomicExch(&x, 1);
    }
    o[r * 64 + t] = r;
  }""",
    "warps in turn": """
  for (int r = 0; r < n; r++) {
    if (t == 0) x = 0;
    if (t % 32 == 0) {
      while (atomicAdd(&x, 0) != t / 32) {}
      atomicAdd(&o[r], d[t]);
      __threadfence();
      atomicExch(&x, t / 32 + 1);
    }
    __syncthreads();
  }""",
    "a hash table that is filled twice": """
  __shared__ int table[256];
  for (int i = t; i < 256; i += 64) table[i] = -1;
  s[t] = d[t];
  __syncthreads();
  int h = t * 5 & 255;
  while (atomicCAS(&table[h], -1, t) != -1) h = (h + 1) & 255;
  o[t] = s[63 - t];
  s[t] = d[64 + t];
  h = t * 3 & 255;
  while (atomicCAS(&table[h], -1, s[t]) != -1) h = (h + 1) & 255;""",
    "a binary search in each tile": """
  for (int r = 0; r < n; r++) {
    s[t] = d[r * 64 + t];
    __syncthreads();
    int lo = 0, hi = 64;
    while (lo < hi) { int m = (lo + hi) / 2; if (s[m] < r) lo = m + 1; else hi = m; }
    o[r * 64 + t] = lo;
  }""",
}


@pytest.mark.parametrize("body", ORDINARY.values(), ids=ORDINARY)
def test_loops_that_end_by_themselves_wait_for_nobody(body: str) -> None:
    """One barrier lacks, between a loop and what is written for the next one."""
    text = "__global__ void k(int *o, const int *d, int n) {\n  __shared__ int s[64], x;\n  int t = threadIdx.x;"
    text += body + "\n}\nvoid go(int *o, const int *d, int n) { k<<<1, 64>>>(o, d, n); }\n"
    answered = list(answers(engine(), CheckRequest("/spinning/m.cu", text)))
    new = [edited(text, a) for a in answered if isinstance(a, Fix) and a.title.startswith("Insert __syncthreads()")]
    assert new, answered
    kernels = engine().analyse(CheckRequest("/spinning/m.cu", new[0])).result.kernels
    assert kernels[0].verdict in {Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER, Verdict.BENIGN_RACE}


@pytest.mark.parametrize(
    "wait",
    [
        "int c; do { c = 0; for (int i = 0; i < 32; i++) c += ready[i]; } while (c < 32);",
        "int c; do { c = 9; for (int i = 0; i < 32; i++) c = min(c, ready[i]); } while (c < 1);",
        "int i = 0; while (i < 32) { if (ready[i]) i++; }",
        "int i = 0; while (ready[0] == 0) { if (++i > 16) { __nanosleep(100); i = 0; } }",
        "int i = 0; while (ready[0] == 0 || i < 10) i++;",
        "int i = 0; while (ready[0] == 0 || i != 10) i++;",
    ],
    ids=["a sum", "the least", "one after the other", "with pauses", "counted, too", "counted to a number"],
)
def test_what_is_read_again_and_again_is_waited_for(wait: str) -> None:
    text = "__global__ void k(int *o, const int *d, int *ready) {\n  __shared__ int s[64];\n  int t = threadIdx.x;\n"
    text += f"  if (t == 63) {{ {wait} }}\n  s[t] = d[t];\n  o[t] = s[63 - t];\n  if (t < 32) ready[t] = 1;\n}}\n"
    text += "void go(int *o, const int *d, int *r) { k<<<1, 64>>>(o, d, r); }\n"
    answered = list(answers(engine(), CheckRequest("/spinning/n.cu", text)))
    assert any(isinstance(a, FixRefusal) and "threads that wait for `ready" in a.text for a in answered), answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


@pytest.mark.parametrize("spelled", ["", "__syncthreads(); "], ids=["without another", "beside another"])
def test_a_barrier_in_a_macro_is_a_new_one_where_the_macro_is_used(spelled: str) -> None:
    text = f"""#define REVERSE(from, to) {spelled}s[t] = from[t]; to[t] = s[63 - t];
__global__ void k(int *o, const int *d) {{
  __shared__ int s[64];
  __shared__ volatile int flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 63) while (flag == 0);
  REVERSE(d, o)
  if (t == 0) flag = 1;
}}
void go(int *o, const int *d) {{ k<<<1, 64>>>(o, d); }}
"""
    answered = list(answers(engine(), CheckRequest("/spinning/p.cu", text)))
    assert answered
    assert not any(isinstance(a, Fix) and "Insert" in a.title for a in answered), answered
    apart = text.replace("while (flag == 0)", "o[64] = flag")
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/q.cu", apart)) if isinstance(a, Fix)]
    assert any("into the macro REVERSE" in title for title in titles), titles


def test_blocks_that_take_numbers_wait_for_lower_ones_only() -> None:
    text = """__device__ int ticket, state[64], sum[64];
__global__ void k(int *o, const int *d) {
  __shared__ int s[64], tile, before;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(&ticket, 1);
  __syncthreads();
  int b = tile;
  s[t] = d[b * 64 + t];
  if (t == 0) {
    int total = 0;
    for (int p = b - 1; p >= 0; p--) {
      while (atomicAdd(&state[p], 0) == 0) {}
      __threadfence();
      total += sum[p];
    }
    before = total;
  }
  o[b * 64 + t] = s[63 - t] + before;
  if (t == 63) {
    sum[b] = s[63];
    __threadfence();
    atomicExch(&state[b], 1);
  }
}
void go(int *o, const int *d) { k<<<16, 64>>>(o, d); }
"""
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/r.cu", text)) if isinstance(a, Fix)]
    assert any("Insert __syncthreads() after line 17" in title for title in titles), titles
    upwards = text.replace("int p = b - 1; p >= 0; p--", "int p = 0; p < 16; p++")
    titles = [a.title for a in answers(engine(), CheckRequest("/spinning/s.cu", upwards)) if isinstance(a, Fix)]
    assert not any("after line 17" in title for title in titles), titles


@pytest.mark.parametrize(
    "signal", ["if (t == 0 && r > 0) atomicExch(&ready, r);", "if (t == 0) atomicExch(&ready, r);"]
)
def test_what_a_thread_waits_for_may_be_written_in_the_next_iteration(signal: str) -> None:
    text = f"""__global__ void k(int *o, const int *d, int n) {{
  __shared__ int s[64], ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  for (int r = 0; r < n; r++) {{
    if (t == 63 && r + 1 < n) while (atomicAdd(&ready, 0) < r + 1) {{}}
    {signal}
    s[t] = d[r * 64 + t];
    o[r * 64 + t] = s[63 - t];
  }}
}}
void go(int *o, const int *d, int n) {{ k<<<1, 64>>>(o, d, n); }}
"""
    answered = list(answers(engine(), CheckRequest("/spinning/t.cu", text)))
    assert answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


def test_the_loop_that_waits_may_write_in_the_next_iteration_of_one_around() -> None:
    text = """__global__ void k(int *o, const int *d, int n) {
  __shared__ int s[64], f;
  int t = threadIdx.x;
  if (t == 0) f = 0;
  __syncthreads();
  for (int r = 0; r < n; r++) {
    for (;;) {
      if (t == 0 && (r + 1 >= n || atomicAdd(&f, 0) > r)) break;
      if (t == 40) atomicExch(&f, r);
      if (t) break;
    }
    s[t] = d[r * 64 + t];
    o[r * 64 + t] = s[63 - t];
  }
}
void go(int *o, const int *d, int n) { k<<<1, 64>>>(o, d, n); }
"""
    answered = list(answers(engine(), CheckRequest("/spinning/v.cu", text)))
    assert answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


MORE_WAITS = {
    "bytes of a word": (
        "(volatile unsigned *)&ready",
        "while (*f != 0x01010101u);",
        "if (t < 4) ((char *)&ready)[t] = 1;",
    ),
    "left from an inner loop": (
        "(volatile unsigned *)&ready",
        "for (bool on = true; on;) { unsigned m = *f; for (int w = 0; w < 4; w++) if (m >> w & 1) on = false; }",
        "if (t == 0) *f = 4;",
    ),
    "bits unpacked": (
        "(volatile unsigned *)&ready",
        "unsigned v; char b[4]; do { v = *f; for (int i = 0; i < 4; i++) b[i] = v >> 8 * i; } while (b[2] == 0);",
        "if (t == 0) *f = 0x10000;",
    ),
    "one mailbox after the other": (
        "ready",
        "int i = 0; while (atomicExch(&f[i], 0) == 0) i = (i + 1) & 3;",
        "if (t == 2) atomicExch(&f[2], 7);",
    ),
    "a message in one of several places": (
        "ready",
        "int i = 0; while (atomicCAS(&f[i], 1, 0) != 1) i = (i + 1) & 3;",
        "if (t == 2) atomicExch(&f[2], 1);",
    ),
    "a place of a pool": (
        "ready",
        "int i = 0; while (atomicCAS(&f[i], 0, 1) != 0) i = (i + 1) & 3; o[64] = i;",
        "if (t < 4) { int i = 0; while (atomicCAS(&f[i], 0, 1) != 0) i = (i + 1) & 3; __threadfence(); f[i] = 0; }",
    ),
    "retries with a limit": (
        "ready",
        "bool ok = false; for (int i = 0; i < n && !ok; i++) if (atomicCAS(f, 1, 2) == 1) ok = true;",
        "if (t == 0) atomicExch(f, 1);",
    ),
    "a float": ("(volatile int *)ready", "while (*f == 0);", "if (t == 0) *(volatile float *)ready = 0.5f;"),
}


@pytest.mark.parametrize("case", MORE_WAITS.values(), ids=MORE_WAITS)
def test_what_ends_a_wait_may_be_a_part_of_it(case: tuple[str, str, str]) -> None:
    view, wait, signal = case
    text = f"""__global__ void k(int *o, const int *d, int n) {{
  __shared__ int s[64], ready[4];
  int t = threadIdx.x;
  if (t < 4) ready[t] = 0;
  __syncthreads();
  auto *f = {view};
  if (t == 63) {{ {wait} }}
  s[t] = d[t];
  o[t] = s[63 - t];
  {signal}
}}
void go(int *o, const int *d, int n) {{ k<<<1, 64>>>(o, d, n); }}
"""
    answered = list(answers(engine(), CheckRequest("/spinning/u.cu", text)))
    assert any(isinstance(a, FixRefusal) and "threads that wait for" in a.text for a in answered), answered
    assert not any("__syncthreads" in a.title for a in answered if isinstance(a, Fix)), answered


POLLED = """__device__ int lock;
__device__ volatile int flag;
__global__ void k(int *o, const int *d) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) {
    int done = 0;
    while (!done) {
      while (atomicCAS(&lock, 0, 1) != 0) {}
      __threadfence();
      done = flag;
      __threadfence();
      atomicExch(&lock, 0);
    }
  }
  s[t] = d[t];
  o[t] = s[63 - t];
  if (t == 40) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    flag = 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
}
void go(int *o, const int *d) { k<<<1, 64>>>(o, d); }
"""


def test_a_flag_that_is_polled_under_a_lock_is_named_and_not_the_lock() -> None:
    said = [a.text for a in answers(engine(), CheckRequest("/spinning/u.cu", POLLED)) if isinstance(a, FixRefusal)]
    assert len(said) == 1
    assert "threads that wait for `flag` (line 11) would not come to" in said[0]
    assert "those that write `flag` (line 21) would wait there" in said[0]


def test_what_tells_where_a_thread_waits_may_be_what_it_waits_for() -> None:
    text = """__global__ void k(int *out) {
  __shared__ int s[64], at;
  __shared__ volatile int flag[8];
  int t = threadIdx.x;
  if (t < 8) flag[t] = t == 5;
  if (t == 0) at = 0;
  __syncthreads();
  s[t] = t;
  if (t == 32) while (flag[at] == 0) __threadfence_block();
  out[t] = s[63 - t];
  if (t == 0) at = 5;
}
void go(int *o) { k<<<1, 64>>>(o); }
"""
    answered = list(answers(engine(), CheckRequest("/spinning/t.cu", text)))
    for fix in (a for a in answered if isinstance(a, Fix)):
        behind = edited(text, fix).partition("while")[2]
        assert "__sync" not in behind, fix
    assert any("threads that wait for `at` (line 9)" in a.text for a in answered if isinstance(a, FixRefusal))
