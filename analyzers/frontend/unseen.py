"""What the text of a unit shows and clang did not take in: kernel definitions without a kernel, headers not found.

Takes a parsed unit and the kernels that were made of it, gives a sentence with its place for each thing that is
missing. The text is searched in the unit's file and in the project headers that it includes; comments, literals and
text under `#if 0` count for nothing. Launches are accounted for where they are followed, in the host guide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from analyzers.frontend.blanking import blanked, group_end, macro_use_end
from analyzers.frontend.lexical import code_text, source_bytes
from analyzers.frontend.parse import Diagnostic, ParsedUnit
from analyzers.frontend.scan import ScannedKernel, scan_kernels
from analyzers.model import Skipped, SourceSpan

_GLOBAL: Final = b"__global__"
_DEFINED: Final = re.compile(r"#[ \t]*define[ \t]+(\w+)")


def unseen(unit: ParsedUnit, kernels: Sequence[SourceSpan], text_of: Callable[[str], bytes]) -> tuple[Skipped, ...]:
    """Missing headers and kernel definitions. `kernels`: the names of the kernels found; `text_of`: a file's bytes."""
    return (*missing_headers(unit), *unseen_kernels(unit, kernels, text_of))


def missing_headers(unit: ParsedUnit) -> Iterator[Skipped]:
    """The `#include`s that found nothing."""
    for header in unit.missing_headers:
        where = SourceSpan(
            header.path, header.line, header.column, header.line, header.column, header.offset, header.offset
        )
        yield Skipped(f"header {header.name} not found: code that needs it is unknown", where)


def unseen_kernels(
    unit: ParsedUnit, kernels: Sequence[SourceSpan], text_of: Callable[[str], bytes]
) -> Iterator[Skipped]:
    """Kernel definitions in the text that none of the kernels comes from."""
    for path in (unit.path, *unit.dependencies):
        raw = source_bytes(unit.text) if path == unit.path else text_of(path)
        if _GLOBAL not in raw:
            continue
        text = raw.decode("utf-8", "surrogateescape")
        code = blanked(raw)
        places = sorted(k.start_offset for k in kernels if k.path == path)
        scanned = scan_kernels(text)
        for kernel in scanned:
            end = macro_use_end(code, kernel.offset)
            if not kernel.in_macro and not any(kernel.offset <= place < end for place in places):
                yield Skipped(f"kernel {kernel.name}: {_why(unit, path, kernel, code)}", _span(path, kernel))
        yield from _unseen_uses(path, text, code, [k for k in scanned if k.in_macro], places)


def _why(unit: ParsedUnit, path: str, kernel: ScannedKernel, code: bytes) -> str:
    errors = [e for e in unit.all_errors if e.side == "device" and e.path == path]
    start = max(code.rfind(mark, 0, kernel.offset) for mark in (b";", b"{", b"}")) + 1
    opened = code.find(b"{", kernel.offset)
    end = group_end(code, opened) if opened >= 0 else len(code)
    inside = _first(e for e in errors if start <= e.offset <= end)
    if inside is not None:
        return f"the compiler could not take it in (line {inside.line}: {inside.message})"
    if kernel.condition:
        return not_compiled(kernel.condition)
    before = _first(e for e in reversed(errors) if e.offset < start)
    if before is not None:
        return f"hidden by an error before it (line {before.line}: {before.message})"
    return "the compiler did not see it"


def not_compiled(condition: str) -> str:
    """The reason of what an `#if` leaves out."""
    return f"not compiled with these flags ({condition})"


def _first(errors: Iterable[Diagnostic]) -> Diagnostic | None:
    return next(iter(errors), None)


def _span(path: str, kernel: ScannedKernel) -> SourceSpan:
    size = len(source_bytes(kernel.name))
    return SourceSpan(
        path,
        kernel.line,
        kernel.column,
        kernel.line,
        kernel.column + size,
        kernel.offset,
        kernel.offset + size,
    )


def _unseen_uses(
    path: str, text: str, code: bytes, written: Sequence[ScannedKernel], places: Sequence[int]
) -> Iterator[Skipped]:
    """Uses of macros that define kernels, where no kernel came out."""
    if not written:
        return
    known = code_text(text)
    names = set[str]()
    for body in known.macros:
        named = _DEFINED.match(body.text)
        if named is not None and any(body.offset <= k.offset < body.offset + len(body.text) for k in written):
            names.add(named.group(1))
    done: set[str] = set()
    while names:
        done |= names
        pattern = re.compile(r"\b(?:" + "|".join(sorted(names)) + r")\b")
        for use in pattern.finditer(known.code):
            end = macro_use_end(code, use.start())
            if any(use.start() <= place < end for place in places):
                continue
            line, column = known.place(use.start())
            condition = known.condition(use.start())
            why = not_compiled(condition) if condition else "the compiler made no kernel of it"
            where = SourceSpan(path, line, column, line, column + len(use.group()), use.start(), use.end())
            yield Skipped(f"kernel written by macro {use.group()}: {why}", where)
        # Macros that use one of these define kernels too.
        outer = {
            named.group(1)
            for body in known.macros
            if (named := _DEFINED.match(body.text)) and pattern.search(body.text, named.end())
        }
        names = outer - done
