"""Compiler command lines, nvcc's or clang's, to the few flags that a parse may see.

Takes the arguments of one compile command (or a whole `compile_commands.json`) and gives the flags for libclang, the
GPU architecture, and what was dropped with the reason. Pure: response files come through a reader that the caller
supplies. Flags pass by an allow-list, because a compile command is written for another compiler and another purpose:
`-MD -MF PATH` would make libclang write PATH, and `-Xclang` can crash it.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Final, cast

DEFAULT_ARCH: Final = 80
DEFAULT_STANDARD: Final = "c++17"

#: Gives the text of a response file for its absolute path, or None if it cannot be read.
ResponseReader = Callable[[str], "str | None"]


class FlagsError(ValueError):
    """A compilation database that is not one."""


@dataclass(frozen=True, slots=True)
class DroppedFlag:
    """A flag as written that does not reach the parser, and why."""

    flag: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompileFlags:
    """What a parse takes from a compile command. `arch` is the sm number (80 for sm_80); `arguments` are clang's."""

    arguments: tuple[str, ...] = (f"-std={DEFAULT_STANDARD}",)
    arch: int = DEFAULT_ARCH
    dropped: tuple[DroppedFlag, ...] = ()
    directory: str = "."


# Flags that pass, by every spelling of nvcc and clang: the value is glued on, follows "=", or is the next argument.
_MACROS: Final[Mapping[str, str]] = {"-D": "-D", "--define-macro": "-D", "-U": "-U", "--undefine-macro": "-U"}
_FOLDERS: Final[Mapping[str, str]] = {
    "-I": "-I",
    "--include-path": "-I",
    "--include-directory": "-I",
    "-isystem": "-isystem",
    "--system-include": "-isystem",
    "-idirafter": "-isystem",
    "-iquote": "-iquote",
}
_FORCED_INCLUDES: Final = frozenset({"-include", "--include", "--pre-include"})
_STANDARDS: Final = frozenset({"-std", "--std"})
_ARCHITECTURES: Final = frozenset(
    {
        "-arch",
        "--gpu-architecture",
        "-gencode",
        "--generate-code",
        "-code",
        "--gpu-code",
        "--cuda-gpu-arch",
        "--offload-arch",
    }
)
_HOST_COMPILER: Final = frozenset({"-Xcompiler", "--compiler-options"})
_RESPONSE_FILES: Final = frozenset({"-optf", "--options-file"})
_GLUED: Final = ("-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include")

# Flags that change what the source means and that clang knows, copied as they are.
_LANGUAGE: Final = frozenset(
    {
        "-faligned-allocation",
        "-fchar8_t",
        "-fcoroutines",
        "-fexceptions",
        "-fms-extensions",
        "-fno-char8_t",
        "-fno-exceptions",
        "-fno-rtti",
        "-fno-signed-char",
        "-frtti",
        "-fshort-enums",
        "-fsigned-char",
        "-funsigned-char",
        "-fwrapv",
    }
)

# Flags that show in the source only as a predefined macro.
_PREDEFINED: Final[Mapping[str, str]] = {
    "-G": "__CUDACC_DEBUG__",
    "--device-debug": "__CUDACC_DEBUG__",
    "-dc": "__CUDACC_RDC__",
    "--device-c": "__CUDACC_RDC__",
    "-rdc=true": "__CUDACC_RDC__",
    "--relocatable-device-code=true": "__CUDACC_RDC__",
    "-fgpu-rdc": "__CUDACC_RDC__",
    "-extended-lambda": "__CUDACC_EXTENDED_LAMBDA__",
    "--extended-lambda": "__CUDACC_EXTENDED_LAMBDA__",
    "-expt-extended-lambda": "__CUDACC_EXTENDED_LAMBDA__",
    "--expt-extended-lambda": "__CUDACC_EXTENDED_LAMBDA__",
    "-expt-relaxed-constexpr": "__CUDACC_RELAXED_CONSTEXPR__",
    "--expt-relaxed-constexpr": "__CUDACC_RELAXED_CONSTEXPR__",
    "-default-stream=per-thread": "CUDA_API_PER_THREAD_DEFAULT_STREAM",
    "--default-stream=per-thread": "CUDA_API_PER_THREAD_DEFAULT_STREAM",
    "-fopenmp": "_OPENMP=201511",
}

