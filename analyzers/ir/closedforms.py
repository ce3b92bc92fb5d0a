"""Closed forms of loop-carried variables.

Given a variable's value before a loop, and its value after one iteration as an expression over the values at the
start of the
iteration (placeholders), find its value at the start of iteration ``k``. The recurrences recognised are those of real
kernels:
invariant, affine (``i += c``), geometric by powers of two (``s >>= 1``, ``s *= 2``), parity (``buf ^= 1``, ``buf = 1
- buf``, swapped
pointers), rotating (``stage = (stage + 1) % n``, several variables that pass their values around) and values
recomputed in each iteration. Everything else has none.

Induction variables are assumed not to wrap around (``NO_WRAP``, to be listed by the proof), but for those of which
`wraparound` says that they may. Where they begin at a number of 64 bits that the kernel is given, it is assumed to be
a size (``BELOW_ALL_SIZES``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from analyzers.ir import expr as E
from analyzers.ir.cycles import flip_of, in_ring, placeholders_in, turn_of
from analyzers.ir.evaluate import partial_operations
from analyzers.ir.expr import I64, U32, Expr, IntType
from analyzers.ir.held import flags, held, moved_under
from analyzers.ir.wraparound import BELOW_ALL_SIZES, BELOW_STEPS, Kept, may_be_huge, stays_in_range

MAX_ROTATION = 8
"""Variables that pass their values around."""
NO_WRAP = "loop counters do not wrap around"

Invariant = Callable[[Expr], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """``at(k)`` is the value at the start of iteration ``k`` (an I64 expression); ``limit`` bounds ``k`` where the
    form does."""

    at: Callable[[Expr], Expr]
    limit: int | None = None
    no_wrap: bool = False
    sized: frozenset[Expr] = frozenset()
    """What the kernel is given that is taken for a size, so that the variable begins below all of them."""
    previous: bool = False
    """``at(k)`` for k >= 1 is the value computed in iteration k - 1."""
    after: Callable[[Expr], Expr] | None = None
    """Where ``at`` does not hold for the first iteration that does not take place any more."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        wide = {isinstance(s.ty, IntType) and s.ty.width > 32 for s in self.sized}
        said = (NO_WRAP, self.no_wrap), (BELOW_ALL_SIZES, True in wide), (BELOW_STEPS, False in wide)
        return tuple(text for text, holds in said if holds)

    def past(self, k: Expr) -> Expr:
        """The value after ``k`` whole iterations: the step that ends a loop may wrap around or shift everything out."""
        return (self.after or self.at)(k)


@dataclass(frozen=True, slots=True)
class Rings:
    """Says which values are numbers of a ring in front of a loop."""

    ranges: dict[Expr, tuple[int, int]] = field(default_factory=dict[Expr, tuple[int, int]])
    """Of values that loops compute, and of those at the start of an iteration of the loops around."""
    wraps: bool = False
    """Variables that wait at an open limit may wrap around behind it: see `held`."""
    wished: dict[Expr, int] = field(default_factory=dict[Expr, int])
    """Values at the start of an iteration -> the ring that they ought to be in."""

    def holds(self, start: Expr, size: int) -> bool:
        """Whether ``start`` is a number of the ring; if not, what has to be one for that is noted."""
        if in_ring(start, size, self.ranges):
            return True
        for p in placeholders_in(start):
            self.wished.setdefault(p, size)
        return False


@dataclass(frozen=True, slots=True)
class Steps:
    """Says which steps of a loop are certain to be computed where the loop ends before the first of them."""

    before: tuple[Expr, ...] = ()
    """Values that were computed before the loop."""

    def certain(self, step: Expr) -> bool:
        """Otherwise it has a division or shift that may be undefined where it is not made."""
        risky = [n for n in partial_operations(step) if n.op not in ("div", "rem") or not _is_extent(n.args[1])]
        return not risky or {n for v in self.before for n in partial_operations(v)}.issuperset(risky)

    def guarded(self, form: Form, start: Expr, *steps: Expr) -> Form:
        """``form``, which is ``start`` plus so many ``steps``, as one whose value says nothing of steps not made."""
        if all(self.certain(s) for s in steps):
            return form
        after = form.after

        def made(at: Callable[[Expr], Expr]) -> Callable[[Expr], Expr]:
            return lambda k: E.select(E.compare("eq", k, E.const(0, I64)), start, at(k))

        return replace(form, at=made(form.at), after=None if after is None else made(after))


