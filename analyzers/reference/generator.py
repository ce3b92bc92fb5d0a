"""Writes small random kernels, as CUDA text and as program IR side by side.

``generate(pick)`` asks ``pick(n)`` for every choice (a number below n, 0 being the plainest), so that a
property-testing library or a seeded random number can drive it. The two forms are made independently of the front end:
what the front end makes of the text must do the same as the IR. Loops are short, divisors are never zero and subscripts
of declared arrays stay inside them, mostly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import Array, KernelBuilder, V
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.terms import C_NAMES, Term, arithmetic, common, comparison, converted, literal, promoted

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
    """More than one block."""
    statements: int = 10


@dataclass(frozen=True, slots=True)
class GeneratedKernel:
    """``kernel`` and the kernel of the same name in ``text`` do the same at ``launch``, and at any other launch."""

    text: str
    kernel: k.Kernel
    launch: ConcreteLaunch


@dataclass(slots=True)
class _Array:
    array: Array
    extents: tuple[int, ...] = ()
    """Empty: a pointer parameter."""


@dataclass(slots=True)
class _Scope:
    """What the statement being written can see."""

    variables: list[Term] = field(default_factory=list[Term])
    loop: str | None = None
    """Label of the innermost loop, where ``break`` and ``continue`` are possible."""
    uniform: bool = True
    """All threads of the block come here together."""
    depth: int = 0

    def inner(self, uniform: bool, loop: str | None = None) -> _Scope:
        return _Scope(list(self.variables), loop or self.loop, self.uniform and uniform, self.depth + 1)


_COORDINATES = ("threadIdx", "blockIdx", "blockDim")

_FUNCTIONS = """\
__device__ int twist(int x) { return x ^ (x >> 1); }
__device__ int fold(int x, int m) {
  if (x >= m) return x - m;
  return x;
}
__device__ void put(int *p, int i, int v) { p[i] = v; }
__device__ int pass(int *p, int i) {
  int v = p[i];
  __syncthreads();
  return v;
}
"""


class _Writer:
    def __init__(self, pick: Pick, flavour: Flavour, name: str) -> None:
        self.pick = pick
        self.flavour = flavour
        self.builder = KernelBuilder(name)
        self.lines: list[str] = []
        self.indent = 1
        self.left = flavour.statements
        self.arrays: list[_Array] = []
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

    def leaf(self, scope: _Scope, data: bool) -> Term:
        kind = self.pick(4)
        variables = [v for v in scope.variables if data or not v.data]
        if kind == 0 and variables:
            return self.one(variables)
        if kind == 1:
            return Term("n", e.sym("param:n", e.I32))
        if kind == 2:
            return literal(self.pick(9), e.U32 if self.chance(3) else e.I32)
        return self.coordinate()

    def term(self, scope: _Scope, depth: int = 2, data: bool = False) -> Term:
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

    def condition(self, scope: _Scope, data: bool = False, depth: int = 1) -> Term:
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

    def subscript(self, scope: _Scope, extent: int) -> Term:
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

    def global_subscript(self, scope: _Scope) -> Term:
        tid, bid, bdim = [Term(f"{t}.x", x) for t, x in zip(_COORDINATES, (e.TID[0], e.BID[0], e.BDIM[0]), strict=True)]
        kind = self.pick(4)
        if kind == 0:
            return arithmetic("add", arithmetic("mul", bid, bdim), tid)
        if kind == 1:
            row = arithmetic("mul", arithmetic("add", arithmetic("mul", bid, bdim), tid), literal(2))
            return arithmetic("add", row, literal(self.pick(3)))
        index = self.term(scope, 2, self.steering())
        return arithmetic("and", index, literal(15)) if kind == 2 else index

    def place(self, scope: _Scope) -> tuple[str, e.Expr, tuple[tuple[e.Expr, int], ...], e.IntType]:
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

    # --- statements -------------------------------------------------------------------------------------------

    def store(self, scope: _Scope) -> None:
        text, pointer, bounds, ty = self.place(scope)
        value = self.term(scope, 1, data=True)
        if self.chance(3):
            self.line(f"{text} += {value.text};")
            old = Term("", self.load(pointer, bounds, ty), data=True)
            self.put(pointer, bounds, ty, arithmetic("add", old, value).expr)
            return
        self.line(f"{text} = {value.text};")
        self.put(pointer, bounds, ty, value.expr)
        if scope.uniform and self.chance(2):
            self.barrier(scope)

    def sometimes(self, scope: _Scope) -> None:
        """A barrier, as a rule."""
        if scope.uniform and self.pick(5) < 4:
            self.line("__syncthreads();")
            self.builder.barrier()

    def cell(self, index: Term) -> tuple[str, e.Expr, tuple[tuple[e.Expr, int], ...]]:
        """An element of the array ``s``."""
        position = e.cast(index.expr, e.I64)
        pointer = e.ptradd(e.addr("s"), e.mul(position, e.const(4, e.I64)))
        return f"s[{index.text}]", pointer, ((position, 64),)

    def exchanged(self, scope: _Scope) -> None:
        """Each thread writes its own cell and reads another one."""
        tid = Term("threadIdx.x", e.TID[0])
        text, pointer, bounds = self.cell(tid)
        value = self.term(scope, 1, data=True)
        self.line(f"{text} = {value.text};")
        self.put(pointer, bounds, e.I32, value.expr)
        self.sometimes(scope)
        kind = self.pick(3)
        if kind == 0:
            other = arithmetic("xor", tid, literal(1))
        elif kind == 1:
            other = arithmetic("sub", literal(63), tid)
        else:
            other = arithmetic("and", arithmetic("add", tid, literal(1 + self.pick(3))), literal(63))
        name = self.builder.fresh("x")
        text, pointer, bounds = self.cell(other)
        self.line(f"int {name} = {text};")
        self.builder.let(V(self.load(pointer, bounds, e.I32)), name)
        scope.variables.append(Term(name, e.var(name, e.I32), data=True))
        self.sometimes(scope)

    def reduction(self, scope: _Scope) -> None:
        """``if (t < w) s[t] += s[t + w];`` in a loop that halves ``w``."""
        b, name = self.builder, self.builder.fresh("w")
        self.line(f"for (unsigned {name} = blockDim.x / 2; {name} > 0; {name} >>= 1) {{")
        w = b.let(V(e.binary("div", e.BDIM[0], e.const(2, e.U32))), name)
        tid, width = Term("threadIdx.x", e.TID[0]), Term(name, w.expr)
        b.stack.append([])
        self.indent += 1
        guard = comparison(self.one(["lt", "lt", "le"]), tid, width)
        text, pointer, bounds = self.cell(tid)
        other, there, inside = self.cell(arithmetic("add", tid, width))
        self.line(f"if ({guard.text}) {text} = {other};")
        with b.if_(guard.value):
            self.put(pointer, bounds, e.I32, self.load(there, inside, e.I32))
        self.sometimes(scope)
        self.indent -= 1
        self.line("}")
        body, latch = tuple(b.stack.pop()), (k.Assign(name, (w >> 1).expr),)
        b.emit(k.Loop(b.fresh("L"), (), (w > 0).expr, body, latch, b.site("for")))

    def read(self, scope: _Scope) -> None:
        text, pointer, bounds, ty = self.place(scope)
        name = self.builder.fresh("x")
        self.line(f"{C_NAMES[ty]} {name} = {text};")
        loaded = self.load(pointer, bounds, ty)
        self.builder.let(V(loaded), name)
        scope.variables.append(Term(name, e.var(name, ty), data=True))

    def declare(self, scope: _Scope) -> None:
        ty = self.one([e.I32, e.U32, e.I16, e.U8, e.I64])
        value, name = self.term(scope), self.builder.fresh("x")
        self.line(f"{C_NAMES[ty]} {name} = {value.text};")
        self.builder.let(V(e.cast(value.expr, ty)), name)
        scope.variables.append(Term(name, e.var(name, ty)))

    def change(self, scope: _Scope) -> None:
        """Assign to a variable, with data only where it held data before; never to a loop counter."""
        own = [v for v in scope.variables if v.text.startswith("x")]
        if not own:
            return self.declare(scope)
        variable = self.one(own)
        value = self.term(scope, 1, data=variable.data)
        self.line(f"{variable.text} = {value.text};")
        self.builder.emit(k.Assign(variable.text, e.cast(value.expr, variable.ty)))
        return None

    def barrier(self, scope: _Scope) -> None:
        if not (scope.uniform or self.flavour.divergence):
            return self.store(scope)
        self.line("__syncthreads();")
        self.builder.barrier()
        return None

    def atomic(self, scope: _Scope) -> None:
        if not self.flavour.atomics:
            return self.store(scope)
        text, pointer, bounds, ty = self.place(scope)
        if ty.width != 32:
            return self.store(scope)
        op, function = self.one([("add", "atomicAdd"), ("max", "atomicMax"), ("exch", "atomicExch")])
        value = self.term(scope, 1, data=True)
        self.line(f"{function}(&{text}, {value.text});")
        b = self.builder
        operand = e.cast(value.expr, ty)
        b.emit(k.Atomic(b.event(), None, op, ty, pointer, (operand,), 4, "grid", "relaxed", b.site(), bounds))
        return None

    def nest(self, scope: _Scope, most: int = 3) -> None:
        self.indent += 1
        for _ in range(1 + self.pick(most)):
            self.statement(scope)
        self.indent -= 1

    def branch(self, scope: _Scope) -> None:
        uniform = self.pick(3) == 0
        condition = self.uniform_condition() if uniform else self.condition(scope, self.steering())
        self.line(f"if ({condition.text}) {{")
        with self.builder.if_(condition.value):
            self.nest(scope.inner(uniform))
        if self.chance(3):
            self.line("} else {")
            with self.builder.else_():
                self.nest(scope.inner(uniform))
        self.line("}")

    def counted(self, scope: _Scope) -> None:
        """``for`` over a few iterations, their number the same for all threads or not."""
        name = self.builder.fresh("i")
        kind = self.pick(4)
        if kind == 3 and scope.uniform and not self.flavour.divergence:
            kind = 0
        n, tid = Term("n", e.sym("param:n", e.I32)), Term("(int)threadIdx.x", e.cast(e.TID[0], e.I32))
        stop = [literal(1 + self.pick(4)), literal(3), n, Term("(int)(threadIdx.x & 3)", e.cast(e.TID[0], e.I32))][kind]
        if kind == 3:
            stop = Term(stop.text, e.cast(e.binary("and", e.TID[0], e.const(3, e.U32)), e.I32))
        start = tid if kind == 2 and self.chance(3) else literal(0)
        uniform = kind != 3 and start is not tid
        step = self.one([1, 2])
        self.line(f"for (int {name} = {start.text}; {name} < {stop.text}; {name} += {step}) {{")
        b = self.builder
        variable = b.let(start.value, name)
        label = b.fresh("L")
        b.stack.append([])
        inner = scope.inner(uniform, label)
        inner.variables.append(Term(name, variable.expr))
        self.nest(inner)
        self.periodic(inner, name)
        body = tuple(b.stack.pop())
        latch = (k.Assign(name, (variable + step).expr),)
        b.emit(k.Loop(label, (), (variable < stop.value).expr, body, latch, b.site("for")))
        self.line("}")

    def periodic(self, scope: _Scope, name: str) -> None:
        """A barrier at the end of a loop's body, in each iteration or in some."""
        kind = self.pick(4)
        if not scope.uniform or kind == 0:
            return
        self.indent += 1
        if kind == 3:
            every = comparison("eq", arithmetic("rem", Term(name, e.var(name, e.I32)), literal(2)), literal(0))
            self.line(f"if ({every.text}) __syncthreads();")
            with self.builder.if_(every.value):
                self.builder.barrier()
        else:
            self.line("__syncthreads();")
            self.builder.barrier()
        self.indent -= 1

    def halving(self, scope: _Scope) -> None:
        """The loop of a tree reduction."""
        name = self.builder.fresh("w")
        b = self.builder
        self.line(f"for (unsigned {name} = blockDim.x / 2; {name} > 0; {name} >>= 1) {{")
        variable = b.let(V(e.binary("div", e.BDIM[0], e.const(2, e.U32))), name)
        label = b.fresh("L")
        b.stack.append([])
        inner = scope.inner(uniform=True, loop=label)
        inner.variables.append(Term(name, variable.expr))
        self.nest(inner)
        body = tuple(b.stack.pop())
        b.emit(k.Loop(label, (), (variable > 0).expr, body, (k.Assign(name, (variable >> 1).expr),), b.site("for")))
        self.line("}")

    def jump(self, scope: _Scope) -> None:
        """A conditional return, break or continue."""
        b = self.builder
        kinds = ["return"] if scope.loop is None else ["continue", "break", "return"]
        kind = self.one(kinds)
        uniform = not self.flavour.divergence and kind != "return"
        condition = self.uniform_condition() if uniform else self.condition(scope, self.steering())
        self.line(f"if ({condition.text}) {kind};")
        with b.if_(condition.value):
            if kind == "return":
                b.return_()
            elif scope.loop is not None and kind == "break":
                b.exit(scope.loop)
            elif scope.loop is not None:
                b.continue_(scope.loop)

    def call(self, scope: _Scope) -> None:
        """A call of one of the device functions, inlined on the IR side."""
        b = self.builder
        target = self.one([a for a in self.arrays if a.array.ty == e.I32])
        self.calls += 1
        kind = self.pick(4)
        argument = converted(self.term(scope, 1), e.I32)
        if kind <= 1:
            name = b.fresh("x")
            if kind == 0:
                self.line(f"int {name} = twist({argument.text});")
                x = argument.expr
                b.let(V(e.binary("xor", x, e.binary("shr", x, e.const(1)))), name)
            else:
                self.line(f"int {name} = fold({argument.text}, 4);")
                x, b_label = b.let(argument.value), b.fresh("B")
                b.stack.append([])
                with b.if_(x >= 4):
                    b.emit(k.Assign(name, (x - 4).expr))
                    b.emit(k.Exit(b_label, "return", b.site()))
                b.emit(k.Assign(name, x.expr))
                b.emit(k.Block(b_label, tuple(b.stack.pop())))
            scope.variables.append(Term(name, e.var(name, e.I32)))
            return
        extent = target.extents[0] if target.extents else 16
        index = arithmetic("and", argument, literal(min(extent, 16) - 1))
        base = f"{target.array.name}[0]" if len(target.extents) > 1 else target.array.name
        pointer = e.ptradd(e.addr(target.array.name), e.mul(e.cast(index.expr, e.I64), e.const(4, e.I64)))
        if kind == 2 or not (scope.uniform or self.flavour.divergence):
            value = converted(self.term(scope, 1, data=True), e.I32)
            self.line(f"put({base}, {index.text}, {value.text});")
            self.put(pointer, (), e.I32, value.expr)
            return
        name = b.fresh("x")
        self.line(f"int {name} = pass({base}, {index.text});")
        loaded = self.load(pointer, (), e.I32)
        b.barrier()
        b.let(V(loaded), name)
        scope.variables.append(Term(name, e.var(name, e.I32), data=True))

    def statement(self, scope: _Scope) -> None:
        self.left -= 1
        plain = [self.store, self.read, self.barrier, self.declare, self.change, self.atomic, self.store, self.read]
        nested = [self.branch, self.counted, self.halving] if scope.depth < 3 and self.left > 0 else []
        # The idioms address s by threadIdx.x alone.
        flat = [] if self.two_dimensional else [self.exchanged, self.exchanged, self.reduction]
        rare = [self.jump, *flat] + ([self.call] if self.flavour.calls else [])
        self.one(plain + nested + rare)(scope)

    # --- the kernel -------------------------------------------------------------------------------------------

    def declarations(self) -> None:
        b = self.builder
        for name, ty in (("a", e.I32), ("b", self.one([e.I32, e.U8, e.I16]))):
            self.arrays.append(_Array(b.global_(name, ty)))
        b.scalar("n")
        self.arrays.append(_Array(b.shared("s", 64), (64,)))
        self.line("__shared__ int s[64];")
        if self.chance(2):
            array = b.shared("t", 64)
            b.objects[-1] = k.MemObject("t", "shared", "declared", 256, 4, (8, 8), "t")
            self.arrays.append(_Array(array, (8, 8)))
            self.line("__shared__ int t[8][8];")
        if self.chance(3):
            self.arrays.append(_Array(b.shared("h", 32, e.I16), (32,)))
            self.line("__shared__ short h[32];")

    def write(self) -> GeneratedKernel:
        self.two_dimensional = self.chance(4)
        self.declarations()
        scope = _Scope()
        while self.left > 0:
            self.statement(scope)
        threads = self.one([4, 2, 8, 16, 36])
        block = (threads // 2, 2, 1) if self.two_dimensional else (threads, 1, 1)
        grid = (1 + self.pick(2) if self.flavour.blocks else 1, 1, 1)
        n = self.pick(7)
        names = [C_NAMES[a.array.ty] for a in self.arrays[:2] if isinstance(a.array.ty, e.IntType)]
        name = self.builder.name
        header = (_FUNCTIONS if self.calls else "") + (
            f"// cuda-lsp: launch grid=({grid[0]}) block=({block[0]},{block[1]}) n={n}\n"
            f"__global__ void {name}({names[0]} *a, {names[1]} *b, int n) {{\n"
        )
        text = header + "\n".join(self.lines) + "\n}\n"
        return GeneratedKernel(text, self.builder.build(), ConcreteLaunch(grid=grid, block=block, values={"n": n}))


def generate(pick: Pick, flavour: Flavour | None = None, name: str = "generated") -> GeneratedKernel:
    """One kernel. Every choice is a ``pick(n)`` in ``range(n)``."""
    return _Writer(pick, flavour or Flavour(), name).write()
