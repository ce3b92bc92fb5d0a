"""Constructors of expressions that fold constants and apply cheap identities with exact C semantics.

They never assume the absence of overflow.
"""

from __future__ import annotations

from analyzers.ir.node import BOOL, FALSE, I64, PTR, TRUE, Expr, FloatType, IntType, Type, const, fconst, make


def is_const(e: Expr) -> bool:
    return e.op == "const"


def int_value(e: Expr) -> int:
    return e.value


def trunc_div(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a >= 0) == (b > 0) else -q


def binary_value(op: str, a: int, b: int, ty: IntType) -> int | None:
    """C value of ``a op b`` in type ``ty`` (wrapping); None where C leaves it undefined (division by zero, bad
    shift)."""
    if op == "add":
        return ty.wrap(a + b)
    if op == "sub":
        return ty.wrap(a - b)
    if op == "mul":
        return ty.wrap(a * b)
    if op in ("div", "rem"):
        if b == 0:
            return None
        q = trunc_div(a, b)
        return ty.wrap(q if op == "div" else a - q * b)
    if op in ("shl", "shr"):
        if not 0 <= b < ty.width:
            return None
        return ty.wrap(a << b if op == "shl" else a >> b)
    if op == "and":
        return ty.wrap(a & b)
    if op == "or":
        return ty.wrap(a | b)
    if op == "xor":
        return ty.wrap(a ^ b)
    if op == "min":
        return min(a, b)
    if op == "max":
        return max(a, b)
    raise ValueError(op)


_ORDERED = frozenset({"add", "mul", "and", "or", "xor", "min", "max"})


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """Integer or float arithmetic on operands of the same type (shift counts may have another integer type)."""
    ty = a.ty
    if isinstance(ty, IntType):
        if a.op == "const" and b.op == "const":
            value = binary_value(op, a.value, b.value, ty)
            if value is not None:
                return const(value, ty)
        if op in _ORDERED and a.op == "const":
            a, b = b, a
        if b.op == "const":
            k = b.value
            if k == 0:
                if op in ("add", "sub", "or", "xor", "shl", "shr"):
                    return a
                if op in ("mul", "and"):
                    return const(0, ty)
            elif k == 1:
                if op in ("mul", "div"):
                    return a
                if op == "rem":
                    return const(0, ty)
            if op == "add" and a.op == "add" and a.args[1].op == "const":
                both = a.args[1].value + k
                # A sum of constants that wraps would turn an overflow of the sum into one the program does not have.
                if not ty.signed or ty.low <= both <= ty.high:
                    return binary("add", a.args[0], const(both, ty))
        elif a is b:
            if op in ("sub", "xor"):
                return const(0, ty)
            if op in ("and", "or", "min", "max"):
                return a
        elif op == "sub" and a.op == "add" and not ty.signed:
            # What is left of a difference of addresses into one object.
            for base, rest in (a.args, a.args[::-1]):
                if base is b:
                    return rest
                if b.op == "add" and base in b.args:
                    return binary("sub", rest, b.args[1] if b.args[0] is base else b.args[0])
        if op in _ORDERED and b.op != "const" and a.rank > b.rank:
            a, b = b, a
    return make(op, ty, (a, b))


def add(a: Expr, b: Expr) -> Expr:
    return binary("add", a, b)


def sub(a: Expr, b: Expr) -> Expr:
    return binary("sub", a, b)


def mul(a: Expr, b: Expr) -> Expr:
    return binary("mul", a, b)


def neg(a: Expr) -> Expr:
    if a.op == "const" and isinstance(a.ty, IntType):
        return const(-a.value, a.ty)
    return make("neg", a.ty, (a,))


def bitnot(a: Expr) -> Expr:
    assert isinstance(a.ty, IntType)
    if a.op == "const":
        return const(~a.value, a.ty)
    return make("not", a.ty, (a,))


