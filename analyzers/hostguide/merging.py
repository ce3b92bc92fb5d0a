"""Launches that let a kernel do the same are one.

Contexts are equal whatever the objects are called that the host passes; those of one launch in the source, to which
several ways lead, also whatever the values are called: callers have names of their own for the same rows and columns.
A way on which more is known of the same values allows nothing that the others do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from analyzers.hostguide.exprtree import is_of_host
from analyzers.ir import expr as ex
from analyzers.ir.context import LaunchContext
from analyzers.ir.expr import Expr
from analyzers.ir.node import COMMUTATIVE


class Merged:
    """Contexts of one kernel: those with identical facts once, and of one launch in the source none that another one
    includes, because that has fewer facts. What is assumed for any of those is assumed for the one that is left."""

    def __init__(self) -> None:
        self._exact: set[object] = set()
        self._forms: dict[object, int] = {}
        self._alike: dict[object, dict[frozenset[int], LaunchContext]] = {}

    def add(self, contexts: Iterable[LaunchContext]) -> None:
        for context in contexts:
            exactly = _exactly(context)
            if exactly not in self._exact:
                self._exact.add(exactly)
                values, facts = _nameless(context, self._forms)
                _include(self._alike.setdefault(values, {}), facts, context)

    def __len__(self) -> int:
        return sum(map(len, self._alike.values()))

    def __iter__(self) -> Iterator[LaunchContext]:
        for group in self._alike.values():
            yield from group.values()


def merged(contexts: Iterable[LaunchContext]) -> tuple[LaunchContext, ...]:
    """The contexts that are left of these."""
    found = Merged()
    found.add(contexts)
    return tuple(found)


def _include(group: dict[frozenset[int], LaunchContext], facts: frozenset[int], context: LaunchContext) -> None:
    """Add a context to those of one launch with the same values."""
    wider = next((known for known in group if known <= facts), None)
    if wider is not None:
        group[wider] = _also_assuming(group[wider], context)
        return
    for narrower in [known for known in group if facts < known]:
        context = _also_assuming(context, group.pop(narrower))
    group[facts] = context


def _also_assuming(context: LaunchContext, other: LaunchContext) -> LaunchContext:
    assumptions = tuple(dict.fromkeys((*context.assumptions, *other.assumptions)))
    return replace(context, assumptions=assumptions) if assumptions != context.assumptions else context


def _exactly(context: LaunchContext) -> object:
    conditions = frozenset(c.condition for c in context.constraints)
    offsets = tuple((a.offset, a.size) for _, a in context.pointers)
    return context.bindings, conditions, offsets, _shape(context), context.assumptions


def _shape(context: LaunchContext) -> object:
    """All but values, conditions and assumptions; what the objects are called that pointers and variables point into
    does not matter, which of them are the same does."""
    numbers: dict[str | None, int] = {}

    def number(allocation: str | None) -> int | None:
        return None if allocation is None else numbers.setdefault(allocation, len(numbers))

    return (
        tuple((n, number(a.allocation)) for n, a in context.pointers),
        tuple((n, number(allocation)) for n, allocation in context.variables),
        tuple((n, number(allocation)) for n, allocation in context.stored),
        context.uncertain,
        context.cooperative,
    )


def _nameless(context: LaunchContext, forms: dict[object, int]) -> tuple[object, frozenset[int]]:
    """What is passed at a place in the source, and the facts, with the host's values numbered in an order to which
    their names add nothing. ``forms`` holds what was seen of expressions."""
    values = [v for _, v in context.bindings]
    values += [e for _, a in context.pointers for e in (a.offset, a.size) if e is not None]
    conditions = [c.condition for c in context.constraints]
    numbers: dict[Expr, int] = {}
    for value in values:
        if is_of_host(value):
            numbers.setdefault(value, len(numbers))
    before = _forms_of((*values, *conditions), numbers, forms)
    # Dimensions come first, and many are sums and maxima of what is passed.
    for root in (*reversed(values), *sorted(conditions, key=lambda c: before[c.key])):
        _number(root, before, numbers)
    after = _forms_of((*values, *conditions), numbers, forms)
    span = context.summary.span
    passed = (
        (span.path, span.start_offset, span.end_offset) if span is not None else None,
        tuple((s, after[v.key]) for s, v in context.bindings),
        tuple(None if e is None else after[e.key] for _, a in context.pointers for e in (a.offset, a.size)),
        _shape(context),
    )
    return passed, frozenset(after[c.key] for c in conditions)


def _forms_of(roots: Iterable[Expr], numbers: Mapping[Expr, int], forms: dict[object, int]) -> dict[int, int]:
    """A number for each node below ``roots``: equal for those that differ in the order of operands, and in the names of
    host values with equal ``numbers`` or none."""
    found: dict[int, int] = {}
    for node in ex.walk(roots):
        below = [found[a.key] for a in node.args]
        if node.op in COMMUTATIVE:
            below.sort()
        value = ("host", numbers.get(node)) if is_of_host(node) else repr(node.value)
        found[node.key] = forms.setdefault((node.op, node.ty, value, tuple(below)), len(forms))
    return found


def _number(root: Expr, forms: Mapping[int, int], numbers: dict[Expr, int]) -> None:
    """Number the host's values as they are met below ``root``."""
    stack = [root]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        if is_of_host(node):
            numbers.setdefault(node, len(numbers))
        operands = sorted(node.args, key=lambda a: forms[a.key]) if node.op in COMMUTATIVE else node.args
        stack.extend(reversed(operands))
