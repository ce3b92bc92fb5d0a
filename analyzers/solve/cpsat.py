"""The CP-SAT rung: a search for a witness on cut-down domains, never a proof.

Takes a query that the other rungs left open and looks for values near zero that satisfy it, in a few stages of
growing domains. Undefined operations are simply excluded, wherever they occur: that loses witnesses, it invents none.
What it finds is evaluated like every witness.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import ModuleType
from typing import Any

from analyzers.ir.evaluate import is_atom, may_overflow_undefined
from analyzers.ir.expr import BOOL, Expr, IntType
from analyzers.ir.intervals import Interval, Intervals, clamp, interval
from analyzers.solve.check import atoms_of, roots_of, satisfies
from analyzers.solve.order import by_witness_rank
from analyzers.solve.query import Answer, Query, Satisfied, Undecided

RUNG = "cpsat"
LONG_RUNG = "cpsat-long"
"""The same with more patience."""
Stages = tuple[tuple[int, float], ...]
"""(how far a symbol may be from the end of its range that is nearest to zero, deterministic time of the solver)."""
SMALL: Stages = ((16, 0.02),)
"""Where there are small values at all, they are nearly always found in a hundredth of a second."""
MIDDLE: Stages = ((256, 0.02), (4096, 0.02))
LONG: Stages = ((256, 0.1), (1 << 16, 0.1))
_LARGEST = 1 << 61
"""Magnitudes the solver's own arithmetic is safe with; larger values are left out. It takes 64-bit numbers at all."""
_LARGEST_SHIFT = 60
"""Shifts by more make numbers beyond that."""
_TOO_LARGE = "numbers too large for CP-SAT"


class _Unsupported(Exception):
    """The model cannot say this; the text says what."""


def decide(query: Query, stages: Stages = LONG) -> Answer:
    """A witness, or a pass."""
    rung = LONG_RUNG if stages is LONG else RUNG
    text = "no values found on small domains"
    for reach, limit in stages:
        try:
            values = _Model(query, reach).solve(limit)
        except _Unsupported as reason:
            text = str(reason)
            continue
        if values is not None and satisfies(query, values):
            return Satisfied(values, rung)
    return Undecided("budget", text, rung)


def _coefficient(n: int) -> int:
    """A number that stands in a constraint."""
    if abs(n) >= _LARGEST:
        raise _Unsupported(_TOO_LARGE)
    return n


def _near_zero(known: Interval, reach: int) -> tuple[int, int]:
    if known.lo > 0:
        return known.lo, min(known.hi, known.lo + reach)
    if known.hi < 0:
        return max(known.lo, known.hi - reach), known.hi
    return max(known.lo, -reach), min(known.hi, reach)


@cache
def _solver() -> Any:
    """The solver's module, without pandas: its import takes several times as long as the solver's own, and all that
    needs it are methods for tables of variables."""
    if "pandas" in sys.modules:
        return importlib.import_module(_MODULE)
    stand_in: Any = ModuleType("pandas")
    stand_in.Index, stand_in.Series = type("Index", (), {}), type("Series", (), {})
    sys.modules["pandas"] = stand_in
    try:
        return importlib.import_module(_MODULE)
    except AttributeError:  # a version that asks for more of it
        pass
    finally:
        if sys.modules.get("pandas") is stand_in:
            del sys.modules["pandas"]
    return importlib.import_module(_MODULE)


_MODULE = "ortools.sat.python.cp_model"


@cache
def _model_class() -> Any:
    """The solver's class of models without the old names of its methods, each of which it would make anew in every
    model; that takes longer than most questions."""

    def nothing(model: object) -> None:
        del model

    return type("PlainModel", (_solver().CpModel,), {"_add_pre_pep8_methods": nothing})