def compare(op: str, a: Expr, b: Expr) -> Expr:
    """``eq ne lt le gt ge`` on operands of one type; the result is BOOL."""
    if op == "gt":
        return compare("lt", b, a)
    if op == "ge":
        return compare("le", b, a)
    if isinstance(a.ty, IntType):
        if a.op == "const" and b.op == "const":
            x, y = int_value(a), int_value(b)
            return TRUE if {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y}[op] else FALSE
        if a is b:
            return TRUE if op in ("eq", "le") else FALSE
        if op in ("eq", "ne") and a.ty == BOOL:
            for x, y in ((a, b), (b, a)):
                if y.op == "const":
                    same = (y.value == 1) == (op == "eq")
                    return x if same else lnot(x)
        if op in ("eq", "ne"):
            for x, y in ((a, b), (b, a)):
                if y.op == "const" and x.op == "cast" and x.args[0].ty == BOOL and a.ty.width > 1:
                    # A truth value as a number is zero or one.
                    said = int_value(y)
                    if said not in (0, 1):
                        return FALSE if op == "eq" else TRUE
                    return x.args[0] if (said == 1) == (op == "eq") else lnot(x.args[0])
    if op in ("eq", "ne") and (a.op == "const" or (b.op != "const" and a.rank > b.rank)):
        a, b = b, a
    return make(op, BOOL, (a, b))


def lnot(a: Expr) -> Expr:
    if a.op == "const":
        return FALSE if a.value else TRUE
    if a.op == "lnot":
        return a.args[0]
    if isinstance(a.args[0].ty if a.args else None, IntType):
        if a.op == "lt":
            return compare("le", a.args[1], a.args[0])
        if a.op == "le":
            return compare("lt", a.args[1], a.args[0])
    if a.op == "eq":
        return make("ne", BOOL, a.args)
    if a.op == "ne":
        return make("eq", BOOL, a.args)
    return make("lnot", BOOL, (a,))


def land(*parts: Expr) -> Expr:
    result = TRUE
    for p in parts:
        if result is FALSE or p is FALSE:
            return FALSE
        if p is TRUE or p is result:
            continue
        result = p if result is TRUE else make("land", BOOL, (result, p))
    return result


def lor(*parts: Expr) -> Expr:
    result = FALSE
    for p in parts:
        if result is TRUE or p is TRUE:
            return TRUE
        if p is FALSE or p is result:
            continue
        if result is FALSE:
            result = p
        elif result is lnot(p):
            return TRUE
        else:
            result = make("lor", BOOL, (result, p))
    return result


def disjuncts(e: Expr) -> tuple[Expr, ...]:
    """The top-level disjuncts of a boolean."""
    return tuple(p for a in e.args for p in disjuncts(a)) if e.op == "lor" else (e,)


def conjuncts(e: Expr) -> tuple[Expr, ...]:
    """The top-level conjuncts of a boolean, left to right."""
    out: list[Expr] = []
    stack = [e]
    while stack:
        top = stack.pop()
        if top.op == "land":
            stack.extend(reversed(top.args))
        elif top is not TRUE:
            out.append(top)
    return tuple(out)


def select(c: Expr, a: Expr, b: Expr) -> Expr:
    if c is TRUE or a is b:
        return a
    if c is FALSE:
        return b
    if a.ty == BOOL:
        if a is TRUE and b is FALSE:
            return c
        if a is FALSE and b is TRUE:
            return lnot(c)
        # `c ? c : b`, as `p && q` leaves it where `p` has branches of its own, is `c || b`.
        if a is TRUE or a is c:
            return lor(c, b)
        if b is FALSE or b is c:
            return land(c, a)
        if a is FALSE or a is lnot(c):
            return land(lnot(c), b)
        if b is TRUE or b is lnot(c):
            return lor(lnot(c), a)
    if a.op == "select" and a.args[0] is c:
        a = a.args[1]
    if b.op == "select" and b.args[0] is c:
        b = b.args[2]
    return make("select", a.ty, (c, a, b))


