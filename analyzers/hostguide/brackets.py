"""Brackets in the text of code: what stands between them, and which one closes which.

Takes blanked texts, in which comments and the contents of strings are gone.
"""

from __future__ import annotations

import re

_BLANKS = re.compile(r"\s+")
_AROUND_SIGN = re.compile(r"\s*([^\w\s])\s*")
_UNCERTAIN = re.compile(rb"\b(?:else|do|case|default|goto)\b|\b(?:if|while|for|switch)\s*\(\)|\?|&&|\|\|")
"""In a statement whose pairs of brackets are empty, in front of some part of it."""


def flat(text: bytes | str) -> str:
    """Code on one line, with blanks only between words, and no ``this->``."""
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    found = _AROUND_SIGN.sub(r"\1", _BLANKS.sub(" ", plain)).strip()
    return re.sub(r"\bthis->", "", found).replace("->", ".")


def arguments(text: bytes, opened: int) -> tuple[list[str], int]:
    """The arguments between the bracket at ``opened`` and the one that closes it, and the offset after that."""
    depth, start, at = 0, opened + 1, opened
    found: list[str] = []
    while at < len(text):
        sign = text[at : at + 1]
        if sign in b"([{":
            depth += 1
        elif sign in b")]}":
            depth -= 1
            if depth == 0:
                last = flat(text[start:at])
                return ([*found, last] if last or found else found), at + 1
        elif sign == b"," and depth == 1:
            found.append(flat(text[start:at]))
            start = at + 1
        at += 1
    return found, at


def block_around(text: bytes, at: int) -> tuple[int, int]:
    """The innermost braces around an offset: the first byte inside, and that of the closing one."""
    depth = 0
    start = at
    while start > 0:
        sign = text[start - 1 : start]
        if sign == b"}":
            depth += 1
        elif sign == b"{":
            if depth == 0:
                break
            depth -= 1
        start -= 1
    depth, end = 0, at
    while end < len(text):
        sign = text[end : end + 1]
        if sign == b"{":
            depth += 1
        elif sign == b"}":
            if depth == 0:
                break
            depth -= 1
        end += 1
    return start, end


def is_certain(text: bytes, at: int) -> bool:
    """Whether what stands at an offset is executed whenever the block around it is: its statement hangs on no condition
    and is no part of one that decides about it."""
    kept: list[bytes] = []
    depth, back = 0, at
    while back > 0:
        sign = text[back - 1 : back]
        if sign in b")]":
            depth += 1
            kept.append(b")" if depth == 1 else b"")
        elif sign in b"([" and depth:
            depth -= 1
            kept.append(b"(" if depth == 0 else b"")
        elif depth == 0 and sign in b";{}":
            break
        elif depth == 0:
            kept.append(sign)
        back -= 1
    return _UNCERTAIN.search(b"".join(reversed(kept))) is None


def last_before(text: bytes, at: int) -> int:
    """The offset of the last byte in front of an offset that is not blank, -1 where there is none."""
    at -= 1
    while at >= 0 and text[at : at + 1].isspace():
        at -= 1
    return at


def first_behind(text: bytes, at: int) -> int:
    """The offset of the first byte from an offset on that is not blank."""
    while at < len(text) and text[at : at + 1].isspace():
        at += 1
    return at


def opening(text: bytes, at: int) -> int:
    """The bracket that the one at an offset closes, -1 where there is none."""
    opens = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}[text[at : at + 1]]
    depth = 0
    for back in range(at, -1, -1):
        sign = text[back : back + 1]
        if sign == text[at : at + 1]:
            depth += 1
        elif sign == opens:
            depth -= 1
            if depth == 0:
                return back
        elif sign == b";" and opens == b"<":
            break
    return -1