def _is_extent(divisor: Expr) -> bool:
    """A dimension of the block or grid, or a product of such: never zero."""
    while divisor.op == "cast":
        divisor = divisor.args[0]
    if divisor.op == "mul":
        return all(_is_extent(a) for a in divisor.args)
    return divisor in (*E.BDIM, *E.GDIM) or (divisor.op == "const" and divisor.value != 0)


def linear_delta(end: Expr, placeholder: Expr, invariant: Invariant) -> Expr | None:
    """I64 ``c`` with ``end == placeholder + c`` (mathematically, wrap-around aside), ``c`` invariant; None
    otherwise."""
    terms: list[Expr] = []
    seen = 0
    stack: list[tuple[Expr, int]] = [(end, 1)]
    while stack:
        node, sign = stack.pop()
        if node is placeholder:
            if sign != 1:
                return None
            seen += 1
            continue
        if invariant(node):
            terms.append(_signed(node, sign, _width(placeholder)))
            continue
        ty = node.ty
        if node.op == "add":
            stack += [(node.args[0], sign), (node.args[1], sign)]
        elif node.op == "sub":
            stack += [(node.args[0], sign), (node.args[1], -sign)]
        elif node.op in ("cast", "narrow") and isinstance(ty, IntType) and isinstance(node.args[0].ty, IntType):
            if min(ty.width, node.args[0].ty.width) < _width(placeholder):
                return None
            stack.append((node.args[0], sign))
        else:
            return None
    if seen != 1:
        return None
    total = E.const(0, I64)
    for t in terms:
        total = E.add(total, t)
    return total


def _width(e: Expr) -> int:
    return e.ty.width if isinstance(e.ty, IntType) else 64


def _signed(e: Expr, sign: int, width: int) -> Expr:
    """``sign * e`` in I64, modulo 2^``width``: an unsigned number that may be meant to be negative is read as it is
    written."""
    if e.op == "const" and isinstance(e.ty, IntType):
        value = IntType(e.ty.width, True).wrap(e.value) if e.ty.width >= 32 else e.value
        return E.const(sign * value, I64)
    wide = _as_written(e, width) if _may_be_negative(e, width) else E.cast(e, I64)
    return wide if sign == 1 else E.neg(wide)


def _may_be_negative(e: Expr, width: int) -> bool:
    """Whether arithmetic without a sign may stand for a negative number: ``1 - blockDim.x``, ``way * blockDim.x``."""
    if not _is_plain(e, width):
        return isinstance(e.ty, IntType) and e.ty.signed
    return e.op in ("sub", "neg", "not") or any(
        _may_be_negative(a, width) if a.op != "const" else _is_negative(a) for a in _operands(e)
    )


def _as_written(e: Expr, width: int) -> Expr:
    """The number in I64 that arithmetic without a sign is congruent to, with no step of it wrapping around."""
    if e.op == "const" and isinstance(e.ty, IntType):
        return E.const(IntType(e.ty.width, True).wrap(e.value), I64)
    if not _is_plain(e, width):
        return E.cast(e, I64)
    parts = [_as_written(a, width) for a in _operands(e)]
    if e.op == "select":
        return E.select(e.args[0], *parts)
    if e.op == "not":
        return E.sub(E.const(-1, I64), parts[0])
    return parts[0] if e.op == "cast" else E.neg(parts[0]) if e.op == "neg" else E.binary(e.op, *parts)


def _is_plain(e: Expr, width: int) -> bool:
    """Whether a node is arithmetic without a sign of that many bits or more, or a conversion to such from as many."""
    ty = e.ty
    if not isinstance(ty, IntType) or ty.signed or ty.width < width:
        return False
    source = e.args[0].ty if e.op == "cast" else ty
    return e.op in ("add", "sub", "mul", "neg", "not", "select", "cast") and (
        isinstance(source, IntType) and source.width >= width
    )


def _operands(e: Expr) -> tuple[Expr, ...]:
    return e.args[1:] if e.op == "select" else e.args


def _is_negative(e: Expr) -> bool:
    return isinstance(e.ty, IntType) and not e.ty.signed and bool(e.value >> (e.ty.width - 1))


