"""The nodes of expressions: types, interning, leaves, and their text.

Equal expressions are the same object within a process. Nodes are made here without simplification; ``folding`` has the
constructors that simplify. Expressions are sent to another process with :func:`dumps` and :func:`loads`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from math import copysign, inf
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class IntType:
    """A C integer of 1 (bool), 8, 16, 32 or 64 bits."""

    width: int
    signed: bool
    code: int = field(init=False, repr=False, compare=False)
    """The number of the type among all types: numbers are looked up at less cost."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", 2 * self.width + self.signed)

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
    code: int = field(init=False, repr=False, compare=False)
    """See `IntType`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", -self.width)

    def __str__(self) -> str:
        return f"f{self.width}"


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer: an object and a byte offset."""

    code: ClassVar[int] = 0
    """See `IntType`."""

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

    __slots__ = ("__weakref__", "args", "key", "known_rank", "op", "ty", "value")

    op: str
    ty: Type
    args: tuple[Expr, ...]
    value: Any
    key: int
    """Interning number, increasing: children have smaller keys than parents. It depends on what the process made
    before; whatever may change an outcome goes by ``rank`` instead."""
    known_rank: tuple[int, int, int] | None
    """None until it is asked for: of most nodes that host code makes it never is."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """(shape, side, whole): depends on the structure only, and not on the order of commutative operands: the same
        in every process. The shape is the same for both threads, and ``side`` puts the first thread's part first, so
        that what the two compute alike is ordered alike."""
        return self.known_rank or _found_rank(self)

    def __hash__(self) -> int:
        # That of an address, the default, would let sets be walked in another order in every process.
        return (self.known_rank or _found_rank(self))[2]

    def __repr__(self) -> str:
        return show(self)

    def __reduce__(self) -> Any:
        return (loads, (dumps(self),))


COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "min", "max", "eq", "ne", "land", "lor"})


_table: dict[tuple[Any, ...], Expr] = {}
"""By operation, code of the type, value and keys of the operands."""


def make(op: str, ty: Type, args: tuple[Expr, ...] = (), value: Any = None) -> Expr:
    """The unique node with these parts, without simplification."""
    # Floats by their bits: 0.0 == -0.0, and no NaN equals another.
    part = value.hex() if type(value) is float else value
    identity = (
        (op, ty.code, part, args[0].key, args[1].key) if len(args) == 2 else (op, ty.code, part, *[a.key for a in args])
    )
    found = _table.get(identity)
    if found is None:
        found = Expr.__new__(Expr)
        found.op, found.ty, found.args, found.value = op, ty, args, value
        found.key = len(_table)
        found.known_rank = None
        _table[identity] = found
    return found


_ranks: dict[tuple[str, int, Any], tuple[int, int, int]] = {}


def _rank(op: str, ty: Type, part: Any, args: tuple[Expr, ...]) -> tuple[int, int, int]:
    own = _ranks.get((op, ty.code, part))
    if own is None:
        name: str = part if op == "sym" else part[0] if op == "opaque" else ""
        side = 1 if name.endswith("@1") else 2 if name.endswith("@2") else 0
        text = f"{op} {ty} {part!r}"
        own = _ranks[op, ty.code, part] = (_number(_SIDE.sub("", text)), side, _number(text))
    if not args:
        return own
    below = [a.rank for a in args]
    if op in COMMUTATIVE:
        below.sort()
    side = own[1]
    for r in below:
        side |= r[1]
    # The hash of a tuple of integers is the same in every process, that of a text is not.
    return hash((own[0], *[r[0] for r in below])), side, hash((own[2], *[r[2] for r in below]))


def _found_rank(node: Expr) -> tuple[int, int, int]:
    """The rank of a node, set from now on, as are those of all below it."""
    rank, waiting = (0, 0, 0), [node]
    while waiting:
        at = waiting[-1]
        unknown = [a for a in at.args if a.known_rank is None]
        if unknown:
            waiting += unknown
            continue
        waiting.pop()
        part = at.value.hex() if type(at.value) is float else at.value
        rank = at.known_rank = _rank(at.op, at.ty, part, at.args)
    return rank


_SIDE = re.compile(r"@[12](?=')")
"""What tells the two threads' symbols apart at the end of a name."""


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def interned() -> int:
    """How many nodes this process holds."""
    return len(_table)


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
    ``rank:NAME``      who of a group acts for all, the same number for all threads, U32
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


def walk(roots: Iterable[Expr], known: Container[int] = ()) -> Iterator[Expr]:
    """Every distinct node below ``roots``, children before parents. Nodes whose keys are in ``known``, which may grow
    on the way, are left out with what is below them."""
    seen: set[int] = set()
    for root in roots:
        if root.key in known:
            continue
        # A node and None below what has to come before it: the second time it is met, that is done.
        stack: list[Expr | None] = [root]
        while stack:
            node = stack.pop()
            if node is None:
                node = stack.pop()
                assert node is not None
                yield node
                continue
            key = node.key
            if key in seen:
                continue
            seen.add(key)
            args = node.args
            if not args:
                yield node
                continue
            stack += (node, None)
            for a in args:
                key = a.key
                if key not in seen and key not in known:
                    stack.append(a)


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
