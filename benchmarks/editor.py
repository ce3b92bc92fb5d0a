"""How fast the language server is for the person at the editor, on a generated file of 6,000 lines and 200 kernels.

Talks to a real server over its standard streams and measures what a client can see: cold open, save after an edit of
one kernel, unchanged save, hover, the list of code actions; and what it cannot: how long the event loop was blocked,
and the memory of the process tree.

    python -m benchmarks editor [--kernels N] [--edits N] [--stand-in]

`--stand-in` runs the server with the analysis of the protocol tests, which costs nothing: what is left is the server.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.large_file import large_file

ROOT = Path(__file__).resolve().parent.parent
DEADLINE_S = 180.0
BARRIER = "__syncthreads();"

CAPABILITIES = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "dataSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Server:
    """A server process and what it has said, with the times."""

    def __init__(self, engine: str, folder: Path) -> None:
        code = f"from cuda_lsp.server import serve; raise SystemExit(serve(engine={engine!r}))"
        environment = {
            **os.environ,
            "CUDA_LSP_LOOP_MONITOR": "1",
            "CUDA_LSP_CACHE_DIR": str(folder / "cache"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT), *os.environ.get("EXTRA", "").split()]),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.diagnostics: list[Any] = []
        self.arrivals: list[tuple[float, int]] = []
        """When diagnostics came, and how many races they told."""
        self._messages: queue.Queue[tuple[float, Any]] = queue.Queue()
        self._identity = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            body = stream.read(length)
            self._messages.put((time.perf_counter(), json.loads(body)))

    def send(self, method: str, params: Any, identity: int | None = None) -> float:
        """The time at which the last byte was written."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if identity is not None:
            message["id"] = identity
        body = json.dumps(message).encode()
        stream = self.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        stream.flush()
        return time.perf_counter()

    def until(self, holds: Callable[[Any], bool]) -> float:
        """The time at which a message arrived for which something holds."""
        while True:
            arrived, message = self._messages.get(timeout=DEADLINE_S)
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics = message["params"]["diagnostics"]
                self.arrivals.append((arrived, races(self.diagnostics)))
            if holds(message):
                return arrived

    def published(self, holds: Callable[[Sequence[Any]], bool]) -> float:
        return self.until(
            lambda message: message.get("method") == "textDocument/publishDiagnostics" and holds(self.diagnostics)
        )

    def request(self, method: str, params: Any) -> tuple[float, Any]:
        """Seconds until the answer, and the answer."""
        self._identity += 1
        wanted, answer = self._identity, [None]

        def is_answer(message: Any) -> bool:
            answer[0] = message.get("result")
            return message.get("id") == wanted and "method" not in message

        sent = self.send(method, params, wanted)
        return self.until(is_answer) - sent, answer[0]

    def status(self) -> Any:
        return self.request("cuda-lsp/status", None)[1]

    def settle(self) -> None:
        """Take in what was still on its way."""
        time.sleep(0.1)
        self.status()

    def idle(self) -> None:
        """Wait until no worker has a job."""
        while any(worker["running"] for worker in self.status()["workers"]):
            time.sleep(0.02)


class Memory:
    """The peak of what a process and its children have in RAM, sampled."""

    def __init__(self, root: int) -> None:
        self.peak = 0
        self._root = root
        self._stop = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self.peak = max(self.peak, tree_bytes(self._root))

    def stop(self) -> None:
        self._stop.set()


