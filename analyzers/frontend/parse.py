"""Text and compiler flags to libclang translation units: one device pass and one host pass per file.

Kernels are read from the device pass, because the host pass leaves `__CUDA_ARCH__` undefined and so takes the wrong
branch of `#if __CUDA_ARCH__ >= 700`; launches and host facts are read from the host pass. Both see the bundled headers
instead of a CUDA toolkit and a C++ library. Missing headers are normal. Not thread-safe, and libclang may crash: this
belongs into a process of its own.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from analyzers.frontend import cindex, focus
from analyzers.frontend.cindex import ClangDiagnostic, Index, SourceLocation, TranslationUnit
from analyzers.frontend.flags import CompileFlags, without_library_folders
from analyzers.frontend.include_search import SoughtHeader, search
from analyzers.frontend.inclusions import inclusions
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.precompiled import Precompiled
from analyzers.frontend.scan import (
    ExplicitInstantiation,
    ScannedKernel,
    ScannedLaunch,
    scan_explicit_instantiations,
    scan_kernels,
    scan_launches,
)
from analyzers.frontend.side_by_side import side_by_side
from analyzers.model import SourceSpan

__all__ = [
    "HEADERS",
    "Diagnostic",
    "ExplicitInstantiation",
    "HostPass",
    "MissingHeader",
    "ParseFailure",
    "ParsedUnit",
    "ScannedKernel",
    "ScannedLaunch",
    "Severity",
    "SourceFile",
    "UnitParser",
    "instantiation_probe",
    "is_bundled",
    "models_library",
    "scan_explicit_instantiations",
    "scan_kernels",
    "scan_launches",
    "source_bytes",
]

Side = Literal["device", "host"]

#: The folder of bundled headers; it comes first on the include path, so they shadow a real toolkit.
HEADERS: Final = str(Path(__file__).resolve().parent / "headers")
_INCLUDE_FOLDERS: Final = tuple(str(Path(HEADERS, name)) for name in ("core", "cuda", "cpp", "c", "libraries"))
_LIBRARIES: Final = str(Path(HEADERS, "libraries"))
_SHIM: Final = str(Path(HEADERS, "core", "cuda_lsp_shim.h"))
_PRECOMPILED: Final = Precompiled(_SHIM)
"""Of this process."""

# The newest architecture that libclang 18 knows by name; later ones are parsed as it, with __CUDA_ARCH__ set by hand.
_NAMED_ARCHITECTURES: Final = frozenset({50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90})

_COMMON_ARGUMENTS: Final = (
    "-x",
    "cuda",
    # Nothing of the machine may leak into a parse: not its toolkit, its C++ library, nor its word size.
    "--target=x86_64-unknown-linux-gnu",
    "--cuda-path=/nonexistent",
    "--no-cuda-version-check",
    "-nocudainc",
    "-nocudalib",
    "-nostdinc",
    "-nostdinc++",
    # Chooses __cudaPushCallConfiguration as the function that carries a launch's configuration.
    "-Xclang",
    "-target-sdk-version=12.3",
    # nvcc's front end is neither clang nor strict: code that asks takes the branch written for nvcc.
    "-U__clang__",
    "-Wno-everything",
    "-ferror-limit=0",
    # A correction would silently analyse a name that the author did not write.
    "-fno-spell-checking",
)


# Said of every template that a bundled header only declares when it is used with a local type; no code is lost by it.
_LINKAGE: Final = "is used but not defined in this translation unit, and cannot be defined"


_DEVICE_LAUNCH: Final = re.compile(
    r"(?:reference|call) to __global__ function.* (?:in|from) __(?:global|device|host__ __device)__ function$"
)
"""Said of a launch in device code; of one in a template, in a note of an error."""

#: For how many units the parse of a part is kept beside the whole one.
_FOCUSED: Final = 2

#: How often headers are searched for: a header that was found may include the next.
_SEARCHES: Final = 3


class ParseFailure(Exception):
    """No translation unit came out at all: unreadable file, or flags that libclang cannot represent."""


class Severity(IntEnum):
    """clang's severity of a diagnostic."""

    IGNORED = 0
    NOTE = 1
    WARNING = 2
    ERROR = 3
    FATAL = 4


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of clang, copied out of the unit. `ranges` are the source ranges it underlines; `span` covers the
    location and all ranges in the same file. `in_probe` when it is about appended text, not about the user's;
    `from_probe` when it is about the user's text in an instance that appended text asks for.
    """

    severity: Severity
    message: str
    path: str
    line: int
    column: int
    offset: int
    ranges: tuple[SourceSpan, ...]
    category: str
    option: str
    side: Side
    notes: tuple[Diagnostic, ...] = ()
    in_probe: bool = False
    from_probe: bool = False

    @property
    def is_device_launch(self) -> bool:
        """clang's refusal of a kernel launched by device code (dynamic parallelism), which it does not compile."""
        said = [self.message] if not self.message.startswith("no matching function for call") else []
        said += [note.message for note in self.notes if note.message.startswith("candidate function")]
        return any(_DEVICE_LAUNCH.search(message) for message in said)

    @property
    def span(self) -> SourceSpan:
        """From the first to the last byte that the message points at in its file."""
        start = end = (self.offset, self.line, self.column)
        for part in self.ranges:
            if part.path == self.path:
                start = min(start, (part.start_offset, part.start_line, part.start_column))
                end = max(end, (part.end_offset, part.end_line, part.end_column))
        return SourceSpan(self.path, start[1], start[2], end[1], end[2], start[0], end[0])