def _parity(k: Expr, even: Expr, odd: Expr) -> Expr:
    two = E.const(2, I64)
    return E.select(E.compare("eq", E.binary("rem", k, two), E.const(0, I64)), even, odd)


def _power_of_two(value: int) -> int | None:
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def _geometric(start: Expr, end: Expr, placeholder: Expr) -> tuple[str, int] | None:
    """(``shl`` or ``shr``, bits per iteration)."""
    inner = end
    while inner.op in ("cast", "narrow") and inner.args[0].ty == placeholder.ty:
        inner = inner.args[0]
    if inner.op not in ("mul", "div", "shl", "shr", "add") or placeholder not in inner.args:
        return None
    if inner.op == "add":
        return ("shl", 1) if inner.args[0] is inner.args[1] else None
    other = inner.args[1] if inner.args[0] is placeholder else inner.args[0]
    if not E.is_const(other) or (inner.op in ("div", "shl", "shr") and inner.args[0] is not placeholder):
        return None
    if inner.op in ("shl", "shr"):
        return (inner.op, other.value) if 0 < other.value < 31 else None
    bits = _power_of_two(other.value)
    if not bits:
        return None
    return ("shl" if inner.op == "mul" else "shr", bits)


def _shift_limit(op: str, bits: int, start: Expr, ty: IntType) -> int:
    """The last iteration at which the shift count is defined and, to the left, no bit is lost."""
    if op == "shr":
        return (ty.width - 1) // bits
    length = start.value.bit_length() if start.op == "const" and start.value > 0 else 1
    return max(0, ty.width - int(ty.signed) - length) // bits


def _loop_dies_at_zero(condition: Expr, placeholder: Expr) -> bool:
    """The loop's test is false once the variable is zero."""
    assert isinstance(placeholder.ty, IntType)
    return any(E.substitute(c, {placeholder: E.const(0, placeholder.ty)}) is E.FALSE for c in E.conjuncts(condition))


def _bounded_above(condition: Expr, placeholder: Expr) -> bool:
    return any(
        c.op in ("lt", "le") and placeholder in E.symbols(c.args[0]) and placeholder not in E.symbols(c.args[1])
        for c in E.conjuncts(condition)
    )