def cast(a: Expr, ty: Type) -> Expr:
    """C conversion. To BOOL it is ``a != 0``; between integers it is modulo 2**width."""
    if a.ty == ty:
        return a
    if isinstance(ty, IntType) and isinstance(a.ty, IntType):
        if ty == BOOL:
            return compare("ne", a, const(0, a.ty))
        if a.op == "const":
            return const(a.value, ty)
        if a.op == "cast" and isinstance(a.args[0].ty, IntType):
            inner = a.args[0]
            it = inner.ty
            if (
                isinstance(it, IntType)
                and a.ty.width >= it.width
                and it != BOOL
                and (ty.width <= it.width or (a.ty.signed == it.signed and a.ty.width > it.width))
            ):
                return cast(inner, ty)
    elif a.op == "const":
        if isinstance(ty, FloatType):
            return fconst(a.value, ty)
        if isinstance(ty, IntType) and isinstance(a.ty, FloatType) and ty != BOOL and a.value == a.value:
            truncated = int(a.value) if abs(a.value) < 2.0**63 else None
            if truncated is not None and ty.low <= truncated <= ty.high:
                return const(truncated, ty)
    return make("cast", ty, (a,))


def narrow(a: Expr, ty: IntType) -> Expr:
    """Integer conversion that is assumed to keep the value."""
    if a.ty == ty:
        return a
    if a.op == "const":
        return const(a.value, ty)
    if a.op == "cast" and a.args[0].ty == ty and isinstance(a.ty, IntType) and a.ty.width >= ty.width:
        return a.args[0]
    return make("narrow", ty, (a,))


def ptradd(p: Expr, offset: Expr) -> Expr:
    """Pointer plus a byte offset of type I64."""
    if offset.op == "const" and offset.value == 0:
        return p
    if p.op == "ptradd":
        return make("ptradd", PTR, (p.args[0], add(p.args[1], offset)))
    return make("ptradd", PTR, (p, offset))


def call(name: str, ty: Type, *args: Expr) -> Expr:
    """A pure function application (``sqrtf``, ``__popc``, ``__brev`` ...)."""
    return make("call", ty, args, name)


def pointer_of_integer(e: Expr) -> Expr:
    """The pointer an integer address came from, with what was added to it since; else ``inttoptr`` of it.

    Addresses of shared memory are taken as 32-bit numbers: the half cut off says only which memory it is.
    """
    found = _pointer_in(e)
    return found if found is not None else make("call", PTR, (e,), "inttoptr")


def _pointer_in(e: Expr) -> Expr | None:
    if e.op == "call" and e.value == "ptrtoint":
        return e.args[0]
    if not isinstance(e.ty, IntType) or e.ty.width < 32:
        return None
    if e.op in ("cast", "narrow"):
        return _pointer_in(e.args[0])
    if e.op == "select":
        then, other = _pointer_in(e.args[1]), _pointer_in(e.args[2])
        return select(e.args[0], then, other) if then is not None and other is not None else None
    if e.op in ("add", "sub"):
        base, offset = e.args
        pointer = _pointer_in(base)
        if pointer is None and e.op == "add":
            base, offset = offset, base
            pointer = _pointer_in(base)
        if pointer is not None:
            # A negative offset may have been added as an unsigned number.
            by = cast(cast(offset, IntType(e.ty.width, True)), I64)
            return ptradd(pointer, by if e.op == "add" else neg(by))
    if e.op == "and" and e.args[1].op == "const":
        # Rounding down to a power of two: the bits that are cut off are subtracted.
        pointer, cut = _pointer_in(e.args[0]), ~e.args[1].value & ((1 << e.ty.width) - 1)
        if pointer is not None and cut & (cut + 1) == 0 and cut < 1 << 31:
            return ptradd(pointer, neg(cast(binary("and", e.args[0], const(cut, e.ty)), I64)))
    return None
