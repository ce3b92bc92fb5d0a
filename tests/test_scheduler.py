"""The scheduler alone, with processes that do nothing by themselves: order, superseding, crashes, hangs, memory."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.frames import Frame
from cuda_lsp.process_figures import SilentWork
from cuda_lsp.scheduler import Job, JobKind, Limits, Outcome, Scheduler


class FakeProcess:
    """Records what it was sent; the test speaks for it."""

    def __init__(self, on_frame: Callable[[Frame], None], on_exit: Callable[[int, str], None]) -> None:
        self.hear = on_frame
        self.exit = on_exit
        self.sent: list[Frame] = []
        self.ended = False
        self.pid = 1

    def send(self, frame: Frame) -> None:
        self.sent.append(frame)

    def kill(self) -> None:
        self.ended = True
        self.exit(-9, "")

    def close(self) -> None:
        self.ended = True
        asyncio.get_running_loop().call_soon(self.exit, 0, "")

    @property
    def jobs(self) -> list[tuple[str, str]]:
        return [(frame["op"], frame["unit"]) for frame in self.sent if "unit" in frame]

    @property
    def cancelled(self) -> list[int]:
        return [frame["id"] for frame in self.sent if frame["op"] == "cancel"]

    def finish(self, how: str = "ok", **more: Any) -> None:
        """The job it was sent last ends."""
        last = [frame["id"] for frame in self.sent if "unit" in frame][-1]
        self.hear({"id": last, "done": how, **more})


class Bench:
    """A scheduler with everything that it did."""

    def __init__(self, **limits: Any) -> None:
        self.processes: list[FakeProcess] = []
        self.troubles: list[str] = []
        self.done: list[tuple[str, str, Outcome]] = []
        self.scheduler = Scheduler(self.start, Limits(**limits), self.troubles.append)

    def start(self, on_frame: Callable[[Frame], None], on_exit: Callable[[int, str], None]) -> FakeProcess:
        self.processes.append(FakeProcess(on_frame, on_exit))
        return self.processes[-1]

    def job(self, kind: JobKind, unit: str, attention: int = 0, text: str = "text") -> Job:
        def on_done(outcome: Outcome, _error: str) -> None:
            self.done.append((kind.name, unit, outcome))

        texts = {unit: (text, text)}
        job = Job(kind, unit, {"unit": unit}, texts, lambda _frame: None, on_done, attention)
        self.scheduler.submit(job)
        return job


async def test_the_most_urgent_kind_first_then_what_the_user_looks_at() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.job(JobKind.WARM, "b")
    bench.job(JobKind.OFFERS, "c")
    bench.job(JobKind.CHECK, "d", attention=1)
    bench.job(JobKind.CHECK, "e", attention=2)
    bench.job(JobKind.FIX, "f")
    (process,) = bench.processes
    assert process.cancelled == [1], "a repair that the user waits for does not wait for a check"
    process.finish("cancelled")
    for _ in range(6):
        process.finish()
    assert [unit for _, unit in process.jobs] == ["a", "f", "e", "d", "a", "c", "b"]
    assert all(outcome is Outcome.OK for _, _, outcome in bench.done)


async def test_a_newer_check_supersedes_what_is_queued_and_running_for_its_unit() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.job(JobKind.CHECK, "b")
    bench.job(JobKind.OFFERS, "a")
    bench.job(JobKind.CHECK, "a", text="newer")
    (process,) = bench.processes
    assert bench.done == [("OFFERS", "a", Outcome.CANCELLED)]
    assert process.cancelled == [1]
    process.finish("ok")
    assert bench.done[1:] == [("CHECK", "a", Outcome.CANCELLED)], "its answer is about an old text"
    process.finish()
    process.finish()
    assert process.jobs == [("check", "a"), ("check", "b"), ("check", "a")]


async def test_a_superseded_job_is_not_heard_any_more() -> None:
    bench = Bench(size=1)
    heard: list[Frame] = []
    job = Job(JobKind.CHECK, "a", {"unit": "a"}, {}, heard.append, lambda _outcome, _error: None)
    bench.scheduler.submit(job)
    (process,) = bench.processes
    process.hear({"id": 1, "kernel": "one"})
    bench.scheduler.cancel(job)
    process.hear({"id": 1, "kernel": "two"})
    assert [frame["kernel"] for frame in heard] == ["one"]


async def test_background_work_gives_way_and_starts_again() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.WARM, "a")
    bench.job(JobKind.CHECK, "b")
    (process,) = bench.processes
    process.finish("cancelled")
    process.finish()
    process.finish()
    assert process.jobs == [("warm", "a"), ("check", "b"), ("warm", "a")]
    assert bench.done == [("CHECK", "b", Outcome.OK), ("WARM", "a", Outcome.OK)]


async def test_a_unit_stays_with_its_worker_and_a_new_one_goes_where_nothing_runs() -> None:
    bench = Bench(size=2)
    bench.job(JobKind.CHECK, "a")
    bench.job(JobKind.CHECK, "b")
    bench.processes[0].finish()
    bench.job(JobKind.CHECK, "b", text="newer")
    assert bench.processes[0].jobs == [("check", "a")], "b waits for its own worker"
    bench.job(JobKind.CHECK, "c")
    assert bench.processes[0].jobs[-1] == ("check", "c")
    bench.processes[1].finish("cancelled")
    assert bench.processes[1].jobs == [("check", "b"), ("check", "b")]


async def test_a_unit_that_no_worker_knows_goes_to_the_first_that_is_free() -> None:
    bench = Bench(size=2)
    for unit in "abcd":
        bench.job(JobKind.CHECK, unit)
    bench.processes[1].finish()
    bench.processes[1].finish()
    assert bench.processes[0].jobs == [("check", "a")]
    assert {unit for _, unit in bench.processes[1].jobs} == {"b", "c", "d"}


async def test_a_text_is_sent_once_per_worker_and_version() -> None:
    bench = Bench(size=1)
    for text in ("one", "one", "two"):
        bench.job(JobKind.CHECK, "a", text=text)
        bench.processes[0].finish()
    assert [frame["text"] for frame in bench.processes[0].sent if frame["op"] == "text"] == ["one", "two"]


async def test_after_a_crash_the_job_runs_once_more_and_texts_are_sent_again() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.processes[0].hear({"id": 1, "progress": [0, 2, "shift"]})
    bench.processes[0].exit(-11, "last words")
    assert len(bench.processes) == 2
    assert [frame["op"] for frame in bench.processes[1].sent] == ["text", "check"]
    assert bench.troubles == [
        "The analysis process ended: signal 11, SIGSEGV (while checking a, kernel shift). It was started again."
    ]
    bench.processes[1].exit(-11, "")
    assert bench.done == [("CHECK", "a", Outcome.CRASHED)]
    assert "given up" in bench.troubles[1]
    assert len(bench.processes) == 3, "another is ready for the next job"


async def test_a_superseded_job_is_not_repeated_after_a_crash() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a", text="old")
    bench.job(JobKind.CHECK, "a", text="new")
    bench.processes[0].exit(-11, "")
    assert bench.done == [("CHECK", "a", Outcome.CANCELLED)]
    assert [frame.get("text") for frame in bench.processes[1].sent] == ["new", None]


async def test_a_worker_that_crashes_all_the_time_stays_down_until_it_is_wanted() -> None:
    bench = Bench(size=1)
    bench.scheduler.prestart()
    for _ in range(5):
        bench.processes[-1].exit(1, "")
    assert len(bench.processes) == 5
    assert "not started again" in bench.troubles[-1]
    bench.job(JobKind.CHECK, "a")
    assert bench.done == [("CHECK", "a", Outcome.FAILED)]
    bench.scheduler.revive()
    bench.job(JobKind.CHECK, "a")
    bench.processes[-1].finish()
    assert bench.done[-1] == ("CHECK", "a", Outcome.OK)


async def test_silence_is_a_hang_and_a_sign_of_life_is_not() -> None:
    bench = Bench(size=1, hang_s=0.05)
    bench.job(JobKind.CHECK, "a")
    (process,) = bench.processes
    process.hear({"id": 0, "ready": True})

    async def wait() -> None:
        while not process.ended:
            await asyncio.sleep(0)

    await asyncio.wait_for(wait(), 10)
    assert bench.troubles == [
        "The analysis process did not answer for 0.05 s (while checking a). It was started again."
    ]


async def test_a_kernel_over_which_a_worker_dies_twice_is_left_out() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    for _ in range(2):
        bench.processes[-1].hear({"id": 0, "ready": True})
        assert bench.processes[-1].sent[-1]["hopeless"] == {}
        identity = bench.processes[-1].sent[-1]["id"]
        bench.processes[-1].hear({"id": identity, "progress": [0, 2, "fine"], "key": "key of fine"})
        bench.processes[-1].hear({"id": identity, "kernel": "fine"})
        bench.processes[-1].hear({"id": identity, "progress": [1, 2, "shift"], "key": "key of shift"})
        bench.processes[-1].exit(-11, "")
    reason = "the analysis process ended: signal 11, SIGSEGV while it checked this kernel"
    assert bench.processes[2].sent[-1]["hopeless"] == {"key of shift": ("worker-died", reason)}
    assert "left out" in bench.troubles[1]
    bench.processes[2].finish()
    assert bench.done == [("CHECK", "a", Outcome.OK)]
    bench.job(JobKind.CHECK, "a", text="newer")
    assert list(bench.processes[2].sent[-1]["hopeless"]) == ["key of shift"], "the next save does not try it again"
    bench.scheduler.revive()
    bench.job(JobKind.CHECK, "b")
    bench.processes[2].finish()
    assert bench.processes[2].sent[-1]["hopeless"] == {}


async def test_one_death_between_kernels_or_over_one_kernel_blames_none() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.processes[0].hear({"id": 1, "progress": [0, 2, "shift"], "key": "key of shift"})
    bench.processes[0].hear({"id": 1, "kernel": "shift"})
    bench.processes[0].exit(-11, "")
    bench.processes[1].hear({"id": 2, "progress": [0, 2, "shift"], "key": "key of shift"})
    bench.processes[1].exit(-9, "")
    assert bench.done == [("CHECK", "a", Outcome.CRASHED)]
    bench.job(JobKind.CHECK, "a")
    assert bench.processes[2].sent[-1]["hopeless"] == {}


async def test_a_kernel_over_which_a_worker_hangs_is_left_out_at_once() -> None:
    bench = Bench(size=1, hang_s=0.1)
    heard: list[Frame] = []
    job = Job(JobKind.CHECK, "a", {"unit": "a"}, {}, heard.append, lambda _outcome, _error: None)
    bench.scheduler.submit(job)
    process = bench.processes[0]
    process.hear({"id": 0, "ready": True})
    process.hear({"id": 1, "progress": [0, 2, "shift"], "key": "key of shift"})
    for _ in range(8):
        await asyncio.sleep(0.03)
        process.hear({"id": 1, "alive": True})
    assert not process.ended, "it is at work"
    while not process.ended:
        await asyncio.sleep(0.01)
    assert bench.processes[1].sent[-1]["hopeless"]["key of shift"][0] == "wall-clock"
    assert [list(frame) for frame in heard] == [["id", "progress", "key"]]


def work(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


# Without /proc a silent process is given up by the clock, so there is nothing to tell apart.
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what a process has used")
def test_a_silent_process_is_slow_as_long_as_it_works_and_has_not_worked_enough() -> None:
    # The system counts in ticks, and may miss some on a busy machine.
    silent, me = SilentWork(), os.getpid()
    silent.heard(me)
    work(0.4)
    assert silent.goes_on(me, 2)
    assert not silent.goes_on(me, 2), "it did nothing since"
    work(0.4)
    assert not silent.goes_on(me, 0.3), "it has had that much"
    silent.heard(me)
    work(0.4)
    assert silent.goes_on(me, 2)
    assert not silent.goes_on(None, 1)


async def test_memory_over_the_budget_ends_an_idle_worker_rather_another() -> None:
    bench = Bench(size=2, memory_bytes=100)
    bench.job(JobKind.CHECK, "a")
    bench.job(JobKind.CHECK, "b")
    bench.processes[0].finish(rss=60)
    assert not bench.processes[0].ended
    bench.processes[1].finish(rss=60)
    assert bench.processes[0].ended
    assert not bench.processes[1].ended
    await asyncio.sleep(0)
    assert bench.troubles == []
    bench.job(JobKind.CHECK, "a", text="newer")
    assert bench.processes[2].jobs == [("check", "a")]


async def test_closing_ends_workers_and_jobs() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.job(JobKind.CHECK, "b")
    await bench.scheduler.close()
    assert bench.processes[0].ended
    assert bench.done == [("CHECK", "b", Outcome.CANCELLED)]
    bench.job(JobKind.CHECK, "c")
    assert bench.done[-1] == ("CHECK", "c", Outcome.CANCELLED)


async def test_forgetting_a_unit_tells_its_worker() -> None:
    bench = Bench(size=1)
    bench.job(JobKind.CHECK, "a")
    bench.processes[0].finish()
    bench.scheduler.forget("a")
    assert bench.processes[0].sent[-1] == {"op": "forget", "path": "a"}


@pytest.mark.parametrize("kind", list(JobKind))
async def test_a_failed_job_says_so(kind: JobKind) -> None:
    bench = Bench()
    bench.job(kind, "a")
    bench.processes[0].finish("failed", error="because")
    assert bench.done == [(kind.name, "a", Outcome.FAILED)]
