"""Initialisers: from expressions, lists and designated clauses, for scalars, arrays and classes."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, constructors, memory
from analyzers.frontend.lowering.context import CONSTRUCT, Context, zero
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import MemPlace, Place
from analyzers.ir.expr import U64, Expr


def elided(node: Node) -> Node:
    """The construction inside a copy that C++17 leaves out."""
    while (
        node.kind == Kinds.CALL
        and len(node.kids) == 1
        and node.reference is None
        and node.type.shape == node.kids[0].type.shape == "record"
    ):
        node = stripped(node.kids[0])
    return node


def initialise(ctx: Context, target: Place, init: Node, at: Node) -> None:
    """Initialise storage from an initialiser expression or list. `at` is what findings point to."""
    bare = init
    while (
        bare.kind in (Kinds.UNEXPOSED, Kinds.PAREN) and len(bare.kids) == 1 and bare.type.shape in ("record", "array")
    ):
        bare = bare.kids[0]
    bare = elided(bare)
    ctype = target.type
    if bare.kind == Kinds.INIT_LIST:
        _from_list(ctx, target, bare, at)
        return
    if ctype.scalar:
        # In a list, that an array stands for its address is not written in the tree.
        decays = ctype.shape == "pointer" and init.type.shape == "array" and bare.kind != Kinds.STRING
        given = class_values.address(ctx, ctx.place(init), init) if decays else ctx.scalar(init)
        memory.write(ctx, target, memory.convert_scalar(ctx, given, ctype.ir or U64), at)
        return
    if ctype.shape == "record":
        if constructors.is_construction(bare):
            CONSTRUCT[0](ctx, target, bare)
            return
    elif ctype.shape == "array":
        _initialise_array(ctx, target, bare, at)
        return
    value = ctx.value(init)
    if isinstance(value, Expr):
        value = memory.as_place(ctx, value, init)
    if value is not None:
        class_values.copy(ctx, target, value, at, init)


def _initialise_array(ctx: Context, target: Place, init: Node, at: Node) -> None:
    ctype = target.type
    if init.kind == Kinds.CALL and constructors.is_construction(init):
        inner, extents = ctype.flat()
        if inner.shape != "record" or constructors.trivial_construction(init):
            return
        total = 1
        for extent in extents:
            total *= extent
        if total > 64:
            ctx.unsupported("constructor", f"an array of {total} constructed objects", at)
            return
        for number in range(total):
            CONSTRUCT[0](ctx, class_values.part_at(ctx, target, number * inner.size, inner), init)
        return
    if init.kind == Kinds.STRING:
        text = init.evaluated()
        if isinstance(text, str) and isinstance(target, MemPlace):
            class_values.zeroed(ctx, target, at)
        return
    value = ctx.value(init)
    if value is not None and not isinstance(value, Expr):
        class_values.copy(ctx, target, value, at, init)


class _Clauses:
    """The initialiser clauses of a braced list, taken one by one."""

    def __init__(self, clauses: list[Node]) -> None:
        self._clauses = clauses
        self._next = 0

    def peek(self) -> Node | None:
        return self._clauses[self._next] if self._next < len(self._clauses) else None

    def take(self) -> Node:
        self._next += 1
        return self._clauses[self._next - 1]


def _from_list(ctx: Context, target: Place, init: Node, at: Node) -> None:
    ctype = target.type
    clauses = [k for k in init.kids if k.kind not in REFERENCES]
    if ctype.scalar:
        value = ctx.scalar(clauses[0]) if clauses else zero(ctype.ir or U64)
        memory.write(ctx, target, memory.convert_scalar(ctx, value, ctype.ir or U64), at)
        return
    if len(clauses) == 1 and ctype.shape == "record" and clauses[0].type.shape == "record":
        only = stripped(clauses[0])
        if only.kind != Kinds.INIT_LIST and clauses[0].type.spelling.removeprefix(
            "const "
        ) == ctype.spelling.removeprefix("const "):
            initialise(ctx, target, clauses[0], at)
            return
    if any(_is_designated(k) for k in clauses):
        _designated(ctx, target, clauses, at)
        return
    if not clauses:
        class_values.zeroed(ctx, target, at)
        return
    if len(clauses) < _slots(ctype) and _slots(ctype) > class_values.COPY_LIMIT:
        class_values.zeroed(ctx, target, at)
    _fill(ctx, target, _Clauses(clauses), at)


def _slots(ctype: CType) -> int:
    if ctype.shape == "array":
        return ctype.count or 0
    return len(ctype.record.fields) + len(ctype.record.bases) if ctype.shape == "record" else 1


def _is_designated(clause: Node) -> bool:
    return clause.kind == Kinds.UNEXPOSED and any(k.kind == Kinds.MEMBER_REF for k in clause.kids)


def _designated(ctx: Context, target: Place, clauses: list[Node], at: Node) -> None:
    class_values.zeroed(ctx, target, at)
    for clause in clauses:
        names = [k for k in clause.kids if k.kind == Kinds.MEMBER_REF]
        given = [k for k in clause.kids if k.kind != Kinds.MEMBER_REF and k.kind not in REFERENCES]
        place = target
        for name in names:
            field = place.type.record.find(name.reference.key if name.reference else 0, name.name)
            if field is None:
                ctx.unsupported("expression", f"designator {clause.text[:40]}", clause)
                return
            place = memory.member(ctx, place, field, at)
        if given:
            initialise(ctx, place, given[-1], at)


def _fill(ctx: Context, target: Place, clauses: _Clauses, at: Node) -> None:
    """Give the clauses to the members or elements in order, with braces left out where C allows it."""
    for part in _members(ctx, target, at):
        clause = clauses.peek()
        if clause is None:
            if _slots(target.type) > class_values.COPY_LIMIT:
                return
            class_values.zeroed(ctx, part, at)
            continue
        bare = stripped(clause)
        inner = part.type
        if inner.shape in ("array", "record") and bare.kind != Kinds.INIT_LIST and bare.kind != Kinds.STRING:
            same = clause.type.shape == "record" and inner.shape == "record"
            if not same:
                _fill(ctx, part, clauses, at)
                continue
        clauses.take()
        if inner.shape == "reference":
            pointer = class_values.address(ctx, ctx.place(clause), clause)
            memory.write(ctx, part, pointer, at)
            continue
        initialise(ctx, part, clause, at)


def _members(ctx: Context, target: Place, at: Node) -> list[Place]:
    ctype = target.type
    if ctype.shape == "array":
        inner = ctype.element
        size = max(inner.size, 1)
        return [class_values.part_at(ctx, target, i * size, inner) for i in range(min(ctype.count or 0, 4096))]
    if ctype.shape != "record":
        return [target]
    record = ctype.record
    parts = [class_values.part_at(ctx, target, offset, base) for base, offset in record.bases]
    for field in record.fields[:1] if record.union else record.fields:
        if field.bits is not None:
            parts.append(memory.member(ctx, target, field, at))
        else:
            parts.append(class_values.part_at(ctx, target, field.offset, field.type))
    return parts
