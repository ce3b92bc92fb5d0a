"""When diagnostics go to the client: pushed, or announced for clients that can only pull. Never both.

Takes hints that something may have changed and sends at most so often, and nothing that the client has already. What a
file's diagnostics are is decided in `features.diagnostics`.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from cuda_lsp.features import diagnostics

if TYPE_CHECKING:
    from cuda_lsp.session import Session

_INTERVAL_S = 0.06
_MOVED_DELAY_S = 0.25


class Publisher:
    """Of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0
        self._flushed_at = float("-inf")
        self._always = False
        self._sent: dict[str, str] = {}
        """Pushing: what the client shows, by URI."""
        self._pulled: dict[str, str] = {}
        """Pulling: the result the client was given last, by URI."""
        self._announced: dict[str, str] = {}
        """Pulling: the result that the client was asked to come for, by URI, until it comes."""
        self._refreshing = False
        self._flushing = self._waiting = False
        self._news = asyncio.Event()

    def touch(self, *, always: bool = False) -> None:
        """Something shown may have changed; `always`: a check has ended, tell the client even if nothing has."""
        self._always = self._always or always
        now = self._loop.time()
        self._schedule(now if always else max(now, self._flushed_at + _INTERVAL_S))

    def moved(self) -> None:
        """The user types: positions move. The client moves what it shows by itself, so there is time."""
        if not self._session.client.features.pulls_diagnostics and self._sent:
            self._schedule(self._loop.time() + _MOVED_DELAY_S)

    def given(self, uri: str, result: str) -> None:
        """A client that pulls was given a result."""
        self._pulled[uri] = result
        self._announced.pop(uri, None)

    async def news(self) -> None:
        """Wait until diagnostics may have changed."""
        await self._news.wait()

    def _schedule(self, when: float) -> None:
        if self._timer is not None:
            if self._due_at <= when:
                return
            self._timer.cancel()
        self._due_at = when
        self._timer = self._loop.call_at(when, self._flush)

    def _flush(self) -> None:
        self._timer = None
        if self._flushing:
            # `_tell` looks again when it has finished.
            self._waiting = True
            return
        self._flushing = True
        self._flushed_at = self._loop.time()
        self._news.set()
        self._news = asyncio.Event()
        always, self._always = self._always, False
        self._session.spawn(self._tell(always=always))

    async def _tell(self, *, always: bool) -> None:
        try:
            if self._session.client.features.pulls_diagnostics:
                await self._announce()
            else:
                await self._push(always=always)
            self._session.spawn(self._session.lenses.results_changed())
            self._session.spawn(self._session.hints.results_changed())
        finally:
            self._flushing = False
            if self._waiting:
                self._waiting = False
                self._schedule(self._loop.time())

    async def _push(self, *, always: bool) -> None:
        """Send what the client does not show yet, open documents first, then what has to go."""
        session = self._session
        elsewhere = await diagnostics.files_with_findings(session)
        paths = dict.fromkeys(document.path for document in session.documents if session.unit_of(document.uri))
        paths.update(dict.fromkeys(elsewhere))
        current: set[str] = set()
        for path in paths:
            encoded = await diagnostics.encoded(session, path)
            document = session.documents.at(path)
            uri = session.documents.uri_of(path)
            current.add(uri)
            if encoded != self._sent.get(uri) or (always and document is not None):
                self._sent[uri] = encoded
                session.client.publish(uri, document.version if document is not None else None, encoded)
        for uri in set(self._sent) - current:
            if self._sent.pop(uri) != "[]":
                session.client.publish(uri, None, "[]")

    async def _announce(self) -> None:
        """Ask the client to pull, if what it would get is not what it has. One that does not come is not asked again
        for the same."""
        session = self._session
        if self._refreshing or not session.client.features.refreshes_diagnostics:
            return
        news: dict[str, str] = {}
        for document in session.documents:
            if document.uri in self._pulled:
                result = result_id(await diagnostics.encoded(session, document.path))
                if result == self._pulled.get(document.uri):
                    self._announced.pop(document.uri, None)
                elif result != self._announced.get(document.uri):
                    news[document.uri] = result
        if news:
            self._announced |= news
            self._refreshing = True
            session.spawn(self._refresh())

    async def _refresh(self) -> None:
        try:
            await self._session.client.refresh_diagnostics()
        finally:
            self._refreshing = False
        # What finished while the client was busy pulling.
        self._schedule(self._loop.time() + _INTERVAL_S)


def result_id(encoded: str) -> str:
    """A name for a list of diagnostics: equal lists, equal names."""
    return hashlib.sha256(encoded.encode()).hexdigest()[:16]
