"""Values and lvalues of expressions, with C's conversions, evaluation order and side effects made explicit."""

from __future__ import annotations

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import (
    Context,
    assigns_any,
    is_stable,
    places,
    pure,
    values,
    variables,
    zero,
)
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import CASTS, REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import (
    Closure,
    FunctionPlace,
    MemPlace,
    Place,
    SplitPlace,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import (
    BOOL,
    I32,
    I64,
    NULL,
    PTR,
    U64,
    Expr,
    FloatType,
    IntType,
    Type,
    addr,
    binary,
    bitnot,
    cast,
    compare,
    const,
    fconst,
    land,
    lnot,
    lor,
    make,
    mul,
    neg,
    ptradd,
    select,
    sub,
)
from analyzers.ir.kernel import Assign, If, MemObject, Stmt

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "<<": "shl", ">>": "shr", "&": "and", "|": "or",
    "^": "xor",
}  # fmt: skip
_COMPARISON = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


# --- literals and constants ---------------------------------------------------------------------------------


def constant(value: int | float | str | None, ty: Type) -> Expr | None:
    """A compile-time value as an expression of the type, where it has one."""
    if value is None or isinstance(value, str):
        return None
    if isinstance(ty, IntType):
        if isinstance(value, float) and not value.is_integer():
            return None
        return const(int(value), ty) if ty != BOOL else const(1 if value else 0, BOOL)
    if isinstance(ty, FloatType):
        return fconst(float(value), ty)
    return NULL if value == 0 else None


@values(Kinds.INTEGER, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.FLOATING, Kinds.SIZEOF, Kinds.SIZEOF_PACK)
def literal(ctx: Context, node: Node) -> Value:
    ty = node.type.ir or I32
    found = constant(node.evaluated(), ty)
    return found if found is not None else ctx.havoc(ty, f"value of {node.text}", node)


@values(Kinds.NULLPTR, Kinds.GNU_NULL)
def null(_ctx: Context, _node: Node) -> Value:
    return NULL


@places(Kinds.STRING)
def string_place(ctx: Context, node: Node) -> Place:
    known = ctx.globals.get(node.key)
    if known is None:
        name = ctx.object("string", "constant", node.type, read_only=True, span=node.span)
        known = ctx.globals[node.key] = MemPlace(addr(name), node.type)
    return known


@values(Kinds.STRING)
def string(ctx: Context, node: Node) -> Value:
    return memory.address(ctx, string_place(ctx, node), node)


# --- wrappers -----------------------------------------------------------------------------------------------


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
            target = memory.storage(ctx, node.type, "%value", None, node)
            memory.zeroed(ctx, target, node)
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
        return memory.address(ctx, ctx.place(kid), kid)
    if shape == "function" or (shape == "other" and to.shape in ("pointer", "function")):
        place = function_named(kid)
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
        return memory.convert_scalar(ctx, memory.scalar_of(ctx, value, kid), to.ir)
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
            return memory.read(ctx, MemPlace(memory.address(ctx, value, node), to), node)
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
        return MemPlace(memory.address(ctx, place, node), to)
    if is_lvalue(operand) and (to.ir != source.ir or to.shape != source.shape):
        place = ctx.place(operand)
        bounds = place.bounds if isinstance(place, MemPlace) else ()
        return MemPlace(memory.address(ctx, place, node), to, bounds)
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


# --- names --------------------------------------------------------------------------------------------------


def function_named(node: Node) -> FunctionPlace | None:
    """The function an expression names, if it is one."""
    node = stripped(node)
    if node.kind == Kinds.UNARY and node.operator == "&":
        node = stripped(node.kids[0])
    target = node.reference
    if node.kind == Kinds.DECL_REF and target is not None and target.kind in (Kinds.FUNCTION, Kinds.METHOD):
        return FunctionPlace(target, node.type)
    return None


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
        return found_place
    if target.kind in (Kinds.FUNCTION, Kinds.METHOD):
        return FunctionPlace(target, node.type)
    if target.kind == Kinds.ENUM_CONSTANT:
        return ValuePlace(const(target.cursor.enum_value, _integer(node.type)), node.type)
    if target.kind == Kinds.VAR:
        from analyzers.frontend.lowering import objects

        return objects.unbound_variable(ctx, target, node)
    if target.kind == Kinds.UNEXPOSED_DECL and node.type.shape in ("array", "record", "integer", "float", "pointer"):
        from analyzers.frontend.lowering import objects

        return objects.unbound_variable(ctx, target, node)
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