# Dropped flags whose value is the next argument: without this the value would be taken for a flag of its own.
_TAKES_VALUE: Final = frozenset(
    {
        "-MF", "-MJ", "-MQ", "-MT", "-Xanalyzer", "-Xarch_device", "-Xarch_host", "-Xarchive", "-Xassembler", "-Xclang",
        "-Xcuda-fatbinary", "-Xcuda-ptxas", "-Xcudafe", "-Xfatbin", "-Xlinker", "-Xnvlink", "-Xnvvm", "-Xpreprocessor",
        "-Xptxas", "-L", "-ccbin", "-cudadevrt", "-cudart", "-default-stream", "-diag-error", "-diag-suppress",
        "-diag-warn", "-fplugin", "-gcc-toolchain", "-imacros", "-include-pch", "-iprefix", "-isysroot",
        "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore", "-ldir", "-load", "-maxrregcount", "-mllvm", "-o",
        "-odir", "-resource-dir", "-target", "-target-dir", "-working-directory", "-x", "--archive-options",
        "--compiler-bindir", "--cudadevrt", "--cudart", "--default-stream", "--dependency-output",
        "--dependency-target-name", "--diag-error", "--diag-suppress", "--diag-warn", "--fatbin-options",
        "--keep-dir", "--library", "--library-path", "--linker-options", "--machine", "--maxrregcount",
        "--nvlink-options", "--output-directory", "--output-file", "--param", "--ptxas-options",
        "--relocatable-device-code", "--split-compile", "--sysroot", "--target-directory", "--threads", "--x",
        "-keep-dir", "-rdc", "-split-compile", "-threads",
    }
)  # fmt: skip
# The same for flags that also stand alone: only a value of this shape belongs to them.
_MAY_TAKE_VALUE: Final[Mapping[str, str]] = {
    "-O": r"[0-3s]|fast",
    "-Werror": r"[a-z]+(-[a-z]+)+(,.*)?|all-warnings|reorder|cross-execution-space-call",
    "-brief-diag": r"true|false",
    "-dopt": r"on",
    "-fmad": r"true|false",
    "-ftz": r"true|false",
    "-l": r"[^-].*",
    "-m": r"32|64",
    "-prec-div": r"true|false",
    "-prec-sqrt": r"true|false",
    "-t": r"\d+",
}
_WRITES: Final = ("-M", "-o", "--output", "-save-temps", "--keep", "-keep", "--dependency", "-serialize")
_LOADS: Final = ("-Xclang", "-fplugin", "-load", "-mllvm", "-B", "-fpass-plugin", "-cc1")

_NOT_NEEDED: Final = "does not change what the source means"
_MAXIMAL_RESPONSE_DEPTH: Final = 8


@dataclass(slots=True)
class _Collected:
    """What has been gathered from the arguments so far."""

    directory: str
    arguments: list[str] = field(default_factory=list[str])
    dropped: list[DroppedFlag] = field(default_factory=list[DroppedFlag])
    standard: str = DEFAULT_STANDARD
    architectures: list[int] = field(default_factory=list[int])
    searches_directory: bool = False

    def drop(self, flag: str, reason: str = _NOT_NEEDED) -> None:
        self.dropped.append(DroppedFlag(flag, reason))


def translate(arguments: Sequence[str], directory: str, read: ResponseReader | None = None) -> CompileFlags:
    """The flags of one compile command; `arguments` may start with the compiler, input files are ignored.

    Relative paths are taken from `directory`. The last `-std` and, of several architectures, the newest win; standards
    before C++17, which the bundled headers need, are raised to it.
    """
    collected = _Collected(directory)
    _collect(list(_expanded(arguments, directory, read, collected, depth=0)), collected)
    searched = ("-iquote", directory) if collected.searches_directory else ()
    return CompileFlags(
        arguments=(f"-std={collected.standard}", *collected.arguments, *searched),
        arch=max(collected.architectures, default=DEFAULT_ARCH),
        dropped=tuple(collected.dropped),
        directory=directory,
    )


def _expanded(
    arguments: Sequence[str], directory: str, read: ResponseReader | None, collected: _Collected, depth: int
) -> Iterator[str]:
    """The arguments with response files (`@file`, `-optf file`) replaced by their content."""
    waiting = iter(arguments)
    for argument in waiting:
        head, equals, value = argument.partition("=")
        if argument.startswith("@") and len(argument) > 1:
            names = [argument[1:]]
        elif head in _RESPONSE_FILES:
            names = (value if equals else next(waiting, "")).split(",")
        else:
            yield argument
            continue
        for name in filter(None, names):
            content = read(_absolute(name, directory)) if read is not None and depth < _MAXIMAL_RESPONSE_DEPTH else None
            if content is None:
                collected.drop(argument, f"response file {name} cannot be read")
            else:
                yield from _expanded(_words(content), directory, read, collected, depth + 1)


