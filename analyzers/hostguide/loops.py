"""What a loop may write, and what its counters obey.

Takes the tree of a loop. A variable that the loop may write holds an arbitrary value at its head; for integers that are
only ever stepped in one direction the bound, the stride and being a power of two come back as facts (C++ signed
arithmetic does not overflow; for unsigned counters the facts are given only where the loop's own test excludes
wrapping).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from analyzers.frontend.cindex import Cursor
from analyzers.frontend.parse import is_bundled
from analyzers.hostguide.declared import FUNCTIONS
from analyzers.hostguide.hosttypes import VOID, ArrayOf, HostType, PointerTo, RecordType, ReferenceTo, usual
from analyzers.hostguide.specials import NOTHING, Run
from analyzers.hostguide.tree import Declaration, Node, identity
from analyzers.ir import expr as ex
from analyzers.ir.expr import Expr, FloatType, IntType

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Writes:
    """What executing a piece of code may change."""

    places: dict[tuple[Declaration, Path], HostType] = field(default_factory=dict[tuple[Declaration, Path], "HostType"])
    steps: dict[Declaration, list[Node] | None] = field(default_factory=dict[Declaration, "list[Node] | None"])
    """The writes to an integer variable; None when one of them is no simple step."""
    outside: bool = False
    """Code is called, or memory is written, that may belong to anybody."""
    calls_closures: bool = False
    launches: bool = False
    """A kernel is launched, which may write every device variable."""
    behind: set[HostType] = field(default_factory=set["HostType"])
    """Types of the memory that is handed to kernels and library functions by pointer."""
    lost: set[str] = field(default_factory=set[str])
    """Names in code that clang could not read."""
    leaves_early: bool = False
    """Something may leave the loop past its test."""
    beyond: bool = False
    """Something outside may change by other ways than calls of known functions, or writes to the object that the code
    belongs to."""
    own: bool = False
    """That object may change."""
    called: dict[int, Cursor] = field(default_factory=dict[int, "Cursor"])
    """The functions that are called by name, library functions left out."""
    ran: Run = NOTHING
    """What runs without being named."""
    applied: Run = NOTHING
    """What library functions may run for the objects and functions that they are given."""


_FREEING = frozenset({"free", "cudaFree", "cudaFreeAsync", "cudaFreeHost"})
"""Library functions that write nothing anybody may read."""


class CallEffects(Protocol):
    """How calls are told apart: see ``calls.Caller``."""

    def bundled(self, target: Cursor) -> bool: ...

    def parameter(self, target: Cursor | None, index: int) -> HostType | None: ...

    def keeps_object(self, target: Cursor) -> bool: ...

    def lambda_body(self, cursor: Cursor) -> Node | None: ...

    def words(self, cursor: Cursor) -> frozenset[str]: ...

    def implied(self, node: Node) -> tuple[Run, Run]: ...

    def runs_held_code(self, target: Cursor) -> bool: ...

    def holds_references(self, node: Node) -> bool: ...


def writes_of(calls: CallEffects, *roots: Node | None) -> Writes:
    found = Writes()
    stack = [root for root in roots if root is not None]
    while stack:
        top = stack.pop()
        _note(top, found, calls)
        if top.op == "lambda":
            body = calls.lambda_body(top.cursor)
            if body is not None:
                stack.append(body)
            else:
                found.lost |= calls.words(top.cursor)
        stack.extend(a for a in top.args if a is not None)
    return found


def _note(node: Node, out: Writes, calls: CallEffects) -> None:
    op = node.op
    ran, applied = calls.implied(node)
    if ran or applied:
        out.ran, out.applied = out.ran | ran, out.applied | applied
    if op in ("assign", "compound", "step"):
        _written(node.arg(0), out, node)
    elif op == "addr" or (op == "cast" and isinstance(node.arg(0).ty, ArrayOf) and isinstance(node.ty, PointerTo)):
        _written(node.arg(0), out, None)
    elif op == "declare" and isinstance(node.value.ty, ReferenceTo) and not node.value.ty.const:
        if node.args[0] is not None:
            _written(node.arg(0), out, None)
    elif op == "each":
        if isinstance(node.arg(0).ty, RecordType) and not calls.bundled(node.arg(0).cursor.type.get_declaration()):
            out.outside = out.beyond = True
        if not (isinstance(node.arg(0).ty, ArrayOf) and isinstance(node.value.ty, (IntType, FloatType))):
            _written(node.arg(0), out, None)
    elif op == "lost":
        out.lost |= node.value.words
        out.outside = out.beyond = True
    elif op in ("call", "method", "construct"):
        _called(node, out, calls)
    elif op == "list" and calls.holds_references(node):
        for item in node.args:
            if item is not None and _names_place(item):
                _written(item, out, None)
    elif op == "launch":
        for argument in node.args[4:]:
            _handed(argument, out)
        out.launches = True
    elif op == "lambda":
        out.calls_closures = True
    elif op in ("goto", "label"):
        out.leaves_early = True


def _called(node: Node, out: Writes, calls: CallEffects) -> None:
    target: Cursor | None = node.value
    out.calls_closures = True
    if target is None or target.kind not in FUNCTIONS or calls.runs_held_code(target):
        out.outside = out.beyond = True
    elif not calls.bundled(target):
        out.outside = True
        out.called[identity(target)] = target
    arguments = list(node.args)
    if node.op == "method":
        this = arguments.pop(0)
        if this is not None and target is not None and not calls.keeps_object(target):
            _written(this, out, None)
    elif node.op == "call":
        callee = arguments.pop(0)
        if callee is not None and (target is None or callee.op == "ref"):
            out.outside = out.beyond = True
        if callee is not None and callee.op == "binary" and callee.value == ".*":
            _written(callee.arg(0), out, None)
    for index, argument in enumerate(arguments):
        given = calls.parameter(target, index)
        freed = target is not None and target.spelling in _FREEING and calls.bundled(target)
        if not freed and (given is VOID or (isinstance(given, PointerTo) and not given.const)):
            _handed(argument, out)
        if argument is None or not _names_place(argument):
            continue
        ty = calls.parameter(target, index)
        if ty is None or (isinstance(ty, ReferenceTo) and not ty.const):
            _written(argument, out, None)


def _names_place(argument: Node) -> bool:
    if argument.op == "choose" or (argument.op == "binary" and argument.value == ","):
        return any(_names_place(a) for a in argument.args[1:] if a is not None)
    if argument.op == "cast":
        return argument.value is not None and _names_place(argument.arg(0))
    if argument.op == "call":
        return any(_names_place(a) for a in argument.args[1:] if a is not None)
    return argument.op in ("ref", "member", "index", "deref")


def _handed(argument: Node | None, out: Writes) -> None:
    """Code that is not looked into may write through an argument."""
    while argument is not None and argument.op == "cast":
        argument = argument.arg(0)
    if argument is not None and argument.op == "addr":
        return  # what has its address taken counts as written
    if argument is not None and isinstance(argument.ty, PointerTo) and not argument.ty.const:
        out.behind.add(argument.ty.target)


def _written(target: Node, out: Writes, step: Node | None) -> None:
    path: list[str | int] = []
    node = target
    while True:
        if node.op == "ref":
            break
        if node.op == "choose":
            _written(node.arg(1), out, None)
            _written(node.arg(2), out, None)
            return
        if node.op == "binary" and node.value == ",":
            node = node.arg(1)
            continue
        if node.op == "cast" or node.op in ("assign", "compound", "step"):
            node = node.arg(0)
            continue
        if node.op == "binary" and node.value == ".*":
            path.clear()
            node = node.arg(0)
            continue
        if node.op == "call" or (node.op == "method" and not _is_library(node.value)):
            # A reference that it returns may be one of its arguments.
            for argument in node.args[0 if node.op == "method" else 1 :]:
                if argument is not None and _names_place(argument):
                    _written(argument, out, None)
            return
        if node.op == "member" and not isinstance(node.arg(0).ty, PointerTo) and node.arg(0).op != "this":
            path.append(node.value)
            node = node.arg(0)
            continue
        if node.op == "index" and isinstance(node.arg(0).ty, ArrayOf):
            path.clear()
            node = node.arg(0)
            continue
        if node.op not in ("call", "method", "construct", "list", "launch", "const", "string"):
            out.outside = True
            if _is_own(node):
                out.own = True
            else:
                out.beyond = True
        return
    declared: Declaration = node.value
    key = (declared, tuple(reversed(path)))
    out.places[key] = target.ty if path else declared.ty
    known = out.steps.setdefault(declared, [])
    if known is not None:
        if step is not None and not path and node is target:
            known.append(step)
        else:
            out.steps[declared] = None


def _is_library(target: Cursor | None) -> bool:
    file = target.location.file if target is not None else None
    return file is not None and is_bundled(file.name)


def _is_own(place: Node) -> bool:
    """Whether a place is the object that a method is called on, or one of its members."""
    if place.op in ("member", "deref"):
        return place.arg(0).op == "this"
    return place.op == "this"


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of update by a constant: ``add`` (which may be negative), ``mul``, ``div``."""

    kind: str
    amount: int


