"""The programs of a workspace, as a worker asks for them: which files to link with a unit, with which flags, and which
other units include a header.

Takes a `Workspace`, plain data that travels with a request, keeps the index of each folder and the compilation
databases, and looks at the files again each time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from analyzers.frontend.flags import CompileFlags
from analyzers.hostguide.program import Program
from analyzers.model import CheckOptions
from analyzers.requests import CheckRequest, Including
from cuda_lsp import cache, wire
from cuda_lsp.cache import DiskCache
from cuda_lsp.config import Settings
from cuda_lsp.workspace import compile_commands
from cuda_lsp.workspace.compile_commands import Database
from cuda_lsp.workspace.device_callers import device_callers
from cuda_lsp.workspace.program_index import ProgramIndex, View
from cuda_lsp.workspace.project import Workspace

_MOST_INCLUDING: Final = 8
"""Units with a header in which a repair of it is judged."""


class Programs:
    """Of one worker."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, bool], ProgramIndex] = {}
        self._databases: dict[str, tuple[object, Database]] = {}

    def of(
        self, workspace: Workspace, unit: str, texts: Mapping[str, str], kernels: tuple[str, ...], disk: DiskCache
    ) -> Program:
        """The program of a unit; `texts` of open documents shadow the disk. Reads files."""
        view, database = self._view(workspace, texts, disk)
        return view.program(unit, _flags(workspace, database), kernels, _macro_words(workspace, database))

    def including(
        self,
        workspace: Workspace,
        unit: str,
        files: Collection[str],
        names: Collection[str],
        texts: Mapping[str, str],
        options: CheckOptions,
        disk: DiskCache,
    ) -> Including:
        """The other units that include some files of a unit, and the unit by its other commands; checks of them are
        like its own. Those that call functions of it by some names. Reads files."""
        view, database = self._view(workspace, texts, disk)
        flags_of, macros = _flags(workspace, database), _macro_words(workspace, database)
        options = replace(options, kernels=(), launches=())

        def request(path: str, flags: CompileFlags) -> CheckRequest:
            others = {other: text for other, text in texts.items() if other != path}
            program = view.program(path, flags_of, (), macros) if options.use_host else Program()
            return CheckRequest(path, view.text(path), flags, others, options, program=program)

        paths = {*view.including(files), *_forced(files, database)} - {unit}
        units = [(path, flags) for path in sorted(paths) for flags in _all_flags(path, flags_of, workspace, database)]
        _, *own = _all_flags(unit, flags_of, workspace, database)
        return Including(
            tuple(request(*each) for each in units) if len(units) <= _MOST_INCLUDING else (),
            len(paths),
            tuple(request(unit, flags) for flags in own) if len(own) <= _MOST_INCLUDING else (),
            len(own),
            tuple(device_callers(view, unit, names)),
        )

    def _view(self, workspace: Workspace, texts: Mapping[str, str], disk: DiskCache) -> tuple[View, Database]:
        key = (workspace.top, workspace.recursive)
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = ProgramIndex(workspace.top, disk, recursive=workspace.recursive)
        database = self._database(workspace.database)
        return index.refresh(texts, database.commands), database

    def _database(self, path: str | None) -> Database:
        if path is None:
            return Database()
        stamp = cache.file_stamp(path)
        known = self._databases.get(path)
        if known is None or known[0] != stamp:
            known = self._databases[path] = stamp, compile_commands.load(Path(path))[0]
        return known[1]


def _flags(workspace: Workspace, database: Database) -> Callable[[str], CompileFlags]:
    settings = _settings(workspace)

    def flags_of(path: str) -> CompileFlags:
        found, _ = compile_commands.flags_for(path, database, settings, workspace.directory)
        return _with_more(path, found, workspace)

    return flags_of


def _all_flags(
    path: str, flags_of: Callable[[str], CompileFlags], workspace: Workspace, database: Database
) -> list[CompileFlags]:
    """Those of all commands of a file, once each, the first one's first."""
    more = compile_commands.more_flags_for(path, database, _settings(workspace), workspace.directory)
    found: dict[tuple[tuple[str, ...], int], CompileFlags] = {}
    for each in (flags_of(path), *(_with_more(path, each, workspace) for each in more)):
        found.setdefault((each.arguments, each.arch), each)
    return list(found.values())


def _settings(workspace: Workspace) -> Settings:
    return Settings(extra_args=workspace.extra_args, arch=workspace.arch)


def _with_more(path: str, found: CompileFlags, workspace: Workspace) -> CompileFlags:
    """Flags with what a command line adds."""
    if not workspace.command_args:
        return found
    more = Settings(extra_args=workspace.command_args)
    return compile_commands.flags_for(path, Database("", {path: found}), more, workspace.command_directory)[0]


def _macro_words(workspace: Workspace, database: Database) -> frozenset[str]:
    return database.macro_words() | compile_commands.macro_words((*workspace.extra_args, *workspace.command_args))


def _forced(files: Collection[str], database: Database) -> Iterator[str]:
    """The units that include one of these files by their commands."""
    names = {Path(path).name for path in files}
    for path, flags in database.every():
        if any(one == "-include" and Path(two).name in names for one, two in pairwise(flags.arguments)):
            yield path


def program_key(program: Program) -> str:
    """A name for everything in a program."""
    files = [(f.path, hashlib.sha256(f.text.encode("utf-8", "replace")).hexdigest()) for f in program.files]
    flags = [wire.dump(f.flags) for f in program.files]
    whole = (program.folder, program.complete, program.definitions)
    return json.dumps([files, flags, program.mentions, program.ambiguous, whole])
