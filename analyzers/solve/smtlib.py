"""Queries as SMT-LIB text over mathematical integers, with C's semantics written out.

Takes a query, gives declarations, side conditions and one formula per conjunct and fact. Operations are plain integer
arithmetic where intervals exclude leaving the type; elsewhere unsigned and narrowing ones get an explicit quotient
(``value - 2**width * k``), and signed overflow is either undefined or wrapped the same way.

Undefinedness (division by zero, bad shifts, overflow when assumed away) counts only where the value is used: a
boolean is a pair "defined and true" / "defined and false", an integer carries the condition under which it is
defined.

What the encoding does not know exactly (bit operations on two wide variables, bit tricks, floats, pointers) becomes
an uninterpreted function, which keeps unsatisfiable answers right; satisfiable ones are evaluated afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from analyzers.ir.evaluate import evaluate, is_atom, may_overflow_undefined, needs_operands
from analyzers.ir.expr import BOOL, Expr, IntType
from analyzers.ir.intervals import Interval, Intervals, disjoint_bits
from analyzers.solve.order import side_of

WIDEST_BIT_BLAST = 16
WIDEST_SHIFT_TABLE = 64


@dataclass(frozen=True, slots=True)
class Term:
    """How a node is written: ``text`` its integer, or "defined and true"; ``false`` "defined and false" where that is
    not simply the negation; ``defined`` where an integer is, None when always."""

    text: str
    false: str | None = None
    defined: str | None = None

    @property
    def is_false(self) -> str:
        return self.false if self.false is not None else f"(not {self.text})"


_HARD = frozenset({"mul", "div", "rem", "shl", "shr", "and", "or", "xor"})


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _is(text: str, e: Expr, value: int) -> str:
    if e.ty == BOOL:
        return text if value else f"(not {text})"
    return f"(= {text} {_number(value)})"


def _and(*parts: str | None) -> str | None:
    present = list(dict.fromkeys(p for p in parts if p is not None))
    if not present:
        return None
    return present[0] if len(present) == 1 else f"(and {' '.join(present)})"


@dataclass(slots=True)
class Encoder:
    """Collects SMT-LIB ``lines`` while terms are asked for."""

    intervals: Intervals
    abstract_common: bool = False
    """Leave nonlinear arithmetic on values common to both threads uninterpreted: mostly it is the same in both
    addresses."""
    lines: list[str] = field(default_factory=list[str])
    atoms: dict[Expr, str] = field(default_factory=dict[Expr, str])
    """Integer and boolean atoms -> the constant that stands for them."""
    approximated: bool = False
    """Whether an operator with a meaning was left uninterpreted."""
    abstracted: bool = False
    """Whether a common term was left open."""
    assumed_no_overflow: bool = False
    _terms: dict[int, Term] = field(default_factory=dict[int, Term])
    _functions: dict[tuple[object, ...], str] = field(default_factory=dict[tuple[object, ...], str])
    _quotients: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict[tuple[str, str], tuple[str, str]])
    _masks: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _uninterpreted: list[tuple[str, Expr]] = field(default_factory=list[tuple[str, Expr]])
    """The constants of operators that were left without a meaning."""
    _names: int = 0
    _sort: bool = False

    def holds(self, condition: Expr) -> str:
        """The formula "``condition`` is defined and true"."""
        return self.term(condition).text

    def term(self, root: Expr) -> Term:
        terms = self._terms
        stack = [root]
        while stack:
            node = stack[-1]
            if node.key in terms:
                stack.pop()
                continue
            missing = [a for a in node.args if a.key not in terms]
            if missing:
                stack.extend(reversed(missing))
                continue
            terms[node.key] = self._node(node)
            stack.pop()
        return terms[root.key]

    # --- names and lines

    def _fresh(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _declare(self, prefix: str, sort: str = "Int") -> str:
        name = self._fresh(prefix)
        self.lines.append(f"(declare-const {name} {sort})")
        return name

    def _bounded(self, prefix: str, bounds: Interval) -> str:
        name = self._declare(prefix)
        self._bound(name, bounds)
        return name

    def _bound(self, name: str, bounds: Interval, where: str | None = None) -> None:
        self._assert(f"(<= {_number(bounds.lo)} {name} {_number(bounds.hi)})", where)

    def _assert(self, formula: str, where: str | None = None) -> None:
        self.lines.append(f"(assert {formula})" if where is None else f"(assert (=> {where} {formula}))")

    def _share(self, text: str, sort: str = "Int") -> str:
        if not text.startswith("("):
            return text
        name = self._fresh("e")
        self.lines.append(f"(define-fun {name} () {sort} {text})")
        return name

    # --- nodes

    def _node(self, e: Expr) -> Term:
        if e.op == "const" and isinstance(e.ty, IntType):
            return Term(("true" if e.value else "false") if e.ty == BOOL else _number(e.value))
        if is_atom(e):
            return self._atom(e)
        if e.ty == BOOL:
            return self._boolean(e)
        assert isinstance(e.ty, IntType)
        known = self.intervals.of(e)
        defined = _and(*(self._defined(a) for a in e.args)) if e.op != "select" else None
        if known.constant and defined is None and not self.intervals.wraps(e) and not self._partial(e):
            return Term(_number(known.lo))
        if self.abstract_common and e.op in _HARD and side_of(e) == 0 and not self._linear(e):
            self.abstracted = True
            return Term(self._bounded("c", known if not known.empty else Interval(e.ty.low, e.ty.high)))
        term = self._integer(e, e.ty, defined)
        stated = self.intervals.ranges.get(e)
        if stated is not None:  # of a number that is cut off: comparisons with its limits are taken for granted
            self._bound(term.text, Interval(*stated), defined)
        return term

    def _linear(self, e: Expr) -> bool:
        """Whether one operand is a constant."""
        return any(self.intervals.of(a).constant for a in e.args)

    def _partial(self, e: Expr) -> bool:
        if e.op in ("div", "rem"):
            divisor = self.intervals.of(e.args[1])
            return divisor.lo <= 0 <= divisor.hi
        if e.op in ("shl", "shr"):
            assert isinstance(e.ty, IntType)
            count = self.intervals.of(e.args[1])
            return count.lo < 0 or count.hi >= e.ty.width
        return e.op == "select"

    def _defined(self, e: Expr) -> str | None:
        t = self._terms[e.key]
        if e.ty == BOOL:
            return None if t.false is None else f"(or {t.text} {t.false})"
        return t.defined

    def _int(self, e: Expr) -> str:
        t = self._terms[e.key].text
        return f"(ite {t} 1 0)" if e.ty == BOOL else t

    def _atom(self, e: Expr) -> Term:
        sort = "Bool" if e.ty == BOOL else "Int" if isinstance(e.ty, IntType) else "V"
        if sort == "V" and not self._sort:
            self._sort = True
            self.lines.append("(declare-sort V 0)")
        name = self._declare("b" if sort == "Bool" else "x" if sort == "Int" else "v", sort)
        if isinstance(e.ty, IntType):
            self.atoms[e] = name
            if e.ty == BOOL:
                known = self.intervals.of(e)
                if known.constant:
                    self.lines.append(f"(assert (= {name} {'true' if known.lo else 'false'}))")
            else:
                self._bound(name, self.intervals.of(e))
        if not e.args:
            return Term(name)
        self._apply(name, e, sort)
        strict = self.intervals.no_signed_overflow and needs_operands(e)
        defined = _and(*(self._defined(a) for a in e.args)) if strict else None
        if defined is None or sort == "V":
            return Term(name)
        if sort == "Int":
            return Term(name, None, defined)
        return Term(
            self._share(f"(and {defined} {name})", "Bool"), self._share(f"(and {defined} (not {name}))", "Bool")
        )

    def _apply(self, name: str, e: Expr, sort: str) -> None:
        """Congruence: ``name`` is the value of an uninterpreted function at the operands of ``e``."""
        sorts = tuple("Bool" if a.ty == BOOL else "Int" if isinstance(a.ty, IntType) else "V" for a in e.args)
        key = (e.op, e.ty, e.value, sorts)
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = self._fresh("f")
            self.lines.append(f"(declare-fun {function} ({' '.join(sorts)}) {sort})")
        self.lines.append(f"(assert (= {name} ({function} {' '.join(self._terms[a.key].text for a in e.args)})))")

    def _boolean(self, e: Expr) -> Term:
        known = self.intervals.truth(e)
        parts = [self._terms[a.key] for a in e.args]
        op = e.op
        if op == "lnot":
            return Term(parts[0].is_false, None if parts[0].false is None else parts[0].text)
        if op in ("land", "lor"):
            a, b = parts
            whole = all(p.false is None for p in parts)
            word, dual = ("and", "or") if op == "land" else ("or", "and")
            text = self._share(f"({word} {a.text} {b.text})", "Bool")
            return Term(text, None if whole else self._share(f"({dual} {a.is_false} {b.is_false})", "Bool"))
        if op == "select":
            c, a, b = parts
            text = self._share(f"(or (and {c.text} {a.text}) (and {c.is_false} {b.text}))", "Bool")
            if all(p.false is None for p in parts):
                return Term(text)
            return Term(text, self._share(f"(or (and {c.text} {a.is_false}) (and {c.is_false} {b.is_false}))", "Bool"))
        defined = _and(*(self._defined(a) for a in e.args))
        if known is not None and defined is None:
            return Term("true" if known else "false")
        x = self._int(e.args[0])
        y = self._int(e.args[-1]) if len(e.args) > 1 else "0"
        if op in ("eq", "ne", "lt", "le"):
            text = f"({'=' if op in ('eq', 'ne') else '<' if op == 'lt' else '<='} {x} {y})"
            text = f"(not {text})" if op == "ne" else text
        elif op == "cast":
            text = f"(not (= {x} 0))"
        elif op in ("and", "or", "xor", "add", "mul", "sub", "min", "max"):
            p, q = (f"(not (= {v} 0))" for v in (x, y))
            word = {"and": "and", "mul": "and", "min": "and", "or": "or", "max": "or"}.get(op, "xor")
            text = f"({word} {p} {q})"
        elif op == "not":
            text = f"(= {x} 0)"
        elif op == "neg":
            text = f"(not (= {x} 0))"
        else:
            self.approximated = True
            text = self._declare("b", "Bool")
        text = self._share(text, "Bool")
        if defined is None:
            return Term(text)
        return Term(
            self._share(f"(and {defined} {text})", "Bool"), self._share(f"(and {defined} (not {text}))", "Bool")
        )

    def _integer(self, e: Expr, ty: IntType, defined: str | None) -> Term:
        op = e.op
        if op == "select":
            return self._select(e)
        x = self._int(e.args[0])
        if op == "cast":
            return Term(self._wrap(x, e, ty, defined), None, defined)
        if op == "narrow":
            return self._fitted(x, e, ty, defined)
        if op == "neg":
            return self._fitted(f"(- {x})", e, ty, defined)
        if op == "not":
            return Term(
                self._share(f"(- {_number(-1 if ty.signed else ty.high)} {x})"),
                None,
                defined,
            )
        if op == "call":
            return Term(self._without_meaning(e), None, defined)
        y = self._int(e.args[1])
        if op in ("add", "sub", "mul"):
            return self._fitted(f"({ {'add': '+', 'sub': '-', 'mul': '*'}[op] } {x} {y})", e, ty, defined)
        if op in ("min", "max"):
            return Term(self._share(f"(ite ({'<=' if op == 'min' else '>='} {x} {y}) {x} {y})"), None, defined)
        if op in ("div", "rem"):
            return self._division(e, ty, defined)
        if op in ("shl", "shr"):
            return self._shift(e, ty, defined)
        if op in ("and", "or", "xor"):
            return Term(self._bits(e, ty), None, defined)
        return Term(self._without_meaning(e), None, defined)

    def _select(self, e: Expr) -> Term:
        c, a, b = (self._terms[x.key] for x in e.args)
        text = self._share(f"(ite {c.text} {a.text} {b.text})")
        if c.false is None and a.defined is None and b.defined is None:
            return Term(text)
        defined = f"(or {_and(c.text, a.defined)} {_and(c.is_false, b.defined)})"
        return Term(text, None, self._share(defined, "Bool"))

    def _without_meaning(self, e: Expr) -> str:
        self.approximated = True
        name = self._bounded("u", self.intervals.of(e))
        self._apply(name, e, "Int")
        self._uninterpreted.append((name, e))
        return name

    def instances(self, values: Mapping[Expr, int]) -> list[str]:
        """What operators that were left without a meaning give for these values of the atoms: formulas that hold
        always."""
        out: list[str] = []
        # Of what is undefined nothing holds: the bounds of its name need not contain what it would wrap around to.
        value = partial(evaluate, values=values, no_signed_overflow=self.intervals.no_signed_overflow)
        for name, e in self._uninterpreted:
            result = value(e)
            inputs = [(a, value(a)) for a in e.args if a.ty == BOOL or isinstance(a.ty, IntType)]
            given = [_is(self._terms[a.key].text, a, v) for a, v in inputs if v is not None]
            if result is not None and given and len(given) == len(e.args):
                out.append(f"(=> {_and(*given)} (= {name} {_number(result)}))")
        return out

    # --- arithmetic that may leave the type

    def _fitted(self, text: str, e: Expr, ty: IntType, defined: str | None) -> Term:
        """A signed or unsigned result: plain where it fits, undefined or wrapped where it might not."""
        text = self._share(text)
        if not self.intervals.wraps(e):
            return Term(text, None, defined)
        if self.intervals.no_signed_overflow and may_overflow_undefined(e):
            self.assumed_no_overflow = True
            raw = self.intervals.raw(e)
            low = f"(<= {_number(ty.low)} {text})" if raw.lo < ty.low else None
            high = f"(<= {text} {_number(ty.high)})" if raw.hi > ty.high else None
            return Term(text, None, _and(defined, low, high))
        return Term(self._wrap(text, e, ty, defined), None, defined)

    def _wrap(self, text: str, e: Expr, ty: IntType, defined: str | None) -> str:
        """``text`` modulo 2**width. What is stated of the quotient holds where ``text`` is ``defined``: elsewhere the
        intervals say nothing of it, and it must not be constrained, for nobody may be looking at it."""
        raw = self.intervals.raw(e)
        if raw.within(ty):
            return text
        size = 1 << ty.width
        k = self._declare("k")
        name = self._share(f"(- {text} (* {size} {k}))")
        self._bound(k, Interval((raw.lo - ty.low) // size, (raw.hi - ty.low) // size), defined)
        self._bound(name, Interval(ty.low, ty.high), defined)
        return name

    # --- division, shifts, bits

    def _floor(self, x: str, divisor: int) -> tuple[str, str]:
        """Quotient and remainder of floor division by a positive constant."""
        return self._share(f"(div {x} {divisor})"), self._share(f"(mod {x} {divisor})")

    def _division(self, e: Expr, ty: IntType, defined: str | None) -> Term:
        a, b = e.args
        x, y = self._int(a), self._int(b)
        dividend, divisor = self.intervals.of(a), self.intervals.of(b)
        if divisor.constant and divisor.lo > 0 and dividend.lo >= 0:
            q, r = self._floor(x, divisor.lo)
            return Term(q if e.op == "div" else r, None, defined)
        if divisor.lo <= 0 <= divisor.hi:
            defined = _and(defined, f"(not (= {y} 0))")
        q, r = self._truncated(x, y, dividend, divisor, defined)
        if e.op == "div" and self.intervals.wraps(e):
            q = self._wrap(q, e, ty, defined)
        return Term(q if e.op == "div" else r, None, defined)

    def _truncated(self, x: str, y: str, dividend: Interval, divisor: Interval, defined: str | None) -> tuple[str, str]:
        """Quotient and remainder of C division, free where it is not ``defined``."""
        found = self._quotients.get((x, y))
        if found is not None:
            return found
        q, r = self._declare("q"), self._declare("r")
        parts = [f"(= {x} (+ (* {y} {q}) {r}))"]
        size = y if divisor.lo >= 0 else f"(- {y})" if divisor.hi <= 0 else f"(ite (>= {y} 0) {y} (- {y}))"
        if dividend.hi >= 0:
            parts.append(f"(=> (>= {x} 0) (and (<= 0 {r}) (< {r} {size})))")
        if dividend.lo < 0:
            parts.append(f"(=> (< {x} 0) (and (<= {r} 0) (< (- {r}) {size})))")
        if dividend.lo >= 0 and divisor.lo >= 0:
            parts.append(f"(<= 0 {q} {x})")
        self._assert(f"(and {' '.join(parts)})", defined)
        if not divisor.constant:
            for (other, by), found in self._quotients.items():
                if by == y:
                    self._compare((x, q, r), (other, *found), y)
        self._quotients[x, y] = q, r
        return q, r

    def _compare(self, one: tuple[str, str, str], two: tuple[str, str, str], divisor: str) -> None:
        """What follows for (dividend, quotient, remainder) of two divisions by one number that is not known: equal
        quotients are no product apart, others at least one divisor. Z3 seldom finds that by itself."""
        (x, q, r), (x2, q2, r2) = one, two
        parted = (
            f"(and (= {q} {q2}) (= (- {x} {x2}) (- {r} {r2})))",
            f"(and (> {q} {q2}) (>= (- {x} {x2}) (+ {divisor} (- {r} {r2}))))",
            f"(and (< {q} {q2}) (>= (- {x2} {x}) (+ {divisor} (- {r2} {r}))))",
        )
        made = " ".join(f"(= {n} (+ (* {divisor} {d}) {m}))" for n, d, m in (one, two))
        self._assert(f"(or {' '.join(parted)})", f"(and (> {divisor} 0) {made})")

    def _shift(self, e: Expr, ty: IntType, defined: str | None) -> Term:
        a, b = e.args
        x, y = self._int(a), self._int(b)
        count = self.intervals.of(b)
        lo, hi = max(count.lo, 0), min(count.hi, ty.width - 1)
        if self._partial(e):
            defined = _and(defined, f"(<= 0 {y} {ty.width - 1})")
        if lo > hi:
            return Term("0", None, "false")
        if hi - lo >= WIDEST_SHIFT_TABLE:
            return Term(self._without_meaning(e), None, defined)

        def shifted(n: int) -> str:
            if n == 0:
                return x
            return f"(* {1 << n} {x})" if e.op == "shl" else f"(div {x} {1 << n})"

        text = shifted(hi)
        for n in range(hi - 1, lo - 1, -1):
            text = f"(ite (= {y} {n}) {shifted(n)} {text})"
        return self._fitted(text, e, ty, defined) if e.op == "shl" else Term(self._share(text), None, defined)

    def _bits(self, e: Expr, ty: IntType) -> str:
        a, b = e.args
        x, y = self._int(a), self._int(b)
        ia, ib = self.intervals.of(a), self.intervals.of(b)
        if e.op in ("or", "xor") and disjoint_bits(ia, ib):
            return self._share(f"(+ {x} {y})")
        both = self._common_bits(x, y, ia, ib, ty)
        if both is None:
            return self._without_meaning(e)
        if e.op == "and":
            return both
        # a + b = (a ^ b) + 2 (a & b) = (a | b) + (a & b), in two's complement of any width. For an unsigned type all
        # three are values of the type.
        return self._share(f"(- (+ {x} {y}) {both})" if e.op == "or" else f"(- (+ {x} {y}) (* 2 {both}))")

    def _common_bits(self, x: str, y: str, ia: Interval, ib: Interval, ty: IntType) -> str | None:
        """``x & y``."""
        found = self._masks.get((x, y))
        if found is not None:
            return found
        if ia.constant:
            x, y, ia, ib = y, x, ib, ia
        if ib.constant:
            result = self._masked(x, ib.lo, ia, ty)
        elif disjoint_bits(ia, ib):
            result = "0"
        else:
            width = min(v.hi.bit_length() for v in (ia, ib) if v.lo >= 0) if ia.lo >= 0 or ib.lo >= 0 else 64
            if width > WIDEST_BIT_BLAST:
                return None
            bits = [
                f"(ite (and (= (mod (div {x} {1 << i}) 2) 1) (= (mod (div {y} {1 << i}) 2) 1)) {1 << i} 0)"
                for i in range(width)
            ]
            result = self._share(f"(+ {' '.join(bits)} 0)")
        self._masks[x, y] = result
        return result

    def _masked(self, x: str, mask: int, ia: Interval, ty: IntType) -> str:
        """``x & mask`` as a sum over the runs of ones in the mask."""
        bits = mask & ((1 << ty.width) - 1)
        if ia.lo >= 0:
            bits &= (1 << ia.hi.bit_length()) - 1
        terms: list[str] = []
        position = 0
        while bits >> position:
            if not (bits >> position) & 1:
                position += 1
                continue
            end = position
            while (bits >> end) & 1:
                end += 1
            low = f"(div {x} {1 << position})" if position else x
            covers_sign = end >= ty.width or (ia.lo >= 0 and ia.hi >> end == 0)
            run = low if covers_sign else f"(mod {low} {1 << (end - position)})"
            terms.append(f"(* {1 << position} {run})" if position else run)
            position = end
        if not terms:
            return "0"
        return self._share(terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})")
