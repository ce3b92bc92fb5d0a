"""Comments that speak to us, ``// cuda-lsp: WORD …``, and the code that each of them is about.

Takes a file's text, gives every directive in order. What a word means is for others to say: ``launch``, ``assume`` and
``run`` are read by `hostguide.comments`, ``ignore`` and ``ignore-file`` by whoever reports findings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.frontend.lexical import source_bytes
from analyzers.model import SourceSpan

MARK: Final = "cuda-lsp:"
ABOUT_FINDINGS: Final = frozenset({"ignore", "ignore-file"})
"""Words of directives that say nothing about the program: no verdict depends on them."""

_PIECE = re.compile(
    rb"""(?P<comment>//(?:[^\n\\]|\\(?:\r?\n|.))*|/\*.*?(?:\*/|\Z))
    |(?P<literal>"(?:[^"\\\n]|\\.)*"?|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?)
    |(?P<blank>\s+)|(?P<end>[{};])|(?P<code>[^\s"'/{};]+|['/])""",
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"\bcuda-lsp:[ \t]*([\w-]*)[ \t]*(.*)")
_SPEAKS_OF_THE_PROGRAM = re.compile(rf"cuda-lsp:(?![ \t]*(?:{'|'.join(sorted(ABOUT_FINDINGS, reverse=True))})\b)")


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive."""

    word: str
    text: str
    """What follows the word."""
    span: SourceSpan
    lines: tuple[int, int] = (0, 0)
    """First and last line of the declaration or statement that follows, up to its first brace or semicolon; zeros
    where nothing follows."""
    trailing: bool = False
    """Whether code stands before it on its line."""


def speaks_of_the_program(comment: str) -> bool:
    """Whether a comment may hold a directive on which verdicts depend."""
    return _SPEAKS_OF_THE_PROGRAM.search(comment) is not None


def directives(text: str, path: str) -> tuple[Directive, ...]:
    """All directives of a file, in order."""
    if MARK not in text:
        return ()
    data = source_bytes(text)
    starts = [0, *(m.end() for m in re.finditer(rb"\n", data))]
    found: list[Directive] = []
    open_from = 0
    code_line: int | None = None
    last_code_line = 0
    for piece in _PIECE.finditer(data):
        if piece.lastgroup == "blank":
            continue
        line = bisect_right(starts, piece.start())
        if piece.lastgroup == "comment":
            found.extend(_read(piece.group(), piece.start(), path, starts, trailing=line == last_code_line))
            continue
        last_code_line = bisect_right(starts, piece.end() - 1)
        if open_from < len(found):
            code_line = line if code_line is None else code_line
            if piece.lastgroup == "end":
                for index in range(open_from, len(found)):
                    found[index] = replace(found[index], lines=(code_line, line))
                open_from, code_line = len(found), None
    return tuple(found)


def _read(comment: bytes, offset: int, path: str, starts: Sequence[int], *, trailing: bool) -> Iterator[Directive]:
    content = comment[2:-2] if comment.startswith(b"/*") and comment.endswith(b"*/") else comment[2:]
    for match in _DIRECTIVE.finditer(content.decode("latin-1")):
        begin, end = offset + 2 + match.start(), offset + 2 + match.end()
        line = bisect_right(starts, begin)
        base = starts[line - 1]
        span = SourceSpan(path, line, begin - base + 1, line, end - base + 1, begin, end)
        rest = match.group(2).encode("latin-1").decode("utf-8", "replace").strip()
        yield Directive(match.group(1), rest, span, trailing=trailing and line == bisect_right(starts, offset))
