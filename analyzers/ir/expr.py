"""Hash-consed expressions over 1- to 64-bit C integers, booleans, floats and pointers.

One language serves the program IR (where ``var`` leaves stand for program variables) and the symbolic
form (where none are left). Equal expressions are the same object within a process, so identity is equality and
every pass can memoise on the node. The constructor functions fold constants and apply cheap identities
with exact C semantics; they never assume the absence of overflow.

Expressions are interned per process: use :func:`dumps`/:func:`loads` to send them to another one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import copysign, inf
from typing import Any


@dataclass(frozen=True, slots=True)
class IntType:
    """A C integer of 1 (bool), 8, 16, 32 or 64 bits."""

    width: int
    signed: bool

    @property
    def low(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.width - 1)) - 1 if self.signed else (1 << self.width) - 1

    def wrap(self, value: int) -> int:
        """The value of this type congruent to ``value`` modulo 2**width."""
        value &= (1 << self.width) - 1
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        return value

    def __str__(self) -> str:
        return "bool" if self.width == 1 else f"{'i' if self.signed else 'u'}{self.width}"


@dataclass(frozen=True, slots=True)
class FloatType:
    """A floating-point type; its values are data, never reasoned about symbolically."""

    width: int

    def __str__(self) -> str:
        return f"f{self.width}"


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer: an object and a byte offset."""

    def __str__(self) -> str:
        return "ptr"


Type = IntType | FloatType | PointerType

BOOL = IntType(1, False)
I8, I16, I32, I64 = (IntType(w, True) for w in (8, 16, 32, 64))
U8, U16, U32, U64 = (IntType(w, False) for w in (8, 16, 32, 64))
F16, F32, F64 = FloatType(16), FloatType(32), FloatType(64)
PTR = PointerType()


class Expr:
    """One interned node. ``op`` is one of:

    leaves
      ``const``  value: int (float for FloatType)
      ``var``    value: name of a program variable (program IR only)
      ``sym``    value: name of a symbol, see :func:`sym`
      ``addr``   value: object name; a pointer to its first byte (ty PTR)
      ``null``   the null pointer
    integers and booleans (operands of equal type, result type ``ty``)
      ``add sub mul div rem shl shr and or xor neg not`` (``not`` is bitwise; ``div``/``rem`` truncate as in C)
      ``eq ne lt le`` -> BOOL, signedness from the operands' type
      ``land lor lnot`` on BOOL, strict (no side effects in expressions)
      ``select`` (condition, then, else), any type
      ``cast``   to ``ty`` from any IntType or FloatType
      ``narrow`` integer conversion assumed to keep the value (an induction variable that does not wrap around; a
      listed
                 assumption): the identity on integers, undefined where the value does not fit ``ty``
      ``min max``
      ``umulhi`` ``popc`` ``clz`` ``brev`` ``ffs`` ``byteperm``, ... go through ``call``
    pointers
      ``ptradd`` (pointer, I64 byte offset)
      pointer ``eq``/``ne``/``lt``/``le`` compare addresses
      ``ptrdiff`` (pointer, pointer) -> I64 bytes
      ``call`` of ``ptrtoint`` -> U64, the address as a number; of ``inttoptr``, the pointer with that address
    data
      ``call``   value: function name; a pure function of its arguments (math, bit tricks), any type
      ``opaque`` value: (identity, scope); an unknown value, equal wherever identity and arguments are equal
                 and the threads belong to one ``scope`` ("thread", "warp", "block" or "grid")
    """

    __slots__ = ("__weakref__", "args", "key", "op", "ty", "value")

    op: str
    ty: Type
    args: tuple[Expr, ...]
    value: Any
    key: int
    """Interning number, increasing: children have smaller keys than parents."""

    def __repr__(self) -> str:
        return show(self)

    def __reduce__(self) -> Any:
        return (loads, (dumps(self),))


_table: dict[tuple[str, Type, tuple[int, ...], Any], Expr] = {}


def make(op: str, ty: Type, args: tuple[Expr, ...] = (), value: Any = None) -> Expr:
    """The unique node with these parts, without simplification."""
    # Floats by their bits: 0.0 == -0.0, and no NaN equals another.
    part = value.hex() if type(value) is float else value
    identity = (op, ty, tuple([a.key for a in args]), part)
    found = _table.get(identity)
    if found is None:
        found = Expr.__new__(Expr)
        found.op, found.ty, found.args, found.value = op, ty, args, value
        found.key = len(_table)
        _table[identity] = found
    return found


