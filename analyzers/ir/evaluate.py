"""Exact evaluation of expressions with C's semantics, one value at a time or over NumPy arrays.

Takes an expression and values for its leaves, gives the C value, or None / a mask where it is undefined (division by
zero, a shift by the operand's width or more, and signed overflow when asked to exclude it). Undefined operands matter
only where their value is used: ``false && x/0`` is false, ``c ? a : x/0`` is ``a`` when ``c`` holds, as in the program
the strict expression stands for.

Nodes whose value no arithmetic determines (symbols, opaque values, calls other than bit tricks, conversions and
comparisons of floats and pointers) are looked up in the given values: :func:`is_atom` tells which ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, Union

import numpy as np
import numpy.typing as npt

from analyzers.ir.bittricks import Trick, bit_trick
from analyzers.ir.expr import BOOL, Expr, IntType, binary_value

Array = npt.NDArray[Any]
Values = Mapping[Expr, int]

_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "rem", "shl", "shr", "and", "or", "xor", "min", "max"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le"})
_GIVEN = frozenset({"sym", "opaque", "var", "ptrdiff"})
_CONVERTING = _COMPARISONS | {"cast"}
OVERFLOWING = frozenset({"add", "sub", "mul", "neg", "shl"})


def is_atom(e: Expr) -> bool:
    """Whether the value of ``e`` is given, not computed from its operands' values."""
    op = e.op
    if op in _GIVEN or not isinstance(e.ty, IntType):
        return True
    if op in _CONVERTING:
        return not isinstance(e.args[0].ty, IntType)
    return op == "call" and bit_trick(e) is None


_FROM_OPERANDS = ("mem:", "load:", "linked:", "datum")
"""How the names of opaque values begin that are computed from all their operands: reads, at a place that is an operand,
and what floating point makes of numbers."""


def needs_operands(atom: Expr) -> bool:
    """Whether ``atom`` has a value only where its operands have one.

    Other opaque values are functions of all that may go into them, like a choice or a hash of choices: one of their
    operands may be undefined where it is not chosen."""
    return atom.op != "opaque" or atom.value[0].startswith(_FROM_OPERANDS)


_partial: dict[int, tuple[Expr, ...]] = {}
_undefined: dict[int, bool] = {}


def partial_operations(e: Expr) -> tuple[Expr, ...]:
    """Divisions and shifts by variables that are evaluated whenever ``e`` is (not those in one side of a select)."""
    found = _partial.get(e.key)
    if found is None:
        out: dict[Expr, None] = {}
        stack, seen = [e], set[int]()
        while stack:
            node = stack.pop()
            if node.key in seen or node.op == "const" or is_atom(node):
                continue
            seen.add(node.key)
            if node.op in ("div", "rem", "shl", "shr") and node.args[1].op != "const":
                out[node] = None
            stack.extend(node.args[:1] if node.op == "select" else () if node.ty == BOOL else node.args)
        found = _partial[e.key] = tuple(out)
    return found


def may_be_undefined(e: Expr) -> bool:
    """Whether some operation below has no value for some operands, or is assumed to be executed for others only."""
    found = _undefined.get(e.key)
    if found is None:
        found = any(n.op in ("div", "rem", "shl", "shr") or may_overflow_undefined(n) for n in computed((e,)))
        _undefined[e.key] = found
    return found


def may_overflow_undefined(e: Expr) -> bool:
    """Whether signed overflow of the node is undefined behaviour that may be assumed away.

    Narrow types are promoted in C and wrap here; ``1 << lane`` builds a bit mask and is taken modulo 2**width."""
    ty = e.ty
    if e.op == "narrow":
        return True
    return (
        isinstance(ty, IntType)
        and ty.signed
        and ty.width >= 32
        and e.op in OVERFLOWING
        and not (e.op == "shl" and e.args[0].op == "const")
    )


def computed(roots: Iterable[Expr], *, operands_of_atoms: bool = False) -> Iterator[Expr]:
    """The nodes that evaluation of ``roots`` visits, operands first: nothing below an atom, or there only what has to
    be defined for the atom to have a value."""
    seen: set[int] = set()
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            if node.key in seen:
                stack.pop()
                continue
            below = node.args if operands_of_atoms or not is_atom(node) else ()
            missing = [a for a in below if a.key not in seen]
            if missing:
                stack.extend(missing)
                continue
            seen.add(node.key)
            stack.pop()
            yield node


