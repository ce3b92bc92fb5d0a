"""Loops that a `goto` to a label in front of it makes: ``again: … if (c) goto again;``.

Takes a body, gives the statements between which such a jump leads back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.gaps import Body, Statement

_LABEL: Final = re.compile(rb"([A-Za-z_]\w*)\s*:")
_GOTO: Final = re.compile(rb"goto\s+([A-Za-z_]\w*)\s*;")


@dataclass(frozen=True, slots=True)
class JumpLoop:
    """`first` and `last` are indices into the statements of the body."""

    name: str
    """As the iterations of an access are said to be of."""
    first: int
    """The label."""
    last: int
    """The last statement with a jump to it."""
    line: int
    """Of the label."""

    def holds(self, position: int) -> bool:
        return self.first < position <= self.last


def jump_loops(body: Body, text: bytes) -> tuple[JumpLoop, ...]:
    """The outer ones first."""
    found: list[JumpLoop] = []
    for index, statement in enumerate(body.statements):
        name = _LABEL.match(text, statement.start, statement.end) if statement.kind == "label" else None
        if name is None:
            continue
        behind = enumerate(body.statements[index + 1 :], index + 1)
        last = max((i for i, s in behind if any(to == name[1] for to in _aims(s, text))), default=index)
        if last > index:
            line = text.count(b"\n", 0, statement.start) + 1
            found.append(JumpLoop(f"{name[1].decode()}:", index, last, line))
    return tuple(sorted(found, key=lambda loop: (loop.first, -loop.last)))


def _aims(statement: Statement, text: bytes) -> Iterator[bytes]:
    """The labels that the jumps of a statement lead to."""
    if statement.kind == "jump" and (aim := _GOTO.match(text, statement.start, statement.end)) is not None:
        yield aim[1]
    for inner in statement.bodies:
        for each in inner.statements:
            yield from _aims(each, text)
