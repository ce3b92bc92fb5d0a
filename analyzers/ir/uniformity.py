"""Which values are the same for every thread of a group.

``varying(e)`` gives the largest group within which the value of ``e`` is one: ``grid`` (all threads agree),
``block``, ``warp`` or ``thread``
(no two need agree). Loop counters count as agreed: the question is asked for threads in equal iterations.
"""

from __future__ import annotations

from analyzers.ir.expr import Expr, walk

LEVELS = ("thread", "warp", "block", "grid")
_RANK = {name: i for i, name in enumerate(LEVELS)}
_memo: dict[int, int] = {}


def narrower(a: str, b: str) -> str:
    """The smaller of two groups."""
    return a if _RANK[a] <= _RANK[b] else b


def _leaf(e: Expr) -> int:
    if e.op == "sym":
        name: str = e.value
        if name.startswith("tid."):
            return 0
        if name.startswith("bid."):
            return 2
    elif e.op == "var":
        return 0
    elif e.op == "opaque":
        return _RANK[e.value[1]]
    return 3


def varying(e: Expr) -> str:
    """The largest group that agrees on ``e``."""
    found = _memo.get(e.key)
    if found is None:
        for node in walk((e,), _memo):
            level = _leaf(node)
            for a in node.args:
                level = min(level, _memo[a.key])
            _memo[node.key] = level
        found = _memo[e.key]
    return LEVELS[found]


def is_uniform(e: Expr, group: str = "block") -> bool:
    """All threads of each ``group`` agree on ``e``."""
    return _RANK[varying(e)] >= _RANK[group]