def step_of(node: Node, declared: Declaration, value_of: Callable[[Node], int | None]) -> Step | None:
    """What an assignment does to its variable, None when it is no simple step computed in the variable's own type.
    ``value_of`` knows the numbers that are the same in every iteration."""
    ty = declared.ty
    if not isinstance(ty, IntType):
        return None
    if node.op == "step":
        return Step("add", -1 if "--" in node.value else 1)
    operator, operand = None, None
    if node.op == "compound":
        operator, operand = node.value, node.arg(1)
    elif node.op == "assign":
        value = node.arg(1)
        if value.op == "binary" and value.ty == ty and value.arg(0).op == "ref" and value.arg(0).value is declared:
            operator, operand = value.value, value.arg(1)
    if operator is None or operand is None or not isinstance(operand.ty, IntType):
        return None
    if operator not in ("<<", ">>") and usual(ty, operand.ty) != ty:
        return None
    amount = _constant(operand)
    if amount is None:
        amount = value_of(operand)
    if amount is None:
        return None
    if operator in ("+", "-"):
        return Step("add", amount if operator == "+" else -amount)
    if operator in ("<<", ">>"):
        return Step("mul" if operator == "<<" else "div", 1 << amount) if 0 <= amount < 31 else None
    if operator == "*" and amount >= 1:
        return Step("mul", amount)
    return Step("div", amount) if operator == "/" and amount >= 1 else None


