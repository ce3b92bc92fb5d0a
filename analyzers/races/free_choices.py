"""Facts about choices of the host that nothing else depends on.

The conditions under which a launch is reached speak of what the host compares: of files, of tables, of paths that were
not followed. Such a choice (a boolean symbol of the host that no argument and no dimension is made of) may be what it
has to be. Where all facts want it to be the same, it is: those that it satisfies say nothing any more, and whatever
satisfies the others satisfies all (the rule of pure literals of Davis and Putnam).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from analyzers.ir import expr as E
from analyzers.ir.expr import BOOL, Expr
from analyzers.solve.query import Fact

_POSITIVE, _NEGATIVE = 1, 2


def without_free_choices(facts: list[Fact], used: Collection[Expr]) -> list[Fact]:
    """The facts with choices made; those that hold then are TRUE. ``used``: symbols that others than facts speak of."""
    while True:
        wanted = _wanted([f.condition for f in facts])
        made = {s: E.TRUE if w == _POSITIVE else E.FALSE for s, w in wanted.items() if w in _ONE_WAY and s not in used}
        if not made:
            return facts
        facts = [replace(f, condition=E.substitute(f.condition, made)) for f in facts]


_ONE_WAY = (_POSITIVE, _NEGATIVE)


def _wanted(conditions: list[Expr]) -> dict[Expr, int]:
    """The ways in which conditions depend on choices: whether they may hold because of what is true, false, or both."""
    found: dict[Expr, int] = {}
    seen: set[tuple[int, int]] = set()
    stack = [(c, _POSITIVE) for c in conditions]
    while stack:
        e, ways = stack.pop()
        if (e.key, ways) in seen:
            continue
        seen.add((e.key, ways))
        if _is_choice(e):
            found[e] = found.get(e, 0) | ways
        elif e.op == "lnot":
            stack.append((e.args[0], ways if ways not in _ONE_WAY else _POSITIVE + _NEGATIVE - ways))
        elif e.op in ("land", "lor"):
            stack += [(a, ways) for a in e.args]
        elif e.op == "select" and e.ty == BOOL:
            stack.append((e.args[0], _POSITIVE | _NEGATIVE))
            stack += [(a, ways) for a in e.args[1:]]
        else:
            stack += [(a, _POSITIVE | _NEGATIVE) for a in e.args]
    return found


def _is_choice(e: Expr) -> bool:
    return e.op == "sym" and e.ty == BOOL and e.value.startswith("host:")
