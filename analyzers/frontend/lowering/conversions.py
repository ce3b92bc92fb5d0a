"""Parentheses and conversions, implicit and written, of values and of lvalues.

Every conversion of C becomes explicit.
"""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.context import Context, places, values, zero
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.function_choices import chosen_function
from analyzers.frontend.lowering.function_variables import function_named
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import CASTS, REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import Closure, FunctionPlace, MemPlace, Place, Value
from analyzers.ir.expr import I64, PTR, U64, Expr, const, ptradd


@values(Kinds.PAREN)
def parenthesised(ctx: Context, node: Node) -> Value:
    return ctx.value(node.kids[0])


@places(Kinds.PAREN)
def parenthesised_place(ctx: Context, node: Node) -> Place:
    return ctx.place(node.kids[0])


@values(Kinds.UNEXPOSED)
def implicit(ctx: Context, node: Node) -> Value:
    """An implicit conversion, or a node libclang has no name for."""
    kids = node.kids
    if len(kids) == 1:
        return converted(ctx, kids[0], node.type, node)
    return unexposed(ctx, node)


def unexposed(ctx: Context, node: Node) -> Value:
    ty = node.type.ir
    if ty is not None:
        found = constant(node.evaluated(), ty)
        if found is not None:
            return found
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if not kids:
        if ty is not None:
            return zero(ty)
        if node.type.shape == "record":
            target = class_values.storage(ctx, node.type, "%value", None, node)
            class_values.zeroed(ctx, target, node)
            return target
        return None
    if len(kids) == 1:
        return converted(ctx, kids[0], node.type, node)
    return ctx.unsupported_value("expression", f"cannot read {node.text[:60]!r}", node)


@places(Kinds.UNEXPOSED)
def implicit_place(ctx: Context, node: Node) -> Place:
    kids = node.kids
    if len(kids) != 1:
        return memory.as_place(ctx, unexposed(ctx, node), node)
    kid = kids[0]
    mine, theirs = node.type, kid.type
    if mine.shape == theirs.shape == "record":
        return memory.base_part(ctx, ctx.place(kid), mine, node)
    if mine.scalar and theirs.scalar and mine.ir == theirs.ir and mine.shape == theirs.shape:
        return ctx.place(kid)
    if mine.shape == theirs.shape == "array" or mine.shape == theirs.shape == "function":
        return ctx.place(kid)
    return memory.as_place(ctx, implicit(ctx, node), node)


def converted(ctx: Context, kid: Node, to: CType, node: Node) -> Value:
    """The value of `kid` converted to `to`, implicitly or by a cast."""
    source = kid.type
    shape = source.shape
    if shape == "array" and to.shape == "pointer":
        return class_values.address(ctx, ctx.place(kid), kid)
    if shape == "function" or (shape == "other" and to.shape in ("pointer", "function")):
        place = function_named(kid) or chosen_function(ctx, kid)
        return place if place is not None else ctx.unsupported_value("indirect-call", node.text[:60], node)
    if to.shape == "void":
        ctx_effect(ctx, kid)
        return None
    if to.shape == "record":
        value = ctx.value(kid)
        if isinstance(value, Expr):
            return value if source.shape != "record" else memory.as_place(ctx, value, kid)
        return memory.base_part(ctx, value, to, node) if value is not None else None
    if to.ir is None:
        return ctx.value(kid)
    value = ctx.value(kid)
    if not isinstance(value, Expr):
        if value is None:
            return zero(to.ir)
        if isinstance(value, (FunctionPlace, Closure)):
            return value
        return memory.convert_scalar(ctx, class_values.scalar_of(ctx, value, kid), to.ir)
    if to.ir == PTR and value.ty == PTR:
        return _pointer_to_base(value, source, to)
    return memory.convert_scalar(ctx, value, to.ir)


def _pointer_to_base(pointer: Expr, source: CType, to: CType) -> Expr:
    if source.shape != "pointer" or to.shape != "pointer":
        return pointer
    derived, base = source.element, to.element
    if derived.shape != "record" or base.shape != "record" or derived is base:
        return pointer
    offset = derived.record.base_offset(base.spelling) if derived.record.bases else None
    return ptradd(pointer, const(offset, I64)) if offset else pointer


@values(*CASTS)
def explicit_cast(ctx: Context, node: Node) -> Value:
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if not kids:
        return zero(node.type.ir) if node.type.ir is not None else unexposed(ctx, node)
    operand = kids[-1]
    to = node.type
    if to.scalar and operand.type.scalar and to.ir == operand.type.ir:
        return ctx.value(operand)
    if to.scalar and operand.type.shape == "record":
        # A reference cast that reads the bytes of a class object as a scalar.
        value = ctx.value(operand)
        if isinstance(value, Expr):
            return memory.convert_scalar(ctx, value, to.ir or U64)
        if value is not None and not isinstance(value, (Closure, FunctionPlace)):
            return memory.read(ctx, MemPlace(class_values.address(ctx, value, node), to), node)
    return converted(ctx, operand, to, node)


@places(*CASTS)
def cast_place(ctx: Context, node: Node) -> Place:
    """A cast to a reference type: the same bytes under another type."""
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    operand = kids[-1]
    to, source = node.type, operand.type
    if to.shape == source.shape == "record" and to.spelling != source.spelling:
        place = ctx.place(operand)
        if place.type.shape == "record" and place.type.record.base_offset(to.spelling) is not None:
            return memory.base_part(ctx, place, to, node)
        return MemPlace(class_values.address(ctx, place, node), to)
    if is_lvalue(operand) and (to.ir != source.ir or to.shape != source.shape):
        place = ctx.place(operand)
        bounds = place.bounds if isinstance(place, MemPlace) else ()
        return MemPlace(class_values.address(ctx, place, node), to, bounds)
    if is_lvalue(operand):
        return ctx.place(operand)
    return memory.as_place(ctx, explicit_cast(ctx, node), node)


def is_lvalue(node: Node) -> bool:
    """Whether the expression names an object (rather than computing a value)."""
    node = stripped(node) if node.kind == Kinds.PAREN else node
    kind = node.kind
    if kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT, Kinds.STRING):
        return True
    if kind == Kinds.UNARY:
        return node.operator in ("*", "++", "--")
    if kind == Kinds.BINARY:
        return node.operator == "="
    if kind == Kinds.COMPOUND_ASSIGN:
        return True
    if kind == Kinds.CONDITIONAL:
        return len(node.kids) == 3 and all(is_lvalue(k) for k in node.kids[1:])
    if kind == Kinds.UNEXPOSED and len(node.kids) == 1:
        kid = node.kids[0]
        same_record = node.type.shape == kid.type.shape == "record"
        return same_record and is_lvalue(kid)
    if kind in CASTS:
        kids = [k for k in node.kids if k.kind not in REFERENCES]
        return bool(kids) and is_lvalue(kids[-1]) and node.type.shape != "pointer"
    if kind == Kinds.CALL:
        target = node.reference
        return target is not None and target.cursor.result_type.get_canonical()._kind_id == 103
    return False
