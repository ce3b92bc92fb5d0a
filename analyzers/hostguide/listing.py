"""All functions, classes and probes that the host passes of a program declare, in its own files.

A pass is gone through once: who asks again while it is still the same one gets what was found. Takes host passes and
the files of the program, gives cursors, which are alive as long as nobody parses the pass again.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from analyzers.frontend.cindex import CursorKind, children, fact_of, file_key
from analyzers.frontend.parse import HostPass
from analyzers.hostguide.declared import CLASSES, FUNCTIONS, MEMBERS, SCOPES, FoundFunction, in_template
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import identity


@dataclass(slots=True)
class Listed:
    """What one pass declares, in source order."""

    functions: list[FoundFunction] = field(default_factory=list[FoundFunction])
    classes: list[Any] = field(default_factory=list[Any])
    """Cursors."""
    probes: list[tuple[Any, str]] = field(default_factory=list[tuple[Any, str]])
    """Cursors of the variables that probes declare, and the lines that do."""


class Listings:
    """Of the passes over one program, which may be parsed again one by one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, frozenset[str], Listed]] = {}

    def of(self, one: HostPass, files: frozenset[str]) -> Listed:
        """What a pass declares in some files."""
        parse = fact_of(one.host, "listing", object)
        known = self._known.get(id(one.host))
        if known is None or known[0] is not parse or known[1] != files:
            known = self._known[id(one.host)] = parse, files, _Walk(one, files).found
        return known[2]


class _Walk:
    def __init__(self, one: HostPass, files: Container[str]) -> None:
        self.found = Listed()
        self._pass = one
        self._files = files
        self._is_of_program: dict[int, bool] = {}
        """By file; most declarations are in others."""
        self._in_template: dict[int, bool] = {}
        """By class or namespace, whether what it holds is in a template."""
        self._walk(one.host.cursor, True)

    def _walk(self, cursor: Any, top: bool) -> None:
        for child in children(cursor):
            key = file_key(child)
            known = self._is_of_program.get(key)
            if known is None:
                file = child.location.file
                known = self._is_of_program[key] = file is not None and file.name in self._files
            if not known:
                continue
            kind = child.kind
            if kind in FUNCTIONS:
                self.found.functions.append(self._function(child, kind, top))
            elif kind in SCOPES:
                if kind in CLASSES:
                    self.found.classes.append(child)
                self._walk(child, False)
            elif kind == CursorKind.VAR_DECL and self._pass.probes and child.spelling.startswith("cuda_lsp_probe_"):
                number = int(child.spelling.rpartition("_")[2])
                lines = self._pass.probes
                self.found.probes.append((child, lines[number] if number < len(lines) else ""))

    def _function(self, cursor: Any, kind: Any, top: bool) -> FoundFunction:
        path, start, end = extent(cursor)
        template = kind == CursorKind.FUNCTION_TEMPLATE or ((not top or kind in MEMBERS) and self._is_inside(cursor))
        named_at = cursor.location.offset
        return FoundFunction(cursor, cursor.spelling, path, start, end, named_at, template, cursor.is_definition())

    def _is_inside(self, function: Any) -> bool:
        """Whether a function is in a template."""
        parent = function.semantic_parent
        if parent is None:
            return False
        key = identity(parent)
        known = self._in_template.get(key)
        if known is None:
            known = self._in_template[key] = in_template(function)
        return known