def _constant(node: Node) -> int | None:
    if node.op == "const" and isinstance(node.ty, IntType):
        return node.ty.wrap(node.value)
    if node.op == "cast" and isinstance(node.ty, IntType) and node.ty.width > 1:
        inner = _constant(node.arg(0))
        return node.ty.wrap(inner) if inner is not None else None
    return None


def counter_facts(
    first: Expr,
    now: Expr,
    steps: list[Step],
    below: Expr | None,
    single: bool,
    above: bool,
    holds: Callable[[Expr], bool],
) -> list[Expr]:
    """Facts about a counter at the head of its loop.

    ``first``: its value on entry; ``now``: at the head; ``below``: the loop goes on only while ``now < below``, a value
    the loop does not change; ``above``: it goes on only while ``now > 0``; ``single``: each test is followed by at most
    one step; ``holds``: whether a condition is known before the loop.
    """
    ty = now.ty
    if not isinstance(ty, IntType) or ty.width < 32 or not steps:
        return []
    kinds = {s.kind for s in steps}
    if kinds == {"add"}:
        return _added(first, now, [s.amount for s in steps], ty, below if single else None, single and above)
    if kinds == {"mul"}:
        return _multiplied(first, now, [s.amount for s in steps], ty, below if single else None, holds)
    if kinds == {"div"}:
        return _divided(first, now, [s.amount for s in steps], ty, holds)
    return []


def _added(first: Expr, now: Expr, amounts: list[int], ty: IntType, below: Expr | None, above: bool) -> list[Expr]:
    out: list[Expr] = []
    if all(a >= 0 for a in amounts):
        if ty.signed:
            out.append(ex.compare("le", first, now))
        elif below is not None:
            out.append(_unless_huge(below, ty.high - max(amounts) + 1, ex.compare("le", first, now)))
    elif all(a <= 0 for a in amounts) and (ty.signed or (above and amounts == [-1])):
        out.append(ex.compare("le", now, first))
    stride = math.gcd(*amounts)
    if stride > 1 and first.op == "const" and first.value >= 0:
        exact = ty.signed and all(a >= 0 for a in amounts)
        if exact or (not ty.signed and stride & (stride - 1) == 0):
            moved = ex.sub(now, first)
            out.append(ex.compare("eq", ex.binary("rem", moved, ex.const(stride, ty)), ex.const(0, ty)))
    return out


