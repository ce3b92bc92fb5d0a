"""The open documents: their text, version and language, and anchors that follow positions through their edits.

Takes `didOpen`, `didChange` and `didClose` as plain arguments. A `Document` is changed only by the event loop; its text
and line index are immutable values that may be handed out.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls import uris

from cuda_lsp.positions import Encoding, LineIndex, well_formed
from cuda_lsp.tracking import Anchor, Edit, OffsetMap, edits_between
from cuda_lsp.workspace.spelling import one_spelling
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES, HEADER_SUFFIXES, SOURCE_SUFFIXES

CUDA_LANGUAGES = frozenset({"cuda", "cuda-cpp"})


class Document:
    """One open document. `path` is absolute and normalised; for documents that are no files it is made up."""

    def __init__(self, uri: str, path: str, language_id: str, version: int | None, text: str) -> None:
        self.uri = uri
        self.path = path
        self.language_id = language_id
        self.version = version
        self.is_file = urlsplit(uri).scheme == "file"
        self._index: LineIndex | None = None
        self._digest: str | None = None
        self._text = well_formed(text)
        self._anchors: weakref.WeakSet[Anchor] = weakref.WeakSet()

    @property
    def text(self) -> str:
        return self._text

    @property
    def index(self) -> LineIndex:
        if self._index is None:
            self._index = LineIndex(self._text)
        return self._index

    @property
    def digest(self) -> str:
        """A hash of the text."""
        if self._digest is None:
            self._digest = text_digest(self._text)
        return self._digest

    @property
    def is_header(self) -> bool:
        return Path(self.path).suffix.lower() in HEADER_SUFFIXES

    @property
    def may_hold_kernels(self) -> bool:
        """CUDA by language id, or by extension when the client calls it C++ or does not know."""
        return self.language_id in CUDA_LANGUAGES or Path(self.path).suffix.lower() in CUDA_SUFFIXES

    def anchor(self) -> Anchor:
        """An anchor at the text as it is now."""
        anchor = Anchor(self.version, self.digest)
        self._anchors.add(anchor)
        return anchor

    def change(self, version: int | None, changes: Sequence[Change], encoding: Encoding) -> None:
        """Apply the content changes of one `didChange`, in order."""
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = (
                    self.index.text_offset(position, encoding) for position in (change.range.start, change.range.end)
                )
                end = max(start, end)
            else:
                start, end = 0, len(self._text)
            self._replace(start, end, well_formed(change.text))
        self.version = version
        if self._anchors:
            for anchor in self._anchors:
                if not anchor.map.is_identity and anchor.digest == self.digest:
                    anchor.map = OffsetMap()

    def _replace(self, start: int, end: int, new: str) -> None:
        old = self._text[start:end]
        if self._anchors:
            before = self._text[:start]
            base = start if before.isascii() else len(before.encode())
            for edit in edits_between(old, new, base):
                self._follow(edit)
        self._text = self._text[:start] + new + self._text[end:]
        self._index = self._digest = None

    def _follow(self, edit: Edit) -> None:
        for anchor in self._anchors:
            anchor.map = anchor.map.then(edit)


Change = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


class Documents:
    """All open documents, by URI and by path."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}
        self._by_path: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._by_uri.values()))

    def __len__(self) -> int:
        return len(self._by_uri)

    def open(self, uri: str, language_id: str, version: int | None, text: str, folder: str) -> Document:
        """`folder` is where documents that are no files are taken to lie."""
        document = Document(uri, path_of(uri, folder), language_id, version, text)
        self._by_uri[uri] = self._by_path[document.path] = document
        return document

    def close(self, uri: str) -> Document | None:
        document = self._by_uri.pop(uri, None)
        if document is not None and self._by_path.get(document.path) is document:
            del self._by_path[document.path]
        return document

    def get(self, uri: str) -> Document | None:
        return self._by_uri.get(uri)

    def at(self, path: str) -> Document | None:
        return self._by_path.get(path)

    def uri_of(self, path: str) -> str:
        """The client's own spelling for an open document, ours for any other file."""
        document = self._by_path.get(path)
        return document.uri if document is not None else (uris.from_fs_path(path) or path)


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def normalised(path: str) -> str:
    """The one spelling of an absolute path that we use as a key; symbolic links stay as they are."""
    return one_spelling(path)


def path_of(uri: str, folder: str) -> str:
    """The path of a file URI. Any other URI gets a path of its own in `folder` that keeps its name and ending."""
    if urlsplit(uri).scheme == "file":
        path = uris.to_fs_path(uri)
        if path:
            return normalised(path)
    name = Path(unquote(urlsplit(uri).path or uri)).name or "untitled"
    if Path(name).suffix.lower() not in CUDA_SUFFIXES | HEADER_SUFFIXES | SOURCE_SUFFIXES:
        name += ".cu"
    mark = hashlib.sha256(uri.encode()).hexdigest()[:8]
    return normalised(str(Path(folder) / f".cuda-lsp-{mark}-{name}"))
