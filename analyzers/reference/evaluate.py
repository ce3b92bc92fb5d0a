"""Expressions as Python closures over a frame, with C's exact integer semantics and rounded floats.

A :class:`Frame` holds the values of leaf expressions. Booleans are 0/1 integers, pointers are integers (see
``memory``). ``value(e)`` gives a closure for the value, ``taint(e)`` one that says whether the value depends on tainted
leaves. Operations that C leaves undefined have a fixed result and are noted in ``frame.undefined``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from analyzers.ir.clusters import IN_BLOCK
from analyzers.ir.expr import PTR, Expr, FloatType, IntType, Type, binary_value, walk
from analyzers.ir.surfaces import SURFACE_ROW
from analyzers.reference.data import lane, pack
from analyzers.reference.functions import apply, divide, float_to_int, known, round_float
from analyzers.reference.launch import mix

Key = int | str
"""A program variable by name, any other leaf by its interning number, a loop counter by ``#label``."""


class Frame(dict[Key, Any]):
    """Values of leaves. One that is missing is asked for once, of ``resolve``."""

    __slots__ = ("resolve", "undefined")

    def __init__(self, resolve: Callable[[Key], Any], undefined: set[str]) -> None:
        super().__init__()
        self.resolve = resolve
        self.undefined = undefined

    def __missing__(self, key: Key) -> Any:
        value = self[key] = self.resolve(key)
        return value


RANK_SHIFT = 64
"""A pointer into another block of the cluster has that block's rank plus one above its address."""


def surface_address(handle: int, row: int, layer: int) -> int:
    """The pointer to a row of a surface: in a stretch below that of the first object, for tiny handles and sizes."""
    return (handle & 7) << 44 | (layer & 0xFF) << 36 | (row & 0xFFF) << 22 | 1 << 47


def own_address(pointer: int) -> int:
    """The address in the thread's own block."""
    return pointer & ((1 << RANK_SHIFT) - 1) if pointer >> RANK_SHIFT > 0 else pointer


_ADDRESSES = frozenset({"ptrtoint", "inttoptr"})
_EXACT = _ADDRESSES | {"lane", "pack", IN_BLOCK, SURFACE_ROW}
"""Calls that are executed, other than those of ``functions``."""

Value = Callable[[Frame], Any]
Shadow = dict[str, bool]
"""Which program variables are tainted."""

Taint = Callable[[Frame, Shadow], bool]


def text_number(text: str) -> int:
    """A number that stands for a name, the same in every process."""
    return int.from_bytes(text.encode()[-7:], "little") ^ mix(*text.encode())


def arbitrary(ty: Type, *parts: int) -> Any:
    """A value of a type that depends on nothing but ``parts``: small, as the values of real programs are."""
    number = mix(*parts)
    if isinstance(ty, IntType):
        return ty.wrap(number & 1 if ty.width == 1 else number % 8)
    if isinstance(ty, FloatType):
        return float(number % 8)
    return 0


def hash_value(value: Any) -> int:
    return value if isinstance(value, int) else hash(value)


