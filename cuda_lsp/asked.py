"""What clients ask for themselves and are told to ask for again: code lenses and inlay hints.

Remembers what was given for each document; when results have changed and a document would get something else now, the
client is asked to come again, once for all documents and not while it is still busy with the last time.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_lsp.session import Session

_PAUSE_S = 0.25

Encode = Callable[["Session", str], Awaitable[str]]
"""What a path's document would be given now."""


@dataclass(eq=False)
class Asked:
    """Of one session and one kind of request."""

    session: Session
    encode: Encode
    refresh: Callable[[], Awaitable[None]]
    can_refresh: bool
    _given: dict[str, str] = field(default_factory=dict[str, str])
    """By path: a digest of what the client has."""
    _busy: bool = False

    def given(self, path: str, encoded: str) -> None:
        """The client gets this. It was encoded in slices, between which results may have changed: look again."""
        if self.can_refresh:
            self._given[path] = _digest(encoded)
            self.session.spawn(self.results_changed())

    def forget(self, path: str) -> None:
        self._given.pop(path, None)

    async def results_changed(self) -> None:
        """Ask the client to come again if what it would get is not what it has."""
        if self._busy or not self._given:
            return
        self._busy = True
        try:
            while await self._is_outdated():
                await self.refresh()
                # It may not come at all, and results arrive kernel by kernel.
                await asyncio.sleep(_PAUSE_S)
        finally:
            self._busy = False

    async def _is_outdated(self) -> bool:
        for path, digest in tuple(self._given.items()):
            if self.session.documents.at(path) is None:
                self.forget(path)
                continue
            now = _digest(await self.encode(self.session, path))
            if now != digest:
                # Said once; the next answer is noted when the client asks.
                self._given[path] = now
                return True
        return False


def _digest(encoded: str) -> str:
    return hashlib.sha256(encoded.encode()).hexdigest()
