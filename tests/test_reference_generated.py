"""What holds for every kernel: the parts of the reference agree with each other on generated ones."""

from dataclasses import replace

from generated_kernels import kernels, racing_threads, replayed
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from analyzers.ir import kernel as k
from analyzers.reference.generator import Flavour, GeneratedKernel
from analyzers.reference.interpreter import run
from analyzers.reference.races import divergences, races

quickly = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@quickly
@given(kernels(Flavour(statements=8)))
def test_neither_schedule_nor_contents_matter_without_data(generated: GeneratedKernel):
    results = [run(generated.kernel, replace(generated.launch, seed=s), s) for s in range(2)]
    assert {r.outcome for r in results} == {"finished"}
    first, second = [[(r.events, r.scope, r.in_bounds) for r in races(result)] for result in results]
    assert first == second
    assert divergences(results[0]) == divergences(results[1])


@quickly
@given(kernels(Flavour(divergence=False, statements=8)))
def test_every_race_is_confirmed_by_replay(generated: GeneratedKernel):
    for found in sorted(racing_threads(run(generated.kernel, generated.launch)))[::7]:
        assert replayed(generated, found).outcome == "confirmed", found


@quickly
@given(kernels(Flavour(divergence=False, statements=8)), st.data())
def test_nothing_else_is_confirmed_by_replay(generated: GeneratedKernel, data: st.DataObject):
    accesses = [s for s in k.statements(generated.kernel.body) if isinstance(s, (k.Load, k.Store, k.Atomic))]
    assume(any(not isinstance(s, k.Load) for s in accesses))
    racing = racing_threads(run(generated.kernel, generated.launch))
    threads = st.integers(0, generated.launch.blocks * generated.launch.threads_per_block - 1)
    for _ in range(4):
        left, right = data.draw(st.sampled_from(accesses)), data.draw(st.sampled_from(accesses))
        if {type(left), type(right)} in ({k.Load}, {k.Atomic}):
            continue
        t, u = data.draw(threads), data.draw(threads)
        found = (left.id, t, right.id, u)
        if t != u and found not in racing:
            assert replayed(generated, found).outcome == "not-reached", found


@settings(quickly, max_examples=25)
@given(kernels(Flavour(data=True, divergence=False, statements=6)), st.data())
def test_what_replay_confirms_happens_for_any_contents(generated: GeneratedKernel, data: st.DataObject):
    ranges = ((0, 0), (0, 7), (-3, 40))
    results = [run(generated.kernel, replace(generated.launch, seed=s, data_range=r), s) for s, r in enumerate(ranges)]
    assume(all(r.outcome == "finished" for r in results))
    seen = [racing_threads(r) for r in results]
    candidates = sorted(set().union(*seen))
    assume(candidates)
    for _ in range(6):
        found = data.draw(st.sampled_from(candidates))
        if replayed(generated, found).outcome == "confirmed":
            assert all(found in racing for racing in seen), found