_atoms_below: dict[int, frozenset[Expr]] = {}


def atoms_below(e: Expr) -> frozenset[Expr]:
    """The atoms whose values decide ``e`` (memoised); what is below an atom does not count."""
    found = _atoms_below.get(e.key)
    if found is None:
        found = frozenset(n for n in computed((e,)) if n.op != "const" and is_atom(n))
        _atoms_below[e.key] = found
    return found


# --- one value ----------------------------------------------------------------------------------------------


def evaluate(e: Expr, values: Values, *, no_signed_overflow: bool = False) -> int | None:
    """The value of ``e`` (0 or 1 for booleans), or None where it is undefined or depends on a missing value.

    With ``no_signed_overflow``, signed 32- and 64-bit overflow is undefined too, and so is what was read from a place
    whose index overflows (:func:`needs_operands`); otherwise it wraps."""
    return evaluate_each((e,), values, no_signed_overflow=no_signed_overflow)[0]


def evaluate_each(roots: Iterable[Expr], values: Values, *, no_signed_overflow: bool = False) -> tuple[int | None, ...]:
    """:func:`evaluate` for several expressions that share subexpressions."""
    roots = tuple(roots)
    memo: dict[int, int | None] = {}
    for node, kind, below in _steps(roots, no_signed_overflow):
        args = [memo[key] for key in below]
        if kind is _OPERATION:
            # No operand is None where the value is asked for, which the checker cannot follow into the list.
            value = None if None in args else _defined_value(node, args, no_signed_overflow)  # type: ignore[arg-type]
        elif kind is _ATOM:
            value = None if None in args else values.get(node)
        elif kind is _CONSTANT:
            value = node.value if isinstance(node.ty, IntType) else None
        elif kind == "land":
            value = 0 if 0 in args else None if None in args else 1
        elif kind == "lor":
            value = 1 if 1 in args else None if None in args else 0
        else:
            value = None if args[0] is None else args[1] if args[0] else args[2]
        memo[node.key] = value
    return tuple([memo[r.key] for r in roots])


_OPERATION: Final = "operation"
_ATOM: Final = "atom"
_CONSTANT: Final = "constant"


@lru_cache(maxsize=512)
def _steps(roots: tuple[Expr, ...], strict_overflow: bool) -> tuple[tuple[Expr, str, tuple[int, ...]], ...]:
    """What is evaluated, operands first: (node, what it is, keys of the operands that it needs a value of). One
    question is evaluated for many values."""
    return tuple(_step(node, strict_overflow) for node in computed(roots, operands_of_atoms=strict_overflow))


def _step(e: Expr, strict_overflow: bool) -> tuple[Expr, str, tuple[int, ...]]:
    if e.op == "const":
        return e, _CONSTANT, ()
    if is_atom(e):
        strict = strict_overflow and bool(e.args) and needs_operands(e)
        return e, _ATOM, tuple(a.key for a in e.args if isinstance(a.ty, IntType)) if strict else ()
    kind = e.op if e.op in ("land", "lor", "select") else _OPERATION
    return e, kind, tuple(a.key for a in e.args)


def _defined_value(e: Expr, args: list[int], strict_overflow: bool) -> int | None:
    op, ty = e.op, e.ty
    assert isinstance(ty, IntType)
    if op in _ARITHMETIC:
        value = binary_value(op, args[0], args[1], ty)
    elif op == "eq":
        return int(args[0] == args[1])
    elif op == "ne":
        return int(args[0] != args[1])
    elif op == "lt":
        return int(args[0] < args[1])
    elif op == "le":
        return int(args[0] <= args[1])
    elif op == "lnot":
        return 1 - args[0]
    elif op == "cast":
        return int(args[0] != 0) if ty == BOOL else ty.wrap(args[0])
    elif op == "narrow":
        value = ty.wrap(args[0])
    elif op == "neg":
        value = ty.wrap(-args[0])
    elif op == "not":
        return ty.wrap(~args[0])
    elif op == "call":
        trick = bit_trick(e)
        return None if trick is None else ty.wrap(trick(args))
    else:
        return None
    if strict_overflow and value is not None and may_overflow_undefined(e) and value != _unbounded(op, args):
        return None
    return value


