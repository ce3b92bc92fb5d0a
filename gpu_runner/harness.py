"""`run`: one request in a process of its own. A hang, a crash or a limit that was hit ends as an answer, never here."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpu_runner.request import Request, RunResult, from_json, to_json

_COMPILATION_SECONDS: Final = 150.0
"""What compilers may take beyond the time of the run."""
_WORKER: Final = "import sys; sys.path[:] = filter(None, sys.path); from gpu_runner.worker import main; main()"
"""Nothing is imported from the folder that it is started in, as `-m` would."""
_lock: Final = threading.Lock()
_under_way: Final[set[subprocess.Popen[bytes]]] = set()
_ahead: Final[list[subprocess.Popen[bytes]]] = []
"""Processes that have no request yet."""


def run(request: Request) -> RunResult:
    """Execute a kernel under the race detector. Does not raise for anything that the kernel does."""
    result = run_once(request)
    if request.device == "auto" and result.device and result.status in ("unsupported", "device"):
        # What the GPU or its driver does not take runs on the processor, in a process that has the limits for it.
        result = run_once(replace(request, device="cpu"))
    return result


def run_once(request: Request) -> RunResult:
    """Execute a kernel where the request says, or not at all."""
    process = _process()
    seconds = request.seconds + _COMPILATION_SECONDS
    try:
        answer, errors = process.communicate(json.dumps(to_json(request)).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return RunResult("time", f"no answer for {seconds:g} s: compiling the kernel and translating it take longer")
    finally:
        with _lock:
            _under_way.discard(process)
        _end(process)
    try:
        return from_json(RunResult, json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return RunResult("crash", _death(process.returncode, errors.decode("utf-8", "replace")))


@contextlib.contextmanager
def begun() -> Generator[None]:
    """Start the process of the next run, which loads what it needs while the caller finds out what is to be run."""
    process = _started()
    with _lock:
        _ahead.append(process)
    try:
        yield
    finally:
        with _lock:
            is_left = process in _ahead
            if is_left:
                _ahead.remove(process)
                _under_way.discard(process)
        if is_left:
            _end(process)


def _process() -> subprocess.Popen[bytes]:
    """One that has been started ahead, if it is still there, or a new one."""
    with _lock:
        process = _ahead.pop() if _ahead else None
    if process is not None and process.poll() is None:
        return process
    if process is not None:
        with _lock:
            _under_way.discard(process)
        process.communicate()
    return _started()


def _started() -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-c", _WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    with _lock:
        _under_way.add(process)
    return process


def stop_all() -> None:
    """End all runs of this process that are under way, from another thread: it is about to end."""
    with _lock:
        for process in _under_way:
            _kill(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and what it started, such as a compiler."""
    if process.poll() is None:
        _kill(process)
        process.communicate()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _death(code: int, errors: str) -> str:
    last = errors.strip().splitlines()[-1:] or [""]
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        why = {"SIGXCPU": "it used up its processor time", "SIGKILL": "it was killed"}.get(name, f"signal {name}")
        return f"the process that ran the kernel died: {why}. {last[0]}".strip()
    return f"the process that ran the kernel ended with code {code}. {last[0]}".strip()