def tree_bytes(root: int) -> int:
    """Proportional set size of a process tree: pages that several processes share count once."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    total = 0
    for pid in tree:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
        except OSError:
            continue
    return total


def position(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}


class Sitting:
    """One open document, edited and saved."""

    def __init__(self, server: Server, folder: Path, text: str) -> None:
        self.server = server
        self.text = text
        self.path = folder / "large.cu"
        self.uri = self.path.as_uri()
        self.version = 1
        self.path.write_text(text)

    def open(self) -> float:
        item = {"uri": self.uri, "languageId": "cuda", "version": self.version, "text": self.text}
        return self.server.send("textDocument/didOpen", {"textDocument": item})

    def replace(self, start: int, end: int, new: str) -> None:
        where = {"start": position(self.text, start), "end": position(self.text, end)}
        self.version += 1
        self.server.send(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": where, "text": new}],
            },
        )
        self.text = self.text[:start] + new + self.text[end:]

    def save(self) -> float:
        self.path.write_text(self.text)
        return self.server.send("textDocument/didSave", {"textDocument": {"uri": self.uri}})

    def at(self, diagnostic: Any) -> dict[str, Any]:
        return {"textDocument": {"uri": self.uri}, "position": diagnostic["range"]["start"]}


def races(diagnostics: Sequence[Any]) -> int:
    return sum(1 for diagnostic in diagnostics if diagnostic["code"] == "data-race")


def stand_in_file(kernels: int) -> str:
    """A file for the stand-in analysis: a race in every fourth kernel, a barrier before the others."""
    parts: list[str] = []
    for number in range(kernels):
        barrier = "" if number % 4 == 0 else BARRIER
        filler = [f"  // line {line} of kernel {number}" for line in range(24)]
        parts += [
            f"__global__ void k{number}(float *a) {{",
            "  int i = 1;",
            *filler,
            f"  {barrier}",
            "  a[i] = a[i + 1];",
            "}",
            "",
        ]
    return "\n".join(parts)


def edits(text: str, wanted: int) -> list[int]:
    """Offsets of barriers, spread over the file, each the first of its kernel."""
    found: list[int] = []
    at = text.find("__global__")
    while at >= 0:
        following = text.find("__global__", at + 1)
        barrier = text.find(BARRIER, at, following if following >= 0 else len(text))
        if barrier >= 0:
            found.append(barrier)
        at = following
    step = max(1, len(found) // wanted)
    return found[::step][:wanted]


def measure(engine: str, text: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        server = Server(engine, folder)
        memory = Memory(server.process.pid)
        server.request(
            "initialize", {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": CAPABILITIES}
        )
        server.send("initialized", {})
        sitting = Sitting(server, folder, text)
        opened = sitting.open()
        first = server.published(lambda found: len(found) > 0) - opened
        server.idle()
        whole = time.perf_counter() - opened
        report: dict[str, Any] = {
            "lines": text.count("\n"),
            "start to initialized, s": round(opened - started, 2),
            "cold open: first diagnostics, s": round(first, 2),
            "cold open: all diagnostics and repairs, s": round(whole, 2),
        }
        saves, changed = edit_and_save(sitting, count)
        report["edits with a change in the diagnostics"] = f"{changed} of {len(saves)}"
        report["save after an edit, ms: p50"] = round(1000 * statistics.median(saves), 1)
        report["save after an edit, ms: p95"] = round(1000 * sorted(saves)[int(len(saves) * 0.95)], 1)
        unchanged = [unchanged_save(sitting) for _ in range(10)]
        report["unchanged save, ms"] = round(1000 * statistics.median(unchanged), 1)
        server.idle()
        hovers, actions, listed = look_around(sitting)
        report["hover, ms: median, worst"] = [
            round(1000 * each, 1) for each in (statistics.median(hovers), max(hovers))
        ]
        report["code actions, ms: median, worst"] = [
            round(1000 * each, 1) for each in (statistics.median(actions), max(actions))
        ]
        report["places with a fix"] = f"{listed} of {len(actions)}"
        status = server.status()
        report["event loop late at most, ms"] = status["worstLoopLagMs"]
        report["event loop blocked at most, ms of computing"] = status["worstOwnLoopLagMs"]
        report["memory of the tree, MB (peak)"] = round(memory.peak / 2**20)
        report["workers"] = len(status["workers"])
        report["bugs"] = status["bugs"]
        memory.stop()
        server.request("shutdown", None)
        server.send("exit", None)
        server.process.wait(10)
    return report


def edit_and_save(sitting: Sitting, count: int) -> tuple[list[float], int]:
    """Seconds from each save until the client has what it shows from then on, and how often that was something new.
    Each edit takes a barrier away and puts it back."""
    server = sitting.server
    saves: list[float] = []
    changed = 0
    for barrier in edits(sitting.text, count):
        for old, new in ((BARRIER, ""), ("", BARRIER)):
            before = races(server.diagnostics)
            sitting.replace(barrier, barrier + len(old), new)
            saved = sitting.save()
            # A message with another number of races is the one; without any, the last that the check sends.
            server.arrivals.clear()
            server.published(lambda _: True)
            server.idle()
            server.settle()
            arrivals = [(at, number) for at, number in server.arrivals]
            news = [at for at, number in arrivals if number != before]
            changed += bool(news)
            saves.append((news[0] if news else arrivals[-1][0]) - saved)
    return saves, changed


def unchanged_save(sitting: Sitting) -> float:
    saved = sitting.save()
    return sitting.server.published(lambda _: True) - saved


def look_around(sitting: Sitting) -> tuple[list[float], list[float], int]:
    """Seconds of hovers and code action lists on the diagnostics, and how many lists had a fix."""
    server = sitting.server
    hovers: list[float] = []
    actions: list[float] = []
    listed = 0
    for diagnostic in list(server.diagnostics)[:40]:
        seconds, answer = server.request("textDocument/hover", sitting.at(diagnostic))
        assert answer is not None
        hovers.append(seconds)
        context = {"diagnostics": [diagnostic], "triggerKind": 2}
        parameters = {"textDocument": {"uri": sitting.uri}, "range": diagnostic["range"], "context": context}
        seconds, answer = server.request("textDocument/codeAction", parameters)
        actions.append(seconds)
        listed += bool(answer)
    return hovers, actions, listed


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks editor", description=__doc__)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args(arguments)
    if options.stand_in:
        report = measure("lsp.fake_engine:create", stand_in_file(options.kernels), options.edits)
    else:
        report = measure("cuda_lsp.backend:create", large_file(options.kernels), options.edits)
    for name, value in report.items():
        print(f"{name:50} {value}")
