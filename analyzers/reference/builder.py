"""Writes kernels of the program IR by hand, concisely: for tests of everything that takes program IR.

    b = KernelBuilder("shift")
    s, a, n = b.shared("s", 64), b.global_("a"), b.scalar("n")
    with b.if_(b.tid < n):
        b.store(s, b.tid, 1)
    b.barrier()
    v = b.load(s, b.tid + 1)
    b.store(a, b.tid, v)
    kernel = b.build()

Values are :class:`V`, expressions with Python operators; integers stand for constants of the other operand's type.
Each statement gets its own line number, so that findings about it can be told apart.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Union

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.model import SourceSpan

Operand = Union["V", int]


@dataclass(frozen=True, eq=False)
class V:
    """A value of the kernel being built."""

    expr: e.Expr

    def _with(self, other: Operand) -> e.Expr:
        if isinstance(other, V):
            return other.expr if other.expr.ty == self.expr.ty else e.cast(other.expr, self.expr.ty)
        assert isinstance(self.expr.ty, e.IntType)
        return e.const(other, self.expr.ty)

    def _binary(self, op: str, other: Operand) -> V:
        return V(e.binary(op, self.expr, self._with(other)))

    def _compare(self, op: str, other: Operand) -> V:
        return V(e.compare(op, self.expr, self._with(other)))

    def __add__(self, other: Operand) -> V:
        return self._binary("add", other)

    def __sub__(self, other: Operand) -> V:
        return self._binary("sub", other)

    def __mul__(self, other: Operand) -> V:
        return self._binary("mul", other)

    def __floordiv__(self, other: Operand) -> V:
        """C's division, which truncates."""
        return self._binary("div", other)

    def __mod__(self, other: Operand) -> V:
        """C's remainder."""
        return self._binary("rem", other)

    def __and__(self, other: Operand) -> V:
        return self._binary("and", other)

    def __or__(self, other: Operand) -> V:
        return self._binary("or", other)

    def __xor__(self, other: Operand) -> V:
        return self._binary("xor", other)

    def __lshift__(self, other: Operand) -> V:
        return self._binary("shl", other)

    def __rshift__(self, other: Operand) -> V:
        return self._binary("shr", other)

    def __neg__(self) -> V:
        return V(e.neg(self.expr))

    def __lt__(self, other: Operand) -> V:
        return self._compare("lt", other)

    def __le__(self, other: Operand) -> V:
        return self._compare("le", other)

    def __gt__(self, other: Operand) -> V:
        return self._compare("gt", other)

    def __ge__(self, other: Operand) -> V:
        return self._compare("ge", other)

    def eq(self, other: Operand) -> V:
        return self._compare("eq", other)

    def ne(self, other: Operand) -> V:
        return self._compare("ne", other)

    def cast(self, ty: e.Type) -> V:
        return V(e.cast(self.expr, ty))


def both(a: V, b: V) -> V:
    return V(e.land(a.expr, b.expr))


def either(a: V, b: V) -> V:
    return V(e.lor(a.expr, b.expr))


def choose(condition: V, a: V, b: Operand) -> V:
    return V(e.select(condition.expr, a.expr, b.expr if isinstance(b, V) else e.const(b, _int_type(a))))


def _int_type(v: V) -> e.IntType:
    assert isinstance(v.expr.ty, e.IntType)
    return v.expr.ty


@dataclass(frozen=True)
class Array:
    """An object and its element type."""

    name: str
    ty: e.Type
    width: int
    extent: int | None = None


