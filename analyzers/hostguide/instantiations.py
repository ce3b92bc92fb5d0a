"""Explicit instantiations of host function and class templates, as they stand in the text.

clang shows no cursor for ``template void launch<3>(…);``, and files with many of them write them through a macro. Takes
blanked text and the names of templates, gives the instances as ``launch<3>``, and the probes that show them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.frontend.parse import instantiation_probe
from analyzers.hostguide.declared import FoundFunction, namespaces
from analyzers.hostguide.tree import identity

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^()]*)\)((?:[^\n\\]|\\(?:\r?\n|.))*)", re.MULTILINE)
_MEMBER = re.compile(
    rb"\btemplate\b(?!\s*<)\s*([^;{}()]*?[\s*&])((?:\w+\s*::\s*)*\w+\s*<[^;(){}]*>)\s*::\s*(\w+)"
    rb"\s*\(([^;{}]*)\)\s*(const\b)?\s*;"
)
"""``template void Mat<float>::Set(const Vec<double> &v);``: what it returns, the class, its name, the parameters."""
_EXPLICIT = re.compile(rb"\btemplate\b(?!\s*<)")
_DECLARATION_END = re.compile(rb"[;{}]")
_CONTINUATION = re.compile(rb"\\\r?\n")


@dataclass(frozen=True, slots=True)
class _Instantiating:
    """What of a text may instantiate templates explicitly."""

    parts: tuple[tuple[int, int], ...]
    """From the word ``template`` to the end of the declaration."""
    outside: tuple[tuple[int, int], ...]
    """Those outside of macros."""
    macros: tuple[tuple[bytes, int, tuple[bytes, ...], bytes], ...]
    """Name, end, parameters and body of the macros in which the word stands."""


@lru_cache(maxsize=256)
def _instantiating(text: bytes) -> _Instantiating:
    """In most headers nothing does."""
    if _EXPLICIT.search(text) is None:
        return _Instantiating((), (), ())
    macros: list[tuple[bytes, int, tuple[bytes, ...], bytes]] = []
    spans: list[tuple[int, int]] = []
    for macro in _DEFINE.finditer(text):
        spans.append(macro.span())
        body = _CONTINUATION.sub(b" ", macro.group(3))
        if _EXPLICIT.search(body) is not None:
            parameters = tuple(p.strip() for p in macro.group(2).split(b","))
            macros.append((macro.group(1), macro.end(), parameters, body))
    parts: list[tuple[int, int]] = []
    end = 0
    for match in _EXPLICIT.finditer(text):
        if match.start() >= end:
            stop = _DECLARATION_END.search(text, match.start())
            end = stop.end() if stop is not None else len(text)
            parts.append((match.start(), end))
    outside = [p for p in parts if not any(start <= p[0] < stop for start, stop in spans)]
    return _Instantiating(tuple(parts), tuple(outside), tuple(macros))


def explicit_instances(text: bytes, names: Iterable[str]) -> list[str]:
    """Instances of the named templates that the text instantiates, in order, each once."""
    wanted = "|".join(re.escape(n) for n in sorted(names))
    known = _instantiating(text)
    if not wanted or not known.parts:
        return []
    pattern = re.compile(rb"\btemplate\b(?!\s*<)[^;{}]*?\b(" + wanted.encode() + rb")\s*<([^;(){}]*)>\s*\(")
    found: list[str] = []
    for name, end, parameters, body in known.macros:
        inner = pattern.search(body)
        if inner is not None:
            found += _uses(text, name, end, parameters, inner.group(1), inner.group(2))
    for part in known.outside:
        found += [_instance(m.group(1), m.group(2)) for m in pattern.finditer(text, *part)]
    return list(dict.fromkeys(found))


def explicit_class_instances(text: bytes, names: Iterable[str]) -> list[str]:
    """Instances of the named class templates (``template class Solver<float>;``), in order, each once."""
    wanted = "|".join(re.escape(n) for n in sorted(names))
    known = _instantiating(text)
    if not wanted or not known.parts:
        return []
    pattern = re.compile(
        rb"\btemplate\s+(?:class|struct)\s+(?:\w+\s*::\s*)*(" + wanted.encode() + rb")\s*<([^;(){}]*)>\s*;"
    )
    matches = (m for part in known.parts for m in pattern.finditer(text, *part))
    return list(dict.fromkeys(_instance(m.group(1), m.group(2)) for m in matches))


def _uses(
    text: bytes, macro: bytes, after: int, parameters: Sequence[bytes], name: bytes, arguments: bytes
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


def probes_of(
    functions: Sequence[FoundFunction],
    wanted: Sequence[FoundFunction],
    texts: Sequence[bytes],
    overloads: Iterable[str],
    idle: Set[str],
) -> tuple[str, ...]:
    """Lines that show instances which the text asks for, but no call in sight: ``overloads`` that were named, and
    explicit instantiations of ``idle`` templates and of classes whose members are ``wanted``."""
    out: list[str] = []
    asked = sorted(overloads)
    for text in texts if idle else ():
        asked += explicit_instances(text, idle)
    for text in asked:
        name = text.partition("<")[0]
        for f in functions:
            if f.template and f.name == name and "<" in text:
                out.append(instantiation_probe(text, None, namespaces(f.cursor)))
    out += member_probes(wanted, texts)
    out += _explicit_members(wanted, texts, idle)
    return tuple(dict.fromkeys(out))


def probes_of_texts(wanted: Sequence[FoundFunction], texts: Sequence[bytes]) -> tuple[str, ...]:
    """Lines that show what is instantiated explicitly of classes whose members are ``wanted``, and of these members:
    known before anything is run. Nothing where the texts instantiate no such class."""
    classes = list(member_probes(wanted, texts))
    members = _explicit_members(wanted, texts, {f.name for f in wanted if f.template}) if classes else ()
    return tuple(dict.fromkeys((*classes, *members)))


def _explicit_members(wanted: Sequence[FoundFunction], texts: Sequence[bytes], names: Set[str]) -> Iterator[str]:
    """Probes for the ``wanted`` members with one of the ``names`` that are instantiated explicitly, one by one."""
    members = {f.name: f for f in wanted if f.name in names and f.cursor.kind not in _FREE}
    for text in texts if members else ():
        for match in _MEMBER.finditer(text):
            result, owner, name, parameters, constant = (
                " ".join(g.decode().split()) if g else "" for g in match.groups()
            )
            if name in members:
                f = members[name]
                scope = "" if f.cursor.is_static_method() else f"{owner}::"
                picked = f"static_cast<{result} ({scope}*)({parameters}) {constant}>(&{owner}::{name})"
                yield _in_scope(f"auto cuda_lsp_probe_@ = {picked};", namespaces(f.cursor))


def member_probes(wanted: Sequence[FoundFunction], texts: Sequence[bytes]) -> Iterator[str]:
    """Probes for the members that launch, of class templates that are instantiated explicitly."""
    heads: dict[int, list[tuple[str, str]] | None] = {}
    owners: dict[str, list[FoundFunction]] = {}
    for f in wanted:
        parent = f.cursor.semantic_parent
        if f.template and f.cursor.kind == CursorKind.CXX_METHOD and parent is not None:
            owners.setdefault(parent.spelling.partition("<")[0], []).append(f)
    for text in texts if owners else ():
        for instance in explicit_class_instances(text, owners):
            for f in owners[instance.partition("<")[0]]:
                owner = f.cursor.semantic_parent
                assert owner is not None
                key = identity(owner)
                if key not in heads:
                    heads[key] = _parameters(owner)
                yield _member_probe(f, owner, heads[key], instance)


_TYPED = "_type"
_FREE = frozenset({CursorKind.FUNCTION_DECL})


def is_typed_probe(line: str) -> bool:
    """Whether a probe picks its function by type, so that its text does not name one function."""
    return "static_cast<" in line


def _member_probe(f: FoundFunction, owner: Cursor, heads: list[tuple[str, str]] | None, instance: str) -> str:
    """A probe for a member of an instance of a class template, picked by its type as the template writes it.
    ``heads``: the parameters of the class."""
    ty = f.cursor.type.spelling
    opened = _parameter_list(ty)
    if heads is None or opened is None:
        return instantiation_probe(f"{instance}::{f.name}", None, namespaces(f.cursor))
    names = ", ".join(name for _, name in heads)
    scope = "" if f.cursor.is_static_method() else f"{owner.spelling}<{names}>::"
    alias = f"using T = {ty[:opened]}({scope}*){ty[opened:]};"
    holder = f"cuda_lsp_probe_@{_TYPED}"
    head = ", ".join(f"{kind} {name}" for kind, name in heads)
    arguments = instance.partition("<")[2].rpartition(">")[0]
    lines = (
        f"template <{head}> struct {holder} {{ {alias} }}; "
        f"auto cuda_lsp_probe_@ = static_cast<{holder}<{arguments}>::T>(&{instance}::{f.name});"
    )
    return _in_scope(lines, namespaces(f.cursor))


def _in_scope(line: str, scope: Sequence[str]) -> str:
    """A line of a probe inside namespaces, and an unnamed one."""
    opening = "".join(f"namespace {part} {{ " for part in scope)
    return f"{opening}namespace {{ {line} }}{' }' * len(scope)}"


def _parameters(template: Cursor) -> list[tuple[str, str]] | None:
    """(what it is, name) of the parameters of a class template; None where that cannot be written again."""
    found: list[tuple[str, str]] = []
    for child in template.get_children():
        if child.kind == CursorKind.TEMPLATE_TYPE_PARAMETER:
            found.append(("typename", child.spelling))
        elif child.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
            found.append((child.type.spelling, child.spelling))
        elif child.kind == CursorKind.TEMPLATE_TEMPLATE_PARAMETER:
            return None
    return found if found and all(name for _, name in found) else None


def _parameter_list(function_type: str) -> int | None:
    """Where the parameters begin in the spelling of a function type."""
    depth = 0
    for at, sign in enumerate(function_type):
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == "(" and depth == 0:
            return at
    return None
