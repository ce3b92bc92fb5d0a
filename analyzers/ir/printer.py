"""A kernel as readable text, one statement per line with its source line: what ``explain --pass program`` prints.

The same kernel gives the same text in every process: operands of commutative operators are put in textual order, for
their order in an expression depends on what else was interned before.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.ir.expr import Expr, Type, show, walk
from analyzers.ir.kernel import (
    Assign,
    Assume,
    Atomic,
    Barrier,
    Block,
    Collective,
    Continue,
    Exit,
    Fence,
    Havoc,
    If,
    Kernel,
    Load,
    Loop,
    MemObject,
    Observe,
    Phase,
    Site,
    Stmt,
    Store,
    Unsupported,
)


def kernel_text(kernel: Kernel) -> str:
    """The whole kernel: signature, objects, body."""
    lines = [f"kernel {kernel.name}  {kernel.span.path}:{kernel.span.line}"]
    if kernel.bounds.max_threads is not None:
        lines.append(f"  at most {kernel.bounds.max_threads} threads per block")
    if kernel.bounds.cluster is not None:
        lines.append(f"  clusters of {kernel.bounds.cluster}")
    for parameter in kernel.parameters:
        target = f" -> {parameter.object}" if parameter.object else ""
        lines.append(f"  parameter {parameter.name}: {parameter.ty}{target}  ({parameter.type_text})")
    lines += [f"  {_object(o)}" for o in kernel.objects]
    lines += [f"  assumes {text}" for text in kernel.assumptions]
    lines.extend(_body(kernel.body, 1))
    return "\n".join(lines) + "\n"


_UNORDERED = frozenset({"add", "mul", "and", "or", "xor", "min", "max", "eq", "ne"})


def expression_text(e: Expr) -> str:
    """`show`, with the operands of commutative operators in textual order and constants last."""
    texts: dict[int, str] = {}
    for node in walk((e,)):
        if not node.args:
            texts[node.key] = show(node)
            continue
        operands = node.args
        if node.op in _UNORDERED:
            operands = tuple(sorted(operands, key=lambda a: (a.op == "const", texts[a.key])))
        # One level at a time: the operands stand in as names that are already rendered.
        rendered = tuple([_loose("var", a.ty, (), texts[a.key]) for a in operands])
        texts[node.key] = show(_loose(node.op, node.ty, rendered, node.value))
    return texts[e.key]


def _loose(op: str, ty: Type, args: tuple[Expr, ...], value: object) -> Expr:
    """A node that is shown once and not interned."""
    made = Expr.__new__(Expr)
    made.op, made.ty, made.args, made.value = op, ty, args, value
    return made


def _object(o: MemObject) -> str:
    extents = "".join(f"[{n}]" for n in o.extents)
    size = f", {o.size} bytes" if o.size is not None else ""
    only = ", read only" if o.read_only else ""
    return f"object {o.name}{extents}: {o.space} {o.kind}{size}, elements of {o.element}{only}"


def _where(site: Site) -> str:
    calls = "".join(f" <- {span.line}" for span in reversed(site.calls))
    text = " ".join(site.text.split())
    return f"  // {site.span.line}{calls}: {text[:60]}" if text else f"  // {site.span.line}{calls}"


def _body(body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for s in body:
        if isinstance(s, If):
            yield f"{pad}if {expression_text(s.condition)}:{_where(s.site)}"
            yield from _body(s.then, depth + 1)
            if s.orelse:
                yield f"{pad}else:"
                yield from _body(s.orelse, depth + 1)
        elif isinstance(s, Loop):
            yield f"{pad}loop {s.label}:{_where(s.site)}"
            yield from _body(s.head, depth + 1)
            yield f"{pad}  while {expression_text(s.condition)}"
            yield from _body(s.body, depth + 1)
            if s.latch:
                yield f"{pad} latch:"
                yield from _body(s.latch, depth + 1)
        elif isinstance(s, Block):
            yield f"{pad}block {s.label}:"
            yield from _body(s.body, depth + 1)
        else:
            yield pad + statement_text(s)


def statement_text(s: Stmt) -> str:
    """One simple statement, with its place in the source."""
    if isinstance(s, Assign):
        return f"{s.var} := {expression_text(s.value)}"
    if isinstance(s, Exit):
        return f"exit {s.label} ({s.kind}){_where(s.site)}"
    if isinstance(s, Continue):
        return f"continue {s.label}{_where(s.site)}"
    if isinstance(s, (If, Loop, Block)):
        return "\n".join(_body((s,), 0))
    return _effect(s) + _where(s.site)


def _bounds(in_bounds: tuple[tuple[Expr, int], ...]) -> str:
    return "".join(f" [{expression_text(index)} < {extent}]" for index, extent in in_bounds)


def _phase(phase: Phase) -> str:
    given = "" if phase.token is None else f" {phase.token} :="
    kind = "parity" if phase.parity else "token"
    awaited = "" if phase.awaited is None else f" {kind} {expression_text(phase.awaited)}"
    return f"at{given} {expression_text(phase.place)}{awaited}"


def _effect(s: Load | Store | Atomic | Barrier | Fence | Collective | Havoc | Observe | Assume | Unsupported) -> str:
    if isinstance(s, Load):
        volatile = " volatile" if s.volatile else ""
        return f"#{s.id} {s.var} := load{volatile} {s.ty} {s.width}B {expression_text(s.pointer)}{_bounds(s.in_bounds)}"
    if isinstance(s, Store):
        volatile = " volatile" if s.volatile else ""
        target, value = expression_text(s.pointer), expression_text(s.value)
        return f"#{s.id} store{volatile} {s.width}B {target} := {value}{_bounds(s.in_bounds)}"
    if isinstance(s, Atomic):
        operands = ", ".join(expression_text(o) for o in s.operands)
        result = f"{s.var} := " if s.var else ""
        return (
            f"#{s.id} {result}atomic {s.op} {s.ty} {s.width}B {s.scope} {s.order} {expression_text(s.pointer)}"
            f" ({operands}){_bounds(s.in_bounds)}"
        )
    if isinstance(s, Barrier):
        extra = f" mask {expression_text(s.mask)}" if s.mask is not None else f" tile {s.tile}" if s.tile else ""
        if s.reduce is not None:
            extra += f" {s.reduce[2]} := {s.reduce[0]} {expression_text(s.reduce[1])}"
        if s.scope == "meeting":
            half = "" if s.half == "both" else f" {s.half}"
            extra += f" number {s.number}{half}" if s.phase is None else f"{half} {_phase(s.phase)}"
        return f"#{s.id} barrier {s.scope}{extra}{' in macro' if s.in_macro else ''}"
    if isinstance(s, Fence):
        return f"#{s.id} fence {s.scope} {s.order}"
    if isinstance(s, Collective):
        group = "" if s.group is None else f" tile {s.group}"
        return f"#{s.id} {s.var} := {s.name}({', '.join(expression_text(o) for o in s.operands)}){group}"
    if isinstance(s, Havoc):
        tile = "" if s.tile is None else f" tile {s.tile}"
        return f"{s.var} := any {s.ty} ({s.reason}){tile}"
    if isinstance(s, Observe):
        return f"observe {s.kind}"
    if isinstance(s, Assume):
        return f"assume {expression_text(s.condition)} ({s.source})"
    return f"unsupported {s.kind}: {s.text}"
