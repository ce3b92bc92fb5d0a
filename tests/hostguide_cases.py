"""What the tests of the host guide share: text in, contexts out, and what a context allows decided by a solver.

``allows(context, n=3, gdim_x=2)`` asks whether the bindings and facts of a context can all hold with these kernel
values, in exact C arithmetic. So tests say which launches are possible and which are excluded, not how a fact is
written down.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import Any

import z3

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.ir import expr as ex
from analyzers.ir.context import LaunchContext
from analyzers.ir.expr import BDIM, GDIM, Expr, IntType, make, show

_z3: Any = z3
_parser = UnitParser(capacity=1)
_EITHER_WAY = frozenset({"eq", "ne", "add", "mul", "and", "or", "xor", "min", "max"})


def guide(
    text: str, path: str = "/case/host.cu", probes: Sequence[str] = (), defined: Collection[str] | None = None
) -> HostFacts:
    unit = _parser.parse(path, textwrap.dedent(text), CompileFlags(), probes=probes)
    return launch_contexts(unit, defined=defined)


def only(text: str) -> LaunchContext:
    """The one context of the one kernel."""
    facts = guide(text)
    assert not facts.skipped, facts.skipped
    ((context,),) = facts.contexts.values()
    return context


def by_name(facts: HostFacts) -> dict[str, tuple[LaunchContext, ...]]:
    """Contexts by the plain name of the kernel (``_Z3abcPfi`` is ``abc``)."""
    found: dict[str, tuple[LaunchContext, ...]] = {}
    for mangled, contexts in facts.contexts.items():
        digits = mangled[2:].lstrip("_N")
        length = digits[: len(digits) - len(digits.lstrip("0123456789"))]
        name = digits[len(length) : len(length) + int(length)]
        found[name] = (*found.get(name, ()), *contexts)
    return found


# --- expressions as text


def text_of(e: Expr) -> str:
    """``show`` with the operands of commutative operators in an order that does not depend on what ran before."""
    if not e.args:
        return show(e)
    parts = [text_of(x) for x in e.args]
    if e.op in _EITHER_WAY:
        parts = [t for _, t in sorted(zip((x.op == "const" for x in e.args), parts, strict=True))]
    marks = tuple(make("sym", x.ty, (), f"<{i}>") for i, x in enumerate(e.args))
    text = show(make(e.op, e.ty, marks, e.value))
    for i, part in enumerate(parts):
        text = text.replace(f"<{i}>", part, 1)
    return text


def bound(context: LaunchContext, name: str) -> str:
    """The value of a kernel symbol as text."""
    (value,) = (v for s, v in context.bindings if s.value == name)
    return text_of(value)


def dims(context: LaunchContext) -> tuple[str, ...]:
    return tuple(bound(context, str(s.value)) for s in (*GDIM, *BDIM))


def conditions(context: LaunchContext, kind: str | None = None) -> list[str]:
    """The facts as text."""
    return [text_of(c.condition) for c in context.constraints if kind is None or c.note.kind == kind]


# --- what a context allows


def allows(context: LaunchContext, **values: int) -> bool:
    """Whether the kernel can see these values: ``n`` is the parameter n, ``gdim_x`` a dimension, ``smem`` the bytes."""
    solver = _z3.SolverFor("QF_BV")
    solver.set("timeout", 20000)
    memo: dict[int, Any] = {}
    for constraint in context.constraints:
        solver.add(_boolean(constraint.condition, memo))
    bindings = {str(s.value): v for s, v in context.bindings}
    for name, value in values.items():
        symbol = "smem.dynamic" if name == "smem" else name.replace("_", ".") if "dim_" in name else f"param:{name}"
        target = bindings[symbol]
        solver.add(_vector(target, memo) == _vector(ex.const(value, _int(target)), memo))
    answer = solver.check()
    assert answer in (_z3.sat, _z3.unsat), answer
    return bool(answer == _z3.sat)


def _int(e: Expr) -> IntType:
    assert isinstance(e.ty, IntType)
    return e.ty


def _boolean(e: Expr, memo: dict[int, Any]) -> Any:
    return _vector(e, memo) == 1


def _vector(e: Expr, memo: dict[int, Any]) -> Any:
    """The expression as a bit vector of its width; booleans are one bit."""
    for node in ex.walk((e,)):
        if node.key not in memo:
            memo[node.key] = _translated(node, [memo[a.key] for a in node.args])
    return memo[e.key]


def _translated(e: Expr, args: list[Any]) -> Any:
    op, width = e.op, _int(e).width
    if op == "const":
        return _z3.BitVecVal(e.value, width)
    if op == "sym":
        return _z3.BitVec(f"{e.value}:{e.ty}", width)
    signed = _int(e.args[0]).signed
    a = args[0]
    b = args[1] if len(args) > 1 else None
    if op in ("eq", "ne", "lt", "le"):
        holds = {
            "eq": a == b,
            "ne": a != b,
            "lt": a < b if signed else _z3.ULT(a, b),
            "le": a <= b if signed else _z3.ULE(a, b),
        }[op]
        return _z3.If(holds, _z3.BitVecVal(1, 1), _z3.BitVecVal(0, 1))
    if op == "cast":
        have = _int(e.args[0]).width
        if width <= have:
            return _z3.Extract(width - 1, 0, a)
        return _z3.SignExt(width - have, a) if signed else _z3.ZeroExt(width - have, a)
    if op == "select":
        return _z3.If(a == 1, args[1], args[2])
    less = (a < b if signed else _z3.ULT(a, b)) if op in ("min", "max") else None
    rules: dict[str, Any] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "neg": lambda: -a, "not": lambda: ~a,
        "div": lambda: a / b if signed else _z3.UDiv(a, b), "rem": lambda: _z3.SRem(a, b) if signed else _z3.URem(a, b),
        "shl": lambda: a << b, "shr": lambda: a >> b if signed else _z3.LShR(a, b),
        "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b, "land": lambda: a & b, "lor": lambda: a | b,
        "lnot": lambda: ~a, "min": lambda: _z3.If(less, a, b), "max": lambda: _z3.If(less, b, a),
    }  # fmt: skip
    return rules[op]()
