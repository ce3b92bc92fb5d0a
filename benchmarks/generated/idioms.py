"""Patterns of real kernels, as CUDA text, each with a flaw now and then: a barrier left out, an index off by one."""

from __future__ import annotations

from benchmarks.generated.statements import StatementWriter
from benchmarks.generated.terms import Scope, Term


class IdiomWriter(StatementWriter):
    """Writes patterns."""

    def idiom(self, scope: Scope) -> None:
        """One that fits where it stands: those with a barrier only where all threads come."""
        forms = [self.own_cell, self.own_cell, self.guarded_cell]
        if scope.uniform or self.flavour.divergence:
            forms += [self.neighbour, self.neighbour, self.reduction, self.reduction, self.scan, self.ping_pong]
            forms += [self.butterfly, self.broadcast, self.transpose, self.staged, self.compaction, self.called]
            forms += [self.warp_reduction, self.last_block, self.claims_of_rounds]
        self.one(forms)(scope)

    def sync(self, text: str = "__syncthreads();") -> None:
        """A barrier, as a rule."""
        if not self.chance(self.flavour.flaws):
            self.line(text)

    def flat(self) -> str:
        """A one-dimensional array of integers in shared memory."""
        return self.one([n for n, e, ty in self.shared if len(e) == 1 and ty in ("int", "unsigned")])

    def off(self) -> str:
        """Nothing, as a rule."""
        return " + 1" if self.chance(self.flavour.flaws) else ""

    def mine(self, name: str) -> str:
        """The thread's cell of an array in global memory."""
        index = self.own[name] if self.flavour.tidy else self.one(["g", "g", "2 * g", "2 * g + 1"])
        return f"{name}[{index}{self.off()}]"

    def keep(self, scope: Scope, text: str, ty: str = "int") -> str:
        """A variable that holds what was read."""
        name = self.fresh("v")
        self.line(f"{ty} {name} = {text};")
        scope.variables.append(Term(name, "data", low=False))
        return name

    # --- without a barrier ------------------------------------------------------------------------------------

    def own_cell(self, scope: Scope) -> None:
        """Each thread its own cell."""
        (name, _), (other, _) = self.one(self.outside), self.one(self.outside)
        form = self.one(["{0} = {1};", "{0} += {1};", "{0} = {2} + {1};", "{0} = {2};"])
        self.line(form.format(self.mine(name), self.value(scope).text, self.mine(other)))

    def guarded_cell(self, scope: Scope) -> None:
        """The same where there is one."""
        name, _ = self.one(self.outside)
        bound = self.one(["n", "(int)m", str(self.shape.threads * self.shape.grid[0] - 3)])
        self.line(f"if (g < {bound}) {self.mine(name)} = {self.value(scope).text};")

    # --- with barriers ----------------------------------------------------------------------------------------

    def neighbour(self, scope: Scope) -> None:
        """Each thread writes its cell and reads another's."""
        s = self.flat()
        self.line(f"{s}[t] = {self.value(scope).text};")
        self.sync()
        width = self.width_in_parentheses()
        other = self.one(
            ["t ^ 1", f"(t + 1) % {width}", f"{width} - 1 - t", "t / 2", "0", f"(t * 3) % {width}", "t & ~1"]
        )
        self.keep(scope, f"{s}[{other}]")
        self.sync()

    def reduction(self, scope: Scope) -> None:
        """A tree."""
        s, w = self.flat(), self.fresh("w")
        if self.chance(0.7):
            self.line(f"{s}[t] = {self.value(scope).text};")
            self.sync()
        header = self.one(
            [
                f"for (unsigned {w} = {self.width()} / 2; {w} > 0; {w} >>= 1) {{",
                f"for (int {w} = {self.width()} / 2; {w} > 0; {w} /= 2) {{",
                f"for (int {w} = {self.one([4, 8, 16])}; {w}; {w} >>= 1) {{",
            ]
        )
        body = self.one(
            [
                f"if (t < {w}{self.off()}) {s}[t] += {s}[t + {w}];",
                f"if (t < {w}) {s}[t] = max({s}[t], {s}[t + {w}{self.off()}]);",
                f"if ((t & (2 * {w} - 1)) == 0) {s}[t] += {s}[t + {w}];",
            ]
        )
        self.line(header)
        self.indent += 1
        self.line(body)
        self.sync(self.one(["__syncthreads();"] * 4 + [f"if ({w} > 1) __syncthreads();", "__syncwarp();"]))
        self.indent -= 1
        self.line("}")
        if self.chance(0.5):
            self.line(f"if (t == 0) {self.one(self.outside)[0]}[blockIdx.x] = {s}[0];")

    def scan(self, scope: Scope) -> None:
        """Hillis and Steele's prefix sum."""
        s, d, v = self.flat(), self.fresh("w"), self.fresh("v")
        width = self.width_in_parentheses()
        self.line(f"for (int {d} = 1; {d} < {width}; {d} {self.one(['*= 2', '<<= 1'])}) {{")
        self.indent += 1
        self.line(f"int {v} = 0;")
        self.line(f"if (t >= {d}) {v} = {s}[t - {d}];")
        self.sync()
        self.line(f"{s}[t] += {v};")
        self.sync()
        self.indent -= 1
        self.line("}")

    def ping_pong(self, scope: Scope) -> None:
        """Two halves that change their roles."""
        s, i, p = self.flat(), self.fresh("i"), self.fresh("x")
        step = self.number(1, 2)
        self.line(f"int {p} = 0;")
        self.line(f"for (int {i} = 0; {i} < {self.one(['n', '3', '4'])}; ++{i}) {{")
        self.indent += 1
        self.line(f"{s}[64 * {p} + t] = {s}[64 * (1 - {p}) + (t + {step}) % {self.width_in_parentheses()}];")
        self.line(self.one([f"{p} = 1 - {p};", f"{p} ^= 1;", f"{p} = ({i} + 1) & 1;"]))
        self.sync()
        self.indent -= 1
        self.line("}")

    def butterfly(self, scope: Scope) -> None:
        """Partners by xor, as in a bitonic sort: the lower one of two does the work."""
        s, j = self.flat(), self.fresh("w")
        self.line(f"for (int {j} = {self.one([1, 2])}; {j} < {self.one([4, 8, 16])}; {j} <<= 1) {{")
        self.indent += 1
        o = self.fresh("x")
        self.line(f"int {o} = t ^ {j};")
        self.line(
            f"if ({o} {self.one(['>', '>', '<', '>='])} t) {{ int h = {s}[t]; {s}[t] = {s}[{o}]; {s}[{o}] = h; }}"
        )
        self.sync()
        self.indent -= 1
        self.line("}")

    def broadcast(self, scope: Scope) -> None:
        """One thread writes what all read."""
        s, one = self.flat(), self.number(0, 2)
        self.line(f"if (t == {one}) {s}[{one}] = {self.value(scope).text};")
        self.sync()
        self.keep(scope, f"{s}[{one}]")
        self.sync()

    def transpose(self, scope: Scope) -> None:
        """A tile by rows, then by columns."""
        tiles = [n for n, e, _ in self.shared if len(e) == 2]
        if not tiles:
            return self.neighbour(scope)
        tile = self.one(tiles)
        self.line(f"{tile}[y][x] = {self.value(scope).text};")
        self.sync()
        self.keep(scope, f"{tile}[{self.one(['x][y', 'y][x', 'y ^ 1][x', 'y][7 - x', '0][x'])}]")
        self.sync()
        return None

    def staged(self, scope: Scope) -> None:
        """Tiles of a longer row, one after the other."""
        s, i, k, v = self.flat(), self.fresh("i"), self.fresh("i"), self.fresh("v")
        width = self.width_in_parentheses()
        name, _ = self.one(self.outside)
        self.line(f"int {v} = 0;")
        stop, step = self.one(["n", "3", f"3 * (int){width}"]), self.one(["1", "1", width])
        self.line(f"for (int {i} = 0; {i} < {stop}; {i} += {step}) {{")
        self.indent += 1
        self.line(f"{s}[t] = {name}[{i} + t];")
        self.sync()
        self.line(f"for (int {k} = 0; {k} < {self.one(['4', width])}; ++{k}) {v} += {s}[{k}];")
        self.sync()
        self.indent -= 1
        self.line("}")
        scope.variables.append(Term(v, "data", low=False))

    def compaction(self, scope: Scope) -> None:
        """Places handed out by a counter."""
        self.steered = True
        name = self.one([n for n, ty in self.outside if ty in ("int", "unsigned")])
        target = self.one([n for n, _ in self.outside])
        v = self.fresh("v")
        self.line(f"if ({self.condition(scope).text}) {{")
        self.line(f"  int {v} = atomicAdd(&{name}[{self.one(['200', '200', 'n'])}], {self.one([1, 1, 2])});")
        offset = "" if target != name else "300 + "
        self.line(f"  {target}[{offset}{v}] = t;")
        self.line("}")

    def claims_of_rounds(self, scope: Scope) -> None:
        """Places or turns of a counter that each round sets anew: those of the round, or of the one before."""
        self.steered = True
        count, i, now, before = self.fresh("c"), self.fresh("i"), self.fresh("v"), self.fresh("x")
        self.line(f"__shared__ int {count};")
        claim = self.one(["atomicAdd({0}, 1)", "atomicAdd({0}, 1)", "atomicExch({0}, 1)", "atomicCAS({0}, 0, 1)"])
        self.line(f"int {before} = 0;")
        self.line(f"for (int {i} = 0; {i} < {self.one(['n', '3', '4'])}; ++{i}) {{")
        self.indent += 1
        if not self.chance(0.2):
            self.line(f"if (t == 0) {count} = 0;")
        self.sync()
        self.line(f"int {now} = {claim.format('&' + count)};")
        self.sync()
        target = f"{self.one(self.outside)[0]}[300 + "
        ways = [now, before, f"{now} - 100"]
        if "Add" in claim:
            self.line(f"if (t % 4 > 1) {target}{self.one(ways)}] = t;")
            self.line(
                f"else if ({i} == {self.number(0, 2)}) {target}{self.one([*ways, claim.format('&' + count)])}] = t;"
            )
        else:
            self.line(f"if ({self.one([now, before])} == 0 && {i} == {self.number(0, 2)}) {target}0] = t;")
            self.line(f"if ({self.one([now, before])} == 0 && {i} == {self.number(0, 2)}) {target}0] = t;")
        self.line(f"{before} = {now};")
        self.sync()
        self.indent -= 1
        self.line("}")

    def called(self, scope: Scope) -> None:
        """A function with accesses and a barrier inside."""
        s, name = self.flat(), self.fresh("v")
        pick = self.number(0, 3)
        if pick == 0:
            self.line(
                f"int {name} = swapped({s}, t, {self.one(['t ^ 1', 't', '0', 't / 2'])}, {self.value(scope).text});"
            )
            self.sync()
        elif pick == 1:
            self.line(f"cleared({s}, {self.one(['t', 't', 'threadIdx.x'])}, {self.number(4, 40)});")
            self.sync()
            self.line(f"int {name} = {s}[{self.position(scope).text}];")
        elif pick == 2:
            self.line(f"put({s}, t, {self.value(scope).text});")
            self.sync()
            self.line(f"int {name} = {s}[t];")
        else:
            self.line(f"int {name} = block_sum({s}, t, {self.value(scope).text});")
        scope.variables.append(Term(name, "data", low=False))

    def warp_reduction(self, scope: Scope) -> None:
        """Within a warp: barriers of the warp, or shuffles."""
        s, w = self.flat(), self.fresh("w")
        if self.chance(0.4):
            v = self.keep(scope, f"{s}[t]")
            self.line(f"for (int {w} = 16; {w} > 0; {w} /= 2) {v} += __shfl_down_sync(0xffffffff, {v}, {w});")
            self.sync()
            self.line(f"if (lane == 0) {s}[{self.one(['t >> 5', 't', '64 + (t >> 5)'])}] = {v};")
            return
        self.line(f"{s}[t] = {self.value(scope).text};")
        self.sync(self.one(["__syncwarp();", "__syncthreads();"]))
        self.line(f"for (int {w} = 8; {w} > 0; {w} >>= 1) {{")
        self.indent += 1
        if self.chance(0.5):
            v = self.fresh("v")
            self.line(f"int {v} = {s}[{self.one([f't ^ {w}', f'(t & ~31) + ((lane + {w}) & 31)'])}];")
            self.sync("__syncwarp();")
            self.line(f"{s}[t] += {v};")
        else:
            self.line(f"if (lane < {w}) {s}[t] += {s}[t + {w}];")
        self.sync("__syncwarp();")
        self.indent -= 1
        self.line("}")

    def last_block(self, scope: Scope) -> None:
        """The block that comes last puts the results of all together."""
        if self.shape.grid[0] < 2 or scope.depth > 0 or not self.chance(0.4):
            return self.neighbour(scope)
        self.steered = True
        s, name = self.flat(), self.fresh("v")
        results = self.one([n for n, ty in self.outside if ty == "int"])
        self.line(f"if (t == 0) {{ {results}[400 + blockIdx.x] = {self.value(scope).text};")
        self.sync("  __threadfence();")
        self.line(f"  {s}[0] = atomicAdd(&{results}[390], 1) == gridDim.x - 1; }}")
        self.sync()
        self.line(f"int {name} = 0;")
        self.line(
            f"if ({s}[0]) {{ {self.one(['__threadfence();', '', ''])} {name} = {results}[400 + t % gridDim.x]; }}"
        )
        self.sync()
        scope.variables.append(Term(name, "data", low=False))
        return None
