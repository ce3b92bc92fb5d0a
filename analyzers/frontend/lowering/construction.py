"""Constructors: member initialisers, default members, and the values that constructor calls make."""

from __future__ import annotations

from typing import Any

from analyzers.frontend.lowering import class_values, initialisation, memory
from analyzers.frontend.lowering.constructors import (
    copies_temporary,
    default_constructor,
    has_defaults,
    is_construction,
)
from analyzers.frontend.lowering.context import CONSTRUCT, Context, Frame, pure
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.implicit_copies import check_copy
from analyzers.frontend.lowering.inlining import bind_parameters, lowered_body
from analyzers.frontend.lowering.invocation import Facts, describe, is_implicit
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, constructor_arguments, stripped
from analyzers.frontend.lowering.places import Closure, Place, RecordValue, SplitPlace, Value
from analyzers.ir.expr import U64, Expr


def constructed(ctx: Context, node: Node) -> Value:
    """The value a constructor call makes."""
    args = constructor_arguments(node)
    ctype = node.type
    if ctype.scalar:
        return _number_constructed(ctx, node, args)
    if ctype.shape == "array":
        target = class_values.storage(ctx, ctype, "%value", None, node)
        initialisation.initialise(ctx, target, node, node)
        return target
    if copies_temporary(node):
        value = ctx.value(args[0])
        if isinstance(value, SplitPlace) and (value.key is not None or value.offset):
            # A copy of a named object: its variables may change while the copy lives.
            leaves = class_values.leaf_values(ctx, value, node)
            return RecordValue(leaves or {}, ctype)
        return value
    target = class_values.storage(ctx, ctype, "%value", ("temporary", node.key), node)
    construct(ctx, target, node)
    if isinstance(target, SplitPlace):
        return SplitPlace(target.names, target.type, None)
    return target


def _number_constructed(ctx: Context, node: Node, args: list[Node]) -> Value:
    """A half, bfloat16 or fp8 number from other numbers."""
    ty = node.type.ir or U64
    given = [a for a in args if a.type.scalar]
    if len(given) == 1 and len(args) == 1:
        return memory.convert_scalar(ctx, ctx.scalar(given[0]), ty)
    if not args:
        return ctx.havoc(ty, "uninitialised number", node)
    return pure(f"make {node.type.spelling}", ty, *[ctx.scalar(a) for a in given])


def construct(ctx: Context, target: Place, node: Node) -> None:
    """Run a constructor on `target`."""
    args = constructor_arguments(node)
    constructor = node.reference
    assert constructor is not None
    facts = describe(ctx.table, constructor)
    if facts.body is not None:
        if facts.key in ctx.active:
            ctx.unsupported("recursion", f"{facts.qualified} calls itself", node)
        elif not _construct_base(ctx, target, constructor.cursor.semantic_parent, facts, node):
            ctx.unsupported("constructor", f"{facts.qualified} is of no base of {target.type.spelling}", node)
        return
    made = facts.bundled or is_implicit(constructor.cursor)
    if not args and made:
        default_initialise(ctx, target, node)
        return
    if made and len(args) == 1 and args[0].type.shape == "record":
        value = ctx.value(args[0])
        if isinstance(value, Expr):
            value = memory.as_place(ctx, value, args[0])
        if value is not None:
            check_copy(ctx, target.type, node)
            source = memory.base_part(ctx, value, target.type, node)
            class_values.copy(ctx, target, source, node, args[0])
        return
    if facts.bundled:
        _opaque_construction(ctx, target, facts, args, node)
        return
    ctx.unsupported("call-to-unknown-function", f"constructor {facts.qualified} has no body here", node)


def _construct_base(ctx: Context, target: Place, owner: Any, facts: Facts, node: Node) -> bool:
    """Run a constructor with a body on the part of an object that is of its class: the whole, or a base whose
    constructors the class inherits; then the other parts are made as by default. False: there is no such part."""
    if target.type.shape != "record" or target.type.record.declaration == owner:
        frame = Frame(facts.name, this=target)
        bind_parameters(ctx, frame, facts, node, constructor_arguments(node))
        lowered_body(ctx, facts, node, frame, lambda: _member_initialisers(ctx, facts, target, node))
        return True
    record = target.type.record
    found = next((base for base, _ in record.bases if _is_or_inherits(base, owner)), None)
    if found is None:
        return False
    for base, offset in record.bases:
        part = class_values.part_at(ctx, target, offset, base)
        if base is found:
            _construct_base(ctx, part, owner, facts, node)
        else:
            _default_part(ctx, part, node)
    if has_defaults(target.type):
        _default_members(ctx, target, set(), node)
    return True


