"""Random statements of a kernel, as CUDA text: accesses, barriers, all kinds of control flow."""

from __future__ import annotations

from benchmarks.generated.terms import Kind, Scope, Term, TermWriter, join

_TYPES = ("int", "unsigned", "int", "short", "unsigned short", "long long", "unsigned char")


class StatementWriter(TermWriter):
    """Writes statements."""

    def statement(self, scope: Scope) -> None:
        """One, with what it contains."""
        self.left -= 1
        if self.chance(self.flavour.idioms) and scope.depth < 3:
            self.idiom(scope)
            return
        nested = scope.depth < 3 and self.left > 0
        if scope.loop and self.chance(0.25) and (own := [v for v in scope.variables if v.text.startswith("x")]):
            self.kept(scope, self.one(own))
            return
        pick = self.random.random()
        jumps = 0.14 if self.flavour.jumps else 0.05
        if pick < 0.42 or not nested:
            self.access(scope)
        elif pick < 0.50:
            self.barrier(scope)
        elif pick < 0.55:
            self.one([self.declare, self.declare, self.declare, self.asserted])(scope)
        elif pick < 0.60:
            self.atomic(scope)
        elif pick < 0.60 + jumps:
            self.jump(scope)
        elif pick < 0.60 + 2 * jumps:
            self.one([self.switched, self.forward, self.backward, self.common_tail])(scope)
        elif pick < 0.86:
            self.branch(scope)
        else:
            if self.chance(0.4):
                self.declare(scope)
            self.loop(scope)

    def idiom(self, scope: Scope) -> None:
        """A pattern of real kernels."""
        raise NotImplementedError

    def nest(self, scope: Scope, most: int = 3) -> None:
        """One to ``most`` statements."""
        self.indent += 1
        for _ in range(self.number(1, most)):
            self.statement(scope)
        self.indent -= 1

    # --- accesses ---------------------------------------------------------------------------------------------

    def value(self, scope: Scope) -> Term:
        """What is stored: anything, with data."""
        data = [v for v in scope.variables if v.kind == "data"]
        if data and self.chance(0.4):
            return self.one(data)
        return self.one([Term("t", "thread"), self.constant(), self.term(scope, 1)])

    def access(self, scope: Scope) -> None:
        """A read, a write or both."""
        text, ty = self.place(scope)
        pick = self.random.random()
        if pick < 0.4:
            self.line(f"{text} = {self.value(scope).text};")
        elif pick < 0.5:
            self.line(f"{text} {self.one(['+=', '^=', '|='])} {self.value(scope).text};")
        elif pick < 0.6:
            other, _ = self.place(scope)
            self.line(f"{text} = {other};")
        elif pick < 0.65:
            condition, other = self.condition(scope), self.place(scope)[0]
            self.line(f"{text} = {condition.text} ? {other} : {self.value(scope).text};")
        else:
            name = self.fresh("v")
            self.line(f"{ty} {name} = {text};")
            scope.variables.append(Term(name, "data", low=False))
        if self.chance(self.flavour.barriers if scope.uniform else 0.3 if self.flavour.divergence else 0.0):
            self.barrier(scope)

    def declare(self, scope: Scope) -> None:
        """A variable, or a new value for one."""
        own = [v for v in scope.variables if v.text.startswith("x")]
        value = self.term(scope)
        if own and self.chance(0.4):
            old = self.one(own)
            if old.kind == "data" or value.kind != "data":
                # What it holds behind a branch depends on the branch.
                kind = join(join(old.kind, value.kind), "thread")
                self.line(f"{old.text} {self.one(['=', '=', '+=', '^='])} {value.text};")
                scope.variables[:] = [
                    Term(v.text, kind, low=False) if v.text == old.text else v for v in scope.variables
                ]
                return
        name = self.fresh("x")
        self.line(f"{self.one(_TYPES)} {name} = {value.text};")
        scope.variables.append(Term(name, value.kind, low=False))

    def kept(self, scope: Scope, variable: Term) -> None:
        """A branch sets a variable, and what stands behind it depends on that: where the branch is not taken, on what
        was left in a turn before."""
        condition, value = self.condition(scope), self.term(scope)
        if variable.kind != "data" and "data" in (condition.kind, value.kind):
            return self.access(scope)
        self.line(f"if ({condition.text}) {variable.text} = {value.text};")
        kept = Term(variable.text, join(join(join(variable.kind, condition.kind), value.kind), "thread"), low=False)
        scope.variables[:] = [kept if v.text == kept.text else v for v in scope.variables]
        if self.chance(0.3):
            self.line(f"if ({kept.text} {self.one(['<', '>', '==', '!='])} {self.number(0, 3)})")
        text, _ = self.place(scope)
        name, extents, _ = self.one(self.shared) if self.shared else ("", (0,), "")
        if name and len(extents) == 1 and kept.kind != "data":
            text = f"{name}[{self.inside(kept, extents[0])}]"
        self.line(f"{text} = {self.value(scope).text};")
        return None

    def asserted(self, scope: Scope) -> None:
        """An assertion, of something that holds or of anything."""
        holds = self.one(["t >= 0", "lane < 32", "blockIdx.x < gridDim.x", "x < 8"])
        self.line(f"assert({holds if self.chance(0.6) else self.condition(scope).text});")

    def atomic(self, scope: Scope) -> None:
        """An atomic; its result unused, kept, or used as an index."""
        cells = [(n, ty) for n, e, ty in self.shared if len(e) == 1] + self.outside
        cells = [(n, ty) for n, ty in cells if ty in ("int", "unsigned")]
        if not cells:
            return self.access(scope)
        name, ty = self.one(cells)
        index = self.one([self.position(scope), Term("0", "block"), Term("t", "thread"), self.constant(0, 3)])
        cell = f"{name}[{index.text}]"
        call = self.one(
            [f"atomicAdd(&{cell}, 1)", f"atomicMax(&{cell}, t)", f"atomicExch(&{cell}, t)", f"atomicCAS(&{cell}, 0, 1)"]
        )
        pick = self.random.random()
        if pick < 0.5:
            self.line(f"{call};")
        else:
            old = self.fresh("v")
            self.line(f"{ty} {old} = {call};")
            scope.variables.append(Term(old, "data", low=False))
            if pick < 0.75:
                target, _ = self.place(scope)
                self.line(f"{target} = {old};")
            elif self.flavour.data:
                self.line(f"{self.one(self.outside)[0]}[{self.inside(Term(old, 'data'), 32)}] = t;")
        return None

    # --- barriers ---------------------------------------------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        """Of the block or of the warp, where all threads come, or anywhere."""
        if not (scope.uniform or (self.flavour.divergence and self.chance(0.8))):
            return self.access(scope)
        pick = self.random.random()
        if pick < 0.75:
            self.line("__syncthreads();")
        elif pick < 0.85:
            self.line("__syncwarp();")
        elif pick < 0.9:
            name = self.fresh("v")
            kind = self.one(["or", "and", "count"])
            self.line(f"int {name} = __syncthreads_{kind}({self.condition(scope).text});")
            scope.variables.append(Term(name, "data"))
        elif pick < 0.95:
            self.masked(scope)
        else:
            self.exchange(scope)
        return None

    def masked(self, scope: Scope) -> None:
        """A barrier of some lanes, under the condition that they fulfil, or nearly so."""
        lanes = self.one([2, 4, 8, 16])
        mask = hex((1 << lanes) - 1)
        bound = lanes if self.chance(0.85) else lanes + 1
        self.line(f"if (lane < {bound}) {{")
        self.indent += 1
        inner = scope.inner(uniform=False, loop=False)
        self.access(inner)
        self.line(f"__syncwarp({mask});")
        self.access(inner)
        self.indent -= 1
        self.line("}")

    def exchange(self, scope: Scope) -> None:
        """A shuffle or a vote."""
        name, value = self.fresh("v"), self.value(scope)
        call = self.one(
            [
                f"__shfl_sync(0xffffffff, (int){value.text}, {self.number(0, 3)})",
                f"__shfl_xor_sync(0xffffffffu, (int){value.text}, {self.number(1, 3)})",
                f"__shfl_down_sync(0xffffffff, (int){value.text}, {self.number(1, 4)})",
                f"(int)__ballot_sync(0xffffffff, {self.condition(scope).text})",
                f"__any_sync(0xffffffff, {self.condition(scope).text})",
            ]
        )
        self.line(f"int {name} = {call};")
        scope.variables.append(Term(name, "data", low=False))

    # --- control flow -----------------------------------------------------------------------------------------

    def branch(self, scope: Scope) -> None:
        """``if``, with or without ``else``."""
        condition = self.condition(scope, uniform=self.chance(0.35))
        same = condition.kind == "block"
        self.line(f"if ({condition.text}) {{")
        self.nest(scope.inner(same))
        if self.chance(0.35):
            self.line("} else {")
            self.nest(scope.inner(same))
        self.line("}")

    def loop(self, scope: Scope) -> None:
        """A loop of any kind."""
        forms = [self.counted, self.counted, self.counted, self.scaled, self.strided, self.tested_late, self.endless]
        self.one(forms)(scope)

    def body(self, scope: Scope, counter: Term, uniform: bool, most: int = 3) -> None:
        """The body of a loop; as a rule with a barrier where accesses of two turns could meet."""
        inner = scope.inner(uniform, loop=True)
        inner.counters.append(counter)
        self.nest(inner, most)
        if (inner.uniform or (self.flavour.divergence and self.chance(0.3))) and self.chance(
            self.flavour.barriers + 0.1
        ):
            self.indent += 1
            self.line(
                self.one(["__syncthreads();", "__syncthreads();", f"if ({counter.text} % 2 == 0) __syncthreads();"])
            )
            self.indent -= 1

    def counted(self, scope: Scope) -> None:
        """``for`` over a few turns, up or down, their number the same for all threads or not."""
        name, ty = self.fresh("i"), self.one(["int", "int", "unsigned"])
        stop, kind = self.bound(scope)
        step = self.one(["++{0}", "{0}++", "{0} += 2", "{0} += 1"]).format(name)
        if self.chance(0.2) and ty == "int":
            self.line(f"for (int {name} = {stop} - 1; {name} >= 0; --{name}) {{")
        elif self.chance(0.15):
            kind = "thread"
            self.line(f"for ({ty} {name} = t % 2; {name} < {stop}; {step}) {{")
        else:
            self.line(f"for ({ty} {name} = {self.number(0, 1)}; {name} < {stop}; {step}) {{")
        self.body(scope, Term(name, kind), kind == "block")
        self.line("}")

    def bound(self, scope: Scope) -> tuple[str, Kind]:
        """How many turns."""
        pick = self.random.random()
        if pick < 0.5:
            return str(self.number(1, 4)), "block"
        if pick < 0.65:
            return "n", "block"
        if pick < 0.75 and scope.counters:
            c = self.one(scope.counters)
            return f"(int){c.text}", c.kind
        if self.flavour.data and pick < 0.8:
            data = [v for v in scope.variables if v.kind == "data"]
            if data:
                return f"(int)({self.one(data).text} & 3)", "data"
        return self.one(["(int)(t % 3)", "(int)(t & 3)", "(int)(t % 2 + 1)", "(int)(t / 4 % 3)"]), "thread"

    def scaled(self, scope: Scope) -> None:
        """A counter that halves or doubles."""
        name = self.fresh("w")
        start, test, step = self.one(
            [
                (self.width() + " / 2", f"{name} > 0", f"{name} >>= 1"),
                ("8", f"{name} > 0", f"{name} /= 2"),
                ("1", f"{name} < {self.width_in_parentheses()}", f"{name} <<= 1"),
                ("1", f"{name} < 16", f"{name} *= 2"),
            ]
        )
        self.line(f"for ({self.one(['int', 'unsigned'])} {name} = {start}; {test}; {step}) {{")
        self.body(scope, Term(name, "block"), uniform=True)
        self.line("}")

    def strided(self, scope: Scope) -> None:
        """Each thread takes every so-many-th element."""
        name = self.fresh("i")
        start, stop, step = self.one(
            [
                ("t", self.one(["64", "n", "40"]), self.width()),
                ("g", self.one(["100", "n", "64"]), "gridDim.x * blockDim.x"),
                ("t", "32", self.width()),
            ]
        )
        self.line(f"for (int {name} = {start}; {name} < {stop}; {name} += {step}) {{")
        self.body(scope, Term(name, "thread"), uniform=False)
        self.line("}")

    def tested_late(self, scope: Scope) -> None:
        """``do`` or a ``while`` whose test counts."""
        name = self.fresh("c")
        stop, kind = self.bound(scope)
        if self.chance(0.5):
            self.line(f"int {name} = 0;")
            self.line("do {")
            self.body(scope, Term(name, kind), kind == "block")
            self.line(f"}} while (++{name} < {stop});")
        elif self.chance(0.5):
            self.line(f"int {name} = {stop};")
            self.line(f"while ({name}-- > 0) {{")
            self.body(scope, Term(name, kind), kind == "block")
            self.line("}")
        else:
            self.line(f"int {name} = 0;")
            self.line(f"while ({name} < {stop}) {{")
            self.indent += 1
            self.line(f"int {name}a = {name}++;")
            self.indent -= 1
            self.body(scope, Term(f"{name}a", kind), kind == "block")
            self.line("}")

    def endless(self, scope: Scope) -> None:
        """``for (;;)``, left by ``break`` somewhere."""
        name = self.fresh("c")
        stop, kind = self.bound(scope)
        same = kind == "block"
        self.line(f"for (int {name} = 0;; ++{name}) {{")
        inner = scope.inner(same, loop=True)
        inner.counters.append(Term(name, kind))
        if self.chance(0.5):
            self.nest(inner, 2)
        self.line(f"  if ({name} >= {stop}) break;")
        self.nest(inner, 2)
        self.line("}")

    def jump(self, scope: Scope) -> None:
        """A conditional return, break, continue or goto."""
        forms = ["return"] if self.chance(0.4) or scope.depth == 0 else []
        if scope.loop:
            forms += ["continue"] if scope.switch else ["continue", "break", "break"]
        forms += [f"goto {label}" for label in scope.labels]
        if not forms:
            return self.branch(scope)
        form = self.one(forms)
        condition = self.condition(scope, uniform=self.chance(0.5))
        if condition.kind != "block" and scope.uniform and form != "return":
            # Not all threads come to what follows in this loop or block.
            if not self.flavour.divergence and self.chance(0.7):
                condition = self.condition(scope, uniform=True)
            scope.uniform = scope.uniform and condition.kind == "block"
        self.line(f"if ({condition.text}) {form};")
        return None

    def switched(self, scope: Scope) -> None:
        """``switch`` with sections that fall through, on anything."""
        value = self.common(scope) if self.chance(0.3) else self.term(scope, 1)
        same = value.kind == "block"
        cases = self.random.sample(range(6), self.number(2, 4))
        texts = [f"case {c}:" for c in cases]
        if self.chance(0.7):
            texts.insert(self.number(0, len(texts)), "default:")
        self.line(f"switch ({self.one([f'{value.text} % {self.number(2, 6)}', f'{value.text} & 3', value.text])}) {{")
        self.indent += 1
        for i, text in enumerate(texts):
            self.line(text if self.chance(0.9) else f"case {10 + i}: {text}")
            if self.chance(0.12):
                continue
            self.line("{")
            self.nest(scope.inner(same, switch=True), 2)
            self.line("}")
            pick = self.random.random()
            if pick < 0.55:
                self.line("break;")
            elif pick < 0.65:
                self.line(f"if ({self.condition(scope).text}) break;")
            elif pick < 0.7 and scope.loop:
                self.line("continue;")
                scope.uniform = scope.uniform and same
        self.line(";")
        self.indent -= 1
        self.line("}")

    def forward(self, scope: Scope) -> None:
        """A label behind some statements that jump to it, out of loops and branches."""
        label = self.fresh("done")
        self.line("{")
        inner = scope.inner(uniform=True)
        inner.labels = [*scope.labels, label]
        self.indent += 1
        condition = self.condition(scope, uniform=self.chance(0.5))
        self.line(f"if ({condition.text}) goto {label};")
        inner.uniform = inner.uniform and condition.kind == "block"
        self.indent -= 1
        self.nest(inner)
        self.line("}")
        self.line(f"{label}:;")

    def backward(self, scope: Scope) -> None:
        """A loop made of ``goto``."""
        label, name = self.fresh("again"), self.fresh("c")
        stop, kind = self.bound(scope)
        self.line(f"int {name} = 0;")
        self.line(f"{label}: {{")
        inner = scope.inner(kind == "block", loop=False)
        inner.counters.append(Term(name, kind))
        self.nest(inner)
        self.line("}")
        self.line(f"if (++{name} < {stop}) goto {label};")

    def common_tail(self, scope: Scope) -> None:
        """Two ways into one tail, and one around it."""
        tail, out = self.fresh("tail"), self.fresh("out")
        first, second = self.condition(scope), self.condition(scope)
        same = first.kind == second.kind == "block"
        self.line("{")
        self.line(f"  if ({first.text}) goto {tail};")
        self.nest(scope.inner(first.kind == "block"), 2)
        self.line(f"  if ({second.text}) goto {out};")
        self.line("}")
        self.line(f"{tail}: {{")
        self.nest(scope.inner(same), 2)
        self.line("}")
        self.line(f"{out}:;")
