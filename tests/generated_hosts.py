"""Random host functions that launch kernels: as C++ text, and run concretely with exact C arithmetic.

A run yields what each executed launch passed. A launch context that does not allow what a run passed would exclude a
launch that can happen. Runs with undefined behaviour (signed overflow, division by zero, bad shifts) are given up.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from analyzers.ir.expr import BOOL, I16, I32, I64, U8, U32, IntType, binary_value

NAMES = {I32: "int", U32: "unsigned", I64: "long long", I16: "short", U8: "unsigned char", BOOL: "bool"}
PRELUDE = """
#include <cassert>
#include <utility>
struct Pair { int a; unsigned b; };
int shared_value;
int input();
void touch(int *target);
void touch_reference(int &target);
void mutate();
static void put(int &target, int value) { target = value; }
static int twice(int x) { return x * 2; }
static bool inside(int x, int low, int high) { if (x < low) return false; return x < high; }
"""


class UndefinedBehaviour(Exception):
    pass


class _Return(Exception):
    pass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass
class Machine:
    """One concrete run."""

    rng: random.Random
    memory: dict[str, int] = field(default_factory=dict[str, int])
    launched: list[tuple[int, tuple[int, ...]]] = field(default_factory=list[tuple[int, tuple[int, ...]]])
    fuel: int = 400

    def arbitrary(self) -> int:
        wide = self.rng.choice((self.rng.randint(-100, 100), self.rng.randint(-(2**31), 2**31 - 1)))
        return self.rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, -2, wide))

    def step(self) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            raise UndefinedBehaviour


Value = Callable[[Machine], int]
Action = Callable[[Machine], None]


@dataclass(frozen=True)
class E:
    """An expression: its text, its C type, and what it evaluates to."""

    text: str
    ty: IntType
    run: Value


@dataclass
class Generated:
    """One function: its text, its parameters and what running it does."""

    text: str
    parameters: tuple[tuple[str, IntType], ...]
    run: Action
    launches: dict[int, tuple[IntType, ...]]


def usual(a: IntType, b: IntType) -> IntType:
    a, b = (I32 if t.width < 32 else t for t in (a, b))
    if a.width != b.width:
        return a if a.width > b.width else b
    return a if not a.signed else b


def arithmetic(op: str, a: int, b: int, ty: IntType) -> int:
    name = {
        "+": "add",
        "-": "sub",
        "*": "mul",
        "/": "div",
        "%": "rem",
        "<<": "shl",
        ">>": "shr",
        "&": "and",
        "|": "or",
        "^": "xor",
    }[op]
    if ty.signed:
        if op in ("+", "-", "*") and not ty.low <= {"+": a + b, "-": a - b, "*": a * b}[op] <= ty.high:
            raise UndefinedBehaviour
        if op == "<<" and (a < 0 or not a << max(0, min(b, 64)) <= ty.high):
            raise UndefinedBehaviour
        if op in ("/", "%") and a == ty.low and b == -1:
            raise UndefinedBehaviour
    value = binary_value(name, a, b, ty)
    if value is None:
        raise UndefinedBehaviour
    return value


class Generator:
    """Writes one function. Variables: ints of several types, a struct, an array, references and pointers to ints."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng = rng
        self.number = number
        self.names = 0
        self.sites = number * 100
        self.launches: dict[int, tuple[IntType, ...]] = {}
        self.scopes: list[dict[str, tuple[str, IntType]]] = [{}]
        """Name in the text -> (memory cell, type); references share the cell."""
        self.pointers: list[tuple[str, str]] = []
        """(pointer, cell it points to), while in scope."""
        self.loops = 0
        self.switches = 0

    # --- names

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def visible(self, *types: IntType) -> list[tuple[str, str, IntType]]:
        found: dict[str, tuple[str, IntType]] = {}
        for scope in self.scopes:
            found.update(scope)
        return [(n, c, t) for n, (c, t) in found.items() if not types or t in types]

    # --- expressions

    def constant(self) -> E:
        value = self.rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100))
        return E(str(value), I32, lambda _m: value)

    def leaf(self) -> E:
        names = self.visible()
        if names and self.rng.random() < 0.75:
            name, cell, ty = self.rng.choice(names)
            return E(name, ty, lambda m: m.memory[cell])
        return self.constant()

    def expression(self, depth: int = 2) -> E:
        roll = self.rng.random()
        if depth == 0 or roll < 0.3:
            return self.leaf()
        if roll < 0.75:
            return self.binary(depth)
        if roll < 0.85:
            ty = self.rng.choice((I32, U32, I64, I16, U8))
            inner = self.expression(depth - 1)
            return E(f"({NAMES[ty]})({inner.text})", ty, lambda m: ty.wrap(inner.run(m)))
        if roll < 0.92:
            c, a, b = self.condition(1), self.expression(depth - 1), self.expression(depth - 1)
            ty = usual(a.ty, b.ty)
            return E(f"({c.text} ? {a.text} : {b.text})", ty, lambda m: ty.wrap((a if c.run(m) else b).run(m)))
        if roll < 0.96:
            inner = self.as_int(self.expression(depth - 1))
            return E(f"twice({inner.text})", I32, lambda m: arithmetic("*", inner.run(m), 2, I32))
        return E("shared_value", I32, lambda m: m.memory["shared_value"])

    def as_int(self, e: E) -> E:
        return e if e.ty == I32 else E(f"(int)({e.text})", I32, lambda m: I32.wrap(e.run(m)))

    def binary(self, depth: int) -> E:
        op = self.rng.choice("+-*/%&|^+-*") if self.rng.random() < 0.9 else self.rng.choice(("<<", ">>"))
        a = self.expression(depth - 1)
        b = self.expression(depth - 1) if op not in ("/", "%", "<<", ">>") else self.constant()
        if op in ("<<", ">>"):
            ty = I32 if a.ty.width < 32 else a.ty
            n = self.rng.randint(0, 7)
            return E(f"({a.text} {op} {n})", ty, lambda m: arithmetic(op, ty.wrap(a.run(m)), n, ty))
        ty = usual(a.ty, b.ty)
        return E(f"({a.text} {op} {b.text})", ty, lambda m: arithmetic(op, ty.wrap(a.run(m)), ty.wrap(b.run(m)), ty))

    def condition(self, depth: int = 2) -> E:
        roll = self.rng.random()
        if depth > 0 and roll < 0.25:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            if self.rng.random() < 0.5:
                return E(f"({a.text} && {b.text})", BOOL, lambda m: int(bool(a.run(m)) and bool(b.run(m))))
            return E(f"({a.text} || {b.text})", BOOL, lambda m: int(bool(a.run(m)) or bool(b.run(m))))
        if roll < 0.32:
            inner = self.condition(depth - 1) if depth else self.leaf()
            return E(
                f"!{inner.text}" if inner.text.startswith("(") else f"!({inner.text})",
                BOOL,
                lambda m: int(not inner.run(m)),
            )
        if roll < 0.38:
            x = self.as_int(self.leaf())
            low, high = sorted((self.rng.randint(-10, 50), self.rng.randint(-10, 500)))
            return E(f"inside({x.text}, {low}, {high})", BOOL, lambda m: int(low <= x.run(m) < high))
        op = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        a, b = self.expression(1), self.leaf()
        ty = usual(a.ty, b.ty)

        def run(m: Machine) -> int:
            x, y = ty.wrap(a.run(m)), ty.wrap(b.run(m))
            return int({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op])

        return E(f"({a.text} {op} {b.text})", BOOL, run)

    # --- statements

    def block(self, depth: int, count: int) -> tuple[str, Action]:
        self.scopes.append({})
        pointers = len(self.pointers)
        parts = [self.statement(depth) for _ in range(count)]
        self.scopes.pop()
        del self.pointers[pointers:]

        def run(m: Machine) -> None:
            for _, action in parts:
                m.step()
                action(m)

        return "{\n" + "\n".join(t for t, _ in parts) + "\n}", run

    def statement(self, depth: int) -> tuple[str, Action]:
        choices: list[tuple[float, Callable[[int], tuple[str, Action]]]] = [
            (2, self.declaration), (3, self.assignment), (1, self.launch), (0.7, self.check), (1.2, self.reference),
            (1.5, self.pointer), (1.5, self.call), (0.4, self.early_exit), (0.7, self.closure), (0.5, self.swap),
            (4, self.checked_launch),
        ]  # fmt: skip
        if depth > 0:
            choices += [
                (2.5, self.branch),
                (2, self.counted),
                (1, self.looped),
                (0.7, self.switch),
                (0.7, self.once),
                (1.5, self.left_loop),
            ]
        if self.loops or self.switches:
            choices += [(0.7, self.leave)]
        total = sum(w for w, _ in choices)
        roll = self.rng.random() * total
        for weight, rule in choices:
            roll -= weight
            if roll <= 0:
                return rule(depth)
        return self.assignment(depth)

    def checked_launch(self, depth: int) -> tuple[str, Action]:
        """Something is tested, something happens, something is launched: all about one variable."""
        names = [*self.visible(), ("shared_value", "shared_value", I32)]
        text, cell, ty = self.rng.choice(names)
        subject = E(text, ty, lambda m: m.memory[cell])
        test = self.comparison(subject)
        guarded = self.rng.random() < 0.4
        pointers = len(self.pointers)
        if guarded:
            self.scopes.append({})
        between = [self.statement(max(0, depth - 1)) for _ in range(self.rng.randint(0, 2))]
        launch = self.launch_of([subject, self.leaf(), self.leaf()])
        if guarded:
            self.scopes.pop()
            del self.pointers[pointers:]
        word = self.rng.choice(("return;", "throw 1;", "return;"))
        if self.rng.random() < 0.25 and self.loops:
            word = "continue;"
        inner = "\n".join(t for t, _ in between)

        def run(m: Machine) -> None:
            holds = bool(test.run(m))
            if not holds and not guarded:
                raise _Continue if word == "continue;" else _Return
            if holds or not guarded:
                for _, action in between:
                    m.step()
                    action(m)
                launch[1](m)

        if guarded:
            return f"if ({test.text}) {{\n{inner}\n{launch[0]}\n}}", run
        return f"if (!{test.text}) {word}\n{inner}\n{launch[0]}", run

    def comparison(self, subject: E) -> E:
        op = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        other = self.leaf() if self.rng.random() < 0.4 else self.constant()
        ty = usual(subject.ty, other.ty)

        def run(m: Machine) -> int:
            x, y = ty.wrap(subject.run(m)), ty.wrap(other.run(m))
            return int({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op])

        return E(f"({subject.text} {op} {other.text})", BOOL, run)

    def declaration(self, _depth: int) -> tuple[str, Action]:
        ty = self.rng.choice((I32, I32, I32, U32, I64, I16, U8))
        name = self.fresh("v")
        value = self.expression()
        if self.rng.random() < 0.12:
            other = self.expression(1)
            self.scopes[-1][f"{name}.a"] = (f"{name}.a", I32)
            self.scopes[-1][f"{name}.b"] = (f"{name}.b", U32)

            def fill(m: Machine) -> None:
                m.memory[f"{name}.a"], m.memory[f"{name}.b"] = I32.wrap(value.run(m)), U32.wrap(other.run(m))

            return f"Pair {name} = {{(int)({value.text}), (unsigned)({other.text})}};", fill
        if self.rng.random() < 0.08:
            value = E("input()", I32, lambda m: m.arbitrary())
        self.scopes[-1][name] = (name, ty)

        def run(m: Machine) -> None:
            m.memory[name] = ty.wrap(value.run(m))

        return f"{NAMES[ty]} {name} = {value.text};", run

    def target(self) -> tuple[str, str, IntType] | None:
        names = self.visible()
        for pointer, cell in self.pointers:
            names.append((f"(*{pointer})", cell, I32))
        names.append(("shared_value", "shared_value", I32))
        return self.rng.choice(names)

    def assignment(self, depth: int) -> tuple[str, Action]:
        chosen = self.target()
        assert chosen is not None
        text, cell, ty = chosen
        roll = self.rng.random()
        if roll < 0.25:
            op = self.rng.choice(("++", "--"))

            def step(m: Machine) -> None:
                wide = I32 if ty.width < 32 else ty
                m.memory[cell] = ty.wrap(arithmetic("+" if op == "++" else "-", m.memory[cell], 1, wide))

            return f"{text}{op};", step
        if roll < 0.55:
            op = self.rng.choice("+-*/%&|^")
            value = self.expression(1) if op not in "/%" else self.constant()
            wide = usual(ty, value.ty)

            def update(m: Machine) -> None:
                operand = wide.wrap(value.run(m))
                m.memory[cell] = ty.wrap(arithmetic(op, wide.wrap(m.memory[cell]), operand, wide))

            return f"{text} {op}= {value.text};", update
        value = self.expression() if roll < 0.93 else E("input()", I32, lambda m: m.arbitrary())

        def run(m: Machine) -> None:
            m.memory[cell] = ty.wrap(value.run(m))

        return f"{text} = {value.text};", run

    def launch(self, _depth: int) -> tuple[str, Action]:
        return self.launch_of([self.expression(1) if self.rng.random() < 0.4 else self.leaf() for _ in range(3)])

    def launch_of(self, arguments: list[E]) -> tuple[str, Action]:
        self.sites += 1
        site = self.sites
        types = tuple(self.rng.choice((I32, I32, U32, I64)) for _ in range(2))
        self.launches[site] = types

        def run(m: Machine) -> None:
            grid = U32.wrap(arguments[2].run(m))
            values = tuple(t.wrap(a.run(m)) for t, a in zip(types, arguments, strict=False))
            m.launched.append((site, (*values, grid)))

        a, b, g = (x.text for x in arguments)
        return f"k{site}<<<(unsigned)({g}), 32>>>({a}, {b});", run

    def check(self, _depth: int) -> tuple[str, Action]:
        condition = self.condition()
        kind = self.rng.choice(
            ("assert({});", "if (!({})) return;", "if ({}) {{}} else return;", "if (!({})) throw 1;")
        )

        def run(m: Machine) -> None:
            if not condition.run(m):
                raise _Return

        return kind.format(condition.text), run

    def reference(self, _depth: int) -> tuple[str, Action]:
        candidates = self.visible(I32)
        if not candidates:
            return self.declaration(0)
        text, cell, ty = self.rng.choice(candidates)
        name = self.fresh("r")
        self.scopes[-1][name] = (cell, ty)
        return f"int &{name} = {text};", lambda _m: None

    def pointer(self, _depth: int) -> tuple[str, Action]:
        candidates = self.visible(I32)
        if not candidates:
            return self.declaration(0)
        text, cell, _ = self.rng.choice(candidates)
        name = self.fresh("p")
        self.pointers.append((name, cell))
        return f"int *{name} = &{text};", lambda _m: None

    def call(self, _depth: int) -> tuple[str, Action]:
        candidates = self.visible(I32)
        roll = self.rng.random()
        if not candidates or roll < 0.25:

            def mutate(m: Machine) -> None:
                m.memory["shared_value"] = m.arbitrary()

            return "mutate();", mutate
        text, cell, _ = self.rng.choice(candidates)
        if roll < 0.55:
            value = self.as_int(self.expression(1))

            def put(m: Machine) -> None:
                m.memory[cell] = value.run(m)

            return f"put({text}, {value.text});", put

        def touch(m: Machine) -> None:
            m.memory[cell] = m.arbitrary()
            m.memory["shared_value"] = m.arbitrary()

        return (f"touch(&{text});" if roll < 0.8 else f"touch_reference({text});"), touch

    def swap(self, _depth: int) -> tuple[str, Action]:
        candidates = self.visible(I32)
        if len(candidates) < 2:
            return self.declaration(0)
        (a, ca, _), (b, cb, _) = self.rng.sample(candidates, 2)

        def run(m: Machine) -> None:
            m.memory[ca], m.memory[cb] = m.memory[cb], m.memory[ca]

        return f"std::swap({a}, {b});", run

    def closure(self, depth: int) -> tuple[str, Action]:
        name = self.fresh("f")
        loops, switches = self.loops, self.switches
        self.loops = self.switches = 0
        text, body = self.block(min(depth, 1), self.rng.randint(1, 2))
        self.loops, self.switches = loops, switches
        later, action = self.assignment(0)

        def call(m: Machine) -> None:
            try:
                body(m)
            except _Return:
                if "throw" in text or "assert" in text:
                    raise UndefinedBehaviour from None

        def run(m: Machine) -> None:
            action(m)
            call(m)
            if twice:
                call(m)

        twice = self.rng.random() < 0.4
        calls = f"{name}(); {name}();" if twice else f"{name}();"
        return f"auto {name} = [&] {text};\n{later}\n{calls}", run

    def early_exit(self, _depth: int) -> tuple[str, Action]:
        condition = self.condition(1)
        chosen = self.assignment(0)

        def run(m: Machine) -> None:
            if condition.run(m):
                chosen[1](m)
                raise _Return

        return f"if ({condition.text}) {{ {chosen[0]} return; }}", run

    def leave(self, _depth: int) -> tuple[str, Action]:
        condition = self.condition(1)
        word = "continue" if self.loops and self.rng.random() < 0.5 else "break"
        signal: type[Exception] = _Continue if word == "continue" else _Break

        def run(m: Machine) -> None:
            if condition.run(m):
                raise signal

        return f"if ({condition.text}) {word};", run

    def branch(self, depth: int) -> tuple[str, Action]:
        condition = self.condition()
        then = self.block(depth - 1, self.rng.randint(1, 3))
        orelse = self.block(depth - 1, self.rng.randint(1, 2)) if self.rng.random() < 0.5 else None

        def run(m: Machine) -> None:
            if condition.run(m):
                then[1](m)
            elif orelse is not None:
                orelse[1](m)

        return f"if ({condition.text}) {then[0]}" + (f" else {orelse[0]}" if orelse is not None else ""), run

    def counted(self, depth: int) -> tuple[str, Action]:
        ty = self.rng.choice((I32, I32, U32, I64))
        name = self.fresh("i")
        first = E(str(k := self.rng.choice((0, 0, 1, 1, 2, 5, 64))), I32, lambda _m: k)
        limit = self.leaf() if self.rng.random() < 0.6 else self.constant()
        op, amount = self.rng.choice(
            (("+", 1), ("+", 1), ("+", 3), ("+", 4), ("*", 2), ("*", 3), ("-", 1), ("/", 2), (">>", 1))
        )
        down = op in "-/>>"
        sign = self.rng.choice((">", ">=", "!=")) if down else self.rng.choice(("<", "<=", "!=", "<"))
        self.scopes.append({name: (name, ty)})
        self.loops += 1
        body = self.block(depth - 1, self.rng.randint(1, 3))
        self.loops -= 1
        self.scopes.pop()
        wide = usual(ty, limit.ty)
        stepping = {("+", 1): f"{name}++", ("-", 1): f"--{name}"}.get((op, amount), f"{name} {op}= {amount}")

        def test(m: Machine) -> bool:
            x, y = wide.wrap(m.memory[name]), wide.wrap(limit.run(m))
            return {"<": x < y, "<=": x <= y, "!=": x != y, ">": x > y, ">=": x >= y}[sign]

        def run(m: Machine) -> None:
            m.memory[name] = ty.wrap(first.run(m))
            while test(m):
                m.step()
                try:
                    body[1](m)
                except _Break:
                    break
                except _Continue:
                    pass
                m.memory[name] = ty.wrap(arithmetic(op, m.memory[name], amount, ty))

        header = f"for ({NAMES[ty]} {name} = {first.text}; {name} {sign} {limit.text}; {stepping})"
        return f"{header} {body[0]}", run

    def looped(self, depth: int) -> tuple[str, Action]:
        condition = self.condition(1)
        self.loops += 1
        body = self.block(depth - 1, self.rng.randint(1, 3))
        self.loops -= 1
        tested_last = self.rng.random() < 0.4

        def run(m: Machine) -> None:
            first = tested_last
            while first or condition.run(m):
                first = False
                m.step()
                try:
                    body[1](m)
                except _Break:
                    break
                except _Continue:
                    pass

        return (
            f"do {body[0]} while ({condition.text});" if tested_last else f"while ({condition.text}) {body[0]}"
        ), run

    def left_loop(self, depth: int) -> tuple[str, Action]:
        """A loop over a variable from outside, which may be left early, and a launch of what it ends with."""
        ty = self.rng.choice((I32, I32, U32))
        name = self.fresh("w")
        first = self.rng.randint(0, 6)
        self.scopes[-1][name] = (name, ty)
        limit, test_text, amount = self.leaf(), self.rng.choice(("<", "<=", "!=")), self.rng.choice((1, 2, 3))
        wide = usual(ty, limit.ty)
        self.loops += 1
        body = self.block(depth - 1, self.rng.randint(1, 2))
        exit_text, leave = self.leave(0)
        self.loops -= 1
        after = self.launch_of([E(name, ty, lambda m: m.memory[name]), limit, self.leaf()])

        def test(m: Machine) -> bool:
            x, y = wide.wrap(m.memory[name]), wide.wrap(limit.run(m))
            return {"<": x < y, "<=": x <= y, "!=": x != y}[test_text]

        def run(m: Machine) -> None:
            m.memory[name] = first
            while test(m):
                m.step()
                try:
                    leave(m)
                    body[1](m)
                except _Break:
                    break
                except _Continue:
                    continue
                m.memory[name] = ty.wrap(arithmetic("+", m.memory[name], amount, ty))
            after[1](m)

        text = f"{NAMES[ty]} {name} = {first};\nwhile ({name} {test_text} {limit.text}) {{\n{exit_text}\n{body[0]}\n"
        return f"{text}{name} += {amount};\n}}\n{after[0]}", run

    def once(self, depth: int) -> tuple[str, Action]:
        self.loops += 1
        body = self.block(depth - 1, self.rng.randint(1, 3))
        self.loops -= 1

        def run(m: Machine) -> None:
            with contextlib.suppress(_Break, _Continue):
                body[1](m)

        return f"do {body[0]} while (0);", run

    def switch(self, depth: int) -> tuple[str, Action]:
        subject = self.as_int(self.expression(1))
        values = self.rng.sample((0, 1, 2, 3, 4, 8, 64, 100), self.rng.randint(1, 3))
        labels: list[int | None] = [*values, *([None] if self.rng.random() < 0.6 else [])]
        self.rng.shuffle(labels)
        self.switches += 1
        parts = [(label, self.block(depth - 1, self.rng.randint(1, 2)), self.rng.random() < 0.7) for label in labels]
        self.switches -= 1

        def run(m: Machine) -> None:
            value = subject.run(m)
            at = labels.index(value) if value in labels else labels.index(None) if None in labels else len(labels)
            try:
                for _, part, leaves in parts[at:]:
                    part[1](m)
                    if leaves:
                        break
            except _Break:
                pass

        text = "\n".join(
            f"{'default' if label is None else f'case {label}'}: {part[0]}{' break;' if leaves else ''}"
            for label, part, leaves in parts
        )
        return f"switch ({subject.text}) {{\n{text}\n}}", run


def generate(rng: random.Random, number: int) -> Generated:
    """Function ``run<number>``, launching kernels ``k<number>01``, ``k<number>02`` …"""
    made = Generator(rng, number)
    parameters = tuple((f"n{i}", rng.choice((I32, I32, U32, I64))) for i in range(rng.randint(1, 3)))
    for name, ty in parameters:
        made.scopes[0][name] = (name, ty)
    text, body = made.block(3, rng.randint(4, 9))

    def run(m: Machine) -> None:
        for name, ty in parameters:
            m.memory[name] = ty.wrap(m.arbitrary())
        m.memory["shared_value"] = m.arbitrary()
        with contextlib.suppress(_Return, _Break, _Continue):
            body(m)

    kernels = "".join(
        f"__global__ void k{site}({NAMES[a]} a, {NAMES[b]} b) {{}}\n" for site, (a, b) in made.launches.items()
    )
    declared = ", ".join(f"{NAMES[ty]} {name}" for name, ty in parameters)
    return Generated(f"{kernels}void run{number}({declared}) {text}\n", parameters, run, made.launches)