def find_form(
    start: Expr,
    end: Expr,
    placeholder: Expr,
    condition: Expr,
    invariant: Invariant,
    limited: bool = False,
    steps: Steps = Steps(),
    rings: Rings | None = None,
    leaving: Sequence[Expr] = (),
) -> Form | None:
    """The closed form of one variable, or None. ``condition`` is the loop's test over placeholders; ``limited``:
    another variable
    bounds the number of iterations below the width of any integer. ``leaving``: under which conditions an iteration
    leaves the loop."""
    if end is placeholder:
        return Form(lambda k: start)
    rings = rings or Rings()
    ty = placeholder.ty
    if ty == E.PTR:
        return _pointer_form(start, end, placeholder, invariant, steps)
    if not isinstance(ty, IntType):
        return None
    if ty == E.BOOL:
        if end is E.lnot(placeholder):
            return Form(lambda k: _parity(k, start, E.lnot(start)))
        return None
    # An iteration is left under the loop's test. What is asked of the value after the step is asked of the variable.
    met = dict.fromkeys(E.conjuncts(condition), E.TRUE)
    staying = [E.lnot(E.substitute(c, met)) for c in leaving]
    lasting = E.substitute(E.land(condition, *staying), {end: placeholder})
    delta = linear_delta(end, placeholder, invariant)
    if delta is not None:
        kept = stays_in_range(start, delta, placeholder, condition, lasting)
        # What the loop itself asks about is bounded by that.
        exact = placeholder in E.symbols(lasting) or not _is_signed_sum(end, placeholder)
        form = _affine_form(start, ty, lambda k: E.mul(delta, k), kept, exact=exact)
        return steps.guarded(form, start, delta)
    until = held(end, placeholder, invariant, lambda way: linear_delta(way, placeholder, invariant), rings.wraps)
    if until is not None and not may_be_huge(start, sized=True):
        return Form(lambda k: E.narrow(until.at(start, k), ty), no_wrap=True, sized=_given(start))
    if end.op == "select" and invariant(end.args[0]):
        # A step that some threads make in every iteration, and the others in none.
        which, *ways = end.args
        one, two = (linear_delta(way, placeholder, invariant) for way in ways)
        if one is not None and two is not None:
            each = [stays_in_range(start, step, placeholder, condition, lasting) for step in (one, two)]
            kept = Kept(E.select(which, *(k.when for k in each)), each[0].sizes | each[1].sizes)
            form = _affine_form(start, ty, lambda k: E.select(which, E.mul(one, k), E.mul(two, k)), kept)
            return steps.guarded(form, start, E.select(which, one, two))
    if end.op == "select" and invariant(end.args[0]):
        condition, *ways = end.args
        forms = [find_form(start, way, placeholder, E.TRUE, invariant, steps=steps, rings=rings) for way in ways]
        if all(f is not None and f.limit is None and not f.previous for f in forms):
            return _either(condition, *(f for f in forms if f is not None))
    if end.op == "xor" and placeholder in end.args:
        other = end.args[1] if end.args[0] is placeholder else end.args[0]
        if invariant(other):
            return Form(lambda k: _parity(k, start, E.binary("xor", start, other)))
    if end.op == "sub" and end.args[1] is placeholder and invariant(end.args[0]):
        return Form(lambda k: _parity(k, start, E.sub(end.args[0], start)))
    turn = turn_of(end, placeholder)
    if turn is not None and invariant(turn.by) and rings.holds(start, turn.size):
        n, base = E.const(turn.size, I64), E.cast(start, I64)
        by = E.binary("rem", turn.by, n)
        counted = turn.by.op != "const"  # by an inner loop, whose count is assumed to fit, some times over
        return Form(lambda k: E.narrow(E.binary("rem", E.add(base, E.mul(by, k)), n), ty), no_wrap=counted)
    shape = _geometric(start, end, placeholder)
    if shape is not None:
        op, bits = shape
        if op == "shr":
            bounded = _loop_dies_at_zero(condition, placeholder)
        else:
            bounded = ty.signed or _bounded_above(condition, placeholder)
        if bounded or limited:
            limit = _shift_limit(op, bits, start, ty)
            scale = E.const(bits, I64)

            def shifted(k: Expr) -> Expr:
                return E.binary(op, start, E.narrow(E.mul(k, scale), U32))

            def past(k: Expr) -> Expr:
                defined = E.compare("lt", E.mul(k, scale), E.const(_width(start), I64))
                return E.select(defined, shifted(k), _shifted_out(op, start, ty))

            return Form(shifted, limit=limit, no_wrap=op == "shl", after=past)
    return None


def _either(condition: Expr, one: Form, two: Form) -> Form:
    """What some threads make of a variable in every iteration, and what the others make of it."""

    def at(k: Expr) -> Expr:
        return E.select(condition, one.at(k), two.at(k))

    def past(k: Expr) -> Expr:
        return E.select(condition, one.past(k), two.past(k))

    return Form(at, no_wrap=one.no_wrap or two.no_wrap, sized=one.sized | two.sized, after=past)


def _affine_form(start: Expr, ty: IntType, moved: Callable[[Expr], Expr], kept: Kept, *, exact: bool = True) -> Form:
    """``kept``: where the variable does not wrap around; ``exact``: what the last step comes to may be out of the range
    of the type, else that is undefined in C."""
    base = E.cast(start, I64)
    huge = may_be_huge(start, sized=True)

    def followed(k: Expr) -> Expr:
        return E.cast(E.add(base, moved(k)), ty)

    if kept.when is E.FALSE:
        return Form(followed)

    def at(k: Expr) -> Expr:
        value = E.narrow(E.add(base, moved(k)), ty)
        # What is a negative number in I64 is out of the type's range as it stands.
        value = E.select(E.compare("eq", k, E.const(0, I64)), start, value) if huge else value
        return E.select(kept.when, value, followed(k))

    sized = kept.sizes if huge else kept.sizes | _given(start)
    return Form(at, no_wrap=True, sized=sized, after=followed if exact else None)


