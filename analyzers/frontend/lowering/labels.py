"""Labels and `goto`: the statements of a block with labels become nested Blocks and Loops.

A jump to a label further on leaves a Block that ends right before the label; a jump back continues a Loop that begins
at the label and ends behind the last such jump. Intervals that overlap without nesting are widened until they nest;
where that cannot be (a jump from outside into the middle of a loop, or into another statement) the goto is not
supported.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import BLOCK_OF, Context, statements
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.ir.expr import TRUE, lnot
from analyzers.ir.kernel import Block, Continue, Exit, If, Loop


@dataclass(slots=True)
class _Span:
    """The items from ``first`` to ``last`` that a construct of the IR encloses."""

    first: int
    last: int
    label: Node
    back: bool
    """A Loop around what jumps back; else a Block around what jumps forward."""


def block(ctx: Context, nodes: list[Node]) -> None:
    """Emit the statements of a block, labels among them included."""
    if not any(n.kind == Kinds.LABEL for n in nodes):
        for node in nodes:
            ctx.lower(node)
        return
    items = [item for node in nodes for item in _flat(node)]
    _emit(ctx, items, 0, len(items) - 1, _nested(_spans(items)))


BLOCK_OF.append(block)


def _flat(node: Node) -> list[Node]:
    """A labelled statement as its label and the statement."""
    if node.kind != Kinds.LABEL:
        return [node]
    return [node, *(item for kid in node.kids for item in _flat(kid))]


def _spans(items: list[Node]) -> list[_Span]:
    """What each label needs that is the target of a jump from within the block."""
    found: list[_Span] = []
    for at, item in enumerate(items):
        if item.kind != Kinds.LABEL:
            continue
        sources = [i for i, other in enumerate(items) if other.kind != Kinds.LABEL and _jumps(other, item.name)]
        if sources and sources[0] < at:
            found.append(_Span(sources[0], at - 1, item, back=False))
        if sources and sources[-1] > at:
            found.append(_Span(at, sources[-1], item, back=True))
    return found


def _nested(spans: list[_Span]) -> list[_Span]:
    """The spans widened until of any two one contains the other or they are apart, outer ones first; jumps into the
    middle of a loop are left out."""
    spans = [s for s in spans if not any(_enters(s, loop) for loop in spans)]
    changed = True
    while changed:
        changed = False
        for a in spans:
            for b in spans:
                if a.first < b.first <= a.last < b.last:
                    changed = True
                    if a.back and b.back:
                        a.last = b.last
                    else:
                        b.first = a.first
        entering = [s for s in spans if any(_enters(s, loop) for loop in spans)]
        if entering:
            spans = [s for s in spans if s not in entering]
            changed = True
    return sorted(spans, key=lambda s: (s.first, -s.last, s.back))


def _enters(jump: _Span, loop: _Span) -> bool:
    """A jump forward from before the loop to a label behind its first one."""
    return loop.back and not jump.back and jump.first < loop.first <= jump.last < loop.last


def _emit(ctx: Context, items: list[Node], first: int, last: int, spans: list[_Span]) -> None:
    """Emit the items of a range. ``spans``: those that lie in it, outer ones first."""
    at = first
    while at <= last:
        span = next((s for s in spans if s.first == at), None)
        if span is None:
            if items[at].kind != Kinds.LABEL:
                ctx.lower(items[at])
            at += 1
            continue
        inner = [s for s in spans if s is not span and span.first <= s.first and s.last <= span.last]
        (_loop if span.back else _block)(ctx, items, span, inner)
        spans = [s for s in spans if s.first > span.last]
        at = span.last + 1


def _block(ctx: Context, items: list[Node], span: _Span, inner: list[_Span]) -> None:
    key, name = span.label.name, ctx.name(f"goto:{span.label.name}")
    outer = ctx.frame.gotos.get(key)
    ctx.frame.gotos[key] = ("exit", name)
    with ctx.branch() as body:
        _emit(ctx, items, span.first, span.last, inner)
    _restore(ctx, key, outer)
    ctx.emit(Block(name, tuple(body)))


def _loop(ctx: Context, items: list[Node], span: _Span, inner: list[_Span]) -> None:
    key, name = span.label.name, ctx.name(f"again:{span.label.name}")
    outer = ctx.frame.gotos.get(key)
    ctx.frame.gotos[key] = ("continue", name)
    site = ctx.site(span.label, f"{key}:")
    test = _test(items[span.last], key) if not any(s.last == span.last for s in inner) else None
    with ctx.lives() as own, ctx.branch() as body:
        _emit(ctx, items, span.first, span.last - (test is not None), inner)
        leave = Exit(name, "break", site)
        # At the end of the body: a jump from elsewhere in it goes to the latch, past this test.
        ctx.emit(leave if test is None else If(lnot(condition(ctx, test)), (leave,), (), site))
    _restore(ctx, key, outer)
    ctx.emit(Loop(name, (), TRUE, tuple(body), (), site, tuple(own)))


def _restore(ctx: Context, key: str, outer: tuple[str, str] | None) -> None:
    ctx.frame.gotos.pop(key)
    if outer is not None:
        ctx.frame.gotos[key] = outer


def _test(node: Node, name: str) -> Node | None:
    """The condition of ``if (condition) goto name;`` with nothing else to it."""
    if node.kind != Kinds.IF or len(node.kids) != 2:
        return None
    test, then = node.kids
    while then.kind == Kinds.COMPOUND and len(then.kids) == 1:
        (then,) = then.kids
    return test if then.kind == Kinds.GOTO and any(k.name == name for k in then.kids) else None


def _jumps(node: Node, name: str) -> bool:
    """Whether a goto to the label stands in a statement."""
    if node.kind == Kinds.GOTO:
        return any(k.name == name for k in node.kids)
    return Kinds.UNEXPOSED_STMT <= node.kind < 300 and any(_jumps(k, name) for k in node.kids)


@statements(Kinds.LABEL)
def stray_label(ctx: Context, node: Node) -> None:
    for kid in node.kids:
        ctx.lower(kid)


@statements(Kinds.GOTO, Kinds.INDIRECT_GOTO)
def goto(ctx: Context, node: Node) -> None:
    for kid in node.kids:
        if kid.name in ctx.frame.gotos:
            kind, name = ctx.frame.gotos[kid.name]
            site = ctx.site(node)
            ctx.emit(Exit(name, "break", site) if kind == "exit" else Continue(name, site))
            return
    ctx.unsupported("goto", f"{node.text[:40]!r} jumps into or across a statement", node)