@dataclass(frozen=True, slots=True)
class MissingHeader:
    """An `#include` that found nothing."""

    name: str
    path: str
    line: int
    column: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ParsedUnit:
    """Both passes over one file. Valid until the same path is parsed again or evicted: cursors die with the unit.

    `dependencies` are the included files that are not bundled, sorted. `probes` are the lines that were appended.
    `sought` are the headers that no include path leads to and that were found in a likely place.
    """

    path: str
    text: str
    flags: CompileFlags
    device: TranslationUnit
    host: TranslationUnit
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]
    missing_headers: tuple[MissingHeader, ...]
    probes: tuple[str, ...]
    sought: tuple[SoughtHeader, ...] = ()

    @property
    def all_errors(self) -> tuple[Diagnostic, ...]:
        """Diagnostics of error severity in the user's code, also in instances that only probes ask for; missing headers
        and launches in device code are left out."""
        return tuple(
            diagnostic
            for diagnostic in self.diagnostics
            if diagnostic.severity >= Severity.ERROR
            and not diagnostic.in_probe
            and _missing_name(diagnostic.message) is None
            and not diagnostic.is_device_launch
        )

    @property
    def host_pass(self) -> HostPass:
        """The host side alone."""
        errors = tuple(d for d in self.all_errors if d.side == "host")
        return HostPass(self.path, self.host, errors, self.dependencies, self.probes)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors to tell the user: those in what the code itself asks for."""
        return tuple(diagnostic for diagnostic in self.all_errors if not diagnostic.from_probe)

    def text_of(self, path: str) -> str:
        """The text of a file of the unit as both passes saw it; "" for any other file."""
        if path == self.path:
            return self.text
        return cindex.file_contents(self.device, path).decode("utf-8", "surrogateescape")

    @property
    def libraries(self) -> frozenset[str]:
        """The dependencies that are headers of libraries, system headers to clang in either pass."""
        passes = (self.device, self.host)
        return frozenset(path for path in self.dependencies if any(cindex.is_of_library(p, path) for p in passes))

    @property
    def scanned_launches(self) -> tuple[ScannedLaunch, ...]:
        """The launches that a token scan of the text shows, whether clang kept them or not."""
        return tuple(scan_launches(self.text))

    @property
    def scanned_kernels(self) -> tuple[ScannedKernel, ...]:
        """The kernel definitions that a token scan of the text shows, whether clang kept them or not."""
        return tuple(scan_kernels(self.text))


@dataclass(frozen=True, slots=True)
class HostPass:
    """The host pass over one file, with the errors in the user's code. Cursors die with it."""

    path: str
    host: TranslationUnit
    errors: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]
    probes: tuple[str, ...] = ()
    """The lines that were appended."""