def _is_signed_sum(end: Expr, placeholder: Expr) -> bool:
    """Whether a step is an addition of numbers with a sign that no conversion makes smaller: it does not overflow."""
    ty = placeholder.ty
    while end is not placeholder:
        if end.op not in ("add", "sub") or end.ty != ty or not isinstance(ty, IntType) or not ty.signed:
            return False
        parts = [a for a in (end.args if end.op == "add" else end.args[:1]) if placeholder in E.symbols(a)]
        if len(parts) != 1 or ty.width < 32:
            return False
        end = parts[0]
    return True


def _given(start: Expr) -> frozenset[Expr]:
    """What of a start has to be below all sizes."""
    return frozenset(s for s in E.symbols(start) if s.op == "sym" and s.ty == start.ty and may_be_huge(start))


def _shifted_out(op: str, start: Expr, ty: IntType) -> Expr:
    zero = E.const(0, ty)
    if op == "shl" or not ty.signed:
        return zero
    return E.select(E.compare("lt", start, zero), E.const(-1, ty), zero)


def _pointer_form(start: Expr, end: Expr, placeholder: Expr, invariant: Invariant, steps: Steps) -> Form | None:
    if end.op == "ptradd" and end.args[0] is placeholder and invariant(end.args[1]):
        step = end.args[1]
        return steps.guarded(Form(lambda k: E.ptradd(start, E.mul(step, k)), no_wrap=True), start, step)
    return None


def close_all(
    placeholders: Mapping[str, Expr],
    starts: Mapping[str, Expr],
    ends: Mapping[str, Expr],
    condition: Expr,
    counter: Expr,
    before: Iterable[Expr] = (),
    rings: Rings | None = None,
    unknown: Callable[[str, Expr], Expr] | None = None,
    leaving: Sequence[Expr] = (),
) -> dict[str, Form]:
    """Closed forms of all variables of a loop for which one is found; ``placeholders`` names the value at the start
    of an
    iteration, ``counter`` its number: what was loaded in an iteration, or counted by a loop in it, is a value of that
    iteration only. ``before``: values that were computed before the loop; ``unknown``: the value of a variable without
    a closed form at the start of an iteration; ``leaving``: under which conditions an iteration leaves the loop."""
    steps = Steps(tuple(before))
    by_node = {p: name for name, p in placeholders.items()}
    forms: dict[str, Form] = {}

    def open_placeholders(e: Expr) -> set[str]:
        return {by_node[n] for n in E.walk((e,)) if n in by_node}

    def invariant(e: Expr) -> bool:
        return not any(n in by_node or n is counter for n in E.walk((e,)))

    unchanged = {n for n, p in placeholders.items() if ends[n] is p}
    for name in unchanged:
        forms[name] = find_form(starts[name], ends[name], placeholders[name], condition, lambda _: True) or Form(
            lambda k, s=starts[name]: s
        )
    fixed = {placeholders[n]: starts[n] for n in unchanged}
    pending = [n for n in placeholders if n not in unchanged]
    reduced = {n: E.substitute(ends[n], fixed) for n in pending}
    test, leaving = E.substitute(condition, fixed), [E.substitute(c, fixed) for c in leaving]
    # A variable that is set anew in each iteration to what the next test asks: this is asked of the others by now.
    renewed = {
        placeholders[n]: reduced[n]
        for n in pending
        if placeholders[n].ty == E.BOOL or n not in open_placeholders(reduced[n])
    }
    leaving += [
        E.lnot(E.substitute(c, renewed)) for c in E.conjuncts(test) if not renewed.keys().isdisjoint(E.symbols(c))
    ]
    for name in list(pending):
        p = placeholders[name]
        found = find_form(starts[name], reduced[name], p, test, invariant, False, steps, rings, leaving)
        if found is not None:
            forms[name] = found
            pending.remove(name)
    if any(f.limit is not None and f.limit < 32 for f in forms.values()):
        for name in list(pending):
            p = placeholders[name]
            found = find_form(starts[name], reduced[name], p, test, invariant, True, steps, rings, leaving)
            if found is not None:
                forms[name] = found
                pending.remove(name)
    if unknown is not None:
        forms.update(
            _flagged(pending, placeholders, starts, reduced, invariant, unknown, steps, (rings or Rings()).wraps)
        )
        pending = [n for n in pending if n not in forms]
    follows = {n: by_node[reduced[n]] for n in pending if reduced[n] in by_node}
    for names in _rotations(follows):
        forms.update(_rotating([starts[n] for n in names], names))
        pending = [n for n in pending if n not in names]
    forms.update(_flipping(pending, placeholders, starts, reduced, forms))
    pending = [n for n in pending if n not in forms]
    progress = True
    while progress:
        progress = False
        for name in list(pending):
            needed = open_placeholders(reduced[name])
            if needed <= set(forms):
                forms[name] = _recomputed(
                    starts[name], reduced[name], {placeholders[n]: forms[n] for n in needed}, counter
                )
                pending.remove(name)
                progress = True
    return forms