def _words(text: str) -> list[str]:
    """A command line in words, by the rules of a POSIX shell; unbalanced quotes fall back to blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _collect(arguments: Sequence[str], collected: _Collected) -> None:
    waiting = iter(enumerate(arguments))
    for index, argument in waiting:
        if not argument.startswith("-") or argument == "-":
            continue
        name, value = _name_and_value(argument)
        if name in _TAKES_VALUE and value is None:
            following = next(waiting, (0, ""))[1]
            collected.drop(f"{argument} {following}".rstrip(), _reason(name))
        elif name in _MAY_TAKE_VALUE and value is None:
            following = arguments[index + 1] if index + 1 < len(arguments) else ""
            if re.fullmatch(_MAY_TAKE_VALUE[name], following):
                next(waiting)
                collected.drop(f"{argument} {following}")
            else:
                collected.drop(argument)
        elif name in _VALUED:
            if value is None:
                value = next(waiting, (0, None))[1]
            if value is None:
                collected.drop(argument, "its value is missing")
            else:
                _VALUED[name](name, value, collected)
        elif argument in _LANGUAGE:
            collected.arguments.append(argument)
        else:
            _predefine(argument, collected)


def _name_and_value(argument: str) -> tuple[str, str | None]:
    """Flag and value, the value glued on (`-Ifoo`) or after "="; None when it is not part of the argument."""
    if argument in _VALUED or argument in _TAKES_VALUE:
        return argument, None
    head, equals, value = argument.partition("=")
    if equals and head in _VALUED and head not in _MACROS:
        return head, value
    if not argument.startswith("--"):
        for name in _GLUED:
            if argument.startswith(name) and not argument.startswith("-include-"):
                return name, argument.removeprefix(name).removeprefix("=" if name.startswith("-i") else "")
    if equals and head in _MACROS:
        return head, value
    return argument, None


def _predefine(argument: str, collected: _Collected) -> None:
    macro = _PREDEFINED.get(argument)
    if macro is None:
        collected.drop(argument, _reason(argument))
    else:
        collected.arguments.append(f"-D{macro}")


def _reason(flag: str) -> str:
    if flag.startswith(_WRITES):
        return "would write a file"
    if flag.startswith(_LOADS):
        return "could load code into the parser or crash it"
    return _NOT_NEEDED


def _macro(name: str, value: str, collected: _Collected) -> None:
    collected.arguments.append(_MACROS[name] + value)


def _folder(name: str, value: str, collected: _Collected) -> None:
    collected.arguments.extend((_FOLDERS[name], _absolute(value, collected.directory)))


def _forced_include(_name: str, value: str, collected: _Collected) -> None:
    """Left relative, because the include path is searched for it as well as the directory of the command."""
    collected.arguments.extend(("-include", value))
    collected.searches_directory = True


def _standard(_name: str, value: str, collected: _Collected) -> None:
    match = re.fullmatch(r"(c|gnu)(\+\+)?(\w+)", value)
    if match is None or not match.group(2):
        collected.drop(f"-std={value}", "no C++ standard")
        return
    year = {"98": 3, "0x": 11, "1y": 14, "1z": 17, "2a": 20, "2b": 23, "2c": 26}.get(match.group(3))
    if year is None:
        if not match.group(3).isdigit():
            collected.drop(f"-std={value}", "no C++ standard")
            return
        year = int(match.group(3))
    if year < 17:
        collected.drop(f"-std={value}", "raised to C++17, which the bundled headers need")
    known = max(17, min(year - year % 3 + 2 if year % 3 != 2 else year, 26))
    collected.standard = f"{match.group(1)}++{known}"


def _architecture(_name: str, value: str, collected: _Collected) -> None:
    numbers = [int(number) for number in re.findall(r"(?:sm|compute|lto)_(\d+)", value)]
    if numbers:
        collected.architectures.extend(numbers)
    else:
        collected.drop(f"{_name}={value}", "names no architecture")


def _host_compiler(name: str, value: str, collected: _Collected) -> None:
    """Flags for the host compiler: macros, folders and the standard count, the rest does not."""
    inner = _Collected(collected.directory, standard=collected.standard)
    _collect([word for part in _words(value) for word in part.split(",")], inner)
    collected.arguments.extend(inner.arguments)
    collected.standard = inner.standard
    collected.searches_directory |= inner.searches_directory
    collected.dropped.extend(DroppedFlag(f"{name} {flag.flag}", flag.reason) for flag in inner.dropped)


_VALUED: Final[Mapping[str, Callable[[str, str, _Collected], None]]] = {
    **dict.fromkeys(_MACROS, _macro),
    **dict.fromkeys(_FOLDERS, _folder),
    **dict.fromkeys(_FORCED_INCLUDES, _forced_include),
    **dict.fromkeys(_STANDARDS, _standard),
    **dict.fromkeys(_ARCHITECTURES, _architecture),
    **dict.fromkeys(_HOST_COMPILER, _host_compiler),
}


def _absolute(path: str, directory: str) -> str:
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
        return path
    return posixpath.normpath(posixpath.join(directory, path))


def from_compilation_database(text: str, path: str, read: ResponseReader | None = None) -> Mapping[str, CompileFlags]:
    """The flags of each file that a `compile_commands.json` names, by absolute path; the first command of a file wins.

    `path` is where the database lies: relative directories are taken from there. Raises `FlagsError`.
    """
    return {name: found[0] for name, found in commands_of_database(text, path, read).items()}


def commands_of_database(
    text: str, path: str, read: ResponseReader | None = None
) -> Mapping[str, tuple[CompileFlags, ...]]:
    """The same with all commands of a file, in order, those aside that come to the same for a parse."""
    try:
        entries: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FlagsError(f"{path}: {error}") from None
    if not isinstance(entries, list):
        raise FlagsError(f"{path}: not a list of commands")
    found: dict[str, dict[tuple[tuple[str, ...], int], CompileFlags]] = {}
    for number, entry in enumerate(cast("list[Any]", entries)):
        command = _command(entry)
        if command is None:
            raise FlagsError(f"{path}: entry {number} has no file, or neither arguments nor a command")
        name, directory, arguments = command
        directory = _absolute(directory, posixpath.dirname(path.replace("\\", "/")))
        flags = translate(arguments, directory, read)
        found.setdefault(_absolute(name, directory), {}).setdefault((flags.arguments, flags.arch), flags)
    return {name: tuple(commands.values()) for name, commands in found.items()}


def _command(entry: object) -> tuple[str, str, list[str]] | None:
    """File, directory and arguments of one entry of the database."""
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, Any]", entry)
    name, directory = fields.get("file"), fields.get("directory", ".")
    arguments, command = fields.get("arguments"), fields.get("command")
    if not isinstance(name, str) or not isinstance(directory, str):
        return None
    if isinstance(arguments, list) and all(isinstance(word, str) for word in cast("list[Any]", arguments)):
        return name, directory, cast("list[str]", arguments)
    return (name, directory, _words(command)) if isinstance(command, str) else None


def guessed_include_folders(missing: Iterable[str], files: Iterable[str], source: str) -> tuple[str, ...]:
    """Folders of a workspace that hold headers which `source` asked for in vain, for projects without compile commands.

    `missing` are names as written in `#include`, `files` absolute paths. Of several candidates the one that shares the
    longest path with `source` wins, then the shorter one.
    """
    wanted = {f"/{name}" for name in missing}
    endings = {ending.rsplit("/", 1)[-1] for ending in wanted}
    candidates: dict[str, list[str]] = {ending: [] for ending in sorted(wanted)}
    for path in files:
        plain = path.replace("\\", "/")
        if plain.rsplit("/", 1)[-1] in endings:
            for ending in wanted:
                if plain.endswith(ending):
                    candidates[ending].append(plain.removesuffix(ending))
    near = source.replace("\\", "/")
    best = (
        max(folders, key=lambda folder: (len(posixpath.commonpath((near, folder))), -len(folder), folder))
        for folders in candidates.values()
        if folders
    )
    return tuple(dict.fromkeys(folder for folder in best if folder))


# Files that tell a folder of real library headers. What the bundled headers lack must be missing, not come from there:
# a real ATen or CUB header behind the facades costs seconds and gives hundreds of errors.
_LIBRARY_MARKS: Final = (
    "cuda_runtime_api.h",
    "ATen/ATen.h",
    "torch/all.h",
    "thrust/version.h",
    "cub/cub.cuh",
    "cuda/std/version",
    "bits/c++config.h",
    "stdio.h",
)


def without_library_folders(flags: CompileFlags, exists: Callable[[str], bool]) -> CompileFlags:
    """The flags without include folders that hold a library which the bundled headers stand for.

    `exists` tells whether there is a file of that path.
    """
    kept: list[str] = []
    dropped: list[DroppedFlag] = []
    waiting = iter(flags.arguments)
    for argument in waiting:
        if argument not in ("-I", "-isystem"):
            kept.append(argument)
            continue
        folder = next(waiting, "")
        mark = next((mark for mark in _LIBRARY_MARKS if exists(posixpath.join(folder, mark))), None)
        if mark is None:
            kept.extend((argument, folder))
        else:
            dropped.append(DroppedFlag(f"{argument} {folder}", f"holds {mark}, which the bundled headers stand for"))
    return replace(flags, arguments=tuple(kept), dropped=(*flags.dropped, *dropped)) if dropped else flags
