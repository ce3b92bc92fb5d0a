"""Parentheses and conversions, implicit and written, of values and of lvalues.

Every conversion of C becomes explicit.
"""

from __future__ import annotations

import re

from analyzers.frontend.cindex import TypeKind
from analyzers.frontend.lowering import class_values, memory, recasts
from analyzers.frontend.lowering.context import Context, places, values, zero
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.function_choices import chosen_function
from analyzers.frontend.lowering.function_variables import function_named
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import CASTS, REFERENCES, Kinds, Node, unparenthesised
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
    if len(kids) == 1 and kids[0].kind not in REFERENCES:
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
    if len(kids) != 1 or kids[0].kind in REFERENCES:
        return memory.as_place(ctx, unexposed(ctx, node), node)
    kid = kids[0]
    mine, theirs = node.type, kid.type
    if mine.shape == theirs.shape == "record":
        return memory.base_part(ctx, ctx.place(kid), mine, node)
    if mine.scalar and theirs.scalar and same_object(mine, theirs):
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
        return _pointer_to_class(ctx, value, source, to, node)
    return memory.convert_scalar(ctx, value, to.ir)


def _pointer_to_class(ctx: Context, pointer: Expr, source: CType, to: CType, node: Node) -> Expr:
    if source.shape != "pointer" or to.shape != "pointer":
        return pointer
    recasts.note(ctx, pointer, source.element, to.element)
    return _moved_to_class(ctx, pointer, source.element, to.element, node)


def _moved_to_class(ctx: Context, pointer: Expr, have: CType, wanted: CType, node: Node) -> Expr:
    """A pointer to an object as one to its part that is of a base class, or back to what derives from it."""
    if node.kind == Kinds.REINTERPRET_CAST:
        return pointer
    if have.shape != "record" or wanted.shape != "record" or have.record.declaration == wanted.record.declaration:
        return pointer
    offset = memory.base_offset(have, wanted)
    if offset is None:
        up = memory.base_offset(wanted, have)
        related = node.kind in (Kinds.UNEXPOSED, Kinds.STATIC_CAST, Kinds.DYNAMIC_CAST)
        if up is None and (
            have.record.may_derive_from(wanted, related) or wanted.record.may_derive_from(have, related)
        ):
            text = f"where {have.spelling} and {wanted.spelling} lie in one object is not known"
            ctx.unsupported("base-class", text, node)
        offset = -(up or 0)
    return ptradd(pointer, const(offset, I64)) if offset else pointer


@values(*CASTS)
def explicit_cast(ctx: Context, node: Node) -> Value:
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if not kids:
        return zero(node.type.ir) if node.type.ir is not None else unexposed(ctx, node)
    operand = kids[-1]
    to = node.type
    if to.scalar and operand.type.scalar and to.ir == operand.type.ir and to.shape != "pointer":
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
    if to.shape == source.shape == "record" and to.record.declaration != source.record.declaration:
        place = ctx.place(operand)
        if place.type.shape == "record" and memory.base_offset(place.type, to) is not None:
            return memory.base_part(ctx, place, to, node)
        whole = class_values.address(ctx, place, node)
        recasts.note(ctx, whole, source, to)
        return MemPlace(_moved_to_class(ctx, whole, source, to, node), to)
    if is_lvalue(operand) and (to.ir != source.ir or to.shape != source.shape):
        place = ctx.place(operand)
        bounds = place.bounds if isinstance(place, MemPlace) else ()
        pointer = class_values.address(ctx, place, node)
        recasts.note(ctx, pointer, source, to)
        return MemPlace(pointer, to, bounds)
    if is_lvalue(operand):
        return ctx.place(operand)
    return memory.as_place(ctx, explicit_cast(ctx, node), node)


def is_lvalue(node: Node) -> bool:
    """Whether the expression names an object (rather than computing a value): a glvalue of C++."""
    node = unparenthesised(node)
    kind = node.kind
    if kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT, Kinds.STRING):
        return True
    if kind == Kinds.UNARY:
        return node.operator in ("*", "++", "--")
    if kind == Kinds.BINARY:
        return node.operator in ("=", ".*", "->*") or (node.operator == "," and is_lvalue(node.kids[1]))
    if kind == Kinds.COMPOUND_ASSIGN:
        return True
    if kind == Kinds.CONDITIONAL:
        return len(node.kids) == 3 and all(is_lvalue(k) for k in node.kids[1:])
    if kind == Kinds.UNEXPOSED and len(node.kids) == 1:
        kid = node.kids[0]
        mine, theirs = node.type, kid.type
        if mine.scalar and theirs.scalar:
            # Of scalars only objects have qualifiers: their values lose them, so one that gains any is an object.
            gains = (mine.const and not theirs.const) or (mine.volatile and not theirs.volatile)
            return gains and same_object(mine, theirs) and is_lvalue(kid)
        return mine.shape == theirs.shape == "record" and is_lvalue(kid)
    if kind in CASTS:
        kids = [k for k in node.kids if k.kind not in REFERENCES]
        return bool(kids) and is_lvalue(kids[-1]) and node.type.shape != "pointer"
    if kind == Kinds.CALL:
        target = node.reference
        return target is not None and target.cursor.result_type.get_canonical()._kind_id in _REFERENCE_TYPES
    return False


_REFERENCE_TYPES = frozenset({TypeKind.LVALUEREFERENCE.value, TypeKind.RVALUEREFERENCE.value})


def same_object(one: CType, other: CType) -> bool:
    """Whether an object of one scalar type is an object of the other: they differ in qualifiers only, on any level
    (C++ [conv.qual], similar types). A reference to another type is bound to a converted copy."""
    return one is other or _unqualified(one) == _unqualified(other)


def _unqualified(ctype: CType) -> str:
    return _QUALIFIERS.sub("", ctype.spelling).replace(" ", "")


_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict)\b")