def _flagged(
    names: Sequence[str],
    placeholders: Mapping[str, Expr],
    starts: Mapping[str, Expr],
    ends: Mapping[str, Expr],
    invariant: Invariant,
    unknown: Callable[[str, Expr], Expr],
    steps: Steps,
    wraps: bool,
) -> Iterator[tuple[str, Form]]:
    """Variables that are stepped as long as a flag is set: their values where it is."""
    by_node = {placeholders[n]: n for n in names}
    for flag in flags({placeholders[n]: ends[n] for n in names}):
        for name in names:
            p, ty = placeholders[name], placeholders[name].ty

            def delta(way: Expr, p: Expr = p) -> Expr | None:
                return linear_delta(way, p, invariant)

            found = moved_under(ends[name], p, ends[by_node[flag]], delta, wraps)
            if found is not None and isinstance(ty, IntType):
                step, stepped = found
                # What keeps the flag set is asked of the variable, as a loop's test is.
                lasting = E.land(*(c for c in E.conjuncts(ends[by_node[flag]]) if c is not flag))
                kept = stays_in_range(starts[name], step, p, lasting, E.substitute(lasting, {stepped: p}))
                form = _affine_form(starts[name], ty, lambda k, step=step: E.mul(step, k), kept)

                def at(k: Expr, name: str = name, set_: str = by_node[flag], form: Form = form) -> Expr:
                    return E.select(unknown(set_, k), form.at(k), unknown(name, k))

                yield name, steps.guarded(Form(at, no_wrap=form.no_wrap, sized=form.sized), starts[name], step)


def _flipping(
    names: Sequence[str],
    placeholders: Mapping[str, Expr],
    starts: Mapping[str, Expr],
    ends: Mapping[str, Expr],
    forms: Mapping[str, Form],
) -> Iterator[tuple[str, Form]]:
    """Variables that change between two values whenever the number of a ring is a certain one."""
    one = E.const(1, I64)
    turns = {n: turn for n in forms if n in ends and (turn := turn_of(ends[n], placeholders[n])) is not None}
    for name, (ring, turn) in product(names, turns.items()):
        first = starts[ring]
        if turn.by is not one or first.op != "const" or not 0 <= first.value < turn.size:
            continue
        flip = flip_of(ends[name], placeholders[name], placeholders[ring], turn.size)
        if flip is None:
            continue
        number, end = flip
        start, ahead = starts[name], int(first.value) + turn.size - 1 - number
        values = start, E.substitute(end, {placeholders[name]: start})
        even, odd = values[::-1] if ahead >= turn.size else values

        def at(k: Expr, ahead: int = ahead, size: int = turn.size, even: Expr = even, odd: Expr = odd) -> Expr:
            return _parity(E.binary("div", E.add(k, E.const(ahead, I64)), E.const(size, I64)), even, odd)

        yield name, Form(at)


def _rotations(follows: Mapping[str, str]) -> Iterator[list[str]]:
    """Variables that pass their values around, each taking that of the next one: two that are swapped, and more."""
    left = set(follows)
    for name in follows:
        names = [name]
        while len(names) <= MAX_ROTATION and (other := follows.get(names[-1])) in left and other != name:
            names.append(other)
        if name in left and follows.get(names[-1]) == name and len(set(names)) == len(names) > 1:
            left -= {*names}
            yield names


