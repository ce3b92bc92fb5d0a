"""Bottom-up rewriting of expressions: operands replaced, nodes folded again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analyzers.ir.folding import (
    binary,
    bitnot,
    cast,
    compare,
    land,
    lnot,
    lor,
    narrow,
    neg,
    pointer_of_integer,
    ptradd,
    select,
)
from analyzers.ir.node import Expr, IntType, make, walk


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """``e`` with other operands, folded again."""
    op = e.op
    if op in ("add", "sub", "mul", "div", "rem", "shl", "shr", "and", "or", "xor", "min", "max"):
        return binary(op, *args)
    if op in ("eq", "ne", "lt", "le"):
        return compare(op, *args)
    if op == "land":
        return land(*args)
    if op == "lor":
        return lor(*args)
    if op == "lnot":
        return lnot(*args)
    if op == "select":
        return select(*args)
    if op == "cast":
        return cast(args[0], e.ty)
    if op == "narrow" and isinstance(e.ty, IntType):
        return narrow(args[0], e.ty)
    if op == "neg":
        return neg(args[0])
    if op == "not":
        return bitnot(args[0])
    if op == "ptradd":
        return ptradd(*args)
    if op == "call" and e.value == "inttoptr":
        return pointer_of_integer(args[0])
    return make(op, e.ty, args, e.value)


def rewrite(e: Expr, leaf: Callable[[Expr], Expr | None], memo: dict[int, Expr] | None = None) -> Expr:
    """Bottom-up rewriting: ``leaf(node)`` gives a replacement for a node (not descended into), or None to rebuild
    it."""
    memo = {} if memo is None else memo
    known = memo.get(e.key)
    if known is not None:
        return known
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if node.key in memo:
            continue
        if not ready:
            replacement = leaf(node)
            if replacement is not None:
                memo[node.key] = replacement
                continue
            if not node.args:
                memo[node.key] = node
                continue
            stack.append((node, True))
            stack.extend((a, False) for a in node.args if a.key not in memo)
        else:
            args = tuple([memo[a.key] for a in node.args])
            memo[node.key] = node if args == node.args else rebuild(node, args)
    return memo[e.key]


def substitute(e: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """Replace leaves (or whole subexpressions) by identity."""
    return substitution(mapping)(e)


def substitution(mapping: Mapping[Expr, Expr]) -> Callable[[Expr], Expr]:
    """The same for many expressions that share parts."""
    memo: dict[int, Expr] = {}
    leaves = all(k.op == "sym" for k in mapping)

    def replaced(e: Expr) -> Expr:
        if not mapping or (leaves and symbols(e).isdisjoint(mapping)):
            return e
        return rewrite(e, mapping.get, memo)

    return replaced


_bits: dict[str, int] = {}
"""By operation."""
_operations_below: dict[int, int] = {}
"""By key: the bits of what is computed in an expression."""


def operations(*names: str) -> int:
    """A set of operations, for ``uses``."""
    mask = 0
    for name in names:
        mask |= _bits.setdefault(name, 1 << len(_bits))
    return mask


def uses(roots: Iterable[Expr], wanted: int) -> bool:
    """Whether one of the operations ``wanted`` is in or below ``roots`` (memoised for each node)."""
    for root in roots:
        found = _operations_below.get(root.key)
        if found is None:
            for node in walk((root,), _operations_below):
                found = _bits.get(node.op) or operations(node.op)
                for a in node.args:
                    found |= _operations_below[a.key]
                _operations_below[node.key] = found
            found = _operations_below[root.key]
        if found & wanted:
            return True
    return False


_symbols_below: dict[int, frozenset[Expr]] = {}


def symbols(*roots: Expr) -> frozenset[Expr]:
    """The ``sym`` and ``opaque`` nodes below (memoised for each root)."""
    if len(roots) == 1:
        return _below(roots[0])
    return frozenset[Expr]().union(*map(_below, roots))


def _below(root: Expr) -> frozenset[Expr]:
    found = _symbols_below.get(root.key)
    if found is None:
        found = frozenset(n for n in walk((root,)) if n.op in ("sym", "opaque"))
        _symbols_below[root.key] = found
    return found
