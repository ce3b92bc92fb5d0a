"""Random integer expressions and memory places, as CUDA text.

The lower half of the writer: what stands inside statements. Every choice comes from one random generator, so a seed
names a kernel. Divisors are never zero, shifts stay inside their types and subscripts of declared arrays mostly stay
inside them; nothing overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")

Kind = Literal["block", "thread", "data"]
"""Of what a value depends: the same for all threads of a block, on the thread, or on what memory holds."""


def join(a: Kind, b: Kind) -> Kind:
    """The kind of what is computed from both."""
    if "data" in (a, b):
        return "data"
    return "thread" if "thread" in (a, b) else "block"


@dataclass(frozen=True, slots=True)
class Term:
    """An expression in parentheses where it needs them. ``low``: never negative."""

    text: str
    kind: Kind
    low: bool = True


@dataclass(frozen=True, slots=True)
class Flavour:
    """What one kernel may contain."""

    data: bool = False
    """Values read from memory may steer conditions and addresses."""
    divergence: bool = False
    """Barriers may stand where not all threads come."""
    jumps: bool = False
    """More goto, switch, break and continue than usual."""
    idioms: float = 0.4
    """Share of statements that are patterns of real kernels, some with a flaw."""
    barriers: float = 0.5
    """How often a barrier follows an access."""
    flaws: float = 0.2
    """How often a pattern lacks a barrier or is off by one."""
    tidy: bool = True
    """An array in global memory is accessed through one kind of index."""
    statements: int = 9


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes that the text is written for: the block's, and whether it says ``blockDim`` or the number."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    known: bool
    """The launch says them."""

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.block[0] * self.block[1] * self.block[2]


@dataclass(slots=True)
class Scope:
    """What a statement can see."""

    variables: list[Term] = field(default_factory=list[Term])
    counters: list[Term] = field(default_factory=list[Term])
    labels: list[str] = field(default_factory=list[str])
    """Behind this place, to be jumped to."""
    uniform: bool = True
    """All threads of the block come here together."""
    loop: bool = False
    switch: bool = False
    """``break`` would leave a switch."""
    depth: int = 0

    def inner(self, uniform: bool, loop: bool | None = None, switch: bool = False) -> Scope:
        """The scope of a nested statement."""
        return Scope(
            list(self.variables),
            list(self.counters),
            self.labels,
            self.uniform and uniform,
            self.loop if loop is None else loop,
            switch or (self.switch and loop is None),
            self.depth + 1,
        )


class TermWriter:
    """Writes what stands inside of statements."""

    def __init__(self, random: Random, flavour: Flavour, shape: Shape) -> None:
        self.random = random
        self.flavour = flavour
        self.shape = shape
        self.lines: list[str] = []
        self.indent = 1
        self.left = flavour.statements
        self.names = 0
        self.shared: list[tuple[str, tuple[int, ...], str]] = []
        """Name, extents and type of the arrays in shared memory."""
        self.outside: list[tuple[str, str]] = []
        """Name and type of the arrays in global memory."""
        self.own: dict[str, str] = {}
        """The index by which each of them is accessed in a tidy kernel."""
        self.steered = False
        """What memory holds decides where a thread goes or what it touches."""

    # --- choices ----------------------------------------------------------------------------------------------

    def one(self, options: Sequence[T]) -> T:
        """Any of them."""
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.random.random() < share

    def number(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``."""
        return self.random.randint(low, high)

    def fresh(self, prefix: str) -> str:
        """A new name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("  " * self.indent + text)

    # --- expressions ------------------------------------------------------------------------------------------

    def width(self) -> str:
        """The number of threads of a block."""
        if not self.shape.known or self.chance(0.5):
            return "blockDim.x * blockDim.y" if self.shape.block[1] > 1 else "blockDim.x"
        return str(self.shape.threads)

    def constant(self, low: int = 0, high: int = 5) -> Term:
        """A literal."""
        return Term(str(self.number(low, high)) + self.one(["", "", "", "u"]), "block")

    def common(self, scope: Scope) -> Term:
        """The same for the whole block."""
        found = [c for c in scope.counters if c.kind == "block"]
        found += [v for v in scope.variables if v.kind == "block"]
        if found and self.chance(0.6):
            return self.one(found)
        return self.one(
            [Term("n", "block", low=False), Term("m", "block"), Term("blockIdx.x", "block"), self.constant()]
        )

    def leaf(self, scope: Scope) -> Term:
        """Something to compute with; data only where it may steer."""
        pick = self.random.random()
        if pick < 0.35:
            return Term("t", "thread")
        own = [v for v in (*scope.variables, *scope.counters) if self.flavour.data or v.kind != "data"]
        if pick < 0.6 and own:
            return self.one(own)
        if pick < 0.7:
            return self.one([Term("lane", "thread"), Term("(t >> 5)", "thread"), Term("threadIdx.x", "thread")])
        if pick < 0.85:
            return self.common(scope)
        return self.constant()

    def term(self, scope: Scope, depth: int = 2) -> Term:
        """Any integer expression."""
        if depth == 0 or self.chance(0.3):
            return self.leaf(scope)
        a, b = self.term(scope, depth - 1), self.term(scope, depth - 1)
        both, low = join(a.kind, b.kind), a.low and b.low
        pick = self.number(0, 11)
        if pick <= 2:
            op = self.one(["+", "+", "-", "^", "&", "|"])
            return Term(f"({a.text} {op} {b.text})", both, low and op != "-")
        if pick == 3:
            return Term(f"({a.text} * {self.number(2, 5)})", a.kind, a.low)
        if pick == 4:
            return Term(f"({a.text} {self.one(['/', '%'])} {self.one([2, 3, 4, 5, 7, 8])})", a.kind, a.low)
        if pick == 5:
            return Term(f"({a.text} >> {self.number(1, 3)})", a.kind, a.low)
        if pick == 6:
            return Term(f"({a.text} % ({self.inside(b, 4)} + 1))", both, a.low)
        if pick == 7:
            ty = self.one(["unsigned char", "short", "unsigned", "long long", "unsigned short", "signed char"])
            return Term(f"(({ty}){a.text})", a.kind, low=False)
        if pick == 8:
            condition = self.condition(scope)
            return Term(f"({condition.text} ? {a.text} : {b.text})", join(condition.kind, both), low)
        if pick == 9:
            call = self.one([f"fold({a.text}, {self.number(3, 9)})", f"steps({a.text}, {self.number(2, 5)})"])
            return Term(call, a.kind, low=False)
        if pick == 10:
            name = self.one(["min", "max"])
            return Term(f"{name}((int){a.text}, (int){b.text})", both, low)
        return a

    def inside(self, a: Term, extent: int) -> str:
        """An expression from 0 to ``extent`` - 1, a power of two."""
        return f"({a.text} & {extent - 1})"

    def condition(self, scope: Scope, uniform: bool = False, depth: int = 1) -> Term:
        """A condition; ``uniform``: the same for the whole block."""
        if depth and self.chance(0.2):
            a, b = (self.condition(scope, uniform, 0) for _ in range(2))
            return Term(f"({a.text} {self.one(['&&', '||'])} {b.text})", join(a.kind, b.kind))
        a = self.common(scope) if uniform else self.term(scope, 1)
        pick = self.number(0, 6)
        if pick <= 1:
            text = f"{a.text} {self.one(['<', '<=', '>', '>='])} {self.number(0, 9)}"
        elif pick == 2:
            text = f"{a.text} % {self.number(2, 4)} {self.one(['==', '!='])} {self.number(0, 1)}"
        elif pick == 3:
            text = f"{a.text} == {self.number(0, 4)}"
        elif pick == 4:
            text = f"({a.text} & {self.number(1, 3)})"
        elif uniform or self.chance(0.5):
            b = self.common(scope)
            return Term(f"((int){a.text} {self.one(['<', '!=', '=='])} (int){b.text})", join(a.kind, b.kind))
        else:
            b = self.constant(1, max(self.shape.threads - 1, 1))
            return Term(f"(t {self.one(['<', '>=', '=='])} {b.text})", "thread")
        return Term(f"({text})", a.kind)

    # --- memory -----------------------------------------------------------------------------------------------

    def position(self, scope: Scope) -> Term:
        """An index that real kernels use, for one dimension, from 0 to twice the number of threads."""
        threads, pick = self.shape.threads, self.number(0, 15)
        counters = [c for c in scope.counters if c.low]
        if pick <= 4:
            return Term("t", "thread")
        if pick == 5:
            return Term(f"(t ^ {self.number(1, 3)})", "thread")
        if pick == 6:
            return Term(f"((t + {self.number(1, 3)}) % {self.width_in_parentheses()})", "thread")
        if pick == 7:
            return Term(f"({threads - 1} - t)" if self.shape.known else f"({self.width()} - 1 - t)", "thread")
        if pick == 8:
            return Term(f"(t + {self.number(0, 4)})", "thread")
        if pick == 9:
            return self.one([Term("(t / 2)", "thread"), Term("(2 * t)", "thread"), Term("(2 * t + 1)", "thread")])
        if pick == 10:
            return Term(f"(t {self.one(['%', '/'])} {self.number(2, 5)})", "thread")
        if pick == 11:
            return Term(str(self.number(0, min(threads, 8))), "block")
        if pick <= 13 and counters:
            c = self.one(counters)
            shape = self.one(["(t + {0})", "(t ^ {0})", "{0}", "((t + {0}) % {1})", "(t + {0} * {1})"])
            text = shape.format(c.text, self.width_in_parentheses())
            return Term(text, "data" if c.kind == "data" else c.kind if shape == "{0}" else "thread")
        if pick == 14 and scope.variables:
            v = self.one(scope.variables)
            if v.kind != "data" or self.flavour.data:
                return Term(self.inside(v, 32), v.kind)
        return Term(self.inside(self.term(scope), 32), "data" if self.flavour.data else "thread")

    def width_in_parentheses(self) -> str:
        """For use as an operand."""
        width = self.width()
        return f"({width})" if " " in width else width

    def place(self, scope: Scope, shared: float = 0.65) -> tuple[str, str]:
        """An lvalue in shared or global memory, and its type."""
        if self.shared and self.chance(shared):
            name, extents, ty = self.one(self.shared)
            if len(extents) == 2:
                return f"{name}{self.cell(scope, extents)}", ty
            return f"{name}[{self.position(scope).text}]", ty
        name, ty = self.one(self.outside)
        if self.flavour.tidy:
            return f"{name}[{self.own[name]}]", ty
        pick = self.number(0, 9)
        if pick <= 4:
            return f"{name}[g]", ty
        if pick == 5:
            return f"{name}[{self.one(['g + 1', '2 * g', '2 * g + 1', 'g ^ 1', 'g / 2', 'n + g', 'g + m'])}]", ty
        if pick == 6:
            return f"{name}[blockIdx.x * {self.one([8, 64, 128])} + {self.position(scope).text}]", ty
        if pick == 7 and scope.counters:
            return f"{name}[g + {self.one(scope.counters).text} * {self.one(['gridDim.x * blockDim.x', '128'])}]", ty
        if pick == 8:
            return f"{name}[{self.position(scope).text}]", ty
        return f"{name}[{self.one(['blockIdx.x', 'n', '0', 'g * n', 'g & 15', 'n - 1 - g'])}]", ty

    def cell(self, scope: Scope, extents: tuple[int, ...]) -> str:
        """The subscripts of a tile."""
        row, column = self.one([("y", "x"), ("y", "x"), ("x", "y"), ("t / 8", "t % 8"), ("t % 8", "t / 8")])
        if self.chance(0.15):
            row = self.one([f"({row}) ^ 1", self.inside(self.term(scope, 1), 8), "0"])
        if self.chance(0.15):
            column = self.one([f"({column}) ^ 1", f"({column} + 1) % 8", self.inside(self.term(scope, 1), 8)])
        return f"[{row}][{column}]"
