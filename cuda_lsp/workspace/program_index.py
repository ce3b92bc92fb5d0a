"""Which other files of a workspace launch the kernels of a unit, directly or through functions that they call.

The index keeps a summary of every source file: what it includes, which kernels it defines, and the hashes of all words
in its code. `programs` starts from the kernels of a unit and goes from callee to caller through the files that mention
their names; the files on the way are what the analysis links with the unit. Nothing is parsed here, so too many files
may be found, and too few where macros hide a call: so the analysis is told all files that mention a name, and believes
that it knows the callers of a function only where it has read all of those.

Summaries are kept by the state of each file, and on disk by the workspace.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import re
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.outline import Outline, OutlinedFunction
from analyzers.frontend.scan import scan_kernels
from analyzers.hostguide.disguises import labels, may_give, pastes, spliced_words
from analyzers.hostguide.program import Definition, HostFile, Program
from analyzers.hostguide.source import blanked
from analyzers.ir.names import base_word
from cuda_lsp import cache
from cuda_lsp.cache import DiskCache
from cuda_lsp.workspace import includers
from cuda_lsp.workspace.regular import regular_bytes
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES, SOURCE_SUFFIXES

_MAXIMAL_FILES = 5_000
_MAXIMAL_BYTES = 2 << 20
"""Of one file; a larger one is none that a person wrote."""
_MOST_LINKED = 12
"""Files linked with one unit."""
_MOST_LINKED_BYTES = 2 << 20
_MOST_MENTIONS = 64
"""Files with a name, beyond which it is too common to know all its callers."""
_ROUNDS = 6
"""Calls between a launch and the outermost function that is looked for in other files."""
_CALLEE_ROUNDS = 2
"""Calls from a function on the way to a launch to one whose file is looked for."""
_MOST_CALLEES = 256
"""Names of such functions."""

_WORD = re.compile(rb"[A-Za-z_]\w*")
_CALL = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_MAIN = re.compile(rb"\bmain\s*\(")
_UNFOLLOWED = frozenset({"main", "operator", "operator()"})

_log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]
Definitions = Mapping[str, tuple[OutlinedFunction, ...]]
"""By file, the functions by one name that other files can call."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the index keeps of one file."""

    includes: tuple[str, ...]
    kernels: tuple[str, ...]
    """Names of the kernels it defines."""
    words: array[int]
    """CRC-32 of the words in its code, sorted: a name whose hash is not among them is not mentioned."""
    has_main: bool
    """The word stands in front of a parenthesis."""
    pasted: tuple[tuple[str, str], ...] = ()
    """The beginnings and ends of names that its macros paste together."""

    def may_mention(self, number: int) -> bool:
        at = bisect_left(self.words, number)
        return at < len(self.words) and self.words[at] == number


def summarised(data: bytes) -> Summary:
    """Read a file's bytes."""
    plain = blanked(data)
    found = {zlib.crc32(word) for word in _WORD.findall(plain)}
    if b"\\\n" in plain or b"\\\r" in plain:
        found |= {zlib.crc32(word.encode()) for word, _ in spliced_words(plain)}
    found |= {zlib.crc32(word) for word, _ in labels(data)}
    pasted = tuple(dict.fromkeys((p.before, p.after) for p in pastes(plain))) if b"##" in plain else ()
    words = array("I", sorted(found))
    kernels: tuple[str, ...] = ()
    if b"__global__" in plain:
        kernels = tuple(dict.fromkeys(k.name for k in scan_kernels(data.decode("utf-8", "replace"))))
    return Summary(tuple(includers.directives(data)), kernels, words, _MAIN.search(plain) is not None, pasted)