class Evaluator:
    """Compiles expressions once per program. ``leaves`` remembers which expression a frame key stands for."""

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.taints: dict[int, Taint | None] = {}
        self.leaves: dict[Key, Expr] = {}

    def value(self, e: Expr) -> Value:
        """A closure giving the value of ``e`` in a frame."""
        found = self.values.get(e.key)
        if found is None:
            for node in walk((e,), self.values):
                self.values[node.key] = self._compile(node)
            found = self.values[e.key]
        return found

    def _compile(self, e: Expr) -> Value:
        op = e.op
        if op == "const":
            constant = e.value
            return lambda f: constant
        if op == "null":
            return lambda f: 0
        if op in ("var", "sym", "addr"):
            key: Key = e.value if op == "var" else e.key
            self.leaves[key] = e
            return lambda f: f[key]
        if op == "opaque":
            return self._opaque(e)
        if op == "call":
            return self._call(e)
        parts = [self.values[a.key] for a in e.args]
        if op == "cast":
            return _cast(parts[0], e.args[0].ty, e.ty)
        if op == "select":
            c, a, b = parts
            return lambda f: a(f) if c(f) else b(f)
        if op == "land":
            a, b = parts
            return lambda f: 1 if a(f) and b(f) else 0
        if op == "lor":
            a, b = parts
            return lambda f: 1 if a(f) or b(f) else 0
        if op == "lnot":
            a = parts[0]
            return lambda f: 0 if a(f) else 1
        if op in ("eq", "ne", "lt", "le"):
            return _compare(op, parts[0], parts[1])
        if op in ("ptradd", "ptrdiff"):
            a, b = parts
            return (lambda f: a(f) + b(f)) if op == "ptradd" else (lambda f: a(f) - b(f))
        if isinstance(e.ty, FloatType):
            return _float_arithmetic(op, parts, e.ty.width)
        assert isinstance(e.ty, IntType), f"no arithmetic on {e.ty}: {e!r}"
        return _integer_arithmetic(op, parts, e.ty)

    def _opaque(self, e: Expr) -> Value:
        key: Key = e.key
        self.leaves[key] = e
        if not e.args:
            return lambda f: f[key]
        parts, ty, name = [self.values[a.key] for a in e.args], e.ty, text_number(str(e.value[0]))
        return lambda f: arbitrary(ty, name, *[hash_value(p(f)) for p in parts])

    def _call(self, e: Expr) -> Value:
        parts, ty, name = [self.values[a.key] for a in e.args], e.ty, str(e.value)
        number = text_number(name)
        if name in _ADDRESSES:
            # Pointers are numbers here, in which the object can be told from the upper bits.
            address = parts[0]
            return address if ty == PTR else _wrapped(address, ty) if isinstance(ty, IntType) else address
        if name == SURFACE_ROW:
            handle, row, layer = parts
            return lambda f: surface_address(handle(f), row(f), layer(f))
        if name == IN_BLOCK:
            pointer, rank = parts
            return lambda f: own_address(pointer(f)) + (rank(f) + 1 << RANK_SHIFT)
        if name == "lane" and len(parts) == 2:
            whole, offset = parts
            return lambda f: lane(whole(f), offset(f), ty)
        if name == "pack":
            types = [a.ty for a in e.args]
            return lambda f: pack([(p(f), t) for p, t in zip(parts, types, strict=True)])

        def value(f: Frame) -> Any:
            arguments = [p(f) for p in parts]
            found = apply(name, ty, arguments)
            return arbitrary(ty, number, *map(hash_value, arguments)) if found is None else found

        return value

    def taint(self, e: Expr) -> Taint | None:
        """A closure telling whether ``e`` depends on tainted leaves of the frame; None where no leaf can be tainted."""
        if e.key not in self.taints:
            for node in walk((e,), self.taints):
                self.value(node)
                self.taints[node.key] = self._compile_taint(node)
        return self.taints[e.key]

    def _compile_taint(self, e: Expr) -> Taint | None:
        if e.op == "var":
            name: str = e.value
            return lambda f, s: s.get(name, True)
        if e.op == "opaque" or (e.op == "call" and e.value not in _EXACT and not known(str(e.value), e.ty)):
            return lambda f, s: True
        parts = [t for a in e.args if (t := self.taints[a.key]) is not None]
        if not parts:
            return None
        if e.op == "select":
            return self._taint_of_choice(e)
        if e.op in ("land", "lor"):
            return self._taint_of_connective(e, e.op == "lor")
        if len(parts) == 1:
            return parts[0]
        if len(parts) == 2:
            first, second = parts
            return lambda f, s: first(f, s) or second(f, s)
        return lambda f, s: any(t(f, s) for t in parts)

    def _taint_of_choice(self, e: Expr) -> Taint:
        condition = self.values[e.args[0].key]
        tc, ta, tb = [self.taints[a.key] or _never for a in e.args]
        return lambda f, s: tc(f, s) or (ta(f, s) if condition(f) else tb(f, s))

    def _taint_of_connective(self, e: Expr, decisive: bool) -> Taint:
        """An untainted operand that decides alone leaves no room for the other."""
        a, b = [self.values[x.key] for x in e.args]
        ta, tb = [self.taints[x.key] or _never for x in e.args]

        def taint(f: Frame, s: Shadow) -> bool:
            left, right = ta(f, s), tb(f, s)
            if not left and bool(a(f)) == decisive:
                return False
            if not right and bool(b(f)) == decisive:
                return False
            return left or right

        return taint