# --- members, elements, pointers ----------------------------------------------------------------------------


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
        from analyzers.frontend.lowering import objects

        known = ctx.globals.get(target.key)
        return known if known is not None else objects.unbound_variable(ctx, target, node)
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
    return memory.address(ctx, this, node)


# --- unary operators ----------------------------------------------------------------------------------------


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
        if inner.kind == Kinds.UNARY and inner.operator == "*":
            return ctx.value(inner.kids[0])
        return memory.address(ctx, ctx.place(kid), kid)
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


def held_place(ctx: Context, place: Place) -> Place:
    """The same object, immune to later assignments to the variables in its address."""
    if isinstance(place, MemPlace) and not is_stable(place.pointer):
        bounds = tuple((ctx.held(index), extent) for index, extent in place.bounds)
        return MemPlace(ctx.held(place.pointer, "p"), place.type, bounds, place.bits, place.volatile, place.inside)
    return place


# --- binary operators ---------------------------------------------------------------------------------------


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
            memory.copy(ctx, target, source, left, right)
        return target
    raw = ctx.value(right)
    if isinstance(raw, FunctionPlace):
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
    return value if isinstance(value, Expr) else memory.scalar_of(ctx, value, node)


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


# --- conditional evaluation ---------------------------------------------------------------------------------


def condition(ctx: Context, node: Node) -> Expr:
    """The value of an expression as a BOOL."""
    return memory.convert_scalar(ctx, ctx.scalar(node), BOOL)


def short_circuit(ctx: Context, node: Node, operator: str) -> Expr:
    left, right = node.kids
    a = condition(ctx, left)
    decided = const(0 if operator == "&&" else 1, BOOL)
    if a is decided:
        return a
    with ctx.branch() as inner:
        b = condition(ctx, right)
    if a.op == "const":
        ctx.out.extend(inner)
        return b
    if not inner:
        return land(a, b) if operator == "&&" else lor(a, b)
    result = ctx.temporary(BOOL, "both" if operator == "&&" else "either")
    ctx.assign(result, a)
    inner.append(Assign(result.value, b))
    ctx.emit(If(result if operator == "&&" else lnot(result), tuple(inner), (), ctx.site(node)))
    return result


@values(Kinds.CONDITIONAL)
def conditional(ctx: Context, node: Node) -> Value:
    test, first, second = node.kids
    c = condition(ctx, test)
    if c.op == "const":
        return ctx.value(first if c.value else second)
    if node.type.shape == "void":
        with ctx.branch() as then:
            ctx_effect(ctx, first)
        with ctx.branch() as orelse:
            ctx_effect(ctx, second)
        ctx.emit(If(c, tuple(then), tuple(orelse), ctx.site(node)))
        return None
    if node.type.shape == "record":
        return _conditional_record(ctx, node, c)
    ty = node.type.ir or I32
    with ctx.branch() as then:
        a = memory.convert_scalar(ctx, ctx.scalar(first), ty)
    with ctx.branch() as orelse:
        b = memory.convert_scalar(ctx, ctx.scalar(second), ty)
    if not then and not orelse:
        return select(c, a, b)
    return _branches(ctx, node, c, then, a, orelse, b)


def _branches(ctx: Context, node: Node, c: Expr, then: list[Stmt], a: Expr, orelse: list[Stmt], b: Expr) -> Expr:
    result = ctx.temporary(a.ty, "choice")
    then.append(Assign(result.value, a))
    orelse.append(Assign(result.value, b))
    ctx.emit(If(c, tuple(then), tuple(orelse), ctx.site(node)))
    return result


def _conditional_record(ctx: Context, node: Node, c: Expr) -> Value:
    target = memory.storage(ctx, node.type, "%choice", None, node)
    branches: list[list[Stmt]] = []
    for kid in node.kids[1:]:
        with ctx.branch() as body:
            value = ctx.value(kid)
            if isinstance(value, (Closure, FunctionPlace)):
                ctx.unsupported("indirect-call", "a choice between function objects", node)
            elif value is not None and not isinstance(value, Expr):
                memory.copy(ctx, target, value, kid)
        branches.append(body)
    ctx.emit(If(c, tuple(branches[0]), tuple(branches[1]), ctx.site(node)))
    return target


