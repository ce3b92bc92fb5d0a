"""The analysis may crash, hang or fail: it costs one message, and the work is done all the same."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from lsp.client import DEADLINE_S, Connect, Editor, jobs

RACE = "a[i] = a[i + 1];"


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(float *a) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


async def running(editor: Editor) -> dict[str, Any]:
    """The first worker that has a job."""
    found = await editor.until_status(lambda status: [worker for worker in jobs(status) if worker["pid"]])
    return found[0]


async def test_a_crash_costs_one_message_and_the_check_is_done_again(editor: Editor, tmp_path: Path) -> None:
    text = kernel("first", RACE) + kernel("second", f"// crash {tmp_path / 'mark'}", RACE)
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race", "data-race"))
    (message,) = editor.messages
    assert "signal 11, SIGSEGV" in message.message
    assert "kernel second" in message.message
    assert "started again" in message.message


async def test_a_kill_costs_one_message_and_the_check_is_done_again(editor: Editor, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    uri = editor.open(tmp_path / "a.cu", kernel("k", f"// wait {gate}", RACE))
    os.kill((await running(editor))["pid"], signal.SIGKILL)
    await editor.until(editor.shown("signal 9, SIGKILL"))
    gate.touch()
    await editor.until(editor.has(uri, "data-race"))
    assert len(editor.messages) == 1


async def test_an_idle_worker_that_is_killed_is_replaced(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("k", RACE))
    await editor.until(editor.has(uri, "data-race"))
    (worker,) = (await editor.status())["workers"]
    os.kill(worker["pid"], signal.SIGKILL)
    await editor.until(editor.shown("ended"))
    editor.replace(uri, "  a[i] =", "  __syncthreads();\n  a[i] =")
    editor.save(uri)
    await editor.until(editor.has(uri))
    assert len(editor.messages) == 1


async def test_a_check_that_always_crashes_is_given_up_and_the_last_results_stay(
    editor: Editor, tmp_path: Path
) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("first", RACE) + kernel("second", "// fine"))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "// fine", "// crash always")
    editor.save(uri)
    await editor.until(editor.shown("given up"))
    assert len(editor.messages) == 2
    assert editor.codes(uri) == ["data-race"]
    editor.replace(uri, "// crash always", RACE)
    editor.save(uri)
    await editor.until(editor.has(uri, "data-race", "data-race"))


async def test_a_kernel_that_hangs_is_unknown_and_not_tried_at_the_next_save(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"hang-seconds": 1})
    uri = editor.open(tmp_path / "a.cu", kernel("stuck", "// keyed", "// hang") + kernel("k", RACE))
    await editor.until(editor.shown("left out until it changes"))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, RACE, "// nothing")
    editor.save(uri)
    await editor.until(editor.has(uri))
    assert len(editor.messages) == 1
    editor.replace(uri, "// hang", RACE)
    editor.save(uri)
    await editor.until(editor.has(uri, "data-race"))


async def test_a_hung_worker_is_replaced(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"hang-seconds": 1})
    uri = editor.open(tmp_path / "a.cu", kernel("k", "// hang"))
    await editor.until(editor.shown("did not answer for 1 s"))
    editor.replace(uri, "// hang", RACE)
    editor.save(uri)
    await editor.until(editor.has(uri, "data-race"))


async def test_a_worker_that_never_starts_is_not_started_for_ever(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(engine="no_such_module:create")
    editor.open(tmp_path / "a.cu", kernel("k", RACE))
    await editor.until(editor.shown("could not check a.cu"))
    assert "no_such_module" in editor.messages[-1].message


async def test_a_newer_text_supersedes_the_check_of_an_older_one(editor: Editor, tmp_path: Path) -> None:
    never = tmp_path / "never"
    uri = editor.open(tmp_path / "a.cu", kernel("k", f"// wait {never}"))
    await running(editor)
    editor.replace(uri, f"// wait {never}", RACE)
    editor.save(uri)
    await editor.until(editor.has(uri, "data-race"))


async def test_saving_the_text_that_is_being_checked_does_not_start_again(editor: Editor, tmp_path: Path) -> None:
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    # Were the check started again, the first one would be cancelled and the process would not die at the mark.
    uri = editor.open(tmp_path / "a.cu", kernel("k", f"// wait {gate}", RACE) + kernel("l", f"// crash {mark}"))
    await running(editor)
    editor.save(uri)
    first = await running(editor)
    gate.touch()
    await editor.until(editor.shown("started again"))
    await editor.until(editor.has(uri, "data-race"))
    assert first["pid"] not in [each["pid"] for each in (await editor.status())["workers"]]
    assert len(editor.messages) == 1


async def test_two_documents_are_checked_at_once_and_more_wait(editor: Editor, tmp_path: Path) -> None:
    gates = [tmp_path / f"gate{number}" for number in range(3)]
    uris = [
        editor.open(tmp_path / f"{number}.cu", kernel("k", f"// wait {gate}", RACE))
        for number, gate in enumerate(gates)
    ]

    status = await editor.until_status(lambda status: status if len(jobs(status)) == 2 else None)
    assert len(status["workers"]) == 2
    running_now = [worker["running"] for worker in jobs(status)]
    waiting = next(number for number in range(3) if not any(f"{number}.cu" in job for job in running_now))
    others = [number for number in range(3) if number != waiting]
    gates[waiting].touch()
    gates[others[0]].touch()
    await editor.until(editor.has(uris[others[0]], "data-race"))
    # The third goes to the worker that became free.
    await editor.until(editor.has(uris[waiting], "data-race"))
    gates[others[1]].touch()
    await editor.until(editor.has(uris[others[1]], "data-race"))


# Progress


async def test_progress_has_a_string_token_and_ends(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("k", RACE))
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(lambda: any(reports and reports[-1].kind == "end" for reports in editor.reports.values()))
    ((token, reports),) = editor.reports.items()
    assert isinstance(token, str)
    assert reports[0].kind == "begin"
    assert reports[0].title == "Checking a.cu"
    assert reports[0].cancellable is True


async def test_cancelling_the_progress_stops_the_check(editor: Editor, tmp_path: Path) -> None:
    from lsprotocol import types

    text = kernel("first", RACE) + kernel("second", f"// wait {tmp_path / 'never'}", RACE)
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(lambda: any(editor.reports.values()))
    (token,) = editor.reports
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    await editor.until(lambda: editor.reports[token][-1].kind == "end")
    assert editor.codes(uri) == ["data-race"]


async def test_a_client_without_progress_gets_none(connect: Connect, tmp_path: Path) -> None:
    from lsprotocol import types

    editor = await connect(types.ClientCapabilities())
    uri = editor.open(tmp_path / "a.cu", kernel("k", RACE))
    await editor.until(editor.has(uri, "data-race"))
    assert editor.reports == {}


# Re-check


async def test_recheck_checks_what_has_not_changed_and_reports_under_the_clients_token(
    editor: Editor, tmp_path: Path
) -> None:
    from lsprotocol import types

    mark = tmp_path / "mark"
    mark.touch()
    uri = editor.open(tmp_path / "a.cu", kernel("k", f"// crash {mark}", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.progress_reports["mine"] = []
    mark.unlink()
    answer = editor.workspace_execute_command_async(
        types.ExecuteCommandParams("cuda-lsp.recheck", [uri], work_done_token="mine")
    )
    await asyncio.wait_for(answer, DEADLINE_S)
    assert mark.exists(), "the kernel was executed again"
    assert [report.kind for report in editor.reports["mine"]][0::99] == ["begin"]
    assert editor.reports["mine"][-1].kind == "end"


async def test_an_unchanged_save_does_not_check(editor: Editor, tmp_path: Path) -> None:
    path, mark = tmp_path / "a.cu", tmp_path / "mark"
    mark.touch()
    uri = editor.open(path, kernel("k", f"// crash {mark}", RACE))
    await editor.until(editor.has(uri, "data-race"))
    mark.unlink()
    count = len(editor.published)
    editor.save(uri, path)
    await editor.until(lambda: len(editor.published) > count)
    assert editor.codes(uri) == ["data-race"]
    assert not mark.exists()
    assert editor.messages == []


async def test_another_server_finds_the_results_on_the_disk(connect: Connect, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    text = kernel("k", f"// crash {mark}", RACE)
    first = await connect()
    uri = first.open(tmp_path / "a.cu", text)
    await first.until(first.has(uri, "data-race"))
    # The first kernel's diagnostics come before the result is written.
    await first.until_status(lambda status: not any(job["running"].startswith("check") for job in jobs(status)))
    await first.shutdown_session()
    second = await connect()
    second.open(tmp_path / "a.cu", text)
    await second.until(second.has(uri, "data-race"))


async def test_after_an_answer_from_the_disk_the_worker_catches_up_at_once(editor: Editor, tmp_path: Path) -> None:
    """Not only when the user types: the next save may come at once, and should find its worker warm."""
    path, gate = tmp_path / "a.cu", tmp_path / "gate"
    gate.touch()
    uri = editor.open(path, kernel("k", f"// wait {gate}", RACE))
    await editor.until(editor.has(uri, "data-race"))
    # The kernel's diagnostics come before the check has ended, and an edit takes them away before the next one begins.
    await editor.until_idle()
    editor.replace(uri, RACE, "")
    editor.save(uri, path)
    await editor.until_idle()
    gate.unlink()
    editor.replace(uri, f"{gate}\n  ", f"{gate}\n  {RACE}")
    editor.save(uri, path)
    await editor.until(editor.has(uri, "data-race"))
    await editor.until_status(lambda status: any(job["running"].startswith("warm") for job in jobs(status)))
    gate.touch()
