"""What a session lets wait can be cancelled, whenever that is asked."""

from __future__ import annotations

import asyncio
import inspect
from types import SimpleNamespace
from typing import Any, cast

from cuda_lsp.client import Client, ClientFeatures
from cuda_lsp.config import Layer
from cuda_lsp.session import Session


async def ready_session() -> Session:
    channel = cast(Any, SimpleNamespace(notify=lambda *_: None))

    def start(*_: Any) -> Any:
        raise AssertionError("no worker is needed")

    session = Session(Client(channel, ClientFeatures()), (), Layer("the test", {}), start)
    session._configured.set()
    return session


async def test_waiting_for_the_settings_loses_no_cancellation() -> None:
    session = await ready_session()
    for turns in range(8):
        passed = 0

        async def go_on() -> None:
            nonlocal passed
            while passed < 1000:
                await session.configured()
                await asyncio.sleep(0)
                passed += 1

        task = asyncio.ensure_future(go_on())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), f"the cancellation after {turns} turns of the loop was lost"
        assert passed <= turns


async def test_settings_that_come_in_late_are_waited_for() -> None:
    session = await ready_session()
    session._configured.clear()
    task = asyncio.ensure_future(session.configured())
    await asyncio.sleep(0)
    assert not task.done()
    session._configured.set()
    await task
    session._configured.clear()
    task = asyncio.ensure_future(session.configured())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_work_that_a_closing_session_never_begins_is_put_away() -> None:
    session = await ready_session()
    work = asyncio.sleep(0, None)
    session.spawn(work)
    (task,) = session._tasks
    task.cancel()
    await asyncio.wait([task])
    await asyncio.sleep(0)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