@places(Kinds.CONDITIONAL)
def conditional_place(ctx: Context, node: Node) -> Place:
    test, first, second = node.kids
    if not (is_lvalue(first) and is_lvalue(second)):
        return memory.as_place(ctx, conditional(ctx, node), node)
    c = condition(ctx, test)
    if c.op == "const":
        return ctx.place(first if c.value else second)
    with ctx.branch() as then:
        one = ctx.place(first)
        a = memory.address(ctx, one, first)
    with ctx.branch() as orelse:
        b = memory.address(ctx, ctx.place(second), second)
    pointer = select(c, a, b) if not then and not orelse else _branches(ctx, node, c, then, a, orelse, b)
    return MemPlace(pointer, node.type)


# --- statements as expressions, aggregates ------------------------------------------------------------------


def ctx_effect(ctx: Context, node: Node) -> None:
    """Evaluate for the side effects only: reading an object without using it is no access."""
    inner = stripped(node)
    while inner.kind in CASTS:
        kids = [k for k in inner.kids if k.kind not in REFERENCES]
        if not kids or inner.type.shape != "void":
            break
        inner = stripped(kids[-1])
    saved = ctx.discarded
    ctx.discarded = inner
    try:
        if inner.kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT) and not inner.type.volatile:
            if inner.kind != Kinds.DECL_REF:
                ctx.place(inner)
            return
        stepping = inner.kind == Kinds.UNARY and inner.operator in ("++", "--")
        if stepping or (inner.kind == Kinds.UNARY and inner.operator == "*" and not inner.type.volatile):
            ctx.place(inner)
            return
        ctx.value(inner)
    finally:
        ctx.discarded = saved


@values(Kinds.STATEMENT_EXPR)
def statement_expression(ctx: Context, node: Node) -> Value:
    body = node.kids[0].kids
    for statement in body[:-1]:
        ctx.lower(statement)
    if not body:
        return None
    if node.type.shape == "void":
        ctx.lower(body[-1])
        return None
    return ctx.value(body[-1])


@values(Kinds.INIT_LIST, Kinds.COMPOUND_LITERAL)
def aggregate(ctx: Context, node: Node) -> Value:
    if node.kind == Kinds.COMPOUND_LITERAL:
        kids = [k for k in node.kids if k.kind not in REFERENCES]
        return ctx.value(kids[-1]) if kids else None
    ctype = node.type
    if ctype.scalar:
        if not node.kids:
            return zero(ctype.ir or I32)
        return memory.convert_scalar(ctx, ctx.scalar(node.kids[0]), ctype.ir or I32)
    if ctype.shape in ("record", "array"):
        target = memory.storage(ctx, ctype, "%value", None, node)
        from analyzers.frontend.lowering import objects

        objects.initialise(ctx, target, node, node)
        return target
    return ctx.unsupported_value("expression", f"cannot read {node.text[:60]!r}", node)


@values(Kinds.NEW)
def allocation(ctx: Context, node: Node) -> Value:
    for kid in node.kids:
        if kid.kind not in REFERENCES and kid.type.scalar:
            ctx_effect(ctx, kid)
    return fresh_memory(ctx, node)


def fresh_memory(ctx: Context, node: Node) -> Expr:
    """Memory from the device heap: nobody else knows its address until the thread hands it on."""
    name = ctx.name("allocated")
    size = max(node.type.element.size, 1) if node.type.shape == "pointer" else 1
    ctx.objects[name] = MemObject(name, "local", "unknown", None, size, (), "allocated", span=node.span)
    ctx.assumptions["memory allocated in device code is used by the thread that allocated it only"] = None
    return addr(name)


@values(Kinds.DELETE)
def deallocation(ctx: Context, node: Node) -> Value:
    for kid in node.kids:
        ctx_effect(ctx, kid)
    return None


@values(Kinds.LAMBDA)
def lambda_value(ctx: Context, node: Node) -> Value:
    from analyzers.frontend.lowering import calls

    return calls.closure(ctx, node)


@values(Kinds.THROW, Kinds.TYPEID)
def exceptional(ctx: Context, node: Node) -> Value:
    return ctx.unsupported_value("expression", f"{node.text[:60]!r} in device code", node)
