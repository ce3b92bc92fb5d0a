"""What is said of signals between blocks, and wider barriers where they take more along."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

SIGNALLED = """__device__ int ready;
__device__ int cells[128];
__global__ void hand_over(int *out) {{
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {{
    cells[lane] = lane + 3;
    __threadfence();
    {0}
    if (lane == 0) atomicExch(&ready, 1);
  }} else {{
    if (lane == 0) while (atomicAdd(&ready, 0) == 0) {{}}
    {1}
    __threadfence();
    out[lane] = cells[127 - lane];
  }}
}}
void go(int *out) {{ hand_over<<<2, 128>>>(out); }}
"""
BARRIER = "__syncthreads();"


def verdict(text: str) -> Verdict:
    (kernel,) = Engine().analyse(CheckRequest("/signals/a.cu", text)).result.kernels
    return kernel.verdict


@pytest.mark.parametrize(("before", "behind"), [("", BARRIER), (BARRIER, ""), ("", "")])
def test_a_barrier_that_lacks_beside_a_signal_is_inserted(before: str, behind: str) -> None:
    """In front of the signal and behind the wait; none between a wait and what the other block waits for."""
    text = SIGNALLED.format(before, behind)
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", text))
    assert isinstance(fix, Fix)
    assert fix.kind == "insert-fence"
    assert f"+{(not before) + (not behind)} barrier" in fix.cost
    edited = applied(text, fix.edits)
    assert edited.count(BARRIER) == 2
    assert edited.index(BARRIER) < edited.index("atomicExch") < edited.index("atomicAdd") < edited.rindex(BARRIER)
    assert verdict(edited) is Verdict.RACE_FREE


IN_ONE_GAP = """__device__ unsigned finished;
__global__ void last_one(float *part, float *total) {
  __shared__ unsigned before;
  int lane = threadIdx.x;
  part[blockIdx.x * 64 + lane] = lane;
  unsigned own = lane == 0 ? atomicAdd(&finished, 1u) : 0u;
  if (lane == 0) before = own;
  __syncthreads();
  if (before == gridDim.x - 1) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i * 64 + lane];
    total[lane] = sum;
  }
}
void go(float *part, float *total) { last_one<<<8, 64>>>(part, total); }
"""


RETURNED = """__device__ unsigned finished;
__device__ bool is_last(unsigned *count) { return atomicAdd(count, 1u) == gridDim.x - 1; }
__global__ void total(float *part, float *out) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;
    if (is_last(&finished)) {
      float sum = 0;
      for (int i = 0; i < gridDim.x; ++i) sum += part[i];
      *out = sum;
    }
  }
}
void go(float *part, float *out) { total<<<8, 64>>>(part, out); }
"""
TRIED = """__device__ int mutex;
__device__ bool try_lock(int *m) { return atomicCAS(m, 0, 1) == 0; }
__global__ void count(int *out) {
  if (threadIdx.x > 0) return;
  while (!try_lock(&mutex)) {}
  out[0] = out[0] * 2;
  atomicExch(&mutex, 0);
}
void go(int *out) { count<<<2, 64>>>(out); }
"""


@pytest.mark.parametrize(
    ("text", "behind"),
    [(RETURNED, "if (is_last(&finished)) {\n      __threadfence();"), (TRIED, "{}\n  __threadfence();")],
)
def test_what_a_function_returns_of_a_signal_gets_its_fence_behind_the_call(text: str, behind: str) -> None:
    fixes = [a for a in answers(Engine(), CheckRequest("/signals/a.cu", text)) if isinstance(a, Fix)]
    (fix,) = (fix for fix in fixes if fix.kind == "insert-fence")
    edited = applied(text, fix.edits)
    assert behind in edited
    assert edited.count("__threadfence();") == 2
    assert verdict(edited) is Verdict.RACE_FREE


def test_a_barrier_and_a_fence_in_one_gap_come_in_this_order_in_front_of_a_signal() -> None:
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", IN_ONE_GAP))
    assert isinstance(fix, Fix)
    edited = applied(IN_ONE_GAP, fix.edits)
    lines = [line.strip() for line in edited.splitlines()]
    at = lines.index(BARRIER)
    assert lines[at - 1].startswith("part[")
    assert lines[at + 1] == "__threadfence();"
    assert verdict(edited) is Verdict.RACE_FREE


POLLED = """// cuda-lsp: launch grid=(2) block=(64)
__global__ void k(int *flag, int *data, int *out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;
    __syncthreads();
    if (t == 0) atomicExch(flag, 1);
  } else {
    int v;
    do { v = atomicAdd(flag, 0); } while (v == 0);
    out[t] = data[t];
  }
}
"""


def test_a_fence_goes_behind_a_loop_that_waits() -> None:
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", POLLED))
    assert isinstance(fix, Fix)
    assert "while (v == 0);\n    __threadfence();" in applied(POLLED, fix.edits)
    assert fix.cost == "+2 fences"


NESTED = """__device__ unsigned count;
// cuda-lsp: launch grid=(8) block=(64)
__global__ void k(float *part, float *out) {
  int t = threadIdx.x;
  part[blockIdx.x * 64 + t] = t;
  if (t == 0) {
    if (atomicAdd(&count, 1u) == gridDim.x - 1) {
      float sum = 0;
      for (int i = 0; i < 64 * 8; ++i) sum += part[i];
      out[0] = sum;
    }
  }
}
"""


def test_the_thread_that_signals_may_be_the_one_that_reads() -> None:
    fixes = [a for a in answers(Engine(), CheckRequest("/signals/a.cu", NESTED)) if isinstance(a, Fix)]
    assert any(verdict(applied(NESTED, fix.edits)) is Verdict.RACE_FREE for fix in fixes)


OF_SOME = """__device__ int ready;
__device__ int cells[128];
__global__ void hand_over(int *out) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    if (lane < 64) {
      cells[lane] = lane + 3;
      if (lane == 0) atomicExch(&ready, 1);
    }
  } else {
    if (lane == 0) while (atomicAdd(&ready, 0) == 0) {}
    __syncthreads();
    out[lane] = cells[lane % 64];
  }
}
void go(int *out) { hand_over<<<2, 128>>>(out); }
"""


def test_what_may_be_missing_is_named_where_no_place_is_one_that_all_threads_reach() -> None:
    (answer,) = answers(Engine(), CheckRequest("/signals/a.cu", OF_SOME))
    assert isinstance(answer, FixRefusal)
    assert "a barrier of the block in front of the signal or behind the wait, or another fence, may be" in answer.text


def test_that_threads_have_returned_in_front_of_a_barrier_beside_a_signal_is_noted() -> None:
    text = SIGNALLED.format("if (lane >= 96) return;", BARRIER)
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", text))
    assert isinstance(fix, Fix)
    assert any("have returned" in note for note in fix.notes)


def test_with_both_barriers_all_is_right() -> None:
    assert verdict(SIGNALLED.format(BARRIER, BARRIER)) is Verdict.RACE_FREE


def test_where_nothing_signals_nothing_is_said_of_signals() -> None:
    text = SIGNALLED.format("", "").replace("__threadfence();", "")
    text = text.replace("if (lane == 0) atomicExch(&ready, 1);", "if (lane == 0) ready = 1;")
    text = text.replace("if (lane == 0) while (atomicAdd(&ready, 0) == 0) {}", "")
    found = list(answers(Engine(), CheckRequest("/signals/a.cu", text)))
    assert found
    assert not any("signal" in a.text for a in found if isinstance(a, FixRefusal))
    assert not any(isinstance(a, Fix) for a in found)


LAST = """__device__ unsigned finished;
__global__ void last_adds_up(float *partial, float *total, const float *in) {
  __shared__ bool is_last;
  int lane = threadIdx.x;
  if (lane == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  if (is_last && lane == 0) {
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];
    *total = sum;
  }
}
void go(float *p, float *t, const float *i) { last_adds_up<<<3, 32>>>(p, t, i); }
"""


def test_the_wider_barrier_comes_first_where_it_takes_races_between_blocks_along() -> None:
    fix = fix_all(Engine(), CheckRequest("/signals/b.cu", LAST))
    assert isinstance(fix, Fix)
    assert "__syncthreads()" in fix.title
    assert verdict(applied(LAST, fix.edits)) is Verdict.RACE_FREE


def test_a_title_says_in_which_line_a_barrier_goes_and_not_after_which() -> None:
    text = """__global__ void k(int *o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int j = 0; j < n; j++) {
    s[t] = j;
    if (j & 1) o[t] += s[63 - t];
    __syncthreads();
  }
}
void go(int *o) { k<<<1, 64>>>(o, 5); }
"""
    (fix,) = answers(Engine(), CheckRequest("/signals/c.cu", text))
    assert isinstance(fix, Fix)
    assert fix.title.startswith("Insert __syncthreads() in line 6 — ")
    for body in ("{ s[t] = j; o[t] += s[63 - t]; }", "{ s[t] = j; /* now */ o[t] += s[63 - t]; }"):
        line = f"  for (int j = 0; j < n; j++) {body}\n"
        one_line = text[: text.index("  for")] + line + text[text.index("}\nvoid") :]
        titles = [a.title for a in answers(Engine(), CheckRequest("/signals/d.cu", one_line)) if isinstance(a, Fix)]
        assert titles
        assert not any("after line 4" in title for title in titles), titles


def test_the_barrier_of_the_warp_stays_where_threads_wait_for_other_blocks() -> None:
    text = """__device__ int ready, ack;
