"""Pipelines shared by the threads of a block (``cuda::pipeline`` over a ``pipeline_shared_state``).

Producers acquire a stage, fill it and commit it; consumers wait for it, use it and release it. Behind its wait for
stage k a thread sees what every producer did before its own commit k, copies included, and behind the acquisition of
stage k what every consumer did before it released stage k - N, where N is the number of stages. Each thread counts its
own steps, in variables of the program: with them accesses of two threads are put in order (``races.pipelines``). That
no thread arrives twice for one stage follows where each commit comes after an acquisition, and each release after a
wait: these are conditions in the program.
"""

from __future__ import annotations

from typing import Literal

from analyzers.frontend.lowering import asynchronous
from analyzers.frontend.lowering.barrier_halves import key_of
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.ir.expr import BDIM, BOOL, I32, I64, Expr, IntType, add, cast, compare, const, lnot, mul, var
from analyzers.ir.kernel import If, Pipeline, Unsupported

Step = Literal["acquire", "commit", "wait", "release"]

BOTH, PRODUCER, CONSUMER = 0, 1, 2
"""Roles of a thread, as the bundled header numbers them."""
STAYS = "threads use a pipeline until all have used it for the last time"


def make(ctx: Context, node: Node, state: Expr, stages: Expr, threads: Expr, role: Expr) -> bool:
    """A pipeline of all threads of the block; False where it is not known which one."""
    key = key_of(ctx, state)
    if key is None or key in ctx.pipelines or stages.op != "const" or stages.value < 1:
        return False
    if not isinstance(role.ty, IntType) or not isinstance(threads.ty, IntType):
        return False
    names = [ctx.name(f"%{part}") for part in ("acquired", "committed", "waited", "released", "producer", "consumer")]
    pipeline = Pipeline(key, int(stages.value), *names)
    ctx.pipelines[key] = pipeline
    site = ctx.site(node)
    everybody = cast(mul(mul(BDIM[0], BDIM[1]), BDIM[2]), I64)
    some = Unsupported("partial-barrier", "a pipeline of some threads of the block", site)
    ctx.emit(If(compare("ne", cast(threads, I64), everybody), (some,), (), site))
    for name in names[:4]:
        ctx.assign(var(name, I32), const(0, I32))
    number = cast(role, I32)
    ctx.assign(var(pipeline.producer, BOOL), compare("ne", number, const(CONSUMER, I32)))
    ctx.assign(var(pipeline.consumer, BOOL), compare("ne", number, const(PRODUCER, I32)))
    ctx.assumptions[STAYS] = None
    return True


def step(ctx: Context, node: Node, state: Expr, kind: Step) -> bool:
    """One step of the thread at hand; False where the pipeline is not known."""
    key = key_of(ctx, state)
    pipeline = ctx.pipelines.get(key) if key is not None else None
    if pipeline is None:
        return False
    if kind == "commit":
        _behind(ctx, node, pipeline.committed, pipeline.acquired, "a stage is committed that was not acquired")
        asynchronous.commit(ctx, node)
    elif kind == "release":
        _behind(ctx, node, pipeline.released, pipeline.waited, "a stage is released that was not waited for")
    elif kind == "wait":
        asynchronous.wait(ctx, node, asynchronous.OLDEST)
    counts = {"acquire": pipeline.acquired, "commit": pipeline.committed, "wait": pipeline.waited}
    count = var(counts.get(kind, pipeline.released), I32)
    ctx.assign(count, add(count, const(1, I32)))
    return True


def _behind(ctx: Context, node: Node, later: str, earlier: str, text: str) -> None:
    site = ctx.site(node)
    fits = compare("lt", var(later, I32), var(earlier, I32))
    ctx.emit(If(lnot(fits), (Unsupported("pipeline-order", text, site),), (), site))
