"""The program that a unit belongs to: other source files whose host code reaches the unit's kernels.

Whoever knows the workspace says which files these are and what is known about names beyond them (`Program`). `Linker`
takes the host passes of the unit and of those files and gives what a linker would: the definition, in any of them, of a
function that a reference in another one means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import HostPass
from analyzers.hostguide.declared import FoundFunction
from analyzers.hostguide.source import extent
from analyzers.ir.context import LaunchContext


@dataclass(frozen=True, slots=True)
class HostFile:
    """A source file that is compiled by itself."""

    path: str
    """Absolute and normalised."""
    text: str
    flags: CompileFlags = field(default_factory=CompileFlags)


Definition = tuple[str, str, int | None]
"""A file that defines a function, the class or namespace it is in ("" for none), and how many parameters it has."""


@dataclass(frozen=True, slots=True)
class Program:
    """Files to link with a unit, and what their workspace says of functions by name."""

    files: tuple[HostFile, ...] = ()
    mentions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names of functions, and all files of the workspace whose code mentions them."""
    names: tuple[str, ...] = ()
    """Kernels and functions that lead to them: a file that begins to mention one may belong here."""
    ambiguous: tuple[str, ...] = ()
    """Names of kernels that several files of the workspace define: the build decides which a launch reaches."""
    folder: str = ""
    """Where the files of the workspace lie."""
    complete: bool = False
    """Whether all of them were searched for `mentions`."""
    definitions: tuple[tuple[str, tuple[Definition, ...]], ...] = ()
    """The names of functions that were looked for, and all definitions in the workspace, as its texts show them."""


class Linker:
    """Definitions across translation units, by name and type (clang's USR)."""

    def __init__(self, passes: Sequence[HostPass], program: Program) -> None:
        """The first pass is that of the unit itself."""
        self._program = program
        self.passes = passes
        self.own = frozenset((passes[0].path, *passes[0].dependencies))
        """Files of the unit itself."""
        self._defined: dict[str, list[Cursor]] = {}
        self._read = frozenset(path for p in passes for path in (p.path, *p.dependencies))
        self._mentions = dict(program.mentions)
        self._definitions = dict(program.definitions)

    def learn(self, functions: Iterable[FoundFunction]) -> None:
        """The functions of all passes, those of the unit first."""
        for f in functions:
            if f.defined and not f.template:
                self._defined.setdefault(f.name, []).append(f.cursor)

    def definition(self, cursor: Cursor) -> Cursor | None:
        """The definition of an external function in another translation unit. Of several, which the build tells apart,
        none; but the unit's own of a kernel (`doubted`)."""
        candidates = self._defined.get(cursor.spelling, ())
        if not candidates or cursor.linkage.name != "EXTERNAL":
            return None
        wanted = cursor.canonical.get_usr()
        fitting = [c for c in candidates if c.linkage.name == "EXTERNAL" and c.get_usr() == wanted]
        if len(fitting) > 1:
            fitting = [c for c in fitting if _is_kernel(c) and self.is_own(extent(c)[0])]
        return fitting[0] if fitting and not self._has_rival(fitting[0]) else None

    def _has_rival(self, defined: Cursor) -> bool:
        """Whether a file that was not parsed defines the function too, as far as names tell, or nobody has looked."""
        if not self._program.folder:
            return False
        name = defined.spelling
        found = self._definitions.get(name)
        if found is None:
            return True
        scopes, plain = _scopes(defined), defined.mangled_name == name
        count = len(list(defined.type.argument_types()))
        return any(
            path not in self._read and (plain or (scope in ("", *scopes) and parameters in (None, count)))
            for path, scope, parameters in found
        )

    @property
    def folder(self) -> str:
        """The folder of the workspace."""
        return self._program.folder

    def is_closed(self, name: str) -> bool:
        """Whether no file of the workspace mentions a name but those that were parsed here."""
        files = self._mentions.get(name)
        return self._program.complete and files is not None and self._read.issuperset(files)

    def mentioned_elsewhere(self, name: str) -> bool:
        """Whether a file is known to mention a name that is no part of the unit."""
        return not self.own.issuperset(self._mentions.get(name, ()))

    def is_own(self, path: str) -> bool:
        """Whether a file is part of the unit."""
        return path in self.own

    def doubted(self, contexts: Sequence[LaunchContext], kernel: str, path: str) -> Sequence[LaunchContext]:
        """Contexts of a launch in a file, with what is uncertain about it when the file is another one."""
        if kernel not in self._program.ambiguous or self.is_own(path):
            return contexts
        why = f"several files define `{kernel}`, and the launch in {Path(path).name} may mean another one"
        return [replace(c, uncertain=c.uncertain or why) for c in contexts]


def _scopes(cursor: Cursor) -> list[str]:
    """The classes and namespaces around a function."""
    found: list[str] = []
    parent = cursor.semantic_parent
    while parent is not None and not parent.kind.is_translation_unit():
        found.append(parent.spelling)
        parent = parent.semantic_parent
    return found


def _is_kernel(cursor: Cursor) -> bool:
    return any(child.kind == CursorKind.CUDAGLOBAL_ATTR for child in cursor.get_children())
