"""Conditional bodies between two accesses that every thread enters which makes either access.

Takes the gaps between the accesses and the conditions around these, gives the gaps inside of conditionals on the way
whose conditions are among them. AutoSync leaves such places out, because it does not look at guards; they are the
cheapest there are (``if (i < 10)`` in a loop of twenty). That the condition still says the same on the way, and is the
same for all threads, the engine finds out: these are proposals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analyzers.frontend.gaps import Body, Statement, Step, gaps_of
from quickfix.paths import Candidate, Chain


def inside_conditionals(
    candidates: Sequence[Candidate], chains: Sequence[Chain], texts: Mapping[str, bytes]
) -> list[Candidate]:
    """Gaps inside of the conditionals that stand between two neighbouring `candidates`."""
    if not chains:
        return []
    known = frozenset[bytes].intersection(*(frozenset(_around(chain, texts)) for chain in chains))
    if not known:
        return []
    keys = {c.key for c in candidates}
    found: list[Candidate] = []
    for candidate in candidates:
        statement = candidate.gap.after
        path, start, index = candidate.key
        if statement is not None and (path, start, index + 1) in keys:
            found += _inside(candidate, statement, known, texts[path])
    return found


def _inside(before: Candidate, statement: Statement, known: frozenset[bytes], text: bytes) -> Iterable[Candidate]:
    gap = before.gap
    own = _conjuncts(statement, text)
    if not own or not own <= known:
        return
    steps = (*gap.steps, Step(gap.body, gap.index))
    for inner in gaps_of(_then(statement), steps, gap.function):
        yield replace(before, gap=inner, conditionals=before.conditionals + 1)


def _then(statement: Statement) -> Body:
    return next(b for b in statement.bodies if b.role == "then")


def _around(chain: Chain, texts: Mapping[str, bytes]) -> Iterable[bytes]:
    """The conditions of all conditionals in whose first branch an access stands."""
    for level in chain:
        if level.owner is not None and level.body.role == "then":
            yield from _conjuncts(level.owner, texts[level.function.path])


def _conjuncts(statement: Statement, text: bytes) -> frozenset[bytes]:
    """What is joined by `&&` in the condition of an `if`, without spaces; nothing where that cannot be read."""
    if statement.kind != "if" or statement.macro or not any(b.role == "then" for b in statement.bodies):
        return frozenset()
    head = text[statement.keyword : statement.head_end]
    opening, closing = head.find(b"("), head.rfind(b")")
    if opening < 0 or closing < opening or b"#" in head or b"/" in head or b";" in head:
        return frozenset()
    parts: list[bytes] = [b""]
    depth = 0
    condition = head[opening + 1 : closing]
    for at, byte in enumerate(condition):
        depth += (byte in b"([{") - (byte in b")]}")
        if depth == 0 and condition[at : at + 2] == b"||":
            return frozenset((b"".join(condition.split()),))
        parts[-1] += bytes((byte,))
        if depth == 0 and parts[-1].endswith(b"&&"):
            parts[-1] = parts[-1][:-2]
            parts.append(b"")
    return frozenset(b"".join(p.split()) for p in parts)
