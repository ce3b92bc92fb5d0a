"""What designates an object or a function: names, members, elements, dereferenced pointers."""

from __future__ import annotations

from dataclasses import replace

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.context import (
    VARIABLE_OF,
    Context,
    assigns_any,
    is_stable,
    places,
    pure,
    values,
    variables,
)
from analyzers.frontend.lowering.function_variables import as_it_is_now
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import (
    EitherPlace,
    FunctionPlace,
    MemPlace,
    Place,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import I32, I64, NULL, U64, Expr, IntType, cast, const, mul, ptradd
from analyzers.ir.kernel import Assign


@places(Kinds.DECL_REF)
def named_place(ctx: Context, node: Node) -> Place:
    kids = node.kids
    target = node.reference
    if kids and kids[-1].kind not in REFERENCES and (target is None or target.kind == 0):
        # A template argument in the body of an instantiation: the literal is the child.
        return ctx.place(kids[-1])
    if target is None:
        found = constant(node.evaluated(), node.type.ir or I32)
        if found is not None:
            return ValuePlace(found, node.type)
        return memory.as_place(ctx, ctx.unsupported_value("expression", f"unknown name {node.name}", node), node)
    found_place = ctx.frame.lookup(target.key)
    if found_place is None:
        found_place = ctx.globals.get(target.key)
    if found_place is not None:
        return as_it_is_now(ctx, found_place)
    if target.kind in (Kinds.FUNCTION, Kinds.METHOD):
        return FunctionPlace(target, node.type)
    if target.kind == Kinds.ENUM_CONSTANT:
        return ValuePlace(const(target.cursor.enum_value, _integer(node.type)), node.type)
    if target.kind == Kinds.VAR:
        return VARIABLE_OF[0](ctx, target, node)
    if target.kind == Kinds.UNEXPOSED_DECL and node.type.shape in ("array", "record", "integer", "float", "pointer"):
        return VARIABLE_OF[0](ctx, target, node)
    if kids and kids[-1].kind not in REFERENCES:
        return ctx.place(kids[-1])
    found = constant(node.evaluated(), node.type.ir or I32)
    if found is not None:
        return ValuePlace(found, node.type)
    return memory.as_place(ctx, ctx.unsupported_value("expression", f"cannot resolve {node.name}", node), node)


def _integer(ctype: CType) -> IntType:
    return ctype.ir if isinstance(ctype.ir, IntType) else I32


@values(Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT)
def lvalue_read(ctx: Context, node: Node) -> Value:
    place = ctx.place(node)
    return memory.read(ctx, place, node) if place.type.scalar else place


def pointee(ctx: Context, pointer: Node) -> Place:
    """The object a pointer expression points to."""
    inner = stripped(pointer)
    target = pointer.type.element
    if inner.kind == Kinds.THIS:
        this = ctx.frame.enclosing_this()
        if this is not None:
            return memory.base_part(ctx, this, target, pointer)
    if inner.kind == Kinds.UNARY and inner.operator == "&" and inner.type.element is target:
        return ctx.place(inner.kids[0])
    value = ctx.value(pointer)
    if isinstance(value, Expr):
        return MemPlace(value, target, volatile=target.volatile)
    return value if value is not None else MemPlace(NULL, target)


@places(Kinds.MEMBER)
def member_place(ctx: Context, node: Node) -> Place:
    target = node.reference
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if target is None:
        return memory.as_place(ctx, ctx.unsupported_value("expression", f"unknown member {node.name}", node), node)
    if target.kind == Kinds.VAR:
        known = ctx.globals.get(target.key)
        return known if known is not None else VARIABLE_OF[0](ctx, target, node)
    if target.kind == Kinds.ENUM_CONSTANT:
        return ValuePlace(const(target.cursor.enum_value, _integer(node.type)), node.type)
    if target.kind == Kinds.METHOD:
        return FunctionPlace(target, node.type)
    base: Place | None
    if not kids:
        base = ctx.frame.enclosing_this()
        if base is None:
            return memory.as_place(
                ctx, ctx.unsupported_value("expression", f"{node.name} without an object", node), node
            )
    elif kids[0].type.shape == "pointer":
        base = pointee(ctx, kids[0])
    else:
        base = ctx.place(kids[0])
    if base.type.scalar and not isinstance(base, (VarPlace, ValuePlace)):
        base = ValuePlace(memory.read(ctx, base, node), base.type)
    if base.type.shape == "record":
        field = base.type.record.find(target.key, node.name)
        if field is not None:
            return memory.member(ctx, base, field, node)
    elif base.type.scalar:
        return ValuePlace(
            pure(f"{base.type.spelling}.{node.name}", node.type.ir or U64, memory.read(ctx, base, node)), node.type
        )
    return memory.as_place(ctx, ctx.unknown_value(node.type, f"member {node.name}", node), node)


@places(Kinds.SUBSCRIPT)
def subscript(ctx: Context, node: Node) -> Place:
    base, index = node.kids[0], node.kids[1]
    if index.type.shape in ("pointer", "array"):
        base, index = index, base
    array = decayed_array(base)
    if array is not None:
        whole = ctx.place(array)
        return memory.element(ctx, whole, ctx.scalar(index), node)
    pointer = ctx.scalar(base)
    mark = len(ctx.out)
    position = ctx.scalar(index)
    pointer = unchanged(ctx, pointer, mark)
    target = base.type.element if base.type.shape in ("pointer", "array") else node.type
    offset = mul(cast(position, I64), const(max(target.size, 1), I64))
    return MemPlace(ptradd(pointer, offset), target, volatile=target.volatile)


def decayed_array(node: Node) -> Node | None:
    """The array lvalue whose conversion to a pointer this is."""
    while True:
        if node.type.shape == "array":
            return node
        if node.kind not in (Kinds.UNEXPOSED, Kinds.PAREN) or len(node.kids) != 1:
            return None
        node = node.kids[0]


def unchanged(ctx: Context, value: Expr, mark: int) -> Expr:
    """`value`, computed before the statements from `mark` on, protected from what those assign."""
    if len(ctx.out) == mark or is_stable(value):
        return value
    if not assigns_any(ctx.out[mark:], variables(value)):
        return value
    kept = ctx.temporary(value.ty)
    ctx.out.insert(mark, Assign(kept.value, value))
    return kept


@values(Kinds.THIS)
def this_pointer(ctx: Context, node: Node) -> Value:
    this = ctx.frame.enclosing_this()
    if this is None:
        return ctx.unsupported_value("expression", "this without an object", node)
    return class_values.address(ctx, this, node)


def held_place(ctx: Context, place: Place) -> Place:
    """The same object, immune to later assignments to the variables in its address."""
    if isinstance(place, MemPlace) and not is_stable(place.pointer):
        bounds = tuple((ctx.held(index), extent) for index, extent in place.bounds)
        pointer = ctx.held(place.pointer, "p")
        return MemPlace(pointer, place.type, bounds, place.bits, place.volatile, place.inside, place.within)
    if isinstance(place, EitherPlace):
        return replace(place, first=held_place(ctx, place.first), other=held_place(ctx, place.other))
    return place
