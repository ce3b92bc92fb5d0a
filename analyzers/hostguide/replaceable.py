"""Functions and variables that another definition may replace when the program is linked: weak symbols.

Takes blanked texts, gives names. libclang shows the attribute on one declaration of several and says nothing of
``#pragma weak``, so this reads the text around each ``weak``, behind macros too; it may find more names than there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from analyzers.hostguide.macros import Macros

_ATTRIBUTE = re.compile(
    rb"__attribute(?:__)?\s*\(\s*\((?:[^()]|\([^()]*\))*?\b(?:__)?weak(?:ref|_import)?(?:__)?\b"
    rb"|\[\[[^\[\]]*\bweak(?:ref|_import)?\b[^\[\]]*\]\]|\b__weak\b|\b_Pragma\b"
)
_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+weak[ \t]+(\w+)(?:[ \t]*=[ \t]*(\w+))?", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_MANGLED = re.compile(rb"(\d+)([A-Za-z_])")


def replaceable(texts: Mapping[str, bytes], macros: Macros) -> frozenset[str]:
    """The names of what the texts declare weak, and other words of those declarations. ``texts``: blanked, by path."""
    if not any(b"weak" in text for text in texts.values()):
        return frozenset()
    names: set[str] = set()
    saying: set[str] = set()
    """Macros that say weak."""
    new: set[str] = set()
    for path, text in texts.items():
        for match in _PRAGMA.finditer(text):
            names |= {word.decode() for given in match.groups() if given for word in _words(given)}
        _around(macros, path, text, _ATTRIBUTE, names, new)
    while new:
        saying |= new
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(new)) + rb")\b")
        new = set()
        for path, text in texts.items():
            _around(macros, path, text, pattern, names, new)
        new -= saying
    return frozenset(names)


def _around(
    macros: Macros, path: str, text: bytes, pattern: re.Pattern[bytes], names: set[str], through: set[str]
) -> None:
    """The words of the declarations in which a pattern stands, and the macros in whose definitions it does."""
    for match in pattern.finditer(text):
        macro = macros.at(path, match.start())
        if macro is not None:
            through.add(macro)
            continue
        start = max(text.rfind(sign, 0, match.start()) for sign in (b";", b"{", b"}"))
        end = min((at for sign in (b";", b"{") if (at := text.find(sign, match.end())) >= 0), default=len(text))
        names |= {word.group().decode() for word in _WORD.finditer(text, start + 1, end)}


def _words(name: bytes) -> Iterator[bytes]:
    """A symbol, and of a mangled one the words that it is made of."""
    yield name
    if name.startswith(b"_Z"):
        for part in _MANGLED.finditer(name):
            yield name[part.start(2) : part.start(2) + int(part.group(1))]