def _unbounded(op: str, args: list[int]) -> int:
    """The result of an operator that may overflow, in mathematical integers."""
    a = args[0]
    if op in ("neg", "narrow"):
        return -a if op == "neg" else a
    b = args[1]
    return a + b if op == "add" else a - b if op == "sub" else a * b if op == "mul" else a << b


# --- many values --------------------------------------------------------------------------------------------

Defined = Union[bool, Array]  # noqa: UP007 - evaluated at run time, Python 3.10
"""Where a vector of values is defined: everywhere (True), or a boolean array."""


def evaluate_vector(
    e: Expr, values: Mapping[Expr, Array | int], *, no_signed_overflow: bool = False
) -> tuple[Array, Defined]:
    """Values of ``e`` for arrays of leaf values that broadcast against each other, and where they are defined.

    The result is uint64 for 64-bit unsigned expressions, bool for BOOL and int64 otherwise. What is below an atom is
    not looked at, unlike in :func:`evaluate`: values that are found here are evaluated there. Raises KeyError for a
    leaf without a value."""
    return evaluate_vectors((e,), values, no_signed_overflow=no_signed_overflow)[0]


def evaluate_vectors(
    roots: Iterable[Expr],
    values: Mapping[Expr, Array | int],
    *,
    no_signed_overflow: bool = False,
    memo: dict[int, tuple[Array, Defined]] | None = None,
) -> tuple[tuple[Array, Defined], ...]:
    """:func:`evaluate_vector` for several expressions; ``memo`` (by node key) may be kept for further calls."""
    roots = tuple(roots)
    memo = {} if memo is None else memo
    with np.errstate(all="ignore"):
        for node in computed(roots):
            if node.key not in memo:
                memo[node.key] = _vector(node, values, memo, no_signed_overflow)
    return tuple(memo[r.key] for r in roots)


def _both(a: Defined, b: Defined) -> Defined:
    if a is True:
        return b
    if b is True:
        return a
    return np.logical_and(a, b)


def _typed(values: Array | int, ty: IntType) -> Array:
    """Values of a leaf in the array type of ``ty``; Python ints and wider arrays hold values of the type already."""
    dtype = np.bool_ if ty == BOOL else np.uint64 if ty.width == 64 and not ty.signed else np.int64
    return np.asarray(values).astype(dtype) if not isinstance(values, int) else np.asarray(values, dtype=dtype)


def _wrapped(values: Array, ty: IntType) -> Array:
    """Reduce int64 or uint64 bit patterns to ``ty``."""
    if ty.width == 64:
        return values.astype(np.int64 if ty.signed else np.uint64)
    bits = values.astype(np.int64) & np.int64((1 << ty.width) - 1)
    if ty.signed:
        half = np.int64(1 << (ty.width - 1))
        bits = (bits ^ half) - half
    return bits


def _vector(
    e: Expr, values: Mapping[Expr, Array | int], memo: dict[int, tuple[Array, Defined]], strict_overflow: bool
) -> tuple[Array, Defined]:
    op, ty = e.op, e.ty
    if not isinstance(ty, IntType):
        return np.asarray(0), False
    if op == "const":
        return _typed(e.value, ty), True
    if is_atom(e):
        return _typed(values[e], ty), True
    args = [memo[a.key] for a in e.args]
    if op in ("land", "lor", "select"):
        return _vector_logic(op, args)
    defined: Defined = True
    for a in args:
        defined = _both(defined, a[1])
    arrays = [a[0] for a in args]
    if op in _COMPARISONS:
        x, y = arrays
        result = x == y if op == "eq" else x != y if op == "ne" else x < y if op == "lt" else x <= y
        return np.asarray(result), defined
    if op == "lnot":
        return np.logical_not(arrays[0]), defined
    if op == "cast":
        source = arrays[0]
        if ty == BOOL:
            return source != 0, defined
        return _wrapped(source.astype(np.int64) if source.dtype == np.bool_ else source, ty), defined
    if op == "call":
        trick = bit_trick(e)
        assert trick is not None
        return _vector_call(trick, ty, arrays), defined
    arrays = [a.astype(np.int64) if a.dtype == np.bool_ else a for a in arrays]
    result, more = _vector_arithmetic(e, ty, arrays, strict_overflow and may_overflow_undefined(e))
    if ty == BOOL:
        result = (result & 1) != 0
    return result, _both(defined, more)