def _never(f: Frame, s: Shadow) -> bool:
    return False


def _compare(op: str, a: Value, b: Value) -> Value:
    if op == "eq":
        return lambda f: 1 if a(f) == b(f) else 0
    if op == "ne":
        return lambda f: 1 if a(f) != b(f) else 0
    if op == "lt":
        return lambda f: 1 if a(f) < b(f) else 0
    return lambda f: 1 if a(f) <= b(f) else 0


def _cast(a: Value, source: Type, target: Type) -> Value:
    if isinstance(target, FloatType):
        width = target.width
        return lambda f: round_float(float(a(f)), width)
    if not isinstance(target, IntType):
        return a
    if target.width == 1:
        return lambda f: 1 if a(f) != 0 else 0
    if isinstance(source, FloatType):
        return lambda f: float_to_int(a(f), target)
    if isinstance(source, IntType) and target.low <= source.low and source.high <= target.high:
        return a
    return _wrapped(a, target)


def _wrapped(a: Value, ty: IntType) -> Value:
    mask = (1 << ty.width) - 1
    if not ty.signed:
        return lambda f: a(f) & mask
    half = 1 << (ty.width - 1)
    return lambda f: ((a(f) + half) & mask) - half


def _overflowing(a: Value, ty: IntType) -> Value:
    """``a`` wrapped to ``ty``; where a signed type does not hold it, that is noted."""
    if not ty.signed:
        return _wrapped(a, ty)
    low, high, wrap = ty.low, ty.high, ty.wrap

    def value(f: Frame) -> int:
        exact = a(f)
        if low <= exact <= high:
            return exact
        f.undefined.add("signed-overflow")
        return wrap(exact)

    return value


def _integer_arithmetic(op: str, parts: list[Value], ty: IntType) -> Value:
    a = parts[0]
    if op == "neg":
        return _overflowing(lambda f: -a(f), ty)
    if op == "not":
        return _wrapped(lambda f: ~a(f), ty)
    b = parts[1]
    if op == "add":
        return _overflowing(lambda f: a(f) + b(f), ty)
    if op == "sub":
        return _overflowing(lambda f: a(f) - b(f), ty)
    if op == "mul":
        return _overflowing(lambda f: a(f) * b(f), ty)
    if op == "and":
        return lambda f: a(f) & b(f)
    if op == "or":
        return lambda f: a(f) | b(f)
    if op == "xor":
        return lambda f: a(f) ^ b(f)
    if op == "min":
        return lambda f: min(a(f), b(f))
    if op == "max":
        return lambda f: max(a(f), b(f))
    if op in ("shl", "shr"):
        return _shift(op, a, b, ty)
    return _division(op, a, b, ty)


def _shift(op: str, a: Value, b: Value, ty: IntType) -> Value:
    width, high, wrap = ty.width, ty.high, ty.wrap

    def value(f: Frame) -> int:
        x, count = a(f), b(f)
        if not 0 <= count < width:
            # The hardware clamps the count.
            f.undefined.add("shift-count")
            return 0 if op == "shl" or x >= 0 else -1
        if op == "shr":
            return x >> count
        exact = x << count
        if ty.signed and not ty.low <= exact <= high:
            f.undefined.add("signed-overflow")
        return wrap(exact)

    return value


def _division(op: str, a: Value, b: Value, ty: IntType) -> Value:
    def value(f: Frame) -> int:
        x, y = a(f), b(f)
        result = binary_value(op, x, y, ty)
        if result is None:
            f.undefined.add("division-by-zero")
            return x if op == "rem" else ty.wrap(-1)
        if ty.signed and y == -1 and x == ty.low:
            f.undefined.add("signed-overflow")
        return result

    return value


def _float_arithmetic(op: str, parts: list[Value], width: int) -> Value:
    a = parts[0]
    if op == "neg":
        return lambda f: -a(f)
    b = parts[1]
    operations: dict[str, Callable[[float, float], float]] = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": divide,
        "rem": lambda x, y: math.fmod(x, y) if y and math.isfinite(x) else math.nan,
        "min": lambda x, y: y if x != x else x if y != y else min(x, y),
        "max": lambda x, y: y if x != x else x if y != y else max(x, y),
    }
    function = operations[op]
    return lambda f: round_float(function(a(f), b(f)), width)