def _rotating(starts: Sequence[Expr], names: Sequence[str]) -> dict[str, Form]:
    """What variables hold that pass on what they hold in front of the loop."""
    if len(names) == 2:
        a, b = starts
        return {names[0]: Form(lambda k: _parity(k, a, b)), names[1]: Form(lambda k: _parity(k, b, a))}
    size = len(names)
    n = E.const(size, I64)
    numbers = [int(s.value) if s.op == "const" and isinstance(s.ty, IntType) else -1 for s in starts]
    step = (numbers[1] - numbers[0]) % size
    if all(0 <= x < size and x == (numbers[0] + i * step) % size for i, x in enumerate(numbers)):
        # The numbers of a ring: as if each were counted on by itself.
        return {
            name: Form(lambda k, s=s: _ring_number(E.add(E.cast(s, I64), E.mul(E.const(step, I64), k)), n, s.ty))
            for name, s in zip(names, starts, strict=True)
        }

    def at(k: Expr, first: int) -> Expr:
        which = E.binary("rem", k, n)
        value = starts[(first + size - 1) % size]
        for turns in range(size - 2, -1, -1):
            value = E.select(E.compare("eq", which, E.const(turns, I64)), starts[(first + turns) % size], value)
        return value

    return {name: Form(lambda k, i=i: at(k, i)) for i, name in enumerate(names)}


def _ring_number(value: Expr, size: Expr, ty: object) -> Expr:
    assert isinstance(ty, IntType)
    return E.narrow(E.binary("rem", value, size), ty)


def _recomputed(start: Expr, end: Expr, inputs: Mapping[Expr, Form], counter: Expr) -> Form:
    """A variable assigned from others in each iteration: its start, then the value of the iteration before."""

    def at(k: Expr) -> Expr:
        before = E.sub(k, E.const(1, I64))
        value = E.substitute(end, {counter: before, **{p: f.at(before) for p, f in inputs.items()}})
        return E.select(E.compare("eq", k, E.const(0, I64)), start, value)

    return Form(at, previous=True)


def not_past(condition: Expr, counter: Expr, left_elsewhere: bool) -> Expr:
    """What a test ``a != b`` with an affine difference says of all iterations so far: the difference has not passed
    zero.

    A loop that stepped over its bound would go on until its variable wraps around, which ``NO_WRAP`` excludes, unless
    it is ``left_elsewhere``, by another part of the test or a jump: then only steps of one do not pass zero."""
    zero = E.const(0, I64)
    out = E.TRUE
    parts = E.conjuncts(condition)
    for c in parts:
        if c.op != "ne" or not isinstance(c.args[0].ty, IntType) or not all(_affine(a, counter) for a in c.args):
            continue
        now = E.sub(E.cast(c.args[0], I64), E.cast(c.args[1], I64))
        if counter not in E.symbols(now):
            continue
        if (left_elsewhere or len(parts) > 1) and _slope(now, counter) not in (1, -1):
            continue
        first = E.substitute(now, {counter: zero})
        below = E.land(E.compare("lt", first, zero), E.compare("lt", now, zero))
        above = E.land(E.compare("lt", zero, first), E.compare("lt", zero, now))
        out = E.land(out, E.lor(below, above))
    return out


def _slope(e: Expr, k: Expr) -> int | None:
    """By how much something linear in ``k`` grows with it, where that is a number."""
    if k not in E.symbols(e):
        return 0
    if e is k:
        return 1
    slopes = [_slope(a, k) for a in e.args]
    if None in slopes:
        return None
    if e.op in ("neg", "narrow", "cast"):
        (one,) = slopes
        return None if one is None else -one if e.op == "neg" else one
    if e.op == "mul":
        by = next((a for a in e.args if a.op == "const"), None)
        return None if by is None else by.value * sum(each or 0 for each in slopes)
    if e.op in ("add", "sub"):
        one, two = (each or 0 for each in slopes)
        return one + two if e.op == "add" else one - two
    return None


def _affine(e: Expr, k: Expr) -> bool:
    """``e`` is linear in ``k``, syntactically."""
    if e is k or k not in E.symbols(e):
        return not any(n.op == "opaque" and k in E.symbols(*n.args) for n in E.walk((e,)))
    if e.op in ("add", "sub", "neg", "narrow"):
        return all(_affine(a, k) for a in e.args)
    if e.op == "cast":
        inner, outer = e.args[0].ty, e.ty
        wide = isinstance(inner, IntType) and isinstance(outer, IntType) and outer.width > inner.width
        return wide and _affine(e.args[0], k)
    if e.op == "mul":
        a, b = e.args
        return (_affine(a, k) and k not in E.symbols(b)) or (_affine(b, k) and k not in E.symbols(a))
    return False