class _Model:
    """One query on one choice of domains. The only place that sees the solver's untyped objects."""

    def __init__(self, query: Query, reach: int) -> None:
        self._cp: Any = _solver()
        self._model: Any = _model_class()()
        self._query = query
        full = Intervals(query.ranges, no_signed_overflow=query.no_signed_overflow)
        self._atoms = atoms_of(query)
        domains = {a: _near_zero(full.of(a), reach) for a in self._atoms}
        self._intervals = Intervals({**query.ranges, **domains}, no_signed_overflow=query.no_signed_overflow)
        self._terms: dict[int, Any] = {}
        self._names = 0
        for root in roots_of(query):
            self._require(root)
        self._consistent()

    def solve(self, limit: float) -> dict[Expr, int] | None:
        """Values of the atoms, small ones first choice; None when there are none or time is up."""
        for a in self._atoms:
            self._term(a)
        solver: Any = self._cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = limit
        # Probing looks at no limit: of a product of large numbers it raises a bound by one at a time, for minutes.
        solver.parameters.cp_model_probing_level = 0
        order = [self._terms[a.key] for a in by_witness_rank(self._atoms) if not isinstance(self._terms[a.key], int)]
        if order:
            self._model.add_decision_strategy(order, self._cp.CHOOSE_FIRST, self._cp.SELECT_MIN_VALUE)
        status = solver.solve(self._model)
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return None
        return {a: int(solver.value(self._terms[a.key])) for a in self._atoms}

    # --- variables

    def _variable(self, known: Interval) -> Any:
        if known.empty:
            raise _Unsupported("an operation is never defined on small domains")
        near = clamp(known, -_LARGEST, _LARGEST)
        if near.empty:
            raise _Unsupported(_TOO_LARGE)
        self._names += 1
        return self._model.new_int_var(near.lo, near.hi, f"v{self._names}")

    def _named(self, expression: Any, known: Interval) -> Any:
        """A variable equal to a linear expression."""
        v = self._variable(known)
        self._model.add(v == expression)
        return v

    # --- conditions

    def _require(self, e: Expr) -> None:
        """State that a condition holds."""
        if e.op == "land":
            for a in e.args:
                self._require(a)
        elif e.op == "lor":
            self._model.add_bool_or([self._literal(a) for a in _disjuncts(e)])
        elif e.op in ("eq", "ne", "lt", "le") and isinstance(e.args[0].ty, IntType):
            self._model.add(self._comparison(e.op, *(self._number(a) for a in e.args)))
        else:
            self._model.add(self._term(e) == 1)

    def _comparison(self, op: str, x: Any, y: Any) -> Any:
        if isinstance(x, int) and isinstance(y, int):
            x = self._named(x, Interval(x, x, 0))
        return x == y if op == "eq" else x != y if op == "ne" else x < y if op == "lt" else x <= y

    def _literal(self, e: Expr) -> Any:
        t = self._term(e)
        return self._model.new_constant(t) if isinstance(t, int) else t

    def _number(self, e: Expr) -> Any:
        return self._term(e)

    # --- expressions

    def _term(self, root: Expr) -> Any:
        terms = self._terms
        stack = [root]
        while stack:
            node = stack[-1]
            if node.key in terms:
                stack.pop()
                continue
            missing = [] if is_atom(node) else [a for a in node.args if a.key not in terms]
            if missing:
                stack.extend(missing)
                continue
            terms[node.key] = self._node(node)
            stack.pop()
        return terms[root.key]

    def _node(self, e: Expr) -> Any:
        if not isinstance(e.ty, IntType):
            raise _Unsupported("a value that is no integer")
        known = self._intervals.of(e)
        if known.constant and abs(known.lo) >= _LARGEST:
            raise _Unsupported(_TOO_LARGE)
        if known.constant:
            return known.lo
        if is_atom(e):
            return self._model.new_bool_var(f"b{e.key}") if e.ty == BOOL else self._variable(known)
        args = [self._terms[a.key] for a in e.args]
        if e.ty == BOOL:
            return self._boolean(e, args)
        return self._integer(e, e.ty, known, args)

    def _boolean(self, e: Expr, args: list[Any]) -> Any:
        b = self._model.new_bool_var(f"b{e.key}")
        if e.op in ("land", "lor", "lnot", "select"):
            literals = [self._literal(a) for a in e.args]
            if e.op == "lnot":
                return literals[0].negated()
            if e.op == "land":
                self._model.add_bool_and(literals).only_enforce_if(b)
                self._model.add_bool_or([x.negated() for x in literals]).only_enforce_if(b.negated())
            elif e.op == "lor":
                self._model.add_bool_or(literals).only_enforce_if(b)
                self._model.add_bool_and([x.negated() for x in literals]).only_enforce_if(b.negated())
            else:
                c, x, y = literals
                self._model.add(b == x).only_enforce_if(c)
                self._model.add(b == y).only_enforce_if(c.negated())
            return b
        if e.op in _OPPOSITE:
            x, y = args
            opposite, swap = _OPPOSITE[e.op]
            self._model.add(self._comparison(e.op, x, y)).only_enforce_if(b)
            self._model.add(self._comparison(opposite, *((y, x) if swap else (x, y)))).only_enforce_if(b.negated())
            return b
        if e.op == "cast":
            self._model.add(args[0] != 0).only_enforce_if(b)
            self._model.add(args[0] == 0).only_enforce_if(b.negated())
            return b
        raise _Unsupported(f"{e.op} of booleans")

    def _integer(self, e: Expr, ty: IntType, known: Interval, args: list[Any]) -> Any:
        op = e.op
        if op in ("add", "sub", "neg", "cast", "narrow", "not"):
            if op == "add":
                linear = args[0] + args[1]
            elif op == "sub":
                linear = args[0] - args[1]
            elif op == "not":
                linear = (-1 if ty.signed else _coefficient(ty.high)) - args[0]
            else:
                linear = -args[0] if op == "neg" else args[0]
            return self._fitted(e, ty, linear)
        if op == "mul":
            return self._fitted(e, ty, self._product(e, args))
        if op in ("min", "max"):
            v = self._variable(known)
            (self._model.add_min_equality if op == "min" else self._model.add_max_equality)(v, args)
            return v
        if op == "select":
            v = self._variable(known)
            c = self._literal(e.args[0])
            self._model.add(v == args[1]).only_enforce_if(c)
            self._model.add(v == args[2]).only_enforce_if(c.negated())
            return v
        if op in ("div", "rem"):
            return self._division(e, known, args)
        if op in ("shl", "shr"):
            return self._shift(e, ty, known, args)
        if op in ("and", "or", "xor"):
            return self._bits(e, known, args)
        raise _Unsupported(f"operator {op}")

    def _product(self, e: Expr, args: list[Any]) -> Any:
        x, y = args
        if isinstance(x, int) or isinstance(y, int):
            return x * y
        v = self._variable(self._intervals.raw(e))
        self._model.add_multiplication_equality(v, [x, y])
        return v

    def _fitted(self, e: Expr, ty: IntType, linear: Any) -> Any:
        """The value of type ``ty`` congruent to ``linear``, or ``linear`` itself with overflow excluded."""
        raw = self._intervals.raw(e)
        inside = clamp(raw, ty.low, ty.high)
        if raw.within(ty) or (self._query.no_signed_overflow and may_overflow_undefined(e)):
            return self._named(linear, inside)
        size = 1 << ty.width
        if max(abs(raw.lo), abs(raw.hi)) >= _LARGEST or size >= _LARGEST:
            return self._named(linear, inside)
        k = self._variable(interval((raw.lo - ty.low) // size, (raw.hi - ty.low) // size))
        v = self._variable(Interval(ty.low, ty.high))
        self._model.add(v == linear - size * k)
        return v

    def _division(self, e: Expr, known: Interval, args: list[Any]) -> Any:
        x, y = args
        divisor = self._intervals.of(e.args[1])
        if divisor.lo <= 0:
            if divisor.hi < 1:
                raise _Unsupported("division by a negative number")
            positive = self._variable(Interval(1, divisor.hi))
            self._model.add(positive == y)
            y = positive
        v = self._variable(known)
        (self._model.add_division_equality if e.op == "div" else self._model.add_modulo_equality)(v, x, y)
        return v

    def _floor(self, x: Any, known: Interval, divisor: int) -> tuple[Any, Any]:
        divisor = _coefficient(divisor)
        q = self._variable(interval(known.lo // divisor, known.hi // divisor))
        r = self._variable(Interval(0, divisor - 1)) if divisor > 1 else 0
        self._model.add(x == divisor * q + r)
        return q, r

    def _shift(self, e: Expr, ty: IntType, known: Interval, args: list[Any]) -> Any:
        count = clamp(self._intervals.of(e.args[1]), 0, ty.width - 1)
        operand = self._intervals.of(e.args[0])
        if count.empty:
            raise _Unsupported("a shift that is never defined")
        if not count.constant:
            count = clamp(count, 0, _LARGEST_SHIFT)
            if count.empty:
                raise _Unsupported(_TOO_LARGE)
        if count.constant:
            if not isinstance(args[1], int):
                self._model.add(args[1] == count.lo)
            if e.op == "shl":
                return self._fitted(e, ty, args[0] * _coefficient(1 << count.lo))
            return self._floor(args[0], operand, 1 << count.lo)[0]
        index = self._variable(interval(0, count.hi - count.lo))
        self._model.add(index == args[1] - count.lo)
        power = self._variable(Interval(1 << count.lo, 1 << count.hi))
        self._model.add_element(index, [1 << n for n in range(count.lo, count.hi + 1)], power)
        if e.op == "shr":
            if operand.lo < 0:
                raise _Unsupported("right shift of a negative number")
            v = self._variable(known)
            self._model.add_division_equality(v, args[0], power)
            return v
        product = self._variable(self._intervals.raw(e))
        self._model.add_multiplication_equality(product, [args[0], power])
        return self._fitted(e, ty, product)

    def _bits(self, e: Expr, known: Interval, args: list[Any]) -> Any:
        """Bit operations on nonnegative numbers, bit by bit."""
        ranges = [self._intervals.of(a) for a in e.args]
        if any(r.lo < 0 for r in ranges):
            raise _Unsupported("bit operation on a negative number")
        width = max(r.hi for r in ranges).bit_length()
        if width > 24:
            raise _Unsupported("bit operation on wide numbers")
        bits = [self._bits_of(x, width) for x in args]
        out: list[Any] = []
        for x, y in zip(*bits, strict=True):
            b = self._model.new_bool_var(f"o{self._names}")
            self._names += 1
            if e.op == "and":
                self._model.add_multiplication_equality(b, [x, y])
            elif e.op == "or":
                self._model.add_max_equality(b, [x, y])
            else:
                self._model.add_bool_xor([x, y, b.negated()])
            out.append(b)
        return self._named(sum(b * (1 << i) for i, b in enumerate(out)), known)

    def _bits_of(self, x: Any, width: int) -> list[Any]:
        bits = [self._model.new_bool_var(f"i{self._names}_{i}") for i in range(width)]
        self._names += 1
        self._model.add(sum(b * (1 << i) for i, b in enumerate(bits)) == x)
        return bits

    def _consistent(self) -> None:
        """Equal arguments, equal opaque values: stated for arguments that are integers."""
        groups: dict[tuple[object, ...], list[Expr]] = {}
        for a in self._atoms:
            if a.args and all(isinstance(x.ty, IntType) for x in a.args):
                groups.setdefault((a.op, a.ty, a.value, len(a.args)), []).append(a)
        for members in groups.values():
            for i, one in enumerate(members):
                for two in members[:i]:
                    self._same_value(one, two)

    def _same_value(self, one: Expr, two: Expr) -> None:
        differing: list[Any] = []
        for x, y in zip(one.args, two.args, strict=True):
            if x is not y:
                b = self._model.new_bool_var(f"d{self._names}")
                self._names += 1
                self._model.add(self._comparison("ne", self._number(x), self._number(y))).only_enforce_if(b)
                differing.append(b)
        same = self._model.new_bool_var(f"s{self._names}")
        self._names += 1
        self._model.add(self._comparison("eq", self._number(one), self._number(two))).only_enforce_if(same)
        self._model.add_bool_or([*differing, same])


_OPPOSITE: dict[str, tuple[str, bool]] = {
    "eq": ("ne", False),
    "ne": ("eq", False),
    "lt": ("le", True),
    "le": ("lt", True),
}
"""Comparison -> (its negation, whether with swapped operands)."""


def _disjuncts(e: Expr) -> list[Expr]:
    return [e] if e.op != "lor" else [x for a in e.args for x in _disjuncts(a)]
