"""What ``compute-sanitizer`` says of a launch: `opinion` runs the kernel of a request under one of its tools.

The tool looks at a process of its own (`gpu_runner.sanitizer.plain`), which launches the kernel as the compiler made
it. It needs a GPU, NVIDIA's driver and bindings. Racecheck looks at shared memory only.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from gpu_runner.compile import CompileError, CompileOptions, NoCompiler, compile_source
from gpu_runner.request import Request, RunResult, Status, to_json
from gpu_runner.sanitizer import Tool
from gpu_runner.sanitizer.report import parse

PROGRAM: Final = "compute-sanitizer"
_PLAIN: Final = (
    "import sys; sys.path[:] = filter(None, sys.path); from gpu_runner.sanitizer.plain import main; sys.exit(main())"
)
"""Nothing is imported from the folder that it is started in, as `-m` would."""
_PRINTED: Final = 2000
"""Findings that a tool prints at most; racecheck counts each byte."""
_START_SECONDS: Final = 60.0
"""What the tool may take beyond the time of the run: it translates every kernel that it sees."""
_OPTIONS: Final[Mapping[Tool, tuple[str, ...]]] = {"racecheck": ("--racecheck-report", "all")}
_LOADED: Final = re.compile(r"Program hit \w+ .* on CUDA API call to ")


class NoSanitizer(Exception):
    """``compute-sanitizer`` is not on this machine; the message says where it comes from."""


def find_sanitizer() -> str:
    """``compute-sanitizer`` on the PATH, in the toolkit that CUDA_PATH or CUDA_HOME names, or of the Python package.
    Raises `NoSanitizer`."""
    folders: list[Path] = []
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if folder := os.environ.get(variable):
            folders += [Path(folder) / "bin", Path(folder) / "compute-sanitizer"]
    folders += [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    folders += [Path("/usr/local/cuda/bin"), Path("/usr/local/cuda/compute-sanitizer")]
    spec = importlib.util.find_spec("nvidia")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folders += sorted(Path(location).glob("*/compute-sanitizer"), reverse=True)
    for folder in folders:
        if found := shutil.which(PROGRAM, path=str(folder)):
            return found
    raise NoSanitizer(
        f"{PROGRAM} is not on this machine: it comes with the CUDA toolkit (on the PATH, or CUDA_PATH set) and with "
        "the Python package nvidia-cuda-sanitizer-api; without it, the race detector of `cuda-lsp run` is all there is"
    )


def with_ptx(request: Request) -> Request:
    """The request with the compiler's work done, so that each tool gets the same. Raises `CompileError`,
    `NoCompiler`."""
    if request.ptx is not None:
        return request
    options = CompileOptions(
        request.build, request.arch, request.flags, request.compiler, request.instances, request.folder
    )
    return replace(
        request, ptx=compile_source(request.plain or request.source or "", request.path, options).ptx, source=None
    )


def opinion(program: str, request: Request, tool: Tool) -> RunResult:
    """What a tool finds in one run of the kernel; does not raise for anything that the kernel does."""
    try:
        request = with_ptx(request)
    except CompileError as error:
        return RunResult("compile", str(error))
    except NoCompiler as error:
        return RunResult("compiler", str(error))
    with tempfile.TemporaryDirectory(prefix="cuda-lsp-") as folder:
        asked, log = Path(folder) / "request.json", Path(folder) / "report.txt"
        asked.write_text(json.dumps(to_json(request)), encoding="utf-8")
        command = [
            *(program, "--tool", tool, *_OPTIONS.get(tool, ())),
            *("--print-limit", str(_PRINTED), "--strip-paths", "no", "--show-backtrace", "device"),
            *("--log-file", str(log), sys.executable, "-c", _PLAIN, str(asked)),
        ]
        seconds = request.seconds + _START_SECONDS
        try:
            said, errors = _finished(command, seconds)
        except OSError as error:
            return RunResult("device", f"{program}: {error.strerror or error}")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if said is None:
            return replace(result_of(text, request, "", errors), status="time", message=f"no end within {seconds:g} s")
        return result_of(text, request, said, errors)


def _finished(command: list[str], seconds: float) -> tuple[str | None, str]:
    """Output and errors of a process; no output where its time was over: then it and what it started are ended."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent.parent)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        said, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        _, errors = process.communicate()
        return None, errors.decode("utf-8", "replace")
    return said.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


def result_of(text: str, request: Request, said: str, errors: str) -> RunResult:
    """The result of a tool: its report, and what the program under it said of its end."""
    report = parse(text, request.path, request.block)
    status, message = _end(said)
    found = bool(report.races or report.faults or report.waiting)
    # Where the kernel died of what was found, calls of the driver fail after it: that is no news.
    details = tuple(line for line in report.other if not (found and _LOADED.match(line)))
    if report.waiting:
        status, message = "deadlock", f"{len(report.waiting)} groups of threads wait for each other"
    elif found or (status == "finished" and report.errors is not None):
        status, message = "finished", ""
    elif status in ("finished", "crash"):
        last = (errors or said).strip().splitlines()[-1:]
        status, message = "crash", "; ".join([*details, *last]) or f"{PROGRAM} told nothing"
        details = ()
    return RunResult(
        status, message, details, report.races, report.faults, report.waiting, runs=1, ended=int(status == "finished")
    )


def _end(said: str) -> tuple[Status, str]:
    """What `plain` answered; a crash where it did not."""
    for line in reversed(said.splitlines()):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            answer = json.loads(line)
            return cast("Status", answer["status"]), str(answer["message"])
    return "crash", ""