def _multiplied(
    first: Expr,
    now: Expr,
    amounts: list[int],
    ty: IntType,
    below: Expr | None,
    holds: Callable[[Expr], bool],
) -> list[Expr]:
    out: list[Expr] = []
    if all(_is_power(n) for n in amounts) and _power_or_zero(first, holds):
        out.append(_unless_negative(first, now, _power_of_two(now, ty), holds))
    if first.op != "const" or first.value < 1:
        return out
    if ty.signed:
        out.append(ex.compare("le", first, now))
    elif below is not None:
        out.append(_unless_huge(below, ty.high // max(amounts) + 1, ex.compare("le", first, now)))
    return out


def _divided(first: Expr, now: Expr, amounts: list[int], ty: IntType, holds: Callable[[Expr], bool]) -> list[Expr]:
    between = ex.land(ex.compare("le", ex.const(0, ty), now), ex.compare("le", now, first))
    out = [between if not ty.signed else ex.lor(ex.compare("lt", first, ex.const(0, ty)), between)]
    if all(_is_power(n) for n in amounts) and _power_or_zero(first, holds):
        out.append(_unless_negative(first, now, _power_of_two(now, ty), holds))
    return out


def only_twos(first: Expr, now: Expr) -> Expr:
    """Where nothing but factors of two were taken out of a number, and one is left, it was a power of two."""
    assert isinstance(now.ty, IntType)
    return ex.lor(ex.compare("ne", now, ex.const(1, now.ty)), _power_of_two(first, now.ty))


def _unless_huge(bound: Expr, limit: int, fact: Expr) -> Expr:
    ty = bound.ty
    assert isinstance(ty, IntType)
    return ex.lor(ex.compare("lt", ex.const(limit, ty), bound), fact)


def _unless_negative(first: Expr, now: Expr, fact: Expr, holds: Callable[[Expr], bool]) -> Expr:
    """The lowest number of a signed type has one bit too, and halves of it have more. What is made of a negative number
    is negative, or zero."""
    assert isinstance(first.ty, IntType)
    halved = first
    while halved.op in ("div", "shr") and halved.args[1].op == "const" and halved.args[1].value > 0:
        halved = halved.args[0]
    zero, one = ex.const(0, first.ty), ex.const(1, first.ty)
    least = (ex.compare("lt", zero, halved), ex.compare("le", zero, halved), ex.compare("le", one, halved))
    if not first.ty.signed or any(holds(c) for c in least):
        return fact
    return ex.lor(ex.compare("lt", now, zero), fact)


def _power_of_two(now: Expr, ty: IntType) -> Expr:
    """A power of two, or zero."""
    return ex.compare("eq", ex.binary("and", now, ex.sub(now, ex.const(1, ty))), ex.const(0, ty))


def _power_or_zero(e: Expr, holds: Callable[[Expr], bool]) -> bool:
    """Whether an expression is known to be a power of two, zero, or negative."""
    if not isinstance(e.ty, IntType):
        return False
    if e.op == "const":
        return e.value == 0 or _is_power(e.value)
    power = _power_of_two(e, e.ty)
    if holds(power) or (e.ty.signed and holds(ex.lor(ex.compare("lt", e, ex.const(0, e.ty)), power))):
        return True
    if e.op == "shl" and e.args[0].op == "const":
        return e.args[0].value >= 0 and _power_or_zero(e.args[0], holds)
    if e.op in ("div", "shr", "mul", "shl"):
        by = e.args[1]
        moved = by.op == "const" and by.value >= 0 and (e.op in ("shl", "shr") or _is_power(by.value))
        return moved and (e.op in ("div", "shr") or not e.ty.signed) and _power_or_zero(e.args[0], holds)
    return False


def made_once(write: Node, *roots: Node | None) -> bool:
    """Whether a write stands in code that is gone through without going round in a loop."""
    stack = [root for root in roots if root is not None]
    while stack:
        top = stack.pop()
        if top is write:
            return True
        if top.op not in ("for", "while", "do", "each", "lambda"):
            stack += [a for a in top.args if a is not None]
    return False


def says_even(condition: Expr, number: Expr) -> bool:
    """The condition holds only of even numbers."""
    assert isinstance(number.ty, IntType)
    zero, one, two = (ex.const(n, number.ty) for n in range(3))
    lowest = (ex.binary("and", number, one), ex.binary("rem", number, two))
    told = {ex.compare("eq", bit, zero) for bit in lowest} | {ex.compare("ne", lowest[0], one)}
    return any(c in told for c in ex.conjuncts(condition))


def _is_power(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0
