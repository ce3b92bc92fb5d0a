"""PTX text → `model.Module`.

The parser takes in the grammar that nvcc and NVRTC emit and raises `PtxSyntaxError`, with the line, for everything
else: a construct that is skipped unnoticed could hide an access. Of the debug sections only ``.debug_str`` is read.
"""

from __future__ import annotations

import re
from typing import Final

from gpu_runner.ptx import model
from gpu_runner.ptx.lexer import PtxSyntaxError
from gpu_runner.ptx.parse_function import parse_function
from gpu_runner.ptx.parse_variable import STATE_SPACES, parse_variable
from gpu_runner.ptx.stream import Stream

_LINKAGE: Final = frozenset({".extern", ".visible", ".weak", ".common"})
_SECTION: Final = re.compile(r"^[ \t]*\.section[ \t]+(\.?[\w.$]+)[^{]*\{(.*?)^[ \t]*\}", re.MULTILINE | re.DOTALL)
_ENTRY: Final = re.compile(r"^\s*([$\w]+):([^:]*?)(?=^\s*[$\w]+:|\Z)", re.MULTILINE | re.DOTALL)


def parse(text: str) -> model.Module:
    """Read a module. Raises `PtxSyntaxError`."""
    strings: list[tuple[str, str]] = []

    def cut(match: re.Match[str]) -> str:
        if match[1] == ".debug_str":
            strings.extend(_strings(match[2]))
        return "\n" * match[0].count("\n")

    text = _SECTION.sub(cut, text)
    return _Module(Stream(text.rstrip("\0")), strings).read()


def _strings(body: str) -> list[tuple[str, str]]:
    """Labelled byte lists, each ended by a zero, as text."""
    found: list[tuple[str, str]] = []
    for label, listing in _ENTRY.findall(body):
        codes = bytes(int(number, 0) & 255 for number in re.findall(r"(?<![\w.])\d\w*", listing))
        found.append((label, codes.split(b"\0")[0].decode("utf-8", "replace")))
    return found


class _Module:
    def __init__(self, stream: Stream, strings: list[tuple[str, str]]) -> None:
        self.stream = stream
        self.strings = strings
        self.files: list[model.File] = []
        self.variables: list[model.Variable] = []
        self.functions: list[model.Function] = []
        self.pragmas: list[model.Pragma] = []
        self.aliases: list[tuple[str, str]] = []

    def read(self) -> model.Module:
        stream = self.stream
        version, target, size = "", (), 64
        while not stream.at_end:
            match stream.peek():
                case ".version":
                    stream.next()
                    version = stream.next()
                case ".target":
                    stream.next()
                    target = tuple(stream.separated())
                case ".address_size":
                    stream.next()
                    size = stream.integer()
                case ".file":
                    self.files.append(self._file())
                case ".pragma":
                    self.pragmas.append(stream.pragma())
                case ".alias":
                    stream.next()
                    new, old = stream.separated()
                    stream.expect(";")
                    self.aliases.append((new, old))
                case _:
                    self._declaration()
        return model.Module(
            version,
            target,
            size,
            tuple(self.files),
            tuple(self.variables),
            tuple(self.functions),
            tuple(self.strings),
            tuple(self.pragmas),
            tuple(self.aliases),
        )

    def _file(self) -> model.File:
        stream = self.stream
        stream.expect(".file")
        index = stream.integer()
        name = stream.string()
        while stream.accept(","):  # time stamp and size
            stream.integer()
        return model.File(index, name)

    def _declaration(self) -> None:
        stream = self.stream
        linkage: list[str] = []
        while stream.peek() in _LINKAGE:
            linkage.append(stream.next()[1:])
        directive = stream.peek()
        if directive in (".func", ".entry"):
            self.functions.append(parse_function(stream, tuple(linkage)))
        elif directive in STATE_SPACES:
            self.variables.extend(parse_variable(stream, tuple(linkage)))
        else:
            raise PtxSyntaxError(f"line {stream.line}: unexpected {directive!r} at the top level")
