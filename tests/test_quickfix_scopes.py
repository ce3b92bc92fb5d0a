"""Scopes of `cuda::atomic` and `cuda::atomic_ref` that are too narrow between blocks: widened where they are written in
the kernel or for a variable of the device, else said to be too narrow, and where."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

HEAD = """#include <cuda/atomic>
__device__ int sum, flag, data;
template <class Ref> __device__ void add(Ref cell) { cell.fetch_add(1); }
"""
NARROW, WIDE = "cuda::thread_scope_block", "cuda::thread_scope_device"
WIDENED = {
    "one of the kernel": "__global__ void k(int *) {\n  cuda::atomic_ref<int, NARROW> f(sum);\n  f.fetch_add(1);\n}",
    "an object without a name": "__global__ void k(int *) {\n  cuda::atomic_ref<int, NARROW>(sum).fetch_add(1);\n}",
    "declared by its value": "__global__ void k(int *) {\n  auto f = cuda::atomic_ref<int, NARROW>{sum};\n  ++f;\n}",
    "an object that is passed on": "__global__ void k(int *) {\n  cuda::atomic_ref<int, NARROW> f{sum};\n  add(f);\n}",
    "a variable of the device": "__device__ cuda::atomic<int, NARROW> all;\n__global__ void k(int *o) { all += 2; }",
    "a signal": """__device__ cuda::atomic<int, NARROW> ready;
__global__ void k(int *o) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) { data = o[1]; ready.store(1, cuda::memory_order_release); }
  else { while (!ready.load(cuda::memory_order_acquire)) {} o[0] = data; }
}""",
    "a fence": """__global__ void k(int *o) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data = o[1];
    cuda::atomic_thread_fence(cuda::memory_order_release, NARROW);
    f.store(1, cuda::memory_order_relaxed);
  } else { while (!f.load(cuda::memory_order_acquire)) {} o[0] = data; }
}""",
}


def request(code: str) -> CheckRequest:
    text = HEAD + code.replace("NARROW", NARROW) + "\nvoid run(int *o) { k<<<2, 32>>>(o); }\n"
    return CheckRequest("/scopes/a.cu", text)


def verdicts(text: str) -> list[Verdict]:
    return [k.verdict for k in Engine().analyse(CheckRequest("/scopes/a.cu", text)).result.kernels]


@pytest.mark.parametrize("what", WIDENED)
def test_a_scope_is_widened_where_it_is_written(what: str) -> None:
    asked = request(WIDENED[what])
    fix = fix_all(Engine(), asked)
    assert isinstance(fix, Fix)
    assert (fix.kind, fix.cost) == ("widen-scope", "wider scope")
    assert "Use thread_scope_device instead of thread_scope_block in line " in fix.title
    after = applied(asked.text, fix.edits)
    assert after == asked.text.replace(NARROW, WIDE)
    assert verdicts(after) == [Verdict.RACE_FREE]


def test_a_scope_that_is_wide_enough_stays() -> None:
    code = """__global__ void k(int *o) {
  cuda::atomic_ref<int, NARROW> own(o[blockIdx.x]);
  cuda::atomic_ref<int, NARROW> all(sum);
  own.fetch_add(1);
  all.fetch_add(1);
}"""
    asked = request(code)
    fix = fix_all(Engine(), asked)
    assert isinstance(fix, Fix)
    assert applied(asked.text, fix.edits) == asked.text.replace(f"{NARROW}> all", f"{WIDE}> all")


def test_kernels_with_one_variable_are_repaired_together() -> None:
    code = """__device__ cuda::atomic<int, NARROW> all;
__global__ void k(int *o) { all.fetch_add(1); }
__global__ void other() { all.fetch_sub(1); }
void more() { other<<<2, 32>>>(); }"""
    asked = request(code)
    found = list(answers(Engine(), asked))
    assert len(found) == 1
    assert isinstance(found[0], Fix)
    assert set(verdicts(applied(asked.text, found[0].edits))) == {Verdict.RACE_FREE}


GIVEN = {
    "a parameter": ("__global__ void k(cuda::atomic<int, NARROW> *p) { p->fetch_add(1); }", "`p->fetch_add(1)`", 4),
    "a member": ("struct S { cuda::atomic<int, NARROW> a; };\n__global__ void k(S *s) { s->a = 1; }", "`s->a = 1`", 4),
    "a type": (
        "using Ref = cuda::atomic_ref<int, NARROW>;\n__global__ void k(int *o) { Ref f(sum); f.store(1); }",
        "`f.store(1)`",
        4,
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_a_scope_that_others_know_is_named(what: str) -> None:
    code, operation, line = GIVEN[what]
    launch = "void run(void *p) { k<<<2, 32>>>((TYPE *)p); }"
    type_ = {"a parameter": f"cuda::atomic<int, {NARROW}>", "a member": "S", "a type": "int"}[what]
    text = HEAD + code.replace("NARROW", NARROW) + "\n" + launch.replace("TYPE", type_) + "\n"
    (reason,) = [a for a in answers(Engine(), CheckRequest("/scopes/a.cu", text)) if isinstance(a, FixRefusal)]
    assert f"{operation} (line {line + code.count(chr(10))}) runs in different blocks" in reason.text
    assert "its scope is too narrow" in reason.text
    assert f"`thread_scope_block` in line {line} is for the threads of one block" in reason.text


def test_no_scope_is_blamed_for_what_signals_otherwise() -> None:
    code = """__global__ void k(int *o) {
  cuda::atomic_ref<int, NARROW> own(o[blockIdx.x + 8]);
  cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
  own.fetch_add(1);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) { f.store(1); data = o[1]; }
  else { while (!f.load()) {} o[0] = data; }
}"""
    for answer in answers(Engine(), request(code)):
        assert isinstance(answer, FixRefusal)
        assert "too narrow" not in answer.text


OF_ONE_THREAD = "cuda::atomic<int, cuda::thread_scope_thread>"
ALONE = {
    "block": f"""__global__ void k(int *o) {{
  __shared__ {OF_ONE_THREAD} c;
  if (threadIdx.x == 0) c.store(0);
  __syncthreads();
  c += 2;
  __syncthreads();
  if (threadIdx.x == 0) o[blockIdx.x] = c.load();
}}""",
    "device": f"__device__ {OF_ONE_THREAD} all;\n__global__ void k(int *o) {{ all += 2; }}",
}


@pytest.mark.parametrize("wide", ALONE)
def test_a_scope_of_one_thread_is_widened_as_far_as_it_takes(wide: str) -> None:
    asked = request(ALONE[wide])
    fix = fix_all(Engine(), asked)
    assert isinstance(fix, Fix)
    assert f"Use thread_scope_{wide} instead of thread_scope_thread in line " in fix.title
    assert fix.title.endswith("the threads are different ones")
    after = applied(asked.text, fix.edits)
    assert after == asked.text.replace("thread_scope_thread", f"thread_scope_{wide}")
    assert verdicts(after) == [Verdict.RACE_FREE]


def test_a_scope_of_one_thread_that_others_know_is_named() -> None:
    code = f"__global__ void k({OF_ONE_THREAD} *all) {{ all->fetch_add(1); }}\n{OF_ONE_THREAD} *cell;"
    text = HEAD + code + "\nvoid run() { k<<<2, 32>>>(cell); }\n"
    found = fix_all(Engine(), CheckRequest("/scopes/a.cu", text))
    assert isinstance(found, FixRefusal)
    assert found.text == (
        "`all->fetch_add(1)` (line 4) runs in different threads of one block, for which its scope is too narrow: "
        "`thread_scope_thread` in line 4 is for one thread."
    )
