"""What facts say, and which of them matter to a kernel.

Takes conditions over host values; derives plainer ones from sizes, brings comparisons to the width they were made in,
and leaves out facts that cannot restrict anything the kernel sees. Leaving a fact out is always safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from analyzers.ir import expr as ex
from analyzers.ir.context import Constraint
from analyzers.ir.expr import BOOL, TRUE, Expr, IntType

_MOST_FACTS = 60
_MOST_REMEMBERED = 20_000
"""Conditions of which it is remembered what they bound."""
_UP, _DOWN = "up", "down"


def relevant(facts: Sequence[Constraint], visible: Sequence[Expr], most: int = _MOST_FACTS) -> list[Constraint]:
    """Facts connected by shared numbers to the values a kernel sees, so many at ``most``.

    Conditions of branches (BOOL symbols) connect too much to count as a link; a fact of such symbols alone is kept
    where the kernel's values depend on all of them.
    """
    reached = set(ex.symbols(*visible))
    waiting = [(c, ex.symbols(c.condition)) for c in facts]
    numbers = [frozenset(s for s in symbols if s.ty != BOOL) for _, symbols in waiting]
    kept: set[int] = set()
    changed = True
    while changed and len(kept) < most:
        changed = False
        frontier = frozenset(reached)
        for index, (_, symbols) in enumerate(waiting):
            if index in kept or len(kept) >= most:
                continue
            if numbers[index] & frontier if numbers[index] else symbols <= frontier:
                kept.add(index)
                reached |= symbols
                changed = True
    return _without_idle_bounds([waiting[index][0] for index in sorted(kept)], frozenset(ex.symbols(*visible)))


def _without_idle_bounds(facts: list[Constraint], visible: frozenset[Expr]) -> list[Constraint]:
    """Drop bounds on numbers the kernel does not see, bounded from one side only: they can always be met."""
    directions = [_directions(fact.condition) for fact in facts]
    left = dict(enumerate(facts))
    while True:
        mentioned: dict[Expr, list[int]] = {}
        for index in left:
            for symbol in directions[index]:
                if symbol.ty != BOOL and symbol not in visible:
                    mentioned.setdefault(symbol, []).append(index)
        idle: set[int] = set()
        for symbol, indices in mentioned.items():
            found = {directions[index][symbol] for index in indices}
            if len(found) == 1 and None not in found:
                idle.update(indices)
        if not idle:
            return list(left.values())
        for index in idle:
            del left[index]


@lru_cache(maxsize=_MOST_REMEMBERED)
def _directions(condition: Expr) -> Mapping[Expr, str | None]:
    """For each symbol of a condition, whether making it large enough, or small enough, satisfies the condition whatever
    else holds."""
    out: dict[Expr, str | None]
    if condition.op == "lor":
        out = {}
        for part in condition.args:
            for symbol, direction in _directions(part).items():
                out[symbol] = direction if out.get(symbol, direction) == direction else None
        return out
    out = dict.fromkeys(ex.symbols(condition))
    if condition.op in ("lt", "le"):
        small, large = condition.args
        if large in out and large not in ex.symbols(small):
            out[large] = _UP
        if small in out and small not in ex.symbols(large):
            out[small] = _DOWN
    return out


def parts_of(condition: Expr) -> Iterator[Expr]:
    """What a condition says, each by itself: ``!(a || b)`` is ``!a`` and ``!b``."""
    stack = [condition]
    while stack:
        top = stack.pop()
        if top.op == "land":
            stack.extend(reversed(top.args))
        elif top.op == "lnot" and top.args[0].op == "lor":
            stack.extend(ex.lnot(a) for a in reversed(top.args[0].args))
        elif top is not TRUE:
            yield top


def without_widening(e: Expr) -> Expr:
    """Comparisons of a widened number with a constant, made where it was narrow: ``i64(n) < 5`` is ``n < 5``."""
    if e.op in ("land", "lor", "lnot"):
        return ex.rebuild(e, tuple(without_widening(a) for a in e.args))
    if e.op not in ("eq", "ne", "lt", "le"):
        return e
    a, b = e.args
    for wide, constant, swapped in ((a, b, False), (b, a, True)):
        if wide.op != "cast" or constant.op != "const" or not isinstance(wide.ty, IntType):
            continue
        inner = wide.args[0]
        if not isinstance(inner.ty, IntType) or inner.ty.width < 8 or not _holds_all(wide.ty, inner.ty):
            continue
        if inner.ty.low <= constant.value <= inner.ty.high:
            narrow = ex.const(constant.value, inner.ty)
            return without_widening(ex.compare(e.op, *((narrow, inner) if swapped else (inner, narrow))))
    return e


def _holds_all(outer: IntType, inner: IntType) -> bool:
    return outer.low <= inner.low and inner.high <= outer.high


def factors_positive(size: Expr) -> list[Expr]:
    """What a 64-bit size between 1 and 2**47 says about the numbers it was multiplied from.

    No factor is zero. A lone signed 32-bit factor, sign-extended, is not negative either: its product with small
    constants cannot wrap around to a small number again.
    """
    factors: list[Expr] = []
    constant = 1
    stack = [size]
    while stack:
        top = stack.pop()
        if top.op == "mul":
            stack.extend(top.args)
        elif top.op == "const":
            constant *= top.value
        elif top.op == "cast" and _keeps_sign(top):
            stack.append(top.args[0])
        else:
            factors.append(top)
    if not 0 < constant < 2**30:
        return []
    out: list[Expr] = []
    for factor in factors:
        ty = factor.ty
        if not isinstance(ty, IntType) or ty.width == 1:
            continue
        if len(factors) == 1 and ty.width <= 32:
            out.append(ex.compare("le", ex.const(1, ty), factor))
        else:
            out.append(ex.compare("ne", factor, ex.const(0, ty)))
    return out


def factors_small(size: Expr) -> list[Expr]:
    """What the signed products in a size say about a number that is multiplied with itself.

    C++ signed arithmetic does not overflow: with ``int n``, a size of ``n * n * sizeof(float)`` is computed for
    ``abs(n) <= 46340`` only."""
    out: list[Expr] = []
    stack = [size]
    while stack:
        top = stack.pop()
        ty = top.ty
        if top.op == "mul" and isinstance(ty, IntType) and ty.signed and ty.width >= 32:
            factors = [f for f in _factors(top) if f.op != "const"]
            if len(factors) > 1 and len(set(factors)) == 1:
                limit = ex.const(_root(ty.high, len(factors)), ty)
                out += [ex.compare("le", ex.neg(limit), factors[0]), ex.compare("le", factors[0], limit)]
        elif top.op in ("mul", "cast"):
            stack.extend(top.args)
    return out


def _factors(product: Expr) -> list[Expr]:
    if product.op != "mul":
        return [product]
    return [factor for part in product.args for factor in _factors(part)]


def _root(limit: int, power: int) -> int:
    """The largest number whose power is within the limit."""
    low, high = 1, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**power <= limit else (low, middle - 1)
    return low


def _keeps_sign(conversion: Expr) -> bool:
    """Whether a negative number stays negative, or becomes one that no allocation has as its size."""
    inner, outer = conversion.args[0].ty, conversion.ty
    if not isinstance(inner, IntType) or not isinstance(outer, IntType) or inner.width == 1:
        return False
    return outer.width == 64 if inner.signed else inner.width <= outer.width
