"""Explicit instantiations that only macros write: ``#define I(T) template __global__ void k<T>(T *)`` and ``I(int);``.

libclang shows neither what a macro stands for nor explicit instantiations of functions. So the uses of macros whose
definitions speak of one are expanded by clang's own preprocessor: a text with the directives of the file and nothing
else is parsed, in which each use stands as the argument of a macro that makes a string of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from analyzers.frontend import cindex
from analyzers.frontend.blanking import macro_use_end
from analyzers.frontend.instantiations import macros_of, may_instantiate, stands_for
from analyzers.frontend.lexical import code_text, only_directives, source_bytes
from analyzers.frontend.parse import ParsedUnit, pass_arguments
from analyzers.frontend.scan import scan_words_outside_functions

_NAME: Final = "cuda_lsp_expanded_"
_STRINGS: Final = b"""#define CUDA_LSP_STRING_(...) #__VA_ARGS__
#define CUDA_LSP_STRING(...) CUDA_LSP_STRING_(__VA_ARGS__)
"""


def instantiating_uses(unit: ParsedUnit) -> Mapping[int, tuple[int, str]]:
    """What uses of macros in the unit's file stand for that may be explicit instantiations: by the offset where the use
    begins, that where it ends, and the text. Uses that the preprocessor leaves out are left out."""
    uses = _uses((unit.text, *(unit.text_of(path) for path in unit.dependencies)))
    if not uses:
        return {}
    raw, directives = source_bytes(unit.text), only_directives(unit.text)
    pieces = [_STRINGS]
    at = 0
    for number, (start, end) in enumerate(uses):
        line = b"const char %s%d[] = CUDA_LSP_STRING(%s);" % (_NAME.encode(), number, raw[start:end])
        pieces += [directives[at:start], line]
        at = end
    pieces.append(directives[at:])
    buffers = [(path, source_bytes(unit.text_of(path))) for path in unit.dependencies]
    buffers.append((unit.path, b"".join(pieces)))
    texts_by_number = _strings(unit.path, pass_arguments(unit.flags, "device"), tuple(buffers))
    return {
        start: (end, texts_by_number[number]) for number, (start, end) in enumerate(uses) if number in texts_by_number
    }


@lru_cache(maxsize=2)
def _uses(texts: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Where uses of macros begin and end in the first of some texts, all of one unit, that stand outside of functions
    and may be explicit instantiations."""
    if not any(may_instantiate(source_bytes(text)) for text in texts):
        return ()
    macros = macros_of(texts)
    if not any(may_instantiate(text) or b"##" in text for text in (source_bytes(texts[0]), *macros.values())):
        return ()
    return tuple(_instantiating(texts[0], macros))


def _instantiating(text: str, macros: Mapping[bytes, bytes]) -> Iterator[tuple[int, int]]:
    code = code_text(text).code.encode("latin-1")
    at = 0
    for start, word in scan_words_outside_functions(text):
        if start < at or word.encode("latin-1") not in macros:
            continue
        end = macro_use_end(code, start)
        if may_instantiate(stands_for(code[start:end], macros)):
            at = end
            yield start, end


@lru_cache(maxsize=8)
def _strings(path: str, arguments: tuple[str, ...], buffers: tuple[tuple[str, bytes], ...]) -> dict[int, str]:
    """The strings that a text defines, by their numbers; none of a text that cannot be parsed."""
    try:
        parsed = cindex.parse(cindex.create_index(), path, arguments, buffers)
    except cindex.LibclangError:
        return {}
    found: dict[int, str] = {}
    for cursor in cindex.children(parsed.cursor):
        if cursor.spelling.startswith(_NAME):
            written = cindex.initializer(cursor)
            value = cindex.evaluate(written) if written is not None else None
            if isinstance(value, str):
                found[int(cursor.spelling.removeprefix(_NAME))] = value
    return found