__device__ int cells[32];
__global__ void k(int *o, int *p) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (t == 32) while (atomicAdd(&ack, 0) == 0) {}
    if (t < 32) { s[t] = t; cells[t] = t; }
    if (t < 32) o[t] = s[31 - t];
    __threadfence();
    if (t == 0) atomicExch(&ready, 1);
  } else {
    if (t == 0) { while (atomicAdd(&ready, 0) == 0) {} __threadfence(); atomicExch(&ack, 1); }
    __syncthreads();
    if (t < 32) p[t] = cells[31 - t];
  }
}
void go(int *o, int *p) { k<<<2, 64>>>(o, p); }
"""
    titles = [a.title for a in answers(Engine(), CheckRequest("/signals/e.cu", text)) if isinstance(a, Fix)]
    assert titles
    assert all("__syncwarp()" in title for title in titles), titles


IN_FUNCTIONS = """__device__ int ready;
__device__ int cells[128];
__device__ void signal(int *flag) { atomicExch(flag, 1); }
__device__ void wait(int *flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}
__global__ void hand_over(int *out) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    cells[lane] = lane + 3;
    __syncthreads();
    if (lane == 0) signal(&ready);
  } else {
    if (lane == 0) wait(&ready);
    __syncthreads();
    out[lane] = cells[127 - lane];
  }
}
void go(int *out) { hand_over<<<2, 128>>>(out); }
"""


def test_fences_stand_where_functions_signal_and_wait() -> None:
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", IN_FUNCTIONS))
    assert isinstance(fix, Fix)
    edited = applied(IN_FUNCTIONS, fix.edits)
    assert "void signal(int *flag) { __threadfence(); atomicExch(flag, 1); }" in edited
    assert "  }\n  __threadfence();\n}\n__global__" in edited
    assert verdict(edited) is Verdict.RACE_FREE
