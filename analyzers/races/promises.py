"""What users promise of arrays (``assume injective(idx)``, ``assume disjoint(a, b)``), put into the question about a
pair.

Both become facts with the tag of the comment, so that a proof that needs one cites it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from analyzers.ir import expr as E
from analyzers.ir.context import promise
from analyzers.ir.expr import Expr
from analyzers.races.pairs import Pair
from analyzers.races.threads import Launch
from analyzers.solve.query import Fact

MAX_ELEMENTS = 12
"""Elements of one array in a question of which every two are told apart."""


def injective_facts(launch: Launch, conjuncts: Iterable[Expr]) -> list[Fact]:
    """Two elements of an injective array that nobody writes are equal only at one index."""
    out: list[Fact] = []
    for tag, kind, names in launch.promises:
        if kind != "injective":
            continue
        elements: dict[str, list[Expr]] = {}
        for node in sorted(E.symbols(*conjuncts), key=lambda n: n.rank):
            if node.op == "opaque" and node.value[0].startswith(f"mem:{names[0]}:") and len(node.args) == 1:
                elements.setdefault(node.value[0], []).append(node)
        for found in elements.values():
            for one, two in combinations(found[:MAX_ELEMENTS], 2):
                same = E.compare("eq", one.args[0], two.args[0])
                out.append(Fact(E.lor(same, E.compare("ne", one, two)), tag))
    return [f for f in out if f.condition is not E.TRUE]


def disjoint(launch: Launch, pair: Pair) -> tuple[Expr, Fact] | None:
    """For accesses of arrays that have no byte in common: a conjunct and a fact that contradict each other."""
    roots = (pair.one.root, pair.two.root)
    if not launch.promises or any(r.op != "addr" for r in roots) or roots[0] is roots[1]:
        return None
    for tag, kind, names in launch.promises:
        if kind == "disjoint" and {r.value for r in roots} <= set(names):
            common = promise("common", tuple(sorted(r.value for r in roots)))
            return common, Fact(E.lnot(common), tag)
    return None
