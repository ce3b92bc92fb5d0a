"""Explicit instantiations in a text: ``template __global__ void k<int>(int *);``, ``extern template class Box<int>;``,
and uses of macros that stand for nothing else.

libclang has no cursor for those of functions, so they are found in the text, between the declarations that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from analyzers.frontend.blanking import WORD, macro_use_end
from analyzers.frontend.lexical import code_text

_BEGINS: Final = re.compile(rb"(?:extern\s+)?template\b(?!\s*<)")
_DEFINED: Final = re.compile(r"#\s*define\s+([A-Za-z_$][\w$]*)(.*)", re.DOTALL)
_NAMESPACE: Final = re.compile(r"(?:\binline\s+)?\bnamespace\b[\w\s:]*\{")
_END: Final = re.compile(rb"\s*;")


def macros_of(texts: Iterable[str]) -> dict[bytes, bytes]:
    """What macros may stand for, by name: of those that are defined several times, everything."""
    found: dict[bytes, bytes] = {}
    for text in texts:
        for macro in code_text(text).macros:
            defined = _DEFINED.match(macro.text)
            if defined is not None:
                name, body = defined[1].encode(), defined[2].encode("latin-1")
                found[name] = found.get(name, b"") + b"\n" + body.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    return found


def may_instantiate(text: bytes) -> bool:
    """Whether a text has the word that explicit instantiations begin with."""
    return _BEGINS.search(text) is not None


def explicit_instantiations(
    text: str,
    macros: Mapping[bytes, bytes],
    declared: Sequence[tuple[int, int, bool]],
    expanded: Mapping[int, tuple[int, str]],
) -> Iterator[tuple[int, int]]:
    """Byte offsets, from the first word to the semicolon. `declared`: what the compiler shows of the text, as start,
    end and whether it may be an explicit instantiation itself (one of a class is declared like a class); what lies
    inside of anything else is passed over. `expanded`: what uses of macros are known to stand for, by where they begin:
    where they end, and the text."""
    code = code_text(text).code.encode("latin-1")
    ends: dict[int, int] = {}
    for start, end, may_be in declared:
        if not may_be or _end_of_one(code, start, macros) is None:
            ends[start] = max(end, ends.get(start, 0))
    starts = sorted(ends)
    at = following = 0
    while (word := WORD.search(code, at)) is not None:
        at = word.start()
        while following < len(starts) and starts[following] < at:
            at = max(at, ends[starts[following]])
            following += 1
        if at > word.start():
            continue
        if at in ends:
            at = max(ends[at], at + 1)
            continue
        if at in expanded:
            end = _end_of_expanded(code, *expanded[at])
        else:
            end = _end_of_one(code, at, macros)
        if end is not None:
            yield at, end
        at = end or word.end()


def _end_of_one(code: bytes, at: int, macros: Mapping[bytes, bytes]) -> int | None:
    if _BEGINS.match(code, at):
        return _behind_semicolon(code, at)
    word = WORD.match(code, at)
    if word is None or word[0] not in macros:
        return None
    end = macro_use_end(code, at)
    meant = stands_for(code[at:end], macros)
    if b"{" in meant or b"}" in meant or not _BEGINS.search(meant):
        return None
    if b";" not in meant:  # the use is only a part
        return _behind_semicolon(code, end)
    return _behind_own_semicolon(code, end)


def _end_of_expanded(code: bytes, end: int, meant: str) -> int | None:
    """None where a use of a macro stands for anything else than explicit instantiations and namespaces around them."""
    statements = [one.strip() for one in _NAMESPACE.sub("", meant).replace("}", "").encode().split(b";")]
    if not all(_BEGINS.match(one) for one in statements if one):
        return None
    return _behind_semicolon(code, end) if statements[-1] else _behind_own_semicolon(code, end)


def _behind_own_semicolon(code: bytes, end: int) -> int:
    closing = _END.match(code, end)
    return closing.end() if closing is not None else end


def _behind_semicolon(code: bytes, at: int) -> int:
    closed = code.find(b";", at)
    return closed + 1 if closed >= 0 else len(code)


def stands_for(use: bytes, macros: Mapping[bytes, bytes]) -> bytes:
    """The bodies of the macros that a use speaks of, of those that these speak of, and so on. Nothing is expanded."""
    bodies: dict[bytes, bytes] = {}
    waiting = [use]
    while waiting:
        for word in WORD.findall(waiting.pop()):
            if word in macros and word not in bodies:
                bodies[word] = macros[word]
                waiting.append(bodies[word])
    return b"\n".join(bodies.values())
