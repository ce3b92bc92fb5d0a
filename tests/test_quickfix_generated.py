"""Repairs of generated kernels, judged by executing them: what a repair claims holds in the edited text."""

from __future__ import annotations

import random
from functools import cache

import pytest
from edited import applied

from analyzers.analysed import UnitAnalysis
from analyzers.engine import Engine
from analyzers.ir.kernel import Atomic as AtomicStatement
from analyzers.ir.kernel import Load, Store, statements
from analyzers.model import Fix, Verdict
from analyzers.reference.generator import Flavour, GeneratedKernel, generate
from analyzers.reference.interpreter import run
from analyzers.reference.races import divergences, races
from analyzers.requests import CheckRequest
from quickfix import offers

PATH = "/virtual/generated.cu"
Pair = frozenset[tuple[int, ...]]


@cache
def engine() -> Engine:
    return Engine()


def executed(analysis: UnitAnalysis, generated: GeneratedKernel) -> tuple[set[Pair], int]:
    """The pairs of places that race in one execution, and the number of barriers that threads miss while alive."""
    (kernel,) = [a.kernel for a in analysis.kernels if a.kernel.base_name == "generated"]
    result = run(kernel, generated.launch)
    accesses = [s for s in statements(kernel.body) if isinstance(s, (Load, Store, AtomicStatement))]
    places = {s.id: tuple(x.start_offset for x in (*s.site.calls, s.site.span)) for s in accesses}
    racing = {frozenset(places[i] for i in r.events) for r in races(result) if r.in_bounds}
    return racing, sum(d.kind != "after-exit" for d in divergences(result))


def reported(analysis: UnitAnalysis) -> set[Pair]:
    return {
        frozenset(tuple(s.start_offset for s in (*a.calls, a.span)) for a in f.accesses)
        for k in analysis.result.kernels
        for c in k.contexts
        for f in c.findings
    }


@pytest.mark.parametrize("seed", range(8))
def test_what_a_repair_claims_holds_when_executed(seed: int):
    source = random.Random(seed)
    generated = generate(source.randrange, Flavour(statements=14, blocks=False, divergence=seed % 3 == 0))
    request = CheckRequest(PATH, generated.text)
    before = engine().analyse(request)
    _, missed_before = executed(before, generated)
    fixes: list[Fix] = list(offers(engine(), request))
    for fix in fixes:
        after = Engine().analyse(CheckRequest(PATH, applied(generated.text, fix.edits)))
        assert not after.result.syntax
        racing, missed = executed(after, generated)
        assert racing <= reported(after), fix.title
        assert missed <= missed_before, fix.title
        left = sum(f.code is Verdict.DATA_RACE for k in after.result.kernels for c in k.contexts for f in c.findings)
        known = sum(f.code is Verdict.DATA_RACE for k in before.result.kernels for c in k.contexts for f in c.findings)
        assert left <= known