def _is_or_inherits(ctype: CType, owner: Any) -> bool:
    bases = ctype.record.bases
    return ctype.record.declaration == owner or any(_is_or_inherits(base, owner) for base, _ in bases)


CONSTRUCT.append(construct)


def _opaque_construction(ctx: Context, target: Place, facts: Facts, args: list[Node], node: Node) -> None:
    given = [ctx.scalar(a) for a in args if a.type.scalar]
    leaves = target.type.leaves()
    if leaves is None:
        return
    made = {at: pure(f"{facts.qualified}+{at}", leaf.ir or U64, *given) for at, leaf in leaves}
    class_values.store_leaves(ctx, target, made, node)


def default_initialise(ctx: Context, target: Place, node: Node) -> None:
    """What an implicit default constructor does: default member initialisers and members' constructors."""
    ctype = target.type
    if ctype.shape != "record" or isinstance(target, Closure) or not has_defaults(ctype):
        return
    for base, offset in ctype.record.bases:
        _default_part(ctx, class_values.part_at(ctx, target, offset, base), node)
    _default_members(ctx, target, set(), node)


def _default_part(ctx: Context, part: Place, node: Node) -> None:
    written = default_constructor(part.type)
    if written is None:
        default_initialise(ctx, part, node)
        return
    facts = describe(ctx.table, ctx.table.declaration(written))
    frame = Frame(facts.name, this=part)
    bind_parameters(ctx, frame, facts, node, [])
    lowered_body(ctx, facts, node, frame, lambda: _member_initialisers(ctx, facts, part, node))


def _default_members(ctx: Context, target: Place, done: set[int], node: Node) -> None:
    saved = ctx.frame
    for field in target.type.record.fields:
        if field.key in done:
            continue
        given = [Node(k, ctx.table) for k in field.cursor.get_children() if 100 <= k._kind_id < 200]
        part = memory.member(ctx, target, field, node) if field.type.shape != "reference" else None
        if part is None:
            continue
        if given and field.bits is None and not _is_extent(field.type, given):
            ctx.frame = Frame("initialiser", this=target)
            try:
                initialisation.initialise(ctx, part, given[-1], node)
            finally:
                ctx.frame = saved
        elif field.type.shape == "record":
            _default_part(ctx, part, node)
        elif field.type.shape == "array" and field.type.flat()[0].shape == "record":
            inner, extents = field.type.flat()
            total = 1
            for extent in extents:
                total *= extent
            if has_defaults(inner) or default_constructor(inner) is not None:
                for number in range(min(total, 64)):
                    _default_part(ctx, class_values.part_at(ctx, part, number * inner.size, inner), node)


def _is_extent(ctype: CType, given: list[Node]) -> bool:
    """Whether the expressions below an array member are its extents only."""
    return ctype.shape == "array" and given[-1].kind != Kinds.INIT_LIST


def _member_initialisers(ctx: Context, facts: Facts, this: Place, node: Node) -> None:
    if this.type.shape != "record":
        return
    done: set[int] = set()
    delegated = False
    for member, given in facts.initializers:
        if member is None or member.reference is None:
            if is_construction(stripped(given)) and given.type.shape == "record":
                delegated = delegated or given.type.record.declaration == this.type.record.declaration
                construct(ctx, memory.base_part(ctx, this, given.type, node), stripped(given))
            elif given.type.shape == "record":
                initialisation.initialise(ctx, memory.base_part(ctx, this, given.type, node), given, node)
            continue
        field = this.type.record.find(member.reference.key, member.name)
        if field is None:
            ctx.unsupported("constructor", f"member {member.name}", member)
            continue
        done.add(field.key)
        if field.type.shape == "reference":
            _bind_member(ctx, this, field.offset, field.type, given)
            continue
        initialisation.initialise(ctx, memory.member(ctx, this, field, node), given, member)
    if not delegated and has_defaults(this.type):
        _default_members(ctx, this, done, node)


def _bind_member(ctx: Context, this: Place, offset: int, ctype: CType, given: Node) -> None:
    pointer = class_values.address(ctx, held_place(ctx, ctx.place(given)), given)
    memory.write(ctx, class_values.part_at(ctx, this, offset, ctype), pointer, given)
