"""What the files of a project say about how to check it: `.cuda-lsp.toml` and the compilation database.

`load` reads both for the folder of a document and merges the settings; `Project.is_current` tells cheaply whether that
has to be done again. Both touch the disk: the server calls them from a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzers.frontend.flags import CompileFlags
from cuda_lsp import config
from cuda_lsp.adoption import baseline
from cuda_lsp.adoption.baseline import Baseline, BaselineError
from cuda_lsp.config import Layer, Problem, Settings
from cuda_lsp.workspace import compile_commands
from cuda_lsp.workspace.compile_commands import Database
from cuda_lsp.workspace.spelling import one_spelling

_REPOSITORY = ".git"
"""What the top folder of a repository holds."""

_Stamp = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the other files of a program may lie, and what says how they are compiled."""

    top: str
    recursive: bool
    """Also the folders below; without them nobody knows all callers of a function."""
    database: str | None
    directory: str
    """What relative `extra_args` are relative to."""
    extra_args: tuple[str, ...] = ()
    arch: int | None = None
    command_args: tuple[str, ...] = ()
    """Arguments for the compiler that a command line has more."""
    command_directory: str = ""
    """What relative ones of them are relative to."""


@dataclass(frozen=True, slots=True)
class Project:
    """The settings and compile commands that hold in one folder."""

    folder: str
    directory: str
    """What relative paths in the settings are relative to."""
    settings: Settings
    problems: tuple[Problem, ...]
    database: Database
    client: tuple[Layer, ...]
    top: str | None
    found: tuple[str | None, ...]
    """The project file, the database and the baseline."""
    stamps: tuple[_Stamp, ...]
    baseline: Baseline | None = None
    """The findings that are known."""

    def flags_for(self, path: str) -> CompileFlags:
        return compile_commands.flags_for(path, self.database, self.settings, self.directory)[0]

    def workspace_of(self, unit: str) -> Workspace:
        """The workspace folder when the unit lies in it, else the project file's, else that of the repository, else the
        unit's own without those below, which is not taken for the whole."""
        top = self.top if self.top is not None and Path(unit).is_relative_to(self.top) else None
        if top is None and self.found[0] is not None:
            top = self.directory
        if top is None:
            top = next((str(p) for p in Path(unit).parents if (p / _REPOSITORY).exists()), None)
        return Workspace(
            top=top if top is not None else str(Path(unit).parent),
            recursive=top is not None,
            database=self.database.path,
            directory=self.directory,
            extra_args=self.settings.extra_args,
            arch=self.settings.arch,
        )

    def is_current(self, client: tuple[Layer, ...]) -> bool:
        """Whether loading again would give the same."""
        if client != self.client:
            return False
        found = _find(Path(self.folder), Path(self.top) if self.top else None, self.settings)
        return found == self.found and tuple(_stamp(path) for path in found) == self.stamps


def load(folder: str, top: str | None, client: tuple[Layer, ...]) -> Project:
    """`client`: the layers below the project file, weakest first; `top`: the workspace folder, if there is one."""
    start, end = Path(folder), Path(top) if top else None
    file = config.find_project_file(start, end)
    file_layer, problems = config.load_project_file(file) if file is not None else (None, ())
    settings, merge_problems = config.merge([*client, *([file_layer] if file_layer else [])])
    directory = file.parent if file is not None else (end or start)
    database_path = compile_commands.find(start, end, settings.compile_commands, directory)
    database, database_problems = compile_commands.load(database_path)
    known, baseline_problems = _baseline(_in(directory, settings.baseline))
    found = (*map(_text, (file, database_path)), _in(directory, settings.baseline))
    return Project(
        folder=folder,
        directory=str(directory),
        settings=settings,
        problems=(*problems, *merge_problems, *database_problems, *baseline_problems),
        database=database,
        client=client,
        top=top,
        found=found,
        stamps=tuple(_stamp(path) for path in found),
        baseline=known,
    )


def _find(start: Path, top: Path | None, settings: Settings) -> tuple[str | None, ...]:
    file = config.find_project_file(start, top)
    directory = file.parent if file is not None else (top or start)
    database = compile_commands.find(start, top, settings.compile_commands, directory)
    return (*map(_text, (file, database)), _in(directory, settings.baseline))


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None


def _in(directory: Path, path: str | None) -> str | None:
    return one_spelling(directory / path) if path is not None else None


def _baseline(path: str | None) -> tuple[Baseline | None, tuple[Problem, ...]]:
    if path is None:
        return None, ()
    if not Path(path).exists():
        # Named before it is written for the first time: nothing is known yet.
        return Baseline(path), ()
    try:
        return baseline.load(path), ()
    except BaselineError as error:
        return None, (Problem(path, str(error)),)


def _stamp(path: str | None) -> _Stamp:
    if path is None:
        return None
    try:
        state = Path(path).stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
