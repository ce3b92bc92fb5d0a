"""Explicit instantiations of host function and class templates, as they stand in the text.

clang shows no cursor for ``template void launch<3>(…);``, and files with many of them write them through a macro. Takes
blanked text and the names of templates, gives the instances as ``launch<3>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^()]*)\)((?:[^\n\\]|\\(?:\r?\n|.))*)", re.MULTILINE)
_CONTINUATION = re.compile(rb"\\\r?\n")


def explicit_instances(text: bytes, names: Iterable[str]) -> list[str]:
    """Instances of the named templates that the text instantiates, in order, each once."""
    wanted = "|".join(re.escape(n) for n in sorted(names))
    if not wanted or b"template" not in text:
        return []
    pattern = re.compile(rb"\btemplate\b(?!\s*<)[^;{}]*?\b(" + wanted.encode() + rb")\s*<([^;(){}]*)>\s*\(")
    found: list[str] = []
    spans: list[tuple[int, int]] = []
    for macro in _DEFINE.finditer(text):
        spans.append(macro.span())
        body = _CONTINUATION.sub(b" ", macro.group(3))
        inner = pattern.search(body)
        if inner is not None:
            parameters = [p.strip() for p in macro.group(2).split(b",")]
            found += _uses(text, macro.group(1), macro.end(), parameters, inner.group(1), inner.group(2))
    for match in pattern.finditer(text):
        if not any(start <= match.start() < end for start, end in spans):
            found.append(_instance(match.group(1), match.group(2)))
    return list(dict.fromkeys(found))


def explicit_class_instances(text: bytes, names: Iterable[str]) -> list[str]:
    """Instances of the named class templates (``template class Solver<float>;``), in order, each once."""
    wanted = "|".join(re.escape(n) for n in sorted(names))
    if not wanted or b"template" not in text:
        return []
    pattern = re.compile(
        rb"\btemplate\s+(?:class|struct)\s+(?:\w+\s*::\s*)*(" + wanted.encode() + rb")\s*<([^;(){}]*)>\s*;"
    )
    return list(dict.fromkeys(_instance(m.group(1), m.group(2)) for m in pattern.finditer(text)))


def _uses(
    text: bytes, macro: bytes, after: int, parameters: list[bytes], name: bytes, arguments: bytes
) -> Iterable[str]:
    undefined = re.compile(rb"^[ \t]*#[ \t]*undef[ \t]+" + re.escape(macro) + rb"\b", re.MULTILINE).search(text, after)
    end = undefined.start() if undefined is not None else len(text)
    for use in re.finditer(rb"\b" + re.escape(macro) + rb"\s*\(([^()]*)\)", text[after:end]):
        given = [g.strip() for g in use.group(1).split(b",")]
        if len(given) == len(parameters):
            values = dict(zip(parameters, given, strict=True))
            replaced = re.sub(rb"\b\w+\b", lambda m, v=values: v.get(m.group(), m.group()), arguments)
            yield _instance(name, replaced)


def _instance(name: bytes, arguments: bytes) -> str:
    return f"{name.decode()}<{' '.join(arguments.decode('utf-8', 'replace').split())}>"
