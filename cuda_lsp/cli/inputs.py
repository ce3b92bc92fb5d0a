"""The files to check: named ones and those below named folders, with their text.

Takes the paths as given on the command line and gives `Input`s in the order of the arguments, each file once. A path
that does not exist, cannot be read or is no text becomes an `Input` with a failure, not an exception. Bytes that are
not UTF-8 do no harm in comments and strings, as for the compiler: they stay in the text as lone surrogates (Python's
`surrogateescape`), so that a file can be written as it was, and `plain` gives the text to analyse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from analyzers.model import Reason
from cuda_lsp.workspace.cuda_sources import Sources, told
from cuda_lsp.workspace.regular import regular_bytes
from cuda_lsp.workspace.spelling import one_spelling

_BYTE_ORDER_MARK = "\ufeff"
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Input:
    """One file. `text` is without a byte order mark; None when `failure` says why there is none. `notice` is what the
    user should know of a text that is analysed all the same."""

    path: str
    """Absolute and normalised."""
    text: str | None
    failure: Reason | None = None
    is_named: bool = True
    """Named on the command line, not found below a folder."""
    notice: str = ""


def collect(paths: Iterable[str], left_out: Counter[str] | None = None) -> list[Input]:
    """Read everything that the arguments name. Folders are searched for CUDA sources; hidden, build and vendored
    folders and what git ignores are left out unless they are named themselves. `left_out` gets how many files were
    left out for which reason."""
    found: dict[str, Input] = {}
    for argument in paths:
        path = Path(argument)
        if not path.is_dir():
            found[_absolute(path)] = read(path)
            continue
        sources = Sources(path)
        names = list(sources.files())
        if left_out is not None:
            left_out.update(sources.left_out)
        if not names:
            hidden = f" (left out: {told(sources.left_out)})" if sources.left_out else ""
            found[_absolute(path)] = _failed(path, "no-input", f"no .cu or .cuh file in this folder{hidden}")
        for name in names:
            if _absolute(name) not in found:
                found[_absolute(name)] = replace(read(name), is_named=False)
    return list(found.values())


def read(path: Path) -> Input:
    try:
        data = regular_bytes(path)
    except OSError as error:
        return _failed(path, "unreadable", f"cannot be read: {error.strerror or error}")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return _failed(path, "not-utf-8", f"not UTF-8 text: a zero byte on line {line}")
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)
    return Input(_absolute(path), text, notice=_notice(text))


def plain(text: str) -> str:
    """The text to analyse: a question mark, which is as long, for each byte that is not UTF-8."""
    return text if text.isascii() else _NOT_UTF_8.sub("?", text)


def _notice(text: str) -> str:
    found = None if text.isascii() else _NOT_UTF_8.search(text)
    if found is None:
        return ""
    line = text.count("\n", 0, found.start()) + 1
    return f"not UTF-8: byte 0x{ord(found[0]) - 0xDC00:02x} on line {line}; such bytes were read as question marks"


def _failed(path: Path, kind: str, text: str) -> Input:
    return Input(_absolute(path), None, Reason(kind, text))


def _absolute(path: Path) -> str:
    return one_spelling(Path.cwd() / path)


def shown(path: str) -> str:
    """A path as a person at the command line would write it: relative where it lies below the working directory."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return Path(path).as_posix()


def from_here(text: str) -> str:
    """A sentence with the paths in it that lie below the working directory named as `shown` names them."""
    here = re.escape(Path.cwd().as_posix().rstrip("/") + "/")
    return re.sub(rf"(?<![\w./-]){here}(?=\S)", "", text)


def tell_notices(files: Iterable[Input], err: TextIO) -> None:
    """What the user should know of files that are analysed all the same."""
    for file in files:
        if file.notice:
            print(f"cuda-lsp: {shown(file.path)}: {file.notice}", file=err)
