"""Writes small random kernels, as CUDA text and as program IR side by side.

``generate(pick)`` asks ``pick(n)`` for every choice (a number below n, 0 being the plainest), so that a
property-testing library or a seeded random number can drive it. The two forms are made independently of the front end:
what the front end makes of the text must do the same as the IR. Loops are short, divisors are never zero and subscripts
of declared arrays stay inside them, mostly.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import V
from analyzers.reference.generated_terms import Flavour, Pick, Scope, TermWriter, WrittenArray
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.terms import C_NAMES, Term, arithmetic, comparison, converted, literal


@dataclass(frozen=True, slots=True)
class GeneratedKernel:
    """``kernel`` and the kernel of the same name in ``text`` do the same at ``launch``, and at any other launch."""

    text: str
    kernel: k.Kernel
    launch: ConcreteLaunch


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


class _Writer(TermWriter):
    """Writes statements and the kernel."""

    def store(self, scope: Scope) -> None:
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

    def sometimes(self, scope: Scope) -> None:
        """A barrier, as a rule."""
        if scope.uniform and self.pick(5) < 4:
            self.line("__syncthreads();")
            self.builder.barrier()

    def cell(self, index: Term) -> tuple[str, e.Expr, tuple[tuple[e.Expr, int], ...]]:
        """An element of the array ``s``."""
        position = e.cast(index.expr, e.I64)
        pointer = e.ptradd(e.addr("s"), e.mul(position, e.const(4, e.I64)))
        return f"s[{index.text}]", pointer, ((position, 64),)

    def exchanged(self, scope: Scope) -> None:
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

    def reduction(self, scope: Scope) -> None:
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

    def read(self, scope: Scope) -> None:
        text, pointer, bounds, ty = self.place(scope)
        name = self.builder.fresh("x")
        self.line(f"{C_NAMES[ty]} {name} = {text};")
        loaded = self.load(pointer, bounds, ty)
        self.builder.let(V(loaded), name)
        scope.variables.append(Term(name, e.var(name, ty), data=True))

    def declare(self, scope: Scope) -> None:
        ty = self.one([e.I32, e.U32, e.I16, e.U8, e.I64])
        value, name = self.term(scope), self.builder.fresh("x")
        self.line(f"{C_NAMES[ty]} {name} = {value.text};")
        self.builder.let(V(e.cast(value.expr, ty)), name)
        scope.variables.append(Term(name, e.var(name, ty)))

    def change(self, scope: Scope) -> None:
        """Assign to a variable, with data only where it held data before; never to a loop counter."""
        own = [v for v in scope.variables if v.text.startswith("x")]
        if not own:
            return self.declare(scope)
        variable = self.one(own)
        value = self.term(scope, 1, data=variable.data)
        self.line(f"{variable.text} = {value.text};")
        self.builder.emit(k.Assign(variable.text, e.cast(value.expr, variable.ty)))
        return None

    def kept(self, scope: Scope) -> None:
        """A branch sets a variable of the loops around, and an access behind it depends on that: where the branch is
        not taken, on what an iteration before has left."""
        own = [v for v in scope.variables if v.text.startswith("x") and not v.data]
        if scope.loop is None or not own:
            return self.change(scope)
        variable, condition, value = self.one(own), self.condition(scope, self.steering()), self.term(scope, 1)
        self.line(f"if ({condition.text}) {variable.text} = {value.text};")
        with self.builder.if_(condition.value):
            self.builder.emit(k.Assign(variable.text, e.cast(value.expr, variable.ty)))
        text, pointer, bounds = self.cell(arithmetic("and", variable, literal(63)))
        value = self.term(scope, 1)
        self.line(f"{text} = {value.text};")
        self.put(pointer, bounds, e.I32, value.expr)
        return None

    def barrier(self, scope: Scope) -> None:
        if not (scope.uniform or self.flavour.divergence):
            return self.store(scope)
        self.line("__syncthreads();")
        self.builder.barrier()
        return None

    def atomic(self, scope: Scope) -> None:
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

    def nest(self, scope: Scope, most: int = 3) -> None:
        self.indent += 1
        for _ in range(1 + self.pick(most)):
            self.statement(scope)
        self.indent -= 1

    def branch(self, scope: Scope) -> None:
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

    def counted(self, scope: Scope) -> None:
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

    def periodic(self, scope: Scope, name: str) -> None:
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

    def halving(self, scope: Scope) -> None:
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

    def jump(self, scope: Scope) -> None:
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

    def call(self, scope: Scope) -> None:
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

    def statement(self, scope: Scope) -> None:
        self.left -= 1
        plain = [self.store, self.read, self.barrier, self.declare, self.change, self.atomic, self.store, self.read]
        nested = [self.branch, self.counted, self.halving] if scope.depth < 3 and self.left > 0 else []
        # The idioms address s by threadIdx.x alone.
        flat = [] if self.two_dimensional else [self.exchanged, self.exchanged, self.reduction]
        rare = [self.jump, self.kept, *flat] + ([self.call] if self.flavour.calls else [])
        self.one(plain + nested + rare)(scope)

    # --- the kernel -------------------------------------------------------------------------------------------

    def declarations(self) -> None:
        b = self.builder
        for name, ty in (("a", e.I32), ("b", self.one([e.I32, e.U8, e.I16]))):
            self.arrays.append(WrittenArray(b.global_(name, ty)))
        b.scalar("n")
        self.arrays.append(WrittenArray(b.shared("s", 64), (64,)))
        self.line("__shared__ int s[64];")
        if self.chance(2):
            array = b.shared("t", 64)
            b.objects[-1] = k.MemObject("t", "shared", "declared", 256, 4, (8, 8), "t")
            self.arrays.append(WrittenArray(array, (8, 8)))
            self.line("__shared__ int t[8][8];")
        if self.chance(3):
            self.arrays.append(WrittenArray(b.shared("h", 32, e.I16), (32,)))
            self.line("__shared__ short h[32];")

    def write(self) -> GeneratedKernel:
        self.two_dimensional = self.chance(4)
        self.declarations()
        scope = Scope()
        while self.left > 0:
            self.statement(scope)
        threads = self.one([4, 2, 8, 16, 36])
        block = (threads // 2, 2, 1) if self.two_dimensional else (threads, 1, 1)
        blocks = 2 if self.flavour.pairs else 1 + self.pick(2) if self.flavour.blocks else 1
        grid = (blocks, 1, 1)
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
