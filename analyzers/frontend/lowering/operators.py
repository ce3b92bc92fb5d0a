"""Unary and binary operators, assignments and compound assignments.

Operands are brought to one type by C's arithmetic conversions, and side effects are emitted in C's order.
"""

from __future__ import annotations

from analyzers.frontend.decay import is_decayed
from analyzers.frontend.lowering import class_values, function_variables, memory
from analyzers.frontend.lowering.conditionals import short_circuit
from analyzers.frontend.lowering.context import Context, places, pure, values, zero
from analyzers.frontend.lowering.designators import decayed_array, held_place, pointee, unchanged
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.function_variables import function_named
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import FunctionPlace, MemPlace, Place, SplitPlace, Value, VarPlace
from analyzers.ir.expr import (
    BOOL,
    I32,
    I64,
    PTR,
    Expr,
    FloatType,
    IntType,
    Type,
    binary,
    bitnot,
    cast,
    compare,
    const,
    fconst,
    lnot,
    make,
    mul,
    neg,
    ptradd,
    sub,
)

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "<<": "shl", ">>": "shr", "&": "and", "|": "or",
    "^": "xor",
}  # fmt: skip


_COMPARISON = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


@places(Kinds.UNARY)
def unary_place(ctx: Context, node: Node) -> Place:
    operator = node.operator
    kid = node.kids[0]
    if operator == "*":
        array = decayed_array(kid)
        if array is not None and kid.type.shape == "pointer":
            return memory.element(ctx, ctx.place(array), const(0, I64), node)
        if kid.type.shape == "pointer" and kid.type.element.shape == "function":
            found = function_named(kid)
            if found is not None:
                return found
        return pointee(ctx, kid)
    if operator in ("++", "--"):
        target = held_place(ctx, ctx.place(kid))
        step(ctx, target, kid, operator)
        return target
    if operator in ("__real", "__imag", "__extension__"):
        return ctx.place(kid)
    return memory.as_place(ctx, unary(ctx, node), node)


@values(Kinds.UNARY)
def unary(ctx: Context, node: Node) -> Value:
    operator = node.operator
    kid = node.kids[0]
    if operator in ("post++", "post--"):
        target = held_place(ctx, ctx.place(kid))
        if ctx.discarded is node:
            step(ctx, target, kid, operator[4:])
            return None
        old = ctx.held(memory.read(ctx, target, kid), "old")
        memory.write(ctx, target, stepped(old, kid.type, operator[4:]), kid)
        return old
    if operator in ("++", "--"):
        target = held_place(ctx, ctx.place(kid))
        new = step(ctx, target, kid, operator)
        return new if not isinstance(target, (VarPlace, SplitPlace)) else memory.read(ctx, target, kid)
    if operator == "*":
        place = unary_place(ctx, node)
        return memory.read(ctx, place, node) if place.type.scalar else place
    if operator == "&":
        found = function_named(kid)
        if found is not None:
            return found
        inner = stripped(kid)
        if is_decayed(kid.cursor):
            text = f"the address of {kid.text[:40]}, a parameter that is written as an array"
            return ctx.unsupported_value("expression", text, node)
        if inner.kind == Kinds.UNARY and inner.operator == "*":
            return ctx.value(inner.kids[0])
        return class_values.address(ctx, ctx.place(kid), kid)
    if operator == "__extension__":
        return ctx.value(kid)
    ty = node.type.ir
    if operator == "!":
        return lnot(memory.convert_scalar(ctx, ctx.scalar(kid), BOOL))
    operand = ctx.scalar(kid)
    if operator == "+":
        return operand
    if operator == "-":
        return neg(operand)
    if operator == "~" and isinstance(operand.ty, IntType):
        return bitnot(operand)
    return ctx.unsupported_value("expression", f"operator {operator or node.text[:40]}", node) if ty else None


