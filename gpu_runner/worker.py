"""The process in which a kernel runs: one request from standard input, one answer to standard output, both JSON.

Limits on memory, processor time, core dumps, files and connections are set where the system has them, when the compiler
is done.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from typing import Any, Final

from gpu_runner.cpu import execute
from gpu_runner.detector import detect
from gpu_runner.request import Request, RunResult, from_json, to_json
from gpu_runner.session import serve
from gpu_runner.too_large import too_large

_TRANSLATION_SECONDS: Final = 120


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed does not get into the answer
    asked = sys.stdin.read()
    if not asked:  # who has started the process has no request for it
        return
    request: Request = from_json(Request, json.loads(asked))
    try:
        result = serve(request, lambda on_gpu: limit(request, on_gpu))
    except MemoryError:
        result = too_large(request)
    except Exception:  # noqa: BLE001 - a defect of ours becomes an answer that says so
        result = RunResult("internal", traceback.format_exc(limit=8))
    with os.fdopen(answers, "w", encoding="utf-8") as stream:
        json.dump(to_json(result), stream)


def limit(request: Request, on_gpu: bool = False) -> None:
    """From here on this process may use so much and no more."""
    detect.CODE.load(request.folder)
    execute.SCHEDULER.load(request.folder)
    import_module("numpy.ma")  # which numpy.unique loads when it is called first
    try:
        import resource as module
    except ImportError:  # Windows: the harness ends the process when its time is over
        return
    resource: Any = module
    used = resource.getrusage(resource.RUSAGE_SELF)
    processors = os.cpu_count() or 1 if on_gpu else 2
    seconds = processor_seconds(request, used.ru_utime + used.ru_stime, processors)
    limits = [(resource.RLIMIT_CORE, 0)]
    if not on_gpu:
        limits += [
            (resource.RLIMIT_AS, request.memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 0),
            # No further descriptor: neither a file nor a connection can be opened any more.
            (resource.RLIMIT_NOFILE, os.dup(0) + 1),
        ]
    else:  # the driver maps more address space than any limit, opens files, and decoding runs on many cores
        limits.append((resource.RLIMIT_CPU, seconds))
    for what, value in limits:
        _, hard = resource.getrlimit(what)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (allowed, hard))


def processor_seconds(request: Request, used: float, processors: int) -> int:
    """What this process may use in all, of which it has `used` some: the run takes so many processors at a time, one
    for the kernel and one for the detector, and translating the kernel takes some time before."""
    return int(used + request.seconds * processors) + _TRANSLATION_SECONDS


if __name__ == "__main__":
    main()
