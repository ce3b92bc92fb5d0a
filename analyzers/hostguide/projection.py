"""A launch as the kernel sees it: what only the host knows is projected away.

Takes the values that a launch passes and the facts of its path; gives values and facts in fewer unknowns that allow the
kernel the same launches. Two things are done, each an elimination of unknowns that the kernel does not see:

- a choice among unknowns that occur nowhere else (``graph ? a.dim : b.dim``) can have any value, whatever it is chosen
  by: it is an unknown itself;
- facts that some choice of such unknowns meets, whatever the others are, restrict nothing (an *autarky*, in the words
  of satisfiability).

What paths through a host program have in common is then the same in all launches, and much of what a path was chosen by
is gone. Facts that stay are as they were, so that a proof can cite them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from analyzers.hostguide.exprtree import LONGEST_NAME, host_name, is_of_host, written
from analyzers.ir import expr as ex
from analyzers.ir.context import Constraint
from analyzers.ir.expr import BOOL, TRUE, Expr, IntType

_MOST_CHOICES = 400
"""Terms that are tried to meet facts which hang together."""
_MOST_TOGETHER = 100
"""Facts that hang together beyond which nothing is tried."""
_MOST_VALUES = 16
"""Values that are tried for one number."""
_MOST_REMEMBERED = 20_000
"""Conditions of which it is remembered what they compare."""

Term = frozenset[tuple[Expr, bool]]
"""Truth values of unknowns that together meet a fact."""


def freely_chosen(roots: Sequence[Expr]) -> dict[Expr, Expr]:
    """Choices (``select`` nodes below ``roots``) that may have any value, and the unknown that each one is.

    All values that such a choice leads to are unknowns of its own type which occur in it alone: let them be equal, and
    it does not matter which is taken."""
    users: dict[int, set[int]] = defaultdict(set)
    choices: list[Expr] = []
    for node in ex.walk(roots):
        for a in node.args:
            users[a.key].add(node.key)
        if node.op == "select" and isinstance(node.ty, IntType):
            choices.append(node)
    passed = {root.key for root in roots}
    free: dict[Expr, Expr] = {}
    inside: set[int] = set()
    for node in reversed(choices):
        if node.key in inside:
            continue
        leaves = _leaves_of_its_own(node, users, passed, inside)
        if leaves:
            number = str(leaves[0].value).split(":", 2)[1]
            free[node] = ex.sym(f"host:any{number}:{_name(node, leaves)}", node.ty)
    return free


def _name(choice: Expr, leaves: Sequence[Expr]) -> str:
    """What a reader takes for the value of a choice: not one of the things that it is made among."""
    names = list(dict.fromkeys(host_name(str(leaf.value)) for leaf in leaves))
    text = f"({written(choice)})"
    return names[0] if len(names) == 1 else text if len(text) <= LONGEST_NAME else f"{names[0][:32]} or another"


def _leaves_of_its_own(choice: Expr, users: Mapping[int, set[int]], passed: set[int], inside: set[int]) -> list[Expr]:
    """The unknowns that a choice leads to, if it leads to nothing else and they are used by nothing else; then the
    choices in it are noted as ``inside``."""
    tree: dict[int, Expr] = {}
    leaves: dict[int, Expr] = {}
    stack = [choice]
    while stack:
        node = stack.pop()
        if node.op == "select":
            if node.key not in tree:
                tree[node.key] = node
                stack.extend(node.args[1:])
        elif is_of_host(node):
            leaves[node.key] = node
        else:
            return []
    conditions = {node.args[0].key for node in tree.values()}
    for key in (*tree, *leaves):
        if key != choice.key and (key in passed or key in conditions or not users[key] <= tree.keys()):
            return []
    inside.update(tree)
    return sorted(leaves.values(), key=lambda s: s.rank)


def without_the_unseen(facts: Sequence[Constraint], visible: Sequence[Expr]) -> list[Constraint]:
    """The facts, but for those that some values of unknowns which the kernel does not see always meet."""
    seen = ex.symbols(*visible)
    left = list(facts)
    while True:
        before = left
        left = _without_met_numbers(left, seen)
        left = _without_met_truths(left, seen)
        if len(left) == len(before):
            return left


# --- numbers


def _unseen(
    facts: Sequence[Constraint], seen: frozenset[Expr], wanted: Callable[[Expr], bool]
) -> dict[Expr, list[int]]:
    """The facts by the unknowns of the host that they speak of and the kernel does not see, but for those that
    something not understood depends on."""
    found: dict[Expr, list[int]] = {}
    for index, fact in enumerate(facts):
        for s in ex.symbols(fact.condition):
            if s not in seen and is_of_host(s) and wanted(s):
                found.setdefault(s, []).append(index)
    below = ex.symbols(*(a for f in facts for n in ex.symbols(f.condition) if n.op == "opaque" for a in n.args))
    return {s: found[s] for s in sorted(found, key=lambda s: s.rank) if s not in below}


def _is_number(s: Expr) -> bool:
    return isinstance(s.ty, IntType) and s.ty != BOOL


def _without_met_numbers(facts: list[Constraint], seen: frozenset[Expr]) -> list[Constraint]:
    """All facts about a number are left out that one value of it meets."""
    left = dict(enumerate(facts))
    for s, indices in _unseen(facts, seen, _is_number).items():
        about = [left[i] for i in indices if i in left]
        if any(_meets({s: value}, about) for value in _values_compared(s, about)):
            for i in indices:
                left.pop(i, None)
    return list(left.values())


def _meets(values: Mapping[Expr, Expr], facts: Iterable[Constraint]) -> bool:
    meant = ex.substitution(values)
    return all(meant(f.condition) is TRUE for f in facts)


def _values_compared(s: Expr, facts: Sequence[Constraint]) -> list[Expr]:
    """Constants that a number is compared with, and those beside them."""
    assert isinstance(s.ty, IntType)
    found: dict[int, None] = {}
    for fact in facts:
        for value in _comparisons(fact.condition).get(s, ()):
            found.update(dict.fromkeys((value, value + 1, value - 1)))
    fitting = [v for v in found if s.ty.low <= v <= s.ty.high]
    return [ex.const(v, s.ty) for v in fitting[:_MOST_VALUES]]


@lru_cache(maxsize=_MOST_REMEMBERED)
def _comparisons(condition: Expr) -> Mapping[Expr, Sequence[int]]:
    """By what is compared: the constants that it is compared with."""
    found: dict[Expr, list[int]] = {}
    for node in ex.walk((condition,)):
        if node.op in ("eq", "ne", "lt", "le"):
            for one, other in (node.args, node.args[::-1]):
                if other.op == "const":
                    found.setdefault(one, []).append(int(other.value))
    return found


# --- truths


def _without_met_truths(facts: list[Constraint], seen: frozenset[Expr]) -> list[Constraint]:
    """All facts about some truth values are left out that a choice of these meets."""
    free = set(_unseen(facts, seen, lambda s: s.ty == BOOL))
    left = dict(enumerate(facts))
    terms = {i: _terms(f.condition, free) for i, f in left.items()}
    while free:
        touched = {i: ex.symbols(f.condition) & free for i, f in left.items()}
        together = _connected({i: t for i, t in touched.items() if t})
        if not together:
            break
        lost: set[Expr] = set()
        for group in together:
            if len(group) > _MOST_TOGETHER:
                lost.update(*(touched[i] for i in group))
                continue
            able = {i: [t for t in terms[i] if all(s in free for s, _ in t)] for i in group}
            unmet = _unmet(able)
            if unmet is None:
                for i in group:
                    del left[i]
            else:
                lost |= touched[unmet]
        free -= lost
        if not lost:
            break
    return list(left.values())


def _terms(condition: Expr, free: set[Expr]) -> list[Term]:
    """Ways to meet a condition by truth values of ``free`` unknowns alone, simple ones first."""
    alternatives = _alternatives(condition)
    if len(alternatives) > 1:
        return sorted((t for a in alternatives for t in _terms(a, free)), key=len)
    literals: dict[Expr, bool] = {}
    stack = [condition]
    while stack:
        part = stack.pop()
        if part.op == "land":
            stack.extend(part.args)
            continue
        wanted = part.op != "lnot"
        s = part if wanted else part.args[0]
        if s not in free or literals.get(s, wanted) != wanted:
            return []
        literals[s] = wanted
    return [frozenset(literals.items())]


def _alternatives(condition: Expr) -> list[Expr]:
    """The operands of nested disjunctions; ``!(a && b)`` is ``!a || !b``."""
    found: list[Expr] = []
    stack = [condition]
    while stack:
        top = stack.pop()
        if top.op == "lor":
            stack.extend(reversed(top.args))
        elif top.op == "lnot" and top.args[0].op == "land":
            stack.extend(ex.lnot(a) for a in reversed(top.args[0].args))
        else:
            found.append(top)
    return found


def _connected(touched: Mapping[int, frozenset[Expr]]) -> list[list[int]]:
    """The facts that hang together by unknowns."""
    groups: list[tuple[set[Expr], list[int]]] = []
    for index, symbols in touched.items():
        joined: tuple[set[Expr], list[int]] = (set(symbols), [index])
        apart: list[tuple[set[Expr], list[int]]] = []
        for group in groups:
            if group[0] & symbols:
                joined = (joined[0] | group[0], group[1] + joined[1])
            else:
                apart.append(group)
        groups = [*apart, joined]
    return [sorted(members) for _, members in groups]


def _unmet(able: Mapping[int, Sequence[Term]]) -> int | None:
    """None if truth values exist that meet all facts, each by one of its terms; else a fact that was in the way."""
    budget = _MOST_CHOICES
    deepest = (-1, min(able, key=lambda i: (len(able[i]), i)))

    def meet(open_facts: list[int], values: dict[Expr, bool], depth: int) -> bool:
        nonlocal budget, deepest
        choices = {
            i: [t for t in able[i] if all(values.get(s, v) == v for s, v in t)]
            for i in open_facts
            if not any(all(values.get(s) == v for s, v in t) for t in able[i])
        }
        if not choices:
            return True
        tight = min(choices, key=lambda i: (len(choices[i]), i))
        if depth > deepest[0]:
            deepest = (depth, tight)
        for term in choices[tight]:
            budget -= 1
            if budget < 0:
                return False
            if meet([i for i in choices if i != tight], {**values, **dict(term)}, depth + 1):
                return True
        return False

    return None if meet(sorted(able), {}, 0) else deepest[1]