def stepped(old: Expr, ctype: CType, operator: str) -> Expr:
    """`old` plus or minus one."""
    if old.ty == PTR:
        size = ctype.step if ctype.shape == "pointer" else 1
        return ptradd(old, const(size if operator == "++" else -size, I64))
    if isinstance(old.ty, FloatType):
        return binary("add" if operator == "++" else "sub", old, fconst(1.0, old.ty))
    if not isinstance(old.ty, IntType):
        return old
    if old.ty.width < 32:
        wide = cast(old, I32)
        return cast(binary("add", wide, const(1 if operator == "++" else -1, I32)), old.ty)
    if operator == "++":
        return binary("add", old, const(1, old.ty))
    return sub(old, const(1, old.ty)) if not old.ty.signed else binary("add", old, const(-1, old.ty))


def step(ctx: Context, target: Place, node: Node, operator: str) -> Expr:
    new = stepped(memory.read(ctx, target, node), node.type, operator)
    memory.write(ctx, target, new, node)
    return new


@values(Kinds.BINARY)
def binary_value(ctx: Context, node: Node) -> Value:
    operator = node.operator
    if len(node.kids) != 2:
        return ctx.unsupported_value("parse-error", f"incomplete expression {node.text[:60]!r}", node)
    left, right = node.kids
    if operator == "=":
        target = assign(ctx, node)
        if ctx.discarded is node or not target.type.scalar:
            return target if not target.type.scalar else None
        return assigned_value(ctx, target, left)
    if operator == ",":
        ctx_effect(ctx, left)
        return ctx.value(right)
    if operator in ("&&", "||"):
        return short_circuit(ctx, node, operator)
    if operator in (".*", "->*"):
        return ctx.unsupported_value("member-pointer", node.text[:60], node)
    a = ctx.scalar(left)
    mark = len(ctx.out)
    b = ctx.scalar(right)
    a = unchanged(ctx, a, mark)
    if operator in _COMPARISON:
        a, b = matched(ctx, a, b)
        return compare(_COMPARISON[operator], a, b)
    if a.ty == PTR or b.ty == PTR:
        return pointer_arithmetic(ctx, operator, a, b, node)
    return arithmetic(ctx, operator, a, b, node.type.ir or a.ty, node)


def assigned_value(ctx: Context, target: Place, left: Node) -> Expr:
    """The value of an assignment expression, without reading memory again where it is known."""
    if ctx.out and not isinstance(target, (VarPlace, SplitPlace)):
        last = ctx.out[-1]
        stored = getattr(last, "value", None)
        if isinstance(stored, Expr) and getattr(last, "pointer", None) is getattr(target, "pointer", None):
            return stored
    return memory.read(ctx, target, left)


