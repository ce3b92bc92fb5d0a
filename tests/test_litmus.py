"""The enumeration of PTX's memory model on tests whose outcome is known, and the race detector held against it."""

from __future__ import annotations

import pytest

from benchmarks.litmus import SHAPES, FenceName, Where, detected, program, seen
from benchmarks.litmus_model import Fence, Operation, Program, Read, Scope, Write, outcomes
from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.rehearsal import Rehearsal

MP, SB, LB = SHAPES


def threads(*each: tuple[Operation, ...], scope: Scope = "gpu") -> Program:
    """Each in a block of its own."""
    return Program(each, tuple(range(len(each))), scope)


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_fences_of_sufficient_scope_in_both_threads_forbid_the_weak_outcome(shape: object) -> None:
    assert isinstance(shape, type(MP))
    expected: list[tuple[FenceName, FenceName, Where, bool]] = [
        ("none", "none", "blocks", True),
        ("cta", "cta", "blocks", True),
        ("cta", "cta", "warps", False),
        ("gl", "cta", "blocks", True),
        ("gl", "none", "warps", True),
        ("gl", "gl", "blocks", False),
        ("sys", "gl", "blocks", False),
    ]
    for first, second, where, allowed in expected:
        assert (shape.weak in outcomes(program(shape, (first, second), where))) is allowed, (first, second, where)


def test_a_fence_that_is_not_sequential_orders_messages_but_not_stores_with_loads() -> None:
    light = Fence("gpu", sequential=False)
    passing = threads((Write("x", 1), light, Write("y", 1)), (Read("y", "r0"), light, Read("x", "r1")))
    assert MP.weak not in outcomes(passing)
    assert len(outcomes(passing)) == 3
    buffering = threads((Write("x", 1), light, Read("y", "r0")), (Write("y", 1), light, Read("x", "r1")))
    assert SB.weak in outcomes(buffering)


def test_reads_of_one_place_agree_on_the_order_of_its_writes() -> None:
    program = threads((Write("x", 1),), (Read("x", "r0"), Read("x", "r1")))
    assert outcomes(program) == {(("r0", a), ("r1", b)) for a, b in ((0, 0), (0, 1), (1, 1))}
    # Accesses whose scope does not cover the other thread are not held to it.
    narrow = threads((Write("x", 1),), (Read("x", "r0"), Read("x", "r1")), scope="cta")
    assert (("r0", 1), ("r1", 0)) in outcomes(narrow)


@pytest.mark.parametrize(("sequential", "allowed"), [(True, False), (False, True)])
def test_independent_readers_disagree_unless_their_fences_are_sequential(sequential: bool, allowed: bool) -> None:
    fence = Fence("gpu", sequential)
    readers = ((Read("x", "r0"), fence, Read("y", "r1")), (Read("y", "r2"), fence, Read("x", "r3")))
    weak = (("r0", 1), ("r1", 0), ("r2", 1), ("r3", 0))
    assert (weak in outcomes(threads((Write("x", 1),), (Write("y", 1),), *readers))) is allowed


@pytest.mark.parametrize(
    ("fences", "where"),
    [(("gl", "gl"), "blocks"), (("gl", "cta"), "blocks"), (("cta", "cta"), "warps"), (("none", "gl"), "warps")],
)
def test_the_detector_calls_a_race_what_the_model_allows(fences: tuple[FenceName, FenceName], where: Where) -> None:
    assert detected(fences, where) is (MP.weak in outcomes(program(MP, fences, where)))


def test_instances_are_rehearsed_without_a_gpu() -> None:
    counts = seen(LB, ("gl", "gl"), "warps", Device(Rehearsal()), 8, 2)
    assert sum(counts.values()) == 8 + 2
    assert counts[1, 1] == 0
    assert set(counts) <= {(0, 0), (0, 1), (1, 0)}