@dataclass(slots=True)
class _WarmUnit:
    flags: CompileFlags
    units: dict[Side, TranslationUnit]
    sought: tuple[SoughtHeader, ...] = ()
    indices: dict[Side, Index] = field(default_factory=dict[Side, Index])
    """What is parsed at the same time needs an index each."""
    busy: Mapping[Side, Lock] = field(default_factory=lambda: {"device": Lock(), "host": Lock()})
    """A pass that nobody waits for any more is over before the next one of its side begins."""
    asked: int = 0
    """How often passes were asked for: one that is not the latest and has not begun has nothing to do."""
    options: int = cindex.PARSE_OPTIONS
    """Of a parse from the beginning."""
    others: dict[Side, list[tuple[str, bytes]]] = field(default_factory=dict[Side, list[tuple[str, bytes]]])
    """The texts of other files than the main one that the passes have seen."""
    silent_host: bool = False
    """Whether the latest passes of both sides found no error that the one for the device does not."""

    @property
    def used_flags(self) -> CompileFlags:
        """The flags with the folders of the headers that were found elsewhere, behind all others."""
        folders = dict.fromkeys(s.folder for s in self.sought)
        more = tuple(part for folder in folders for part in ("-I", folder))
        return without_library_folders(replace(self.flags, arguments=(*self.flags.arguments, *more)), os.path.exists)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to parse, see `UnitParser.parse`."""

    path: str
    text: str
    flags: CompileFlags
    unsaved: Mapping[str, str]
    probes: tuple[str, ...] = ()


class UnitParser:
    """Keeps the translation units of the last `capacity` files warm, so that an edit costs a reparse only."""

    def __init__(self, capacity: int = 8) -> None:
        self._capacity = capacity
        self._warm: OrderedDict[str, _WarmUnit] = OrderedDict()
        self._hosts: OrderedDict[str, _WarmUnit] = OrderedDict()
        self._focused: OrderedDict[str, _WarmUnit] = OrderedDict()

    def parse(
        self,
        path: str,
        text: str,
        flags: CompileFlags,
        unsaved: Mapping[str, str] | None = None,
        probes: Sequence[str] = (),
        poll: Callable[[], None] | None = None,
    ) -> ParsedUnit:
        """Parse `text` as the content of the absolute `path`.

        `unsaved` maps other paths to text that shadows the disk. `probes` are lines for the end of the buffer, see
        `instantiation_probe`. Include folders of libraries that the bundled headers stand for are left out:
        `ParsedUnit.flags` tells. Headers that no include path leads to are looked for around the file: `sought`
        tells. Raises `ParseFailure`, and what `poll` raises, which is called every few milliseconds: then the passes
        go on by themselves, and the next ones of the path wait for them.
        """
        file = SourceFile(path, text, flags, unsaved or {}, tuple(probes))
        warm = _fitting(self._warm.get(path), file)
        _keep(self._warm, path, warm, self._capacity)
        return self._unit(warm, file, ("device", "host"), poll)

    def parse_hosts(self, owner: str, files: Sequence[SourceFile], room: int = 0) -> list[HostPass | ParseFailure]:
        """The host passes alone of files that belong to the same program as `owner`, the main file of a unit, or why
        there is none; as many at a time as there are processors. `room`: how many files of that program are kept warm
        at least.

        They stay valid until the same file is asked for again, or `owner` is forgotten."""

        def one(file: SourceFile) -> tuple[_WarmUnit, HostPass] | ParseFailure:
            warm = _fitting(self._hosts.get(f"{owner}\0{file.path}"), file, cindex.PARSE_ONCE)
            try:
                return warm, self._unit(warm, file, ("host",)).host_pass
            except ParseFailure as failure:
                return failure

        done = side_by_side(one, files)
        for file, found in zip(files, done, strict=True):
            self._hosts.pop(f"{owner}\0{file.path}", None)
            if not isinstance(found, ParseFailure):
                _keep(self._hosts, f"{owner}\0{file.path}", found[0], max(self._capacity, len(files), room))
        return [found if isinstance(found, ParseFailure) else found[1] for found in done]

    def parse_focused(
        self,
        path: str,
        text: str,
        left_out: Sequence[focus.Range],
        flags: CompileFlags,
        unsaved: Mapping[str, str],
        probes: Sequence[str],
    ) -> ParsedUnit:
        """The device pass alone, without these function bodies of `text`; it also stands for the host pass. `flags` are
        those of a parsed unit. Raises `ParseFailure`."""
        warm = self._focused.pop(path, None)
        if warm is None or warm.flags != flags:
            warm = _WarmUnit(flags, {})
        shown = _with_probes(focus.without(text, left_out), tuple(probes))
        self._refresh_all(warm, ("device",), path, _buffers(path, shown, unsaved), None)
        self._focused[path] = warm
        while len(self._focused) > _FOCUSED:
            self._focused.popitem(last=False)
        unit = warm.units["device"]
        return _parsed(path, text, flags, unit, unit, tuple(probes))

    def parse_device(
        self,
        path: str,
        text: str,
        flags: CompileFlags,
        unsaved: Mapping[str, str],
        probes: Sequence[str],
        poll: Callable[[], None] | None = None,
    ) -> ParsedUnit | None:
        """The device pass alone, of a text that differs inside device functions from the one parsed before. It stands
        for the host pass, too: None where that has errors of its own. Raises like `parse`."""
        file = SourceFile(path, text, flags, unsaved, tuple(probes))
        warm = self._warm.get(path)
        if warm is None or warm is not _fitting(warm, file) or not warm.silent_host:
            return None
        self._refresh_all(warm, ("device",), path, _buffers(path, _with_probes(text, file.probes), unsaved), poll)
        unit = warm.units["device"]
        parsed = _parsed(path, text, warm.used_flags if warm.sought else warm.flags, unit, unit, file.probes)
        return replace(parsed, sought=warm.sought)

    def _unit(
        self, warm: _WarmUnit, file: SourceFile, sides: tuple[Side, ...], poll: Callable[[], None] | None = None
    ) -> ParsedUnit:
        """The unit, from what of it is `warm`. Called by several threads at a time, each with what is its own."""
        buffers = _buffers(file.path, _with_probes(file.text, file.probes), file.unsaved)
        unit = self._passes(warm, file, buffers, sides, poll)
        for _ in range(_SEARCHES):
            more = [search(h.name, (h.path, file.path)) for h in unit.missing_headers]
            fresh = dict.fromkeys(s for s in more if s is not None and s not in warm.sought)
            if not fresh:
                break
            warm.sought, warm.units = (*warm.sought, *fresh), {}
            unit = self._passes(warm, file, buffers, sides, poll)
        return unit

    def _passes(
        self,
        warm: _WarmUnit,
        file: SourceFile,
        buffers: Sequence[tuple[str, bytes]],
        sides: tuple[Side, ...],
        poll: Callable[[], None] | None,
    ) -> ParsedUnit:
        self._refresh_all(warm, sides, file.path, buffers, poll)
        flags = warm.used_flags if warm.sought else warm.flags
        host = warm.units["host"]
        unit = _parsed(file.path, file.text, flags, warm.units.get("device", host), host, file.probes)
        known = {(d.message, d.offset) for d in unit.all_errors if d.side == "device"}
        warm.silent_host = all((d.message, d.offset) in known for d in unit.all_errors)
        return replace(unit, sought=warm.sought) if warm.sought else unit

    def forget(self, path: str) -> None:
        """Drop what is kept for a path, for example when its document is closed."""
        self._warm.pop(path, None)
        self._focused.pop(path, None)
        for key in [k for k in self._hosts if k.startswith(f"{path}\0")]:
            del self._hosts[key]

    def _refresh_all(
        self,
        warm: _WarmUnit,
        sides: Sequence[Side],
        path: str,
        buffers: Sequence[tuple[str, bytes]],
        poll: Callable[[], None] | None,
    ) -> None:
        """All passes at the same time."""
        warm.asked += 1
        number = warm.asked

        def refresh(side: Side) -> None:
            with warm.busy[side]:
                if number == warm.asked:
                    self._refresh(warm, side, path, buffers)

        side_by_side(refresh, sides, poll)

    def _refresh(self, warm: _WarmUnit, side: Side, path: str, buffers: Sequence[tuple[str, bytes]]) -> None:
        unit = warm.units.pop(side, None)
        others = [buffer for buffer in buffers if buffer[0] != path]
        # What a file begins with is kept by libclang for files that exist, while nothing of it is another text.
        if unit is not None and (warm.others.get(side) != others or not Path(path).exists()):
            unit, warm.options = None, cindex.PARSE_ONCE
        warm.others[side] = others
        if unit is not None:
            try:
                cindex.reparse(unit, buffers)
            except cindex.LibclangError:
                unit = None  # a unit that failed to reparse is unusable; start it afresh
        warm.units[side] = unit or self._fresh(warm, side, path, buffers)

    def _fresh(self, warm: _WarmUnit, side: Side, path: str, buffers: Sequence[tuple[str, bytes]]) -> TranslationUnit:
        words = _words(warm.used_flags if warm.sought else warm.flags, side)

        def once() -> TranslationUnit:
            # In front of what the flags include: that may be code for the device.
            every = (*_PRECOMPILED.included(words), *words)
            return cindex.parse(warm.indices[side], path, every, buffers, warm.options)

        try:
            if side not in warm.indices:
                warm.indices[side] = cindex.create_index()
            try:
                return once()
            except cindex.PrecompiledError:
                _PRECOMPILED.give_up()
                return once()
        except cindex.LibclangError as error:
            arguments = " ".join(warm.flags.arguments) or "(none)"
            raise ParseFailure(f"no {side} pass of {path}: {error} (flags: {arguments})") from error


def _fitting(warm: _WarmUnit | None, file: SourceFile, options: int = cindex.PARSE_OPTIONS) -> _WarmUnit:
    """What is warm of a file, if that was parsed with its flags, else a new one."""
    flags = without_library_folders(file.flags, os.path.exists)
    return warm if warm is not None and warm.flags == flags else _WarmUnit(flags, {}, options=options)


def _keep(kept: OrderedDict[str, _WarmUnit], key: str, warm: _WarmUnit, capacity: int) -> None:
    kept[key] = warm
    kept.move_to_end(key)
    while len(kept) > capacity:
        kept.popitem(last=False)


def pass_arguments(flags: CompileFlags, side: Side) -> tuple[str, ...]:
    """The complete clang arguments of one pass."""
    return ("-include", _SHIM, *_words(flags, side))


def _words(flags: CompileFlags, side: Side) -> tuple[str, ...]:
    """Those arguments but for the header that is included first."""
    named = flags.arch if flags.arch in _NAMED_ARCHITECTURES else 90 if flags.arch > 90 else 52
    bundled = (part for folder in _INCLUDE_FOLDERS for part in ("-I", folder))
    common = (*_COMMON_ARGUMENTS, *bundled, f"--cuda-gpu-arch=sm_{named}", *_placed(flags))
    if side == "device":
        return (*common, "--cuda-device-only", "-U__CUDA_ARCH__", f"-D__CUDA_ARCH__={flags.arch}0")
    return (*common, "--cuda-host-only", "-UNDEBUG")


def _placed(flags: CompileFlags) -> Iterator[str]:
    """The arguments, with whole paths for the headers that they include: clang would look for them first where this
    process runs, and not where the command does."""
    pairs = list(zip(("", *flags.arguments), flags.arguments, strict=False))
    folders = [flags.directory, *(word for before, word in pairs if before in ("-iquote", "-I"))]
    folders += [word[2:] for word in flags.arguments if word.startswith("-I") and word != "-I"]
    for before, word in pairs:
        places = (Path(flags.directory, folder, word).absolute() for folder in folders if before == "-include")
        found = next((place for place in places if place.exists()), None)
        yield os.path.normpath(found) if found is not None else word


def instantiation_probe(name: str, parameters: str | None = None, scope: Sequence[str] = ()) -> str:
    """A line for the end of a buffer that makes clang instantiate a function template and shows it to a walk.

    `name` carries its template arguments (`run<double, 3>`), seen from inside the namespaces `scope` ("" for unnamed
    ones). With `parameters` (the text between the brackets of an explicit instantiation) an overload is picked. The
    instantiation is what the `DECL_REF_EXPR` under the variable `cuda_lsp_probe…` references.
    """
    picked = f"static_cast<void (*)({parameters})>(&{name})" if parameters is not None else f"&{name}"
    opened = "".join(f"namespace {part} {{ " for part in scope)
    closed = " }" * len(scope)
    return f"{opened}namespace {{ auto cuda_lsp_probe_@ = {picked}; }}{closed}"


def is_bundled(path: str) -> bool:
    """Whether a file name that libclang reports is one of our own headers."""
    return path.startswith(HEADERS)


def models_library(path: str) -> bool:
    """Whether a file name that libclang reports is one of our own headers for libraries such as CUB, whose objects are
    laid out in their own way."""
    return path.startswith(_LIBRARIES)


def _buffers(path: str, text: str, unsaved: Mapping[str, str]) -> list[tuple[str, bytes]]:
    others = [(other, source_bytes(content)) for other, content in unsaved.items() if other != path]
    return [*others, (path, source_bytes(text))]


def _with_probes(text: str, probes: Sequence[str]) -> str:
    if not probes:
        return text
    lines = (probe.replace("cuda_lsp_probe_@", f"cuda_lsp_probe_{number}") for number, probe in enumerate(probes))
    return "\n".join((text, *lines, ""))


def _parsed(
    path: str, text: str, flags: CompileFlags, device: TranslationUnit, host: TranslationUnit, probes: tuple[str, ...]
) -> ParsedUnit:
    probe_offset = len(source_bytes(text)) if probes else None
    diagnostics = (
        *_copied(device.diagnostics, "device", path, probe_offset),
        *_copied(host.diagnostics, "host", path, probe_offset),
    )
    missing: dict[tuple[str, int, str], MissingHeader] = {}
    for diagnostic in diagnostics:
        name = _missing_name(diagnostic.message)
        if name is not None:
            found = MissingHeader(name, diagnostic.path, diagnostic.line, diagnostic.column, diagnostic.offset)
            missing[found.path, found.line, found.name] = found
    return ParsedUnit(
        path=path,
        text=text,
        flags=flags,
        device=device,
        host=host,
        diagnostics=diagnostics,
        dependencies=_dependencies(path, (device, host), flags),
        missing_headers=tuple(missing[key] for key in sorted(missing)),
        probes=probes,
    )


def _missing_name(message: str) -> str | None:
    quoted, end, rest = message.removeprefix("'").partition("' file not found")
    return quoted if end and message.startswith("'") and not rest.strip(" ,") else None


def _dependencies(path: str, units: Iterable[TranslationUnit], flags: CompileFlags) -> tuple[str, ...]:
    names = {one.path for unit in units for one in inclusions(unit, flags.arguments)}
    return tuple(sorted(name for name in names if name != path and not is_bundled(name)))


def _copied(source: Sequence[ClangDiagnostic], side: Side, path: str, probe_offset: int | None) -> Iterable[Diagnostic]:
    copies = [_copy(diagnostic, side, path, probe_offset) for diagnostic in source]
    copies = [copy for copy in copies if _LINKAGE not in copy.message]
    return copies if probe_offset is None else list(_with_origin(copies))


def _with_origin(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Marks what comes from the instances that probes ask for. Only the first error of an instance has the notes that
    lead there, and instances come after all other code."""
    from_probe = False
    for diagnostic in diagnostics:
        if diagnostic.notes or diagnostic.in_probe:
            leads = [note for note in diagnostic.notes if note.message.startswith("in instantiation")]
            from_probe = any(note.in_probe for note in leads)
        yield replace(diagnostic, from_probe=True) if from_probe else diagnostic


def _copy(diagnostic: ClangDiagnostic, side: Side, path: str, probe_offset: int | None) -> Diagnostic:
    location = diagnostic.location
    name = _name(location)
    return Diagnostic(
        severity=Severity(diagnostic.severity),
        message=diagnostic.spelling,
        path=name,
        line=location.line,
        column=location.column,
        offset=location.offset,
        ranges=tuple(cindex.span(part) for part in diagnostic.ranges),
        category=diagnostic.category_name,
        option=diagnostic.option,
        side=side,
        notes=tuple(_copy(note, side, path, probe_offset) for note in diagnostic.children),
        in_probe=probe_offset is not None and name == path and location.offset > probe_offset,
    )


def _name(location: SourceLocation) -> str:
    return location.file.name if location.file is not None else ""