def interned() -> int:
    """How many nodes this process holds."""
    return len(_table)


# --- leaves -----------------------------------------------------------------------------------------------


def const(value: int, ty: IntType = I32) -> Expr:
    return make("const", ty, (), ty.wrap(value))


def fconst(value: float, ty: FloatType = F32) -> Expr:
    """A float constant, rounded to single precision where that is its type."""
    value = float(value)
    if ty.width == 32:
        try:
            (value,) = struct.unpack("<f", struct.pack("<f", value))
        except OverflowError:
            value = copysign(inf, value)
    return make("const", ty, (), value)


TRUE = const(1, BOOL)
FALSE = const(0, BOOL)
NULL = make("null", PTR)


def var(name: str, ty: Type) -> Expr:
    return make("var", ty, (), name)


def sym(name: str, ty: Type) -> Expr:
    """A free symbol. Names in use:

    ``tid.x`` ``bid.x`` ``bdim.x`` ``gdim.x`` (.y .z)   coordinates and dimensions, U32
    ``param:NAME``     scalar kernel parameter      ``host:ID:NAME``  value known to the host code only
    ``loop:LABEL#N``   0-based iteration number of a loop instance, I64
    ``smem.dynamic``   bytes of dynamic shared memory, I64
    After :func:`cuda two-thread renaming` per-thread symbols end in ``@1`` or ``@2``.
    """
    return make("sym", ty, (), name)


def addr(object_name: str) -> Expr:
    return make("addr", PTR, (), object_name)


TID = tuple(sym(f"tid.{d}", U32) for d in "xyz")
BID = tuple(sym(f"bid.{d}", U32) for d in "xyz")
BDIM = tuple(sym(f"bdim.{d}", U32) for d in "xyz")
GDIM = tuple(sym(f"gdim.{d}", U32) for d in "xyz")


def opaque(identity: str, ty: Type, args: tuple[Expr, ...] = (), scope: str = "thread") -> Expr:
    return make("opaque", ty, args, (identity, scope))


# --- constructors that fold ---------------------------------------------------------------------------------


def is_const(e: Expr) -> bool:
    return e.op == "const"


def _int(e: Expr) -> int:
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


_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "min", "max"})


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """Integer or float arithmetic on operands of the same type (shift counts may have another integer type)."""
    ty = a.ty
    if isinstance(ty, IntType):
        if a.op == "const" and b.op == "const":
            value = binary_value(op, a.value, b.value, ty)
            if value is not None:
                return const(value, ty)
        if op in _COMMUTATIVE and a.op == "const":
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
        if op in _COMMUTATIVE and b.op != "const" and a.key > b.key:
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
            x, y = _int(a), _int(b)
            return TRUE if {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y}[op] else FALSE
        if a is b:
            return TRUE if op in ("eq", "le") else FALSE
        if op in ("eq", "ne") and a.ty == BOOL:
            for x, y in ((a, b), (b, a)):
                if y.op == "const":
                    same = (y.value == 1) == (op == "eq")
                    return x if same else lnot(x)
    if op in ("eq", "ne") and a.key > b.key:
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
        if a is TRUE:
            return lor(c, b)
        if b is FALSE:
            return land(c, a)
        if a is FALSE:
            return land(lnot(c), b)
        if b is TRUE:
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


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """``e`` with other operands, folded again."""
    op = e.op
    if op in ("add", "sub", "mul", "div", "rem", "shl", "shr", "and", "or", "xor", "min", "max"):
        return binary(op, *args)
    if op in ("eq", "ne", "lt", "le"):
        return compare(op, *args)
    if op == "land":
        return land(*args)
    if op == "lor":
        return lor(*args)
    if op == "lnot":
        return lnot(*args)
    if op == "select":
        return select(*args)
    if op == "cast":
        return cast(args[0], e.ty)
    if op == "narrow" and isinstance(e.ty, IntType):
        return narrow(args[0], e.ty)
    if op == "neg":
        return neg(args[0])
    if op == "not":
        return bitnot(args[0])
    if op == "ptradd":
        return ptradd(*args)
    if op == "call" and e.value == "inttoptr":
        return pointer_of_integer(args[0])
    return make(op, e.ty, args, e.value)