class ProgramIndex:
    """The summaries of the files below one folder, kept up to date. Reads files; used by one thread."""

    def __init__(self, top: str, disk: DiskCache | None = None, *, recursive: bool = True) -> None:
        self.top = top
        self._recursive = recursive
        self._disk = disk or DiskCache(None)
        self._summaries: dict[str, tuple[Stamp, str, Summary]] = {}
        """By path: the file's state, the hash of its bytes, and what was read."""
        self._buffers: dict[str, tuple[str, Summary]] = {}
        """Of texts that shadow the disk."""
        self._outlines: dict[str, tuple[int, Outline]] = {}
        self._loaded = False

    # --- keeping it up to date

    def refresh(self, texts: Mapping[str, str], extra: Iterable[str] = ()) -> View:
        """Look at the files again. `texts` shadow the disk; `extra` files belong to the workspace wherever they are."""
        if not self._loaded:
            self._load()
        paths: dict[str, None] = dict.fromkeys(extra)
        folder = includers.Folder(self.top, recursive=self._recursive)
        complete = self._recursive
        for path in folder.files():
            if len(paths) >= _MAXIMAL_FILES:
                _log.info("%s is large: not every file was searched for launches", self.top)
                complete = False
                break
            paths[path] = None
        complete = complete and folder.whole
        changed = 0
        kept: dict[str, tuple[Stamp, str, Summary]] = {}
        for path in paths:
            if path in texts:
                # What lies on disk does not count; it is looked at again when the document is closed.
                if path in self._summaries:
                    kept[path] = self._summaries[path]
                continue
            stamp = cache.file_stamp(path)
            if stamp is None:
                continue
            known = self._summaries.get(path)
            if known is None or known[0] != stamp:
                known = _read(path, stamp, known)
                changed += 1
            if known is not None:
                kept[path] = known
            else:
                complete = False
        changed += len(self._summaries.keys() - kept.keys())
        self._summaries = kept
        if changed * 16 > len(kept):
            self._save()
        self._buffers = {p: self._buffer(p, text) for p, text in texts.items()}
        summaries = {path: summary for path, (_, _, summary) in kept.items()}
        summaries.update((path, summary) for path, (_, summary) in self._buffers.items())
        return View(self.top, summaries, texts, self._outlines, complete)

    def _buffer(self, path: str, text: str) -> tuple[str, Summary]:
        known = self._buffers.get(path)
        if known is not None and known[0] == text:
            return known
        return text, summarised(text.encode("utf-8", "surrogateescape"))

    @property
    def _key(self) -> str:
        return cache.key_of("index 2", self.top, self._recursive)

    def _load(self) -> None:
        self._loaded = True
        entry = self._disk.read("index", self._key)
        for path, stamp, digest, includes, kernels, words, has_main, pasted in entry or ():
            numbers = array("I")
            numbers.frombytes(base64.b64decode(words))
            ends = tuple((before, after) for before, after in pasted)
            summary = Summary(tuple(includes), tuple(kernels), numbers, has_main, ends)
            self._summaries[path] = (stamp[0], stamp[1], stamp[2]), digest, summary

    def _save(self) -> None:
        entry: list[Any] = []
        for path, (stamp, digest, s) in self._summaries.items():
            words = base64.b64encode(s.words.tobytes()).decode()
            entry.append([path, stamp, digest, s.includes, s.kernels, words, s.has_main, s.pasted])
        self._disk.write("index", self._key, entry)


def _read(path: str, stamp: Stamp, known: tuple[Stamp, str, Summary] | None) -> tuple[Stamp, str, Summary] | None:
    try:
        if stamp[2] > _MAXIMAL_BYTES:
            return None
        data = regular_bytes(path)
    except OSError:
        return None
    digest = hashlib.sha256(data).hexdigest()
    if known is not None and known[1] == digest:
        return stamp, digest, known[2]
    return stamp, digest, summarised(data)


def _described(found: Definitions) -> Iterator[Definition]:
    for path, functions in sorted(found.items()):
        for f in functions:
            yield path, f.scope, f.parameters


