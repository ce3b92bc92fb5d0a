"""The programs of a workspace, as a worker asks for them: which files to link with a unit, and with which flags.

Takes a `Workspace`, plain data that travels with a request, keeps the index of each folder and the compilation
databases, and looks at the files again each time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from analyzers.hostguide.program import Program
from cuda_lsp import cache, wire
from cuda_lsp.cache import DiskCache
from cuda_lsp.config import Settings
from cuda_lsp.workspace import compile_commands
from cuda_lsp.workspace.compile_commands import Database
from cuda_lsp.workspace.program_index import ProgramIndex
from cuda_lsp.workspace.project import Workspace


class Programs:
    """Of one worker."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, bool], ProgramIndex] = {}
        self._databases: dict[str, tuple[object, Database]] = {}

    def of(
        self, workspace: Workspace, unit: str, texts: Mapping[str, str], kernels: tuple[str, ...], disk: DiskCache
    ) -> Program:
        """The program of a unit; `texts` of open documents shadow the disk. Reads files."""
        key = (workspace.top, workspace.recursive)
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = ProgramIndex(workspace.top, disk, recursive=workspace.recursive)
        database = self._database(workspace.database)
        settings = Settings(extra_args=workspace.extra_args, arch=workspace.arch)
        view = index.refresh(texts, database.commands)
        return view.program(
            unit,
            lambda path: compile_commands.flags_for(path, database, settings, workspace.directory)[0],
            kernels,
            database.macro_words() | compile_commands.macro_words(workspace.extra_args),
        )

    def _database(self, path: str | None) -> Database:
        if path is None:
            return Database()
        stamp = cache.file_stamp(path)
        known = self._databases.get(path)
        if known is None or known[0] != stamp:
            known = self._databases[path] = stamp, compile_commands.load(Path(path))[0]
        return known[1]


def program_key(program: Program) -> str:
    """A name for everything in a program."""
    files = [(f.path, hashlib.sha256(f.text.encode("utf-8", "replace")).hexdigest()) for f in program.files]
    flags = [wire.dump(f.flags) for f in program.files]
    whole = (program.folder, program.complete, program.definitions)
    return json.dumps([files, flags, program.mentions, program.ambiguous, whole])
