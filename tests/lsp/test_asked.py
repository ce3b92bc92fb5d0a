"""Whether clients are told to ask again, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, cast

from cuda_lsp.asked import Asked


class Client:
    """One that comes again whenever it is told to, and gets what there is."""

    def __init__(self, now: str) -> None:
        self.now = now
        self.has = ""
        self.refreshes = 0
        self.tasks: list[asyncio.Task[None]] = []
        documents = SimpleNamespace(at=lambda _path: object())
        session = cast("Any", SimpleNamespace(documents=documents, spawn=self.spawn))
        self.asked = Asked(session, self.encode, self.refresh, can_refresh=True)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def encode(self, _session: Any, _path: str) -> str:
        return self.now

    async def refresh(self) -> None:
        self.refreshes += 1
        self.take(self.now)

    def take(self, encoded: str) -> None:
        self.has = encoded
        self.asked.given("a.cu", encoded)

    async def settled(self) -> None:
        while self.tasks:
            await self.tasks.pop()


async def test_an_answer_that_is_outdated_when_it_is_given_is_asked_for_again() -> None:
    client = Client("1 race")
    client.take("1 race")
    await client.settled()
    assert client.refreshes == 0
    # The text goes to and fro while an answer is on its way; what holds in the end is what the client had before.
    await client.asked.results_changed()
    client.take("1 race (before your edits)")
    await client.settled()
    assert client.has == "1 race"
    assert client.refreshes == 1


async def test_an_answer_that_still_holds_is_not() -> None:
    client = Client("race-free")
    for _ in range(3):
        client.take("race-free")
    await client.settled()
    assert client.refreshes == 0