def _vector_call(trick: Trick, ty: IntType, arrays: list[Array]) -> Array:
    broadcast = np.broadcast_arrays(*arrays)
    flat = [ty.wrap(trick([int(x) for x in xs])) for xs in zip(*(b.ravel() for b in broadcast), strict=True)]
    dtype = np.bool_ if ty == BOOL else np.uint64 if ty.width == 64 and not ty.signed else np.int64
    return np.reshape(np.array(flat, dtype=dtype), np.broadcast_shapes(*(a.shape for a in arrays)))


def _vector_logic(op: str, args: list[tuple[Array, Defined]]) -> tuple[Array, Defined]:
    if op == "select":
        (c, dc), (x, dx), (y, dy) = args
        result = np.where(c, x, y)
        return result, dc if dx is True and dy is True else _both(dc, np.where(c, dx, dy))
    absorbing = op == "lor"
    (x, dx), (y, dy) = args
    result = np.logical_or(x, y) if absorbing else np.logical_and(x, y)
    if dx is True and dy is True:
        return result, True
    # An operand that decides alone leaves the other one unused; undefined operands must not decide.
    decided = _both(dx, x == absorbing), _both(dy, y == absorbing)
    settled = np.logical_or(decided[0], decided[1])
    value = settled if absorbing else np.logical_not(settled)
    return np.asarray(value), np.logical_or(settled, _both(dx, dy))


def _vector_arithmetic(e: Expr, ty: IntType, arrays: list[Array], watch_overflow: bool) -> tuple[Array, Defined]:
    op = e.op
    x = arrays[0]
    if op == "not":
        return _wrapped(~x, ty), True
    if op == "narrow":
        result = _wrapped(x, ty)
        return result, (result == x) if watch_overflow else True
    if op == "neg":
        return _wrapped(-x.astype(np.int64), ty), (x != ty.low) if watch_overflow else True
    y = arrays[1]
    if op in ("div", "rem"):
        defined: Defined = y != 0
        divisor = np.where(defined, y, np.ones_like(y))
        if bool(np.all(defined)):
            defined = True
        quotient = x // divisor
        if ty.signed:
            remainder = x - quotient * divisor
            quotient = quotient + ((remainder != 0) & ((x < 0) != (divisor < 0)))
        return _wrapped(quotient if op == "div" else x - quotient * divisor, ty), defined
    if op in ("shl", "shr"):
        defined = np.logical_and(y >= 0, y < ty.width)
        count = np.where(defined, y, np.zeros_like(y)).astype(x.dtype)
        if bool(np.all(defined)):
            defined = True
        result = _wrapped(x << count, ty) if op == "shl" else x >> count
        if op == "shl" and watch_overflow:
            defined = _both(defined, (result >> count) == x)
        return result, defined
    if op in ("and", "or", "xor"):
        return (x & y) if op == "and" else (x | y) if op == "or" else (x ^ y), True
    if op in ("min", "max"):
        return np.minimum(x, y) if op == "min" else np.maximum(x, y), True
    raw = x + y if op == "add" else x - y if op == "sub" else x * y
    result = _wrapped(raw, ty)
    if not watch_overflow:
        return result, True
    if ty.width < 64:
        fits = result == raw
    elif op == "mul":
        fits = _product_fits(x, y)
    else:
        fits = ((x ^ result) & (y ^ result)) >= 0 if op == "add" else ((x ^ y) & (x ^ result)) >= 0
    return result, True if bool(np.all(fits)) else np.asarray(fits)


def _product_fits(x: Array, y: Array) -> Array:
    """Where the product of two int64 arrays is representable."""
    bound = max((max(-int(a.min()), int(a.max())) for a in (x,) if a.size), default=0)
    bound *= max((max(-int(a.min()), int(a.max())) for a in (y,) if a.size), default=0)
    if bound < 1 << 63:
        return np.asarray(True)
    exact = x.astype(object) * y.astype(object)
    return np.asarray((exact >= -(1 << 63)) & (exact < 1 << 63)).astype(np.bool_)