class View:
    """The workspace at one moment."""

    def __init__(
        self,
        top: str,
        summaries: Mapping[str, Summary],
        texts: Mapping[str, str],
        outlines: dict[str, tuple[int, Outline]],
        complete: bool,
    ) -> None:
        """``complete``: no file of the workspace was left out, so that all mentions of a name are known."""
        self.top = top
        self._complete = complete
        self._summaries = summaries
        self._shadows = texts
        self._outlines = outlines
        self._texts: dict[str, str] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._mains: dict[str, bool] = {}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in summaries:
            self._by_name[Path(path).name].append(path)
        self._pasting = [(path, summary.pasted) for path, summary in summaries.items() if summary.pasted]
        self._includers: dict[str, list[str]] | None = None

    def program(
        self,
        unit: str,
        flags_of: Callable[[str], CompileFlags],
        kernels: Sequence[str] = (),
        macros: frozenset[str] = frozenset(),
    ) -> Program:
        """The files to link with a unit, nearest first; only those that lead to `kernels`, if any are named. What
        `macros` of compile commands stand for may be called without a mention."""
        search = _Search(self, unit)
        defined = {k for path in self.closure(unit) for k in self.kernels(path)}
        search.run(defined if not kernels else {base_word(k) for k in kernels} & defined)
        search.add_callees()
        search.look_for_rivals()
        return Program(
            tuple(HostFile(path, self.text(path), flags_of(path)) for path in search.linked),
            tuple(
                (name, files)
                for name in sorted(search.names)
                if name not in macros and (files := self._mentions(name, search)) is not None
            ),
            tuple(sorted(search.names)),
            tuple(sorted(name for name in defined if self._is_ambiguous(name, unit))),
            self.top,
            self._complete,
            tuple((name, tuple(_described(found))) for name, found in sorted(search.definitions.items())),
        )

    def kernels(self, path: str) -> tuple[str, ...]:
        return self._summaries[path].kernels

    def has_main(self, unit: str) -> bool:
        """Whether a unit is a program: a function `main` that stands in no class or namespace."""
        return any(self._defines_main(path) for path in self.closure(unit) if self._summaries[path].has_main)

    def _defines_main(self, path: str) -> bool:
        found = self._mains.get(path)
        if found is None:
            functions = self.outline(path).functions
            found = self._mains[path] = any(f.name == "main" and not f.scope for f in functions)
        return found

    def defining(self, name: str) -> Definitions | None:
        """The files that define an external function by a name; None where too many mention it to look."""
        files = self.mentioning(name)
        if len(files) > _MOST_MENTIONS:
            return None
        outlines = {path: self.outline(path) for path in files}
        return {
            path: tuple(f for f in outline.functions if f.name == name and not f.internal)
            for path, outline in outlines.items()
            if name in outline.defined
        }

    def mentioning(self, name: str) -> list[str]:
        """The files whose code mentions a name, by their summaries."""
        number = zlib.crc32(name.encode())
        found = {path for path, summary in self._summaries.items() if summary.may_mention(number)}
        found.update(path for path, pasted in self._pasting if any(may_give(name, *ends) for ends in pasted))
        return sorted(found)

    def _mentions(self, name: str, search: _Search) -> tuple[str, ...] | None:
        """The files with a name that may be linked with the unit; None where they are too many to tell."""
        found = self.mentioning(name)
        if search.is_program and len(found) <= 8 * _MOST_MENTIONS:
            found = [path for path in found if not search.is_of_another_program(path)]
        return tuple(found) if len(found) <= _MOST_MENTIONS else None

    def _is_ambiguous(self, kernel: str, unit: str) -> bool:
        own = self.closure(unit)
        return any(kernel in summary.kernels for path, summary in self._summaries.items() if path not in own)

    def closure(self, path: str) -> frozenset[str]:
        """A file and what it includes, directly or not, of the files of the workspace."""
        found = self._closures.get(path)
        if found is None:
            seen, waiting = {path}, [path]
            while waiting:
                for target in self._included(waiting.pop()):
                    if target not in seen:
                        seen.add(target)
                        waiting.append(target)
            found = self._closures[path] = frozenset(seen & self._summaries.keys())
        return found

    def _included(self, path: str) -> list[str]:
        summary = self._summaries.get(path)
        names = summary.includes if summary is not None else ()
        return [t for name in names for t in includers.targets(path, name, (), self._summaries, self._by_name)]

    def units_with(self, path: str) -> list[str]:
        """The source files through which a file is compiled: itself, or those that include it."""
        if Path(path).suffix.lower() in SOURCE_SUFFIXES:
            return [path]
        return self.including([path])

    def including(self, paths: Collection[str]) -> list[str]:
        """The source files that include any of some files, directly or not."""
        if self._includers is None:
            self._includers = {}
            for one in self._summaries:
                for target in self._included(one):
                    self._includers.setdefault(target, []).append(one)
        seen = {one for path in paths for one in self._in_angle_brackets(path)}
        waiting = [*paths, *seen]
        while waiting:
            for includer in self._includers.get(waiting.pop(), ()):
                if includer not in seen:
                    seen.add(includer)
                    waiting.append(includer)
        return sorted(p for p in seen if self._is_unit(p))

    def _is_unit(self, path: str) -> bool:
        """Whether a file is checked by itself: a header with kernels is where nothing includes it."""
        suffix = Path(path).suffix.lower()
        return suffix in SOURCE_SUFFIXES or (suffix in CUDA_SUFFIXES and not (self._includers or {}).get(path))

    def _in_angle_brackets(self, path: str) -> list[str]:
        """The files that include a file of that name in angle brackets and have another one beside them, which is then
        not the one that is meant."""
        name = Path(path).name
        written = re.compile(r"#[ \t]*include[ \t]*<(?:[^>\n]*/)?" + re.escape(name) + ">")
        named = (p for p, s in self._summaries.items() if any(n.rpartition("/")[2] == name for n in s.includes))
        return [p for p in named if path not in self._included(p) and written.search(self.text(p))]

    def text(self, path: str) -> str:
        """A file as it is now; bytes that are no UTF-8 are read as question marks."""
        found = self._shadows.get(path)
        if found is None:
            found = self._texts.get(path)
        if found is None:
            try:
                found = regular_bytes(path).decode("utf-8", "replace")
            except OSError:
                found = ""
            found = self._texts[path] = found.replace("\ufffd", "?").removeprefix("\ufeff")
        return found

    def outline(self, path: str) -> Outline:
        text = self.text(path)
        known = self._outlines.get(path)
        if known is None or known[0] != hash(text):
            known = self._outlines[path] = hash(text), Outline(text)
        return known[1]

    def callers(self, path: str, names: Iterable[str]) -> tuple[set[str], set[OutlinedFunction]]:
        """Which of some names the code of a file mentions other than to define them, and the functions around."""
        outline = self.outline(path)
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(n.encode()) for n in sorted(names)) + rb")\b")
        mentioned: set[str] = set()
        around: set[OutlinedFunction] = set()
        for match in pattern.finditer(blanked(self.text(path).encode("utf-8", "replace"))):
            name = match.group().decode()
            function = outline.around(match.start())
            if function is not None and function.name != name:
                mentioned.add(name)
                around.add(function)
        return mentioned, around

    def called_in(self, path: str, functions: Iterable[OutlinedFunction]) -> set[str]:
        """Names that are called in some functions of a file, as far as words and brackets tell."""
        data = blanked(self.text(path).encode("utf-8", "replace"))
        return {m[1].decode() for f in functions for m in _CALL.finditer(data, f.start, f.end)}


