"""Random integer expressions, conditions and memory places, as CUDA text and as IR at once.

The lower half of the generator: what stands inside statements. All choices come from one function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import Array, KernelBuilder
from analyzers.reference.terms import Term, arithmetic, common, comparison, converted, literal, promoted

Pick = Callable[[int], int]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Flavour:
    """What generated kernels may contain."""

    data: bool = False
    """Values read from memory may steer conditions and addresses."""
    divergence: bool = True
    """Barriers may stand under conditions that differ between threads."""
    atomics: bool = True
    calls: bool = True
    blocks: bool = True
    """There may be two blocks."""
    pairs: bool = False
    """There are always two."""
    statements: int = 10


@dataclass(slots=True)
class WrittenArray:
    array: Array
    extents: tuple[int, ...] = ()
    """Empty: a pointer parameter."""


@dataclass(slots=True)
class Scope:
    """What the statement being written can see."""

    variables: list[Term] = field(default_factory=list[Term])
    loop: str | None = None
    """Label of the innermost loop, where ``break`` and ``continue`` are possible."""
    uniform: bool = True
    """All threads of the block come here together."""
    depth: int = 0

    def inner(self, uniform: bool, loop: str | None = None) -> Scope:
        return Scope(list(self.variables), loop or self.loop, self.uniform and uniform, self.depth + 1)


_COORDINATES = ("threadIdx", "blockIdx", "blockDim")


class TermWriter:
    """Writes what stands inside of statements."""

    def __init__(self, pick: Pick, flavour: Flavour, name: str) -> None:
        self.pick = pick
        self.flavour = flavour
        self.builder = KernelBuilder(name)
        self.lines: list[str] = []
        self.indent = 1
        self.left = flavour.statements
        self.arrays: list[WrittenArray] = []
        self.calls = 0
        self.two_dimensional = False

    # --- choices ----------------------------------------------------------------------------------------------

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(len(options))]

    def chance(self, odds: int) -> bool:
        """True once in ``odds``; the plainest answer is no."""
        return self.pick(odds) == odds - 1

    def line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    # --- expressions ------------------------------------------------------------------------------------------

    def coordinate(self) -> Term:
        choices = ["threadIdx.x", "blockIdx.x", "blockDim.x"] + (["threadIdx.y"] if self.two_dimensional else [])
        text = self.one(choices)
        base, axis = text.split(".")
        group = {"threadIdx": e.TID, "blockIdx": e.BID, "blockDim": e.BDIM}[base]
        return Term(text, group["xyz".index(axis)])

    def leaf(self, scope: Scope, data: bool) -> Term:
        kind = self.pick(4)
        variables = [v for v in scope.variables if data or not v.data]
        if kind == 0 and variables:
            return self.one(variables)
        if kind == 1:
            return Term("n", e.sym("param:n", e.I32))
        if kind == 2:
            return literal(self.pick(9), e.U32 if self.chance(3) else e.I32)
        return self.coordinate()

    def term(self, scope: Scope, depth: int = 2, data: bool = False) -> Term:
        """An integer expression."""
        if depth == 0 or self.pick(3) == 0:
            return self.leaf(scope, data)
        kind = self.pick(12)
        a = self.term(scope, depth - 1, data)
        if kind <= 4:
            return arithmetic(self.one(["add", "sub", "mul", "xor", "and"]), a, self.term(scope, depth - 1, data))
        if kind == 5:
            return arithmetic(self.one(["div", "rem"]), a, literal(self.one([2, 3, 4, 5, 7, 8])))
        if kind == 6:
            return arithmetic(self.one(["shl", "shr"]), a, literal(1 + self.pick(3)))
        if kind == 7:
            divisor = arithmetic("add", arithmetic("and", self.leaf(scope, data), literal(3)), literal(1))
            return arithmetic(self.one(["rem", "div"]), a, divisor)
        if kind == 8:
            return converted(a, self.one([e.U8, e.I8, e.I16, e.U16, e.I64, e.U32]))
        if kind == 9:
            condition, b = self.condition(scope, data), self.term(scope, depth - 1, data)
            x, y = promoted(a), promoted(b)
            ty = common(x, y)
            chosen = e.select(condition.expr, e.cast(x, ty), e.cast(y, ty))
            return Term(f"({condition.text} ? {a.text} : {b.text})", chosen, a.data or b.data or condition.data)
        if kind == 10:
            return Term(f"(-{a.text})", e.neg(promoted(a)), a.data)
        return Term(f"(~{a.text})", e.bitnot(promoted(a)), a.data)

    def condition(self, scope: Scope, data: bool = False, depth: int = 1) -> Term:
        if depth and self.chance(4):
            a, b = self.condition(scope, data, 0), self.condition(scope, data, 0)
            op, join = self.one([("&&", e.land), ("||", e.lor)])
            return Term(f"({a.text} {op} {b.text})", join(a.expr, b.expr), a.data or b.data)
        op = self.one(["lt", "eq", "ne", "le", "gt", "ge"])
        return comparison(op, self.term(scope, 1, data), self.term(scope, 1, data))

    def uniform_condition(self) -> Term:
        """The same for all threads of a block."""
        a = self.one([Term("n", e.sym("param:n", e.I32)), Term("blockIdx.x", e.BID[0]), Term("blockDim.x", e.BDIM[0])])
        return comparison(self.one(["gt", "lt", "eq", "ne"]), a, literal(self.pick(5)))

    def steering(self) -> bool:
        return self.flavour.data and self.chance(2)

    # --- memory -----------------------------------------------------------------------------------------------

    def subscript(self, scope: Scope, extent: int) -> Term:
        """An index below ``extent``, a power of two."""
        kind = self.pick(4)
        tid = Term("threadIdx.x", e.TID[0])
        if kind <= 1 and extent >= 16 and not self.two_dimensional:
            return tid
        if kind == 2:
            moved = arithmetic(self.one(["add", "xor"]), tid, self.one([literal(1), self.leaf(scope, data=False)]))
            return arithmetic("and", moved, literal(extent - 1))
        t = self.term(scope, 2, self.steering())
        if self.chance(2):
            return arithmetic("and", t, literal(extent - 1))
        return arithmetic("rem", converted(t, e.U32), literal(extent))

    def global_subscript(self, scope: Scope) -> Term:
        tid, bid, bdim = [Term(f"{t}.x", x) for t, x in zip(_COORDINATES, (e.TID[0], e.BID[0], e.BDIM[0]), strict=True)]
        kind = self.pick(4)
        if kind == 0:
            return arithmetic("add", arithmetic("mul", bid, bdim), tid)
        if kind == 1:
            row = arithmetic("mul", arithmetic("add", arithmetic("mul", bid, bdim), tid), literal(2))
            return arithmetic("add", row, literal(self.pick(3)))
        index = self.term(scope, 2, self.steering())
        return arithmetic("and", index, literal(15)) if kind == 2 else index

    def place(self, scope: Scope) -> tuple[str, e.Expr, tuple[tuple[e.Expr, int], ...], e.IntType]:
        """An lvalue in shared or global memory: text, pointer, bounds, type."""
        chosen = self.one(self.arrays)
        array = chosen.array
        assert isinstance(array.ty, e.IntType)
        width = e.const(array.width, e.I64)
        if not chosen.extents:
            index = self.global_subscript(scope)
            offset = e.mul(e.cast(index.expr, e.I64), width)
            return f"{array.name}[{index.text}]", e.ptradd(e.addr(array.name), offset), (), array.ty
        text, flat = array.name, e.const(0, e.I64)
        bounds: list[tuple[e.Expr, int]] = []
        for extent in chosen.extents:
            index = self.subscript(scope, extent)
            text += f"[{index.text}]"
            position = e.cast(index.expr, e.I64)
            bounds.append((position, extent))
            flat = e.add(e.mul(flat, e.const(extent, e.I64)), position)
        return text, e.ptradd(e.addr(array.name), e.mul(flat, width)), tuple(bounds), array.ty

    def load(self, pointer: e.Expr, bounds: tuple[tuple[e.Expr, int], ...], ty: e.IntType) -> e.Expr:
        b = self.builder
        name = b.fresh("l")
        b.emit(k.Load(b.event(), name, ty, pointer, ty.width // 8, b.site(), bounds))
        return e.var(name, ty)

    def put(self, pointer: e.Expr, bounds: tuple[tuple[e.Expr, int], ...], ty: e.IntType, value: e.Expr) -> None:
        b = self.builder
        b.emit(k.Store(b.event(), pointer, e.cast(value, ty), ty.width // 8, b.site(), bounds))
