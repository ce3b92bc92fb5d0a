"""Slices of kernels: threads come to the same accesses as in the whole kernel, the verdicts are the same, and little
else is executed or summarized."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from generated_kernels import kernels, racing_threads, replayed
from hypothesis import HealthCheck, given, settings

from analyzers.engine import Engine
from analyzers.ir import kernel as k
from analyzers.ir.slicing import Conflicts, Slicer
from analyzers.reference.builder import KernelBuilder
from analyzers.reference.generator import Flavour, GeneratedKernel
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.replay import replay
from analyzers.requests import CheckRequest
from analyzers.verdicts.kernel import conflicts_in
from benchmarks.generated.compare import PATH
from benchmarks.generated.kernels import sample, text_of

FIRST = (0, 0, 0)


def names(kernel: k.Kernel) -> set[str]:
    return {s.var for s in k.statements(kernel.body) if isinstance(s, (k.Assign, k.Load)) and s.var is not None}


def test_what_bears_on_neither_the_way_nor_the_address_is_left_out():
    b = KernelBuilder()
    s, a, out, n = b.shared("s", 64), b.global_("a"), b.global_("out"), b.scalar("n")
    data = b.load(a, b.tid)
    place = b.let(b.tid + 1, "place")
    total = b.let(0, "total")
    with b.for_(0, n) as (i, _):
        b.set(total, total + b.load(a, i) + data)
    with b.if_(b.tid < n):
        write = b.store(s, place, total)
    b.barrier()
    b.store(out, b.tid, total)
    whole = b.build()
    sliced = Slicer(whole).to_accesses(frozenset({write}))
    assert "place" in names(sliced)
    assert "total" not in names(sliced)
    statements = k.statements(sliced.body)
    assert not any(isinstance(s, (k.Loop, k.Load)) for s in statements)
    assert [s.id for s in statements if isinstance(s, k.Store)] == [write]
    assert any(isinstance(s, k.Barrier) for s in statements)


def test_what_is_written_matters_where_it_is_read_for_an_address():
    b = KernelBuilder()
    s, table, out = b.shared("s", 64), b.local("table", 8), b.global_("out")
    b.store(table, 0, b.tid + 3)
    b.store(out, b.tid, 5)
    write = b.store(s, b.load(table, 0), 1)
    sliced = Slicer(b.build()).to_accesses(frozenset({write}))
    stores = [x for x in k.statements(sliced.body) if isinstance(x, k.Store)]
    assert len(stores) == 2
    assert stores[-1].id == write
    assert not any("out" in str(x.pointer) for x in stores)


def test_an_exit_matters_to_what_stands_behind_it():
    b = KernelBuilder()
    s, n = b.shared("s", 64), b.scalar("n")
    with b.for_(0, n) as (i, _), b.if_(i * b.tid > 7):
        b.return_()
    write = b.store(s, b.tid, 1)
    sliced = Slicer(b.build()).to_accesses(frozenset({write}))
    assert any(isinstance(x, k.Loop) for x in k.statements(sliced.body))


def test_nothing_is_reached_behind_a_loop_that_nothing_leaves():
    b = KernelBuilder()
    s = b.shared("s", 64)
    with b.while_():
        b.let(1, "x")
    write = b.store(s, 0, 1)
    found = replay(b.build(), ConcreteLaunch(block=(2, 1, 1)), (FIRST, FIRST), (FIRST, (1, 0, 0)), write, write)
    assert found.outcome == "not-reached"


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(kernels(Flavour(data=True, divergence=False, statements=8)))
def test_a_slice_is_replayed_as_the_whole_kernel(generated: GeneratedKernel):
    pairs = sorted(racing_threads(run(generated.kernel, generated.launch)))[::7]
    sliced = [replayed(generated, found) for found in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Slicer, "to_accesses", lambda self, wanted: self.kernel)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType, reportUnknownMemberType]
        whole = [replayed(generated, found) for found in pairs]
    for a, w in zip(sliced, whole, strict=True):
        assert (a.outcome, a.object, a.address, a.epochs, a.iterations) == (
            w.outcome,
            w.object,
            w.address,
            w.epochs,
            w.iterations,
        )


PRODUCT = """
__global__ void product(float *out, const float *left, const float *table, int n)
{
    __shared__ float part[64];
    int t = threadIdx.x;
    float weight = 0.0f;
    for (int i = 0; i < n; i++) weight += table[i] * left[63 - t];
    part[t] = t;
    __syncthreads();
    atomicAdd(&out[t], weight + part[63 - t]);
}
"""


def objects_read(kernel: k.Kernel) -> set[str]:
    loads = [s for s in k.statements(kernel.body) if isinstance(s, k.Load)]
    return {name for s in loads for name in ("left", "table", "part") if f"&{name}" in str(s.pointer)}


def test_reads_of_what_nothing_writes_are_left_out_and_counted():
    (analysis,) = Engine().analyse(CheckRequest("/product.cu", PRODUCT)).kernels
    assert objects_read(analysis.kernel) == {"left", "table", "part"}
    assert objects_read(analysis.decisive.kernel) == set()
    assert objects_read(analysis.conflicting.kernel) == {"part"}
    assert (analysis.result.shared_accesses, analysis.result.global_accesses) == (2, 3)
    assert {a.root.value for a in analysis.events.accesses} == {"left", "table", "part", "out"}
    assert [(a.root.value, a.writes) for a in analysis.decisive.accesses] == [("part", True), ("out", True)]


HOST = """
void run(float *buffer, float *other, int n) { product<<<2, 64>>>(buffer, ARGUMENT, other, n); }
"""


@pytest.mark.parametrize(("argument", "verdict"), [("other", "race-free"), ("buffer", "data-race")])
def test_what_the_host_lets_be_one_allocation_is_kept(argument: str, verdict: str):
    text = PRODUCT + HOST.replace("ARGUMENT", argument)
    (analysis,) = Engine().analyse(CheckRequest("/product.cu", text)).kernels
    assert analysis.result.verdict.value == verdict
    assert ("left" in objects_read(analysis.decisive.kernel)) == (argument == "buffer")


@pytest.mark.parametrize("first", [True, False])
def test_decisions_are_kept_for_the_aliasing_they_were_made_under(first: bool):
    """What is said of one launch does not depend on another one that was there before, or was not."""
    one = "void run(float *x, float *y, float *z, int n) { product<<<2, 64>>>(x, y, z, n); ALSO }"
    both = one.replace("ALSO", "product<<<2, 64>>>(x, x, z, n);")
    engine = Engine()
    texts = [PRODUCT + one.replace("ALSO", ""), PRODUCT + both]
    for text in texts if first else reversed(texts):
        (kernel,) = engine.analyse(CheckRequest("/product.cu", text)).result.kernels
        verdicts = [c.verdict.value for c in kernel.contexts]
        assert verdicts == (["race-free", "data-race"] if text.endswith(both) else ["race-free"])


ENDLESS = """
__global__ void waits(int *a, volatile int *hits, int n)
{
    if (threadIdx.x == 0) { BEFORE a[0] = 1; }
    if (threadIdx.x == 32) a[0] = 2;
}
void run(int *a, int *hits) { waits<<<1, 64>>>(a, hits, 5); }
"""


@pytest.mark.parametrize(
    ("before", "severity"),
    [
        ("while (n > 0) { *hits = 1; }", "information"),
        ("while (true) { *hits = 1; if (n < 0) break; }", "information"),
        ('while (n > 0) printf("%d", n);', "information"),
        ("while (n > 0) { *hits = 1; n--; }", "error"),
        ("int sum = 0; for (int i = 0; i < n; i++) sum += i;", "error"),
    ],
)
def test_a_race_behind_a_loop_that_may_last_is_definite_only_when_the_loop_ends(before: str, severity: str):
    (kernel,) = Engine().analyse(CheckRequest("/waits.cu", ENDLESS.replace("BEFORE", before))).result.kernels
    assert {f.severity.value for c in kernel.contexts for f in c.findings} == {severity}


def test_an_exit_from_an_inner_loop_leaves_no_outer_one():
    b = KernelBuilder()
    s = b.shared("s", 64)
    with b.while_(), b.while_() as inner:
        b.exit(inner)
    write = b.store(s, 0, 1)
    assert any(isinstance(x, k.Loop) for x in k.statements(Slicer(b.build()).to_accesses(frozenset({write})).body))


def test_verdicts_are_those_of_the_whole_kernels():
    request = CheckRequest(PATH, text_of([sample(seed, 4) for seed in range(3000, 3040)]))

    def verdicts() -> list[tuple[str, str, tuple[str, ...]]]:
        results = Engine().analyse(request).result.kernels
        return [
            (r.name, r.verdict.value, tuple(sorted(f.code.value for c in r.contexts for f in c.findings)))
            for r in results
        ]

    def whole(kernel: k.Kernel, together: Sequence[frozenset[str]]) -> Conflicts:
        return replace(conflicts_in(kernel, together), kernel=kernel, left_out=(), kept_apart=frozenset())

    sliced = verdicts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzers.engine.conflicts_in", whole)
        assert verdicts() == sliced
