"""From a file and the arguments to what the analysis is asked: flags, settings and launches.

Settings come from the project's `.cuda-lsp.toml` and the compilation database, looked for beside and above each file;
what the command line says wins over both. A mistake in either is a `UsageError`: a check that silently falls back to
defaults would be a different check.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzers.frontend import flags
from analyzers.frontend.flags import CompileFlags
from analyzers.hostguide.program import Program
from analyzers.model import CheckOptions, UserLaunch
from analyzers.requests import CheckRequest
from cuda_lsp import cache
from cuda_lsp.adoption.baseline import Baseline
from cuda_lsp.cache import DiskCache
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.inputs import Input, plain
from cuda_lsp.config import Layer, Settings
from cuda_lsp.workspace import compile_commands, project
from cuda_lsp.workspace.compile_commands import Database
from cuda_lsp.workspace.program_index import ProgramIndex, View
from cuda_lsp.workspace.project import Project, Workspace
from cuda_lsp.workspace.spelling import one_spelling


@dataclass(frozen=True, slots=True)
class Selection:
    """What the command line says about how to check."""

    kernels: tuple[str, ...] = ()
    launches: tuple[UserLaunch, ...] = ()
    extra_args: tuple[str, ...] = ()
    use_host: bool = True
    warp_lockstep: bool = False
    wrap_around: bool = False
    database: str | None = None
    settings: Mapping[str, Any] | None = None
    """Those of an editor; a project file is stronger."""
    workspace: str | None = None
    """The folder that an editor has opened; it counts for the files below it."""

    @property
    def is_partial(self) -> bool:
        """Whether findings may be left out that a check of everything has."""
        return bool(self.kernels or self.launches or not self.use_host)


class Requests:
    """Makes the requests of one run; reads each project's files once."""

    def __init__(self, selection: Selection, paths: Iterable[str] = ()) -> None:
        """`paths` as given on the command line: files below the folders among them may belong to one program."""
        self._selection = selection
        self.folders = tuple(one_spelling(Path.cwd() / path) for path in paths if Path(path).is_dir())
        self._views: dict[tuple[str, bool], View] = {}
        self._projects: dict[str, Project] = {}
        self._named_database = _named_database(selection.database)
        self._workspace = one_spelling(Path.cwd() / selection.workspace) if selection.workspace is not None else None

    def request(self, file: Input, text: str) -> CheckRequest:
        """Raises `UsageError` when the file's project is not configured correctly."""
        found = self._project(str(Path(file.path).parent))
        options = self._options(found.settings)
        program = Program()
        if options.use_host and not options.launches:
            view = self._view(file.path, found)
            program = view.program(
                file.path,
                lambda path: self._flags(path, self._project(str(Path(path).parent))),
                options.kernels,
                self._macro_words(found),
            )
        return CheckRequest(file.path, plain(text), self._flags(file.path, found), options=options, program=program)

    def workspace(self, path: str) -> Workspace:
        """Where other units may lie that belong with a file. Raises `UsageError` like `request`."""
        found = self._project(str(Path(path).parent))
        top, whole = self._top(path, found)
        return dataclasses.replace(
            found.workspace_of(path),
            top=top,
            recursive=whole,
            database=(self._named_database or found.database).path,
            command_args=self._selection.extra_args,
            command_directory=str(Path.cwd()),
        )

    def settings(self, path: str) -> Settings:
        """What the project of a file says. Raises `UsageError` like `request`."""
        return self._project(str(Path(path).parent)).settings

    def baseline(self, path: str) -> Baseline | None:
        """The baseline that the project of a file names."""
        return self._project(str(Path(path).parent)).baseline

    def _view(self, path: str, found: Project) -> View:
        """The workspace of a file: the folder named on the command line, else that of the project file or repository,
        else the file's own without those below; and what the compilation database lists."""
        top, whole = self._top(path, found)
        view = self._views.get((top, whole))
        if view is None:
            database = self._named_database or found.database
            disk = DiskCache(cache.default_directory() if found.settings.disk_cache else None)
            index = ProgramIndex(top, disk, recursive=whole)
            view = self._views[top, whole] = index.refresh({}, database.commands)
        return view

    def _top(self, path: str, found: Project) -> tuple[str, bool]:
        around = [folder for folder in self.folders if Path(path).is_relative_to(folder)]
        own = found.workspace_of(path)
        return (min(around, key=len), True) if around else (own.top, own.recursive)

    def _macro_words(self, found: Project) -> frozenset[str]:
        extra = (*found.settings.extra_args, *self._selection.extra_args)
        return (self._named_database or found.database).macro_words() | compile_commands.macro_words(extra)

    def hang_seconds(self, files: Iterable[Input]) -> float:
        """How long a worker may say nothing: the longest that the projects of some files allow."""
        folders = {str(Path(file.path).parent) for file in files if file.text is not None}
        return float(max((self._project(folder).settings.hang_seconds for folder in folders), default=0))

    def _project(self, folder: str) -> Project:
        found = self._projects.get(folder)
        if found is None:
            given = self._selection.settings
            client = (Layer("--settings", given),) if given is not None else ()
            top = self._workspace if self._workspace and Path(folder).is_relative_to(self._workspace) else None
            found = project.load(folder, top, client)
            if found.problems:
                raise UsageError("\n".join(map(str, found.problems)))
            self._projects[folder] = found
        return found

    def _flags(self, path: str, found: Project) -> CompileFlags:
        database = self._named_database or found.database
        own, _ = compile_commands.flags_for(path, database, found.settings, found.directory)
        if not self._selection.extra_args:
            return own
        added = Settings(extra_args=self._selection.extra_args)
        return compile_commands.flags_for(path, Database("", {path: own}), added, str(Path.cwd()))[0]

    def _options(self, settings: Settings) -> CheckOptions:
        base = settings.check_options()
        chosen = self._selection
        return dataclasses.replace(
            base,
            use_host=base.use_host and chosen.use_host,
            warp_lockstep=base.warp_lockstep or chosen.warp_lockstep,
            wrap_around=base.wrap_around or chosen.wrap_around,
            kernels=chosen.kernels,
            launches=chosen.launches,
        )


def ineffective(selection: Selection) -> list[str]:
    """Sentences about `--extra-arg`s that do not reach the analysis."""
    dropped = flags.translate(selection.extra_args, str(Path.cwd())).dropped
    return [f"--extra-arg {flag.flag} has no effect: {flag.reason}" for flag in dropped]


def _named_database(folder: str | None) -> Database | None:
    if folder is None:
        return None
    path = compile_commands.find(Path.cwd(), None, folder, Path.cwd())
    database, problems = compile_commands.load(path)
    if problems:
        raise UsageError("\n".join(map(str, problems)))
    return database