# --- traversal ----------------------------------------------------------------------------------------------


def walk(roots: Iterable[Expr]) -> Iterator[Expr]:
    """Every distinct node below ``roots``, children before parents."""
    seen: set[int] = set()
    for root in roots:
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
                continue
            if node.key in seen:
                continue
            seen.add(node.key)
            stack.append((node, True))
            for a in node.args:
                if a.key not in seen:
                    stack.append((a, False))


def rewrite(e: Expr, leaf: Callable[[Expr], Expr | None], memo: dict[int, Expr] | None = None) -> Expr:
    """Bottom-up rewriting: ``leaf(node)`` gives a replacement for a node (not descended into), or None to rebuild
    it."""
    memo = {} if memo is None else memo
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if node.key in memo:
            continue
        if not ready:
            replacement = leaf(node)
            if replacement is not None:
                memo[node.key] = replacement
                continue
            if not node.args:
                memo[node.key] = node
                continue
            stack.append((node, True))
            stack.extend((a, False) for a in node.args if a.key not in memo)
        else:
            args = tuple([memo[a.key] for a in node.args])
            memo[node.key] = node if args == node.args else rebuild(node, args)
    return memo[e.key]


def substitute(e: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """Replace leaves (or whole subexpressions) by identity."""
    return rewrite(e, mapping.get) if mapping else e


def symbols(*roots: Expr) -> frozenset[Expr]:
    """The ``sym`` and ``opaque`` nodes below."""
    return frozenset(n for n in walk(roots) if n.op in ("sym", "opaque"))


# --- text and transport -------------------------------------------------------------------------------------

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "shl": "<<", "shr": ">>", "and": "&", "or": "|",
    "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "land": "&&", "lor": "||",
}  # fmt: skip


def show(e: Expr) -> str:
    """Readable text, for ``explain`` and error messages."""
    if e.op == "const":
        return str(e.value) if e.ty != BOOL else ("true" if e.value else "false")
    if e.op in ("var", "sym"):
        return str(e.value)
    if e.op == "addr":
        return f"&{e.value}"
    if e.op == "null":
        return "null"
    parts = [show(a) for a in e.args]
    if e.op in _INFIX:
        return f"({parts[0]} {_INFIX[e.op]} {parts[1]})"
    if e.op == "select":
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if e.op in ("cast", "narrow"):
        return f"{e.ty}({parts[0]})"
    if e.op == "lnot":
        return f"!{parts[0]}"
    if e.op == "opaque":
        return f"{e.value[0]}({', '.join(parts)})" if parts else str(e.value[0])
    if e.op == "call":
        return f"{e.value}({', '.join(parts)})"
    return f"{e.op}({', '.join(parts)})"


def dumps(*roots: Expr) -> tuple[Any, ...]:
    """Plain data (tuples of strings and numbers) holding the DAG below ``roots``; see :func:`loads`."""
    index: dict[int, int] = {}
    rows: list[Any] = []
    for node in walk(roots):
        index[node.key] = len(rows)
        ty = node.ty
        code = (
            ("i", ty.width, ty.signed)
            if isinstance(ty, IntType)
            else ("f", ty.width)
            if isinstance(ty, FloatType)
            else ("p",)
        )
        rows.append((node.op, code, tuple(index[a.key] for a in node.args), node.value))
    return (tuple(rows), tuple(index[r.key] for r in roots))


def loads(data: tuple[Any, ...]) -> Any:
    """Inverse of :func:`dumps`: one expression, or a tuple when several roots were dumped."""
    rows: tuple[tuple[str, tuple[Any, ...], tuple[int, ...], Any], ...] = data[0]
    roots: tuple[int, ...] = data[1]
    nodes: list[Expr] = []
    for op, code, args, value in rows:
        ty: Type = IntType(code[1], code[2]) if code[0] == "i" else FloatType(code[1]) if code[0] == "f" else PTR
        nodes.append(make(op, ty, tuple([nodes[a] for a in args]), value))
    found = tuple([nodes[r] for r in roots])
    return found[0] if len(found) == 1 else found
