"""Addresses as integers: the reference executes numbers, the symbolic pass finds the object again, and both agree."""

import pytest
from lowering import kernel, unsupported

from analyzers.ir import expr as ex
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import U64, addr
from analyzers.ir.pointers import address_number, written_objects
from analyzers.ir.pointers import points_to as pointees
from analyzers.ir.symbolic import summarize
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.replay import replay

THREADS = 8

KERNELS = {
    "kept in a variable": "size_t a = (size_t)p; a += 4 * threadIdx.x; *(int *)a = 1;",
    "rounded down": "size_t a = (size_t)(p + threadIdx.x); *(int *)(a & ~(size_t)15) = 1;",
    "rounded up": "size_t a = (size_t)(p + threadIdx.x); *(int *)((a + 15) & ~(size_t)15) = 1;",
    "a difference is an index": "int *q = p + threadIdx.x; p[((size_t)q - (size_t)p) / 4 * 2] = 1;",
    "an alignment test": "if ((size_t)(p + threadIdx.x) % 16 == 0) p[threadIdx.x] = 1; else p[64] = 1;",
    "bits of an address": "p[((size_t)(p + threadIdx.x) >> 2) & 3] = 1;",
    "shared memory in 32 bits": "__shared__ int s[64]; unsigned a = (unsigned)(size_t)s; a += 4 * threadIdx.x;"
    " *(int *)(size_t)a = 1; p[0] = s[threadIdx.x];",
    "backwards in 32 bits": "__shared__ int s[64]; unsigned a = (unsigned)(size_t)(s + 63); a += -4u * threadIdx.x;"
    " *(int *)(size_t)a = 1;",
    "a loop over addresses": "size_t a = (size_t)p; for (int i = 0; i < 4; i++) { *(int *)a = i; a += 16; }",
    "one of two objects": "__shared__ int s[64]; size_t a = threadIdx.x & 1 ? (size_t)p : (size_t)s;"
    " *(int *)(a + 4 * threadIdx.x) = 1;",
}  # fmt: skip


def places(text: str) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    """(thread, object, offset, width, kind) of every access: executed, and as the symbolic events say."""
    k = kernel(f"__global__ void k(int *p) {{ {text} }}")
    result = run(k, ConcreteLaunch(block=(THREADS, 1, 1)))
    assert result.outcome == "finished", result.reason
    executed: set[tuple[object, ...]] = {(a.thread, a.object, a.offset, a.width, a.kind) for a in result.accesses}
    events = summarize(k)
    assert not events.unsupported
    said: set[tuple[object, ...]] = set()
    for thread in range(THREADS):
        values = {ex.TID[0]: thread, ex.BID[0]: 0, ex.BDIM[0]: THREADS}
        values |= {ex.call("ptrtoint", U64, addr(o.name)): 1 << 20 for o in k.objects}
        for access in events.accesses:
            for i in range(4 if access.loops else 1):
                counted = values | {events.loops[label].counter: i for label in access.loops}
                if all(evaluate(c.condition, counted) for c in access.guard):
                    offset = evaluate(access.offset, counted)
                    said.add((thread, access.root.value, offset, access.width, access.kind))
    return executed, said


@pytest.mark.parametrize("name", KERNELS)
def test_the_reference_and_the_events_agree(name: str) -> None:
    executed, said = places(KERNELS[name])
    assert executed
    assert executed == said


@pytest.mark.parametrize(
    ("integer", "objects"),
    [
        ("size_t a = (size_t)p; a += 4;", {"p"}),
        ("size_t a = threadIdx.x ? (size_t)p : (size_t)r;", {"p", "r"}),
        # What is not seen to be an address may be any.
        ("size_t a = (size_t)p; a ^= 64;", {"p", "r"}),
        ("size_t a = (size_t)p; if (threadIdx.x) a = *(size_t *)p;", {"p", "r"}),
    ],
)
def test_what_is_written_through_an_integer_counts_as_written(integer: str, objects: set[str]) -> None:
    k = kernel(f"__global__ void k(int *p, int *r) {{ {integer} int *t = (int *)a; *t = 1; }}")
    assert written_objects(k, pointees(k)) >= objects


def test_an_address_of_something_unknown_stays_unknown() -> None:
    assert address_number(ex.opaque("loaded", ex.PTR)) is None
    text = "__global__ void k(int **p, int *q) { size_t a = (size_t)p[threadIdx.x]; *(int *)(a ^ 64) = 1; }"
    assert unsupported(text) == []
    assert [u.kind for u in summarize(kernel(text)).unsupported] == ["untracked-pointer"]


def test_differences_of_addresses_cancel() -> None:
    a, x, y = ex.call("ptrtoint", U64, addr("p")), ex.sym("param:x", U64), ex.sym("param:y", U64)
    assert ex.sub(ex.add(a, x), a) is x
    assert ex.sub(ex.add(a, x), ex.add(a, y)) is ex.sub(x, y)
    signed = ex.sym("param:i", ex.I32), ex.sym("param:j", ex.I32)
    assert ex.sub(ex.add(*signed), signed[0]).op == "sub"


def test_a_collision_behind_an_alignment_test_is_confirmed() -> None:
    k = kernel("__global__ void k(int *p, int *q) { if (((size_t)p & 15) == 0) q[0] = threadIdx.x; }")
    found = replay(k, ConcreteLaunch(block=(2, 1, 1)), ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (1, 0, 0)), 1, 1)
    assert (found.outcome, found.object, found.address) == ("confirmed", "q", 0)
