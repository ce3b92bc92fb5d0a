"""Which flags a file is compiled with: the compilation database near it, the settings, and defaults.

Takes a path and a database and gives `CompileFlags` together with where they came from, for people who wonder. Reads
files; the server calls it from a thread.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analyzers.frontend import flags
from analyzers.frontend.flags import CompileFlags
from cuda_lsp.config import Problem, Settings
from cuda_lsp.workspace.spelling import one_spelling

NAME = "compile_commands.json"
_BUILD_FOLDERS = ("build", "out", "Build", "builddir", "_build")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MAXIMAL_SIZE = 256 << 20


@dataclass(frozen=True, slots=True)
class Database:
    """A compilation database, or the absence of one."""

    path: str | None = None
    commands: Mapping[str, CompileFlags] = field(default_factory=dict[str, CompileFlags])
    more: Mapping[str, tuple[CompileFlags, ...]] = field(default_factory=dict[str, tuple[CompileFlags, ...]])
    """Of files with several commands, those behind the first."""

    def every(self) -> Iterator[tuple[str, CompileFlags]]:
        """All commands, each with its file."""
        yield from self.commands.items()
        yield from ((path, flags) for path, several in self.more.items() for flags in several)

    def macro_words(self) -> frozenset[str]:
        """The words that macros of the commands stand for."""
        arguments = {a for _, flags in self.every() for a in flags.arguments}
        return macro_words(arguments)


def find(start: Path, top: Path | None, configured: str | None, directory: Path) -> Path | None:
    """The database for files in `start`: the configured one (relative to `directory`), else the nearest, looking in
    each folder from `start` up to `top` and in the usual build folders there."""
    if configured is not None:
        path = directory / Path(configured).expanduser()
        return path / NAME if path.is_dir() else path
    for folder in (start, *start.parents):
        for candidate in _candidates(folder):
            if candidate.is_file():
                return candidate
        if folder == top:
            return None
    return None


def _candidates(folder: Path) -> Iterator[Path]:
    yield folder / NAME
    for name in _BUILD_FOLDERS:
        yield folder / name / NAME
        yield from sorted((folder / name).glob(f"*/{NAME}"))
    yield from sorted(folder.glob(f"cmake-build-*/{NAME}"))


def load(path: Path | None) -> tuple[Database, tuple[Problem, ...]]:
    """Read a database; one that is none gives an empty one and a problem."""
    if path is None:
        return Database(), ()
    try:
        if path.stat().st_size > _MAXIMAL_SIZE:
            return Database(str(path)), (Problem(str(path), f"larger than {_MAXIMAL_SIZE >> 20} MB, not read"),)
        text = path.read_text(encoding="utf-8", errors="replace")
        commands = flags.commands_of_database(text, str(path), _read_response_file)
    except OSError as error:
        return Database(str(path)), (Problem(str(path), f"cannot be read: {error.strerror or error}"),)
    except flags.FlagsError as error:
        return Database(str(path)), (Problem(str(path), str(error).removeprefix(f"{path}: ")),)
    named = {one_spelling(name): found for name, found in commands.items()}
    more = {name: found[1:] for name, found in named.items() if len(found) > 1}
    return Database(str(path), {name: found[0] for name, found in named.items()}, more), ()


def macro_words(arguments: Iterable[str]) -> frozenset[str]:
    """The words that macros on a command line stand for: ``run`` of ``-DEXEC=run``."""
    return frozenset(word for a in arguments if "=" in a for word in _WORD.findall(a.partition("=")[2]))


def _read_response_file(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def flags_for(path: str, database: Database, settings: Settings, directory: str) -> tuple[CompileFlags, str]:
    """The flags of a file and, in words, whose they are. `directory`: what relative `extra-args` are relative to."""
    found = database.commands.get(path)
    origin = f"{database.path}"
    if found is None and database.commands:
        relative = _closest(path, database.commands)
        if relative is not None:
            found, origin = database.commands[relative], f"{database.path}, the command of {relative}"
    if found is None:
        found, origin = CompileFlags(directory=directory), "defaults"
    return _adapted(found, settings, directory), origin


def more_flags_for(path: str, database: Database, settings: Settings, directory: str) -> tuple[CompileFlags, ...]:
    """The flags of the other commands of a file."""
    return tuple(_adapted(found, settings, directory) for found in database.more.get(path, ()))


def _adapted(found: CompileFlags, settings: Settings, directory: str) -> CompileFlags:
    """Flags with what the settings say."""
    if settings.extra_args:
        extra = flags.translate(settings.extra_args, directory)
        named = [argument for argument in settings.extra_args if argument.startswith(("-std", "--std"))]
        standard = extra.arguments[:1] if named else found.arguments[:1]
        found = dataclasses.replace(
            found,
            arguments=(*standard, *found.arguments[1:], *extra.arguments[1:]),
            arch=extra.arch if extra.arch != flags.DEFAULT_ARCH else found.arch,
            dropped=(*found.dropped, *extra.dropped),
        )
    return found if settings.arch is None else dataclasses.replace(found, arch=settings.arch)


def _closest(path: str, commands: Mapping[str, CompileFlags]) -> str | None:
    """For a file without a command, the file whose command fits best: the same stem, then the same folder, then the
    longest common part of the path; device code before host code."""
    folder, stem = Path(path).parent, Path(path).stem

    def fitness(name: str) -> tuple[bool, bool, int, bool]:
        other = Path(name)
        pairs = zip(other.parent.parts, folder.parts, strict=False)
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return other.stem == stem, other.parent == folder, common, other.suffix == ".cu"

    return max(sorted(commands), key=fitness, default=None)
