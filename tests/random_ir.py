"""Random small kernels in program IR, for comparing the oracle with the reference.

No access depends on memory contents, so at a concrete launch the reference's answer is the truth for every input.
"""

from __future__ import annotations

from random import Random

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.reference.builder import Array, KernelBuilder, V

CELLS = 12


class Generator:
    """One kernel from one seed."""

    def __init__(self, seed: int, threads: int) -> None:
        self.random = Random(seed)
        self.threads = threads
        self.b = KernelBuilder(f"k{seed}")
        self.shared = self.b.shared("s", 64)
        self.out = self.b.global_("g")
        self.variables: list[V] = []
        self.counters: list[V] = []
        self.budget = self.random.randint(5, 14)
        for _ in range(self.random.randint(0, 2)):
            self.variables.append(self.b.let(self.index()))

    def kernel(self) -> K.Kernel:
        self.block(0, uniform=True, loops=[])
        return self.b.build()

    def block(self, depth: int, uniform: bool, loops: list[str]) -> None:
        for _ in range(self.random.randint(1, 4)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement(depth, uniform, loops)

    def statement(self, depth: int, uniform: bool, loops: list[str]) -> None:
        r = self.random
        pick = r.random()
        b = self.b
        if pick < 0.45 or depth >= 3:
            self.access()
        elif pick < 0.60:
            if uniform:
                b.barrier() if r.random() < 0.7 else b.barrier("warp", r.choice([None, None, 0x0F, 0x33]))
            else:
                self.access()
        elif pick < 0.72:
            same = uniform and r.random() < 0.5
            with b.if_(self.condition(same)):
                self.block(depth + 1, uniform and same, loops)
            if r.random() < 0.4:
                with b.else_():
                    self.block(depth + 1, uniform and same, loops)
        elif pick < 0.86:
            self.loop(depth, uniform, loops)
        elif pick < 0.91 and loops:
            same = uniform
            with b.if_(self.condition(same)):
                (b.exit if r.random() < 0.5 else b.continue_)(loops[-1])
        elif self.variables:
            b.set(r.choice(self.variables), self.index())
        else:
            self.access()

    def loop(self, depth: int, uniform: bool, loops: list[str]) -> None:
        r = self.random
        b = self.b
        if uniform and r.random() < 0.3:
            self.carried(depth, loops)
            return
        if r.random() < 0.4:
            r.choice([self.turns, self.countdown])(depth, uniform, loops)
            return
        if uniform and r.random() < 0.75:
            start, stop, step = V(E.const(r.randint(0, 1))), V(E.const(r.randint(2, 4))), r.choice([1, 1, 2])
        else:
            uniform = False
            start, stop, step = b.tid % r.randint(1, 3), V(E.const(r.randint(2, 4))), r.choice([1, 2])
        with b.for_(start, stop, step) as (i, label):
            self.counters.append(i)
            self.block(depth + 1, uniform, [*loops, label])
            self.counters.pop()

    def bound(self, uniform: bool) -> V:
        """How often a loop turns; differs between threads where it may."""
        if uniform and self.random.random() < 0.6:
            return V(E.const(self.random.randint(1, 4)))
        return self.b.tid % self.random.randint(2, 4) + self.random.randint(0, 1)

    def turns(self, depth: int, uniform: bool, loops: list[str]) -> None:
        """A loop that is left at the end of its body; half the time by equality."""
        r, b = self.random, self.b
        limit, v = self.bound(uniform), b.let(0)
        with b.while_() as label:
            self.counters.append(v)
            self.block(depth + 1, uniform, [*loops, label])
            self.counters.pop()
            b.set(v, v + 1)
            with b.if_(v.eq(limit) if limit.expr.op == "const" and r.random() < 0.5 else limit < v):
                b.exit(label)
        self.variables.append(v)

    def countdown(self, depth: int, uniform: bool, loops: list[str]) -> None:
        """``while (v-- > 0)``: the test changes what it tests."""
        b = self.b
        v = b.let(self.bound(uniform))
        old, label = b.fresh("old"), b.fresh("L")
        b.stack.append([])
        self.counters.append(v)
        self.block(depth + 1, uniform, [*loops, label])
        self.counters.pop()
        head = (K.Assign(old, v.expr), K.Assign(v.expr.value, (v - 1).expr))
        test = E.compare("lt", E.const(0, E.I32), E.var(old, E.I32))
        b.emit(K.Loop(label, head, test, tuple(b.stack.pop()), (), b.site("while")))
        self.variables.append(v)

    def carried(self, depth: int, loops: list[str]) -> None:
        """A uniform loop whose variable halves, doubles, toggles or rotates."""
        r, b = self.random, self.b
        kind = r.choice(["halve", "double", "toggle", "rotate", "subtract"])
        v = b.let({"halve": 8, "double": 1, "toggle": 0, "rotate": 1, "subtract": 1}[kind])
        extra = b.let(0)
        condition = {"halve": V(E.const(0)) < v, "double": v < 9}.get(kind, extra < 4)
        with b.while_(condition) as label:
            self.counters.append(v)
            self.block(depth + 1, True, [*loops, label])
            if kind == "halve":
                b.set(v, v // 2)
            elif kind == "double":
                b.set(v, v * 2)
            elif kind == "toggle":
                b.set(v, v ^ 1)
            elif kind == "rotate":
                b.set(v, (v + 1) % 3)
            else:
                b.set(v, V(E.sub(E.const(1), v.expr)))
            b.set(extra, extra + 1)
            self.counters.pop()

    def condition(self, uniform: bool) -> V:
        r = self.random
        subject = self.uniform_value() if uniform else self.index()
        kind = r.randint(0, 3)
        if kind == 0:
            return subject < r.randint(0, 5)
        if kind == 1:
            return (subject % r.randint(2, 3)).eq(0)
        if kind == 2:
            return subject.eq(r.randint(0, 3))
        return (subject & r.randint(1, 3)).eq(0)

    def uniform_value(self) -> V:
        r = self.random
        if self.counters and r.random() < 0.7:
            return r.choice(self.counters)
        return self.b.bid if r.random() < 0.5 else V(E.const(r.randint(0, 3)))

    def index(self) -> V:
        r = self.random
        tid = self.b.tid
        base = r.choice([tid, tid, tid, tid ^ r.randint(1, 3), tid // 2, tid % r.randint(2, 5), self.uniform_value()])
        if self.variables and r.random() < 0.25:
            base = r.choice(self.variables)
        pick = r.random()
        if pick < 0.3 and self.counters:
            return base + r.choice(self.counters) * r.choice([1, self.threads, 2])
        if pick < 0.5:
            return base + r.randint(0, self.threads)
        if pick < 0.6:
            return base * 2
        return base

    def access(self) -> None:
        r = self.random
        array: Array = self.shared if r.random() < 0.7 else self.out
        index = self.index()
        if array is self.out and r.random() < 0.7:
            index = index + self.b.bid * 64
        kind = r.random()
        if kind < 0.5:
            self.b.store(array, index & 63 if array is self.shared else index, r.choice([self.b.tid, V(E.const(7))]))
        elif kind < 0.9:
            self.b.load(array, index & 63 if array is self.shared else index)
        else:
            self.b.atomic("add", array, index & 63 if array is self.shared else index, 1)