def _width(ty: e.Type) -> int:
    return 8 if isinstance(ty, e.PointerType) else max(ty.width // 8, 1)


class KernelBuilder:
    """Collects statements; ``with`` blocks nest them."""

    def __init__(self, name: str = "kernel") -> None:
        self.name = name
        self.objects: list[k.MemObject] = []
        self.parameters: list[k.Parameter] = []
        self.stack: list[list[k.Stmt]] = [[]]
        self.events = 0
        self.names = 0

    # --- declarations -----------------------------------------------------------------------------------------

    @property
    def tid(self) -> V:
        """threadIdx.x as an int."""
        return V(e.cast(e.TID[0], e.I32))

    @property
    def bid(self) -> V:
        return V(e.cast(e.BID[0], e.I32))

    @property
    def bdim(self) -> V:
        return V(e.cast(e.BDIM[0], e.I32))

    @property
    def gdim(self) -> V:
        return V(e.cast(e.GDIM[0], e.I32))

    def coordinate(self, symbol: e.Expr) -> V:
        """One of ``expr.TID`` … ``expr.GDIM`` as an int."""
        return V(e.cast(symbol, e.I32))

    def _array(self, name: str, space: k.Space, kind: str, extent: int | None, ty: e.Type) -> Array:
        width = _width(ty)
        self.objects.append(
            k.MemObject(
                name, space, kind, None if extent is None else extent * width, width,  # pyright: ignore[reportArgumentType]
                () if extent is None else (extent,), name,
            )
        )  # fmt: skip
        return Array(name, ty, width, extent)

    def shared(self, name: str, extent: int, ty: e.Type = e.I32) -> Array:
        return self._array(name, "shared", "declared", extent, ty)

    def dynamic_shared(self, name: str, ty: e.Type = e.I32) -> Array:
        return self._array(name, "shared", "dynamic", None, ty)

    def local(self, name: str, extent: int, ty: e.Type = e.I32) -> Array:
        return self._array(name, "local", "declared", extent, ty)

    def global_(self, name: str, ty: e.Type = e.I32) -> Array:
        """A pointer parameter and what it points to."""
        self.parameters.append(k.Parameter(name, e.PTR, f"{ty} *", object=name))
        return self._array(name, "global", "pointee", None, ty)

    def scalar(self, name: str, ty: e.Type = e.I32) -> V:
        self.parameters.append(k.Parameter(name, ty, str(ty)))
        return V(e.sym(f"param:{name}", ty))

    # --- statements -------------------------------------------------------------------------------------------

    def site(self, text: str = "") -> k.Site:
        line = self.events + self.names + 1
        return k.Site(SourceSpan(f"{self.name}.cu", line, 1, line, 2, line * 100, line * 100 + 1), text)

    def emit(self, s: k.Stmt) -> None:
        self.stack[-1].append(s)

    def event(self) -> int:
        self.events += 1
        return self.events

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def let(self, value: Operand, name: str | None = None) -> V:
        """A new variable."""
        given = value.expr if isinstance(value, V) else e.const(value)
        name = name or self.fresh("v")
        self.emit(k.Assign(name, given))
        return V(e.var(name, given.ty))

    def set(self, variable: V, value: Operand) -> None:
        assert variable.expr.op == "var"
        self.emit(k.Assign(variable.expr.value, variable._with(value)))  # pyright: ignore[reportPrivateUsage]

    def pointer(self, array: Array | V, index: Operand) -> tuple[e.Expr, tuple[tuple[e.Expr, int], ...]]:
        position = index.expr if isinstance(index, V) else e.const(index)
        if isinstance(array, V):
            return e.ptradd(array.expr, e.mul(e.cast(position, e.I64), e.const(4, e.I64))), ()
        offset = e.mul(e.cast(position, e.I64), e.const(array.width, e.I64))
        bounds = () if array.extent is None else ((e.cast(position, e.I64), array.extent),)
        return e.ptradd(e.addr(array.name), offset), bounds

    def load(self, array: Array | V, index: Operand, ty: e.Type | None = None, volatile: bool = False) -> V:
        pointer, bounds = self.pointer(array, index)
        given = ty or (array.ty if isinstance(array, Array) else e.I32)
        name, event = self.fresh("l"), self.event()
        self.emit(k.Load(event, name, given, pointer, _width(given), self.site(), bounds, volatile))
        return V(e.var(name, given))

    def store(self, array: Array | V, index: Operand, value: Operand, volatile: bool = False) -> int:
        """The event id."""
        pointer, bounds = self.pointer(array, index)
        ty = array.ty if isinstance(array, Array) else e.I32
        if isinstance(value, V):
            given = e.cast(value.expr, ty)
        else:
            given = e.const(value, ty) if isinstance(ty, e.IntType) else e.cast(e.const(value), ty)
        event = self.event()
        self.emit(k.Store(event, pointer, given, _width(ty), self.site(), bounds, volatile))
        return event

    def atomic(
        self, op: str, array: Array, index: Operand, *operands: Operand,
        scope: k.Scope = "grid", order: k.Order = "relaxed",
    ) -> V:  # fmt: skip
        pointer, bounds = self.pointer(array, index)
        name, event = self.fresh("a"), self.event()
        assert isinstance(array.ty, e.IntType)
        values = tuple([o.expr if isinstance(o, V) else e.const(o, array.ty) for o in operands])
        self.emit(k.Atomic(event, name, op, array.ty, pointer, values, array.width, scope, order, self.site(), bounds))
        return V(e.var(name, array.ty))

    def barrier(
        self,
        scope: Literal["warp", "tile", "block", "grid", "cluster"] = "block",
        mask: Operand | None = None,
        tile: int | None = None,
    ) -> int:
        """The event id."""
        event = self.event()
        given = None if mask is None else mask.expr if isinstance(mask, V) else e.const(mask, e.U32)
        self.emit(k.Barrier(event, scope, self.site(), given, tile))
        return event

    def reducing_barrier(self, kind: Literal["and", "or", "count"], operand: V) -> V:
        name = self.fresh("r")
        self.emit(k.Barrier(self.event(), "block", self.site(), reduce=(kind, operand.expr, name)))
        return V(e.var(name, e.I32))

    def collective(self, name: str, *operands: Operand, ty: e.Type = e.I32) -> V:
        result = self.fresh("c")
        values = tuple([o.expr if isinstance(o, V) else e.const(o) for o in operands])
        self.emit(k.Collective(self.event(), result, ty, name, values, self.site()))
        return V(e.var(result, ty))

    def assume(self, condition: V, source: Literal["assume", "assert", "trap", "user"] = "assume") -> None:
        self.emit(k.Assume(condition.expr, source, self.site()))

    def return_(self) -> None:
        self.emit(k.Exit(k.KERNEL_BLOCK, "return", self.site()))

    def exit(self, label: str) -> None:
        self.emit(k.Exit(label, "break", self.site()))

    def continue_(self, label: str) -> None:
        self.emit(k.Continue(label, self.site()))

    @contextmanager
    def if_(self, condition: V) -> Generator[None, None, None]:
        self.stack.append([])
        yield
        self.emit_if(condition, tuple(self.stack.pop()))

    def emit_if(self, condition: V, then: tuple[k.Stmt, ...]) -> None:
        self.emit(k.If(condition.expr, then, (), self.site()))

    @contextmanager
    def else_(self) -> Generator[None, None, None]:
        """The other branch of the conditional just written."""
        self.stack.append([])
        yield
        body = tuple(self.stack.pop())
        last = self.stack[-1].pop()
        assert isinstance(last, k.If)
        self.emit(replace(last, orelse=body))

    @contextmanager
    def for_(self, start: Operand, stop: Operand, step: int = 1) -> Generator[tuple[V, str], None, None]:
        """``for (int i = start; i < stop; i += step)``; gives the variable and the loop's label."""
        i, label = self.let(start), self.fresh("L")
        self.stack.append([])
        yield i, label
        body = tuple(self.stack.pop())
        latch = (k.Assign(i.expr.value, (i + step).expr),)
        self.emit(k.Loop(label, (), (i < stop).expr, body, latch, self.site("for")))

    @contextmanager
    def while_(self, condition: V | None = None) -> Generator[str, None, None]:
        """``while (condition)``, for ever without one; gives the label."""
        label = self.fresh("L")
        self.stack.append([])
        yield label
        test = e.TRUE if condition is None else condition.expr
        self.emit(k.Loop(label, (), test, tuple(self.stack.pop()), (), self.site("while")))

    @contextmanager
    def block(self) -> Generator[str, None, None]:
        label = self.fresh("B")
        self.stack.append([])
        yield label
        self.emit(k.Block(label, tuple(self.stack.pop())))

    def build(self) -> k.Kernel:
        assert len(self.stack) == 1
        span = SourceSpan(f"{self.name}.cu", 1, 1, 1, 2, 0, 1)
        return k.Kernel(
            self.name, self.name, self.name, span, span, span, tuple(self.parameters), tuple(self.objects),
            (k.Block(k.KERNEL_BLOCK, tuple(self.stack[0])),),
        )  # fmt: skip
