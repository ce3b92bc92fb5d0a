"""Work-done progress of one check or run: created by the server under a string token, or under the token of a request.

Nothing is sent before the client has accepted the token. Reports are spaced out, and the end comes always.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

from lsprotocol import types

from cuda_lsp.client import Client

_INTERVAL_S = 0.1
_numbers = itertools.count(1)


class CheckProgress:
    """From `start` to `finish`; both may be called at any time, also when the client shows no progress."""

    def __init__(
        self, client: Client, title: str, token: types.ProgressToken | None = None, kind: str = "check"
    ) -> None:
        self._client = client
        self._title = title
        self.token: types.ProgressToken = token if token is not None else f"cuda-lsp/{kind}/{next(_numbers)}"
        self._given = token is not None
        self._accepted = False
        self._finished = False
        self._latest: tuple[int, int, str] | None = None
        self._sent_at = float("-inf")

    def start(self, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """Ask the client for the token, if it is ours to create and there still is something to show; `spawn` runs the
        asking."""
        if self._finished:
            return
        if self._given:
            self._begin()
        elif self._client.features.progress:
            spawn(self._create())

    async def _create(self) -> None:
        if await self._client.create_progress(str(self.token)):
            self._begin()
            if self._finished:
                self._end()

    def _begin(self) -> None:
        self._accepted = True
        self._client.report_progress(
            self.token,
            types.WorkDoneProgressBegin(title=self._title, cancellable=True, percentage=0, message=self._message()),
        )

    def report(self, done: int, total: int, name: str) -> None:
        self._latest = (done, total, name)
        now = asyncio.get_running_loop().time()
        if self._accepted and not self._finished and now - self._sent_at >= _INTERVAL_S:
            self._sent_at = now
            self._client.report_progress(
                self.token,
                types.WorkDoneProgressReport(
                    cancellable=True, percentage=100 * done // max(total, 1), message=self._message()
                ),
            )

    def finish(self) -> None:
        if not self._finished:
            self._finished = True
            if self._accepted:
                self._end()

    def _end(self) -> None:
        self._client.report_progress(self.token, types.WorkDoneProgressEnd())

    def _message(self) -> str | None:
        if self._latest is None:
            return None
        done, total, name = self._latest
        return f"{done}/{total} {name}"