class _Search:
    """From the kernels of one unit to the files from which they are launched."""

    def __init__(self, view: View, unit: str) -> None:
        self.view = view
        self.own = view.closure(unit)
        self.folder = Path(unit).parent
        self.is_program = view.has_main(unit)
        self.names: set[str] = set()
        """Kernels, and functions from which they are launched."""
        self.linked: dict[str, None] = {}
        self.inside: set[str] = set(self.own)
        """All files of the unit and of the linked ones."""
        self.definitions: dict[str, Definitions] = {}
        """By the names that were looked for."""
        self.on_the_way: dict[str, set[OutlinedFunction]] = {}
        """By file, functions from which the kernels are launched."""
        self._bytes = 0

    def run(self, kernels: Iterable[str]) -> None:
        new = set(kernels)
        for _ in range(_ROUNDS):
            new = {n for n in new - self.names if n not in _UNFOLLOWED and not n.startswith(("operator", "~"))}
            if not new:
                return
            self.names |= new
            new = self._round(new)

    def _round(self, names: set[str]) -> set[str]:
        """One step from callees to callers."""
        files: dict[str, set[str]] = {}
        for name in names:
            for path in self.view.mentioning(name):
                files.setdefault(path, set()).add(name)
        around: set[str] = set()
        for path in sorted(files, key=self._distance):
            if path in self.inside:
                around |= self._found(path, self.view.callers(path, files[path])[1])
                continue
            for main in self.view.units_with(path):
                around |= self._link(main, path, files[path])
        return around

    def _link(self, main: str, path: str, names: set[str]) -> set[str]:
        """Link the unit of a main file if a file of it calls functions by these names, and they may be ours; gives the
        functions that do."""
        if main in self.own or (self.is_program and self.view.has_main(main)):
            return set()
        closure = self.view.closure(main)
        elsewhere = closure - self.own
        ours = {n for n in names if not any(self._defines(p, n) for p in elsewhere)}
        mentioned, around = self.view.callers(path, ours) if ours else (set[str](), set[OutlinedFunction]())
        if not mentioned or not self._add(main):
            return set()
        return self._found(path, around)

    def _add(self, main: str) -> bool:
        """Link a file, unless there are too many already."""
        if main not in self.linked:
            size = len(self.view.text(main))
            if len(self.linked) >= _MOST_LINKED or self._bytes + size > _MOST_LINKED_BYTES:
                return False
            self._bytes += size
            self.linked[main] = None
            self.inside |= self.view.closure(main)
        return True

    def is_of_another_program(self, path: str) -> bool:
        """Whether a file is compiled for programs with a `main` of their own only."""
        units = self.view.units_with(path)
        return path not in self.inside and bool(units) and all(self.view.has_main(u) for u in units)

    def _found(self, path: str, functions: set[OutlinedFunction]) -> set[str]:
        self.on_the_way.setdefault(path, set()).update(functions)
        return {f.name for f in functions}

    def add_callees(self) -> None:
        """Link the files that define what the functions on the way to a launch call, and what those call."""
        calling: dict[str, set[OutlinedFunction]] = self.on_the_way
        for _ in range(_CALLEE_ROUNDS):
            called = dict.fromkeys(n for p in sorted(calling) for n in sorted(self.view.called_in(p, calling[p])))
            calling = dict[str, set[OutlinedFunction]]()
            for name in called:
                if name in self.names or name in self.definitions or len(self.definitions) >= _MOST_CALLEES:
                    continue
                found = self._definitions(name)
                if found is None:
                    continue
                self.definitions[name] = found
                sources = [p for p in found if Path(p).suffix.lower() in SOURCE_SUFFIXES]
                if len(found) == 1 and sources and sources[0] not in self.inside:
                    self._add(sources[0])
                for path in found:
                    if path in self.inside:
                        calling.setdefault(path, set()).update(found[path])

    def look_for_rivals(self) -> None:
        """Who else defines what leads to a launch."""
        for name in sorted(self.names):
            found = self._definitions(name)
            if found is not None:
                self.definitions[name] = found

    def _definitions(self, name: str) -> Definitions | None:
        found = self.view.defining(name)
        if found is None or not self.is_program:
            return found
        return {path: functions for path, functions in found.items() if not self.is_of_another_program(path)}

    def _defines(self, path: str, name: str) -> bool:
        """Whether a file has a function or kernel of its own by a name."""
        if path in self.linked or path in self.inside:
            return False
        return name in self.view.kernels(path) or (
            path in self.view.mentioning(name) and name in self.view.outline(path).defined
        )

    def _distance(self, path: str) -> tuple[int, str]:
        """How far a file lies from the unit: folders up and down."""
        return len(Path(os.path.relpath(path, self.folder)).parts), path
