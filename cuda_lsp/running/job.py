"""The process behind a run in the editor: one request from standard input, JSON lines to standard output.

It analyses the unit once more for the one kernel, then runs it (`plan`). A line is ``{"total": n}``,
``{"outcome": …}`` or ``{"failed": text}``. As soon as its input ends, so do this process and whatever it has started:
it cannot outlive the server however that died, and the server cancels it by closing the pipe.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO, Final

from analyzers.explain import launchable
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import ParseFailure
from analyzers.model import CheckOptions
from analyzers.requests import CheckRequest
from cuda_lsp import bug, cache, wire
from cuda_lsp.running import plan
from cuda_lsp.running.arguments import ArgumentError
from cuda_lsp.workspace.programs import Programs
from cuda_lsp.workspace.project import Workspace
from gpu_runner import harness
from gpu_runner.request import to_json

_SECONDS: Final = 20.0


def main() -> int:
    """The exit code."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libclang prints
    source = sys.stdin.buffer
    request = json.loads(source.readline())
    threading.Thread(target=_watch, args=(source,), name="input", daemon=True).start()

    def say(**content: Any) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    try:
        with harness.begun():
            _work(request, say)
    except (ArgumentError, ParseFailure, ValueError) as error:
        say(failed=str(error))
    except Exception as error:  # noqa: BLE001 - the user gets an answer, whatever it is
        bug.report("a run failed", error)
        say(failed=f"{type(error).__name__}: {error}")
    return 0


def _watch(source: BinaryIO) -> None:
    source.read()
    harness.stop_all()
    os._exit(0)


def _work(frame: Mapping[str, Any], say: Any) -> None:
    request = plan.check_for_runs(check_request(frame), of_findings=True)
    found = launchable(request, frame["kernel"], frame["mangled"])
    arch = request.flags.arch
    lock_step = request.options.warp_lockstep
    flags = request.flags.arguments
    base = plan.base_request(
        found, request.path, flags, arch=arch, seconds=_SECONDS, lock_step=lock_step, device=frame["run_on"]
    )
    named = plan.fixtures(found, request.path)
    wanted = plan.findings(found, frame["group"])
    if frame["group"] is not None and not wanted:
        raise ArgumentError("the finding has no witness that could be run")
    say(total=max(1, len(named) + len(wanted)))
    for outcome in plan.outcomes(found, base, (), frame["group"], named):
        finding = outcome.finding
        say(
            outcome={
                "title": outcome.title,
                "group": finding.group if finding is not None else None,
                "code": finding.code.value if finding is not None else None,
                "confirmed": outcome.confirmed,
                "seen": to_json(outcome.seen),
                "run": to_json(outcome.result),
            }
        )


def check_request(frame: Mapping[str, Any]) -> CheckRequest:
    """The request of the check whose findings are to be confirmed, for the one kernel."""
    options = replace(wire.load(CheckOptions, frame["options"]), kernels=(frame["kernel"],))
    texts: Mapping[str, str] = frame["texts"]
    path: str = frame["unit"]
    request = CheckRequest(
        path=path,
        text=texts[path],
        flags=wire.load(CompileFlags, frame["flags"]),
        unsaved={other: text for other, text in texts.items() if other != path},
        options=options,
    )
    if not options.use_host or options.launches:
        return request
    workspace = wire.load(Workspace, frame["workspace"])
    program = Programs().of(workspace, path, dict(texts), options.kernels, cache.DiskCache(None))
    return replace(request, program=program)


if __name__ == "__main__":
    sys.exit(main())
