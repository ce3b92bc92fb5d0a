"""Names with numbers, in the order in which a reader meets them: `taken`, then `taken2`.

A step that works further out than the one before it declares its variable in front, under a later number. Takes a text
that steps have made, gives the changes after which the names that they declare in a function are numbered as they
stand there; the names are the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import FunctionTree
from quickfix.edits import Change
from quickfix.verify import EditedFile

_WORD: Final = re.compile(rb"\b([A-Za-z_]\w*?)(\d*)\b")


def in_order(functions: Iterable[FunctionTree], file: EditedFile) -> list[Change]:
    """The changes, sorted, none where the names are in order. `file`: what the steps have made of the text before;
    `functions`: of the text after them."""
    code, before = blanked(file.after), blanked(file.before)
    found = {change.start: change for f in functions for change in _of_function(f, file, code, before)}
    return [found[start] for start in sorted(found)]


def _of_function(function: FunctionTree, file: EditedFile, code: bytes, before: bytes) -> Iterator[Change]:
    words = list(_WORD.finditer(code, function.start, function.end))
    kept = [(old, old + len(word[0])) for word in words if (old := file.offsets.old(word.start())) is not None]
    if not kept:
        return
    known = {word[0] for word in _WORD.finditer(before, min(kept)[0], max(kept)[1])}
    stems: dict[bytes, dict[bytes, int]] = {}
    for word in words:
        if word[0] not in known:
            stems.setdefault(word[1], {}).setdefault(word[0], int(word[2] or 1))
    renamed: dict[bytes, bytes] = {}
    for names in stems.values():
        renamed.update(zip(names, sorted(names, key=names.__getitem__), strict=True))
    for word in words:
        name = renamed.get(word[0], word[0])
        if name != word[0]:
            yield Change(*word.span(), name)