def matched(ctx: Context, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Operands brought to one type; clang has done so already except in broken code."""
    if a.ty == b.ty:
        return a, b
    if a.ty == PTR or b.ty == PTR:
        return memory.convert_scalar(ctx, a, PTR), memory.convert_scalar(ctx, b, PTR)
    ty = usual(a.ty, b.ty)
    return cast(a, ty), cast(b, ty)


def promoted(ty: Type) -> Type:
    """Integer promotion."""
    return I32 if isinstance(ty, IntType) and ty.width < 32 else ty


def usual(a: Type, b: Type) -> Type:
    """The common type of the usual arithmetic conversions."""
    if isinstance(a, FloatType) or isinstance(b, FloatType):
        if isinstance(a, FloatType) and isinstance(b, FloatType):
            return a if a.width >= b.width else b
        return a if isinstance(a, FloatType) else b
    a, b = promoted(a), promoted(b)
    if a == b or not isinstance(a, IntType) or not isinstance(b, IntType):
        return a
    if a.signed == b.signed:
        return a if a.width > b.width else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.width >= signed.width else signed


def arithmetic(ctx: Context, operator: str, a: Expr, b: Expr, ty: Type, node: Node) -> Expr:
    op = _ARITHMETIC.get(operator)
    if op is None:
        ctx.unsupported("expression", f"operator {operator or node.text[:40]}", node)
        return ctx.havoc(ty, "operator", node)
    if op in ("shl", "shr"):
        a = cast(a, promoted(a.ty))
        if isinstance(a.ty, FloatType):
            return pure(op, a.ty, a, b)
        return binary(op, a, b)
    if a.ty != b.ty:
        a, b = matched(ctx, a, b)
    if isinstance(a.ty, FloatType):
        return make(op, a.ty, (a, b)) if op != "rem" else pure("fmod", a.ty, a, b)
    if isinstance(a.ty, IntType) and a.ty.width < 32:
        a, b = cast(a, I32), cast(b, I32)
    return binary(op, a, b)


def pointer_arithmetic(ctx: Context, operator: str, a: Expr, b: Expr, node: Node) -> Expr:
    left, right = node.kids
    if a.ty == PTR and b.ty == PTR:
        if operator == "-":
            size = left.type.step if left.type.shape in ("pointer", "array") else 1
            bytes_apart = make("ptrdiff", I64, (a, b)) if a is not b else const(0, I64)
            return binary("div", bytes_apart, const(size, I64))
        return ctx.havoc(node.type.ir or I64, "pointer arithmetic", node)
    if a.ty != PTR:
        a, b, left = b, a, right
    size = left.type.step if left.type.shape in ("pointer", "array") else 1
    if not isinstance(b.ty, IntType):
        return ctx.havoc(PTR, "pointer arithmetic", node)
    offset = mul(cast(b, I64), const(size, I64))
    return ptradd(a, neg(offset) if operator == "-" else offset)


@places(Kinds.BINARY)
def binary_place(ctx: Context, node: Node) -> Place:
    if node.operator == "=" and len(node.kids) == 2:
        return assign(ctx, node)
    if node.operator == "," and len(node.kids) == 2:
        ctx_effect(ctx, node.kids[0])
        return ctx.place(node.kids[1])
    return memory.as_place(ctx, binary_value(ctx, node), node)


def assign(ctx: Context, node: Node) -> Place:
    """A plain assignment: the right side first, as C++17 has it."""
    left, right = node.kids
    if left.type.shape in ("record", "array"):
        source = ctx.value(right)
        target = held_place(ctx, ctx.place(left))
        if isinstance(source, Expr):
            source = memory.as_place(ctx, source, right)
        if source is not None:
            class_values.copy(ctx, target, source, left, right)
        return target
    raw = ctx.value(right)
    if isinstance(raw, FunctionPlace):
        if not function_variables.assigned(ctx, left, raw):
            ctx.unsupported("indirect-call", "a function pointer that changes", node)
        return ctx.place(left)
    value = raw if isinstance(raw, Expr) else ctx_scalar_of(ctx, raw, right)
    mark = len(ctx.out)
    target = ctx.place(left)
    value = unchanged(ctx, value, mark)
    value = memory.convert_scalar(ctx, value, target.type.ir or value.ty)
    if isinstance(target, MemPlace) and ctx.discarded is not node:
        target = held_place(ctx, target)
    memory.write(ctx, target, value, left)
    return target


def ctx_scalar_of(ctx: Context, value: Value, node: Node) -> Expr:
    if value is None:
        return zero(node.type.ir or I32)
    return value if isinstance(value, Expr) else class_values.scalar_of(ctx, value, node)


def compound(ctx: Context, node: Node) -> tuple[Place, Expr]:
    """A compound assignment; gives the target and its new value."""
    left, right = node.kids
    operator = node.operator[:-1]
    operand = ctx.scalar(right)
    mark = len(ctx.out)
    target = held_place(ctx, ctx.place(left))
    operand = unchanged(ctx, operand, mark)
    old = memory.read(ctx, target, left)
    if old.ty == PTR:
        offset = mul(cast(operand, I64), const(left.type.step, I64))
        new = ptradd(old, neg(offset) if operator == "-" else offset)
    elif operator in ("<<", ">>"):
        new = cast(arithmetic(ctx, operator, old, operand, old.ty, node), old.ty)
    else:
        ty = usual(old.ty, operand.ty)
        new = cast(arithmetic(ctx, operator, cast(old, ty), cast(operand, ty), ty, node), old.ty)
    memory.write(ctx, target, new, left)
    return target, new


@values(Kinds.COMPOUND_ASSIGN)
def compound_value(ctx: Context, node: Node) -> Value:
    target, new = compound(ctx, node)
    if ctx.discarded is node:
        return None
    return memory.read(ctx, target, node) if isinstance(target, (VarPlace, SplitPlace)) else new


@places(Kinds.COMPOUND_ASSIGN)
def compound_place(ctx: Context, node: Node) -> Place:
    return compound(ctx, node)[0]
