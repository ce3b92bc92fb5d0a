"""Which variables statements read, and where."""

from __future__ import annotations

from analyzers.ir import kernel as K
from analyzers.ir.expr import I32, TRUE, Expr, add, compare, const, var
from analyzers.ir.reads import Reads
from analyzers.model import SourceSpan

SITE = K.Site(SourceSpan("a.cu", 1, 1, 1, 2, 0, 1), "")


def of(name: str) -> Expr:
    return var(name, I32)


def test_reads_are_counted_by_loop() -> None:
    step = K.Assign("i", add(of("i"), of("step")))
    inner = K.Loop("inner", (), compare("lt", of("j"), const(4, I32)), (K.Assign("j", of("a")),), (), SITE)
    outer = K.Loop("outer", (), TRUE, (step, inner), (), SITE)
    reads = Reads.of((outer, K.If(compare("lt", of("i"), of("n")), (K.Assign("k", of("step")),), (), SITE)))
    assert reads.only_in("inner", "a")
    assert reads.only_in("outer", "a")
    assert reads.only_in("inner", "j")
    assert not reads.only_in("outer", "i")
    assert not reads.only_in("outer", "step")
    assert not reads.only_in("outer", "nowhere")
