"""How fast the language server is for the person at the editor, on a generated file of 6,000 lines and 200 kernels.

Talks to a real server over its standard streams and measures what a client can see: cold open, save after an edit of
one kernel, unchanged save, hover, the list of code actions; and what it cannot: how long the event loop was blocked,
and the memory of the process tree. The results go to `benchmarks/editor.md`.

    python -m benchmarks editor [--kernels N] [--edited N] [--stand-in]

Every save is of a text that the server has never seen, so neither its memory nor its disk cache knows the answer.
`--stand-in` runs the server with the analysis of the protocol tests, which costs nothing: what is left is the server.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.large_file import large_file

ROOT = Path(__file__).resolve().parent.parent
DEADLINE_S = 180.0
BARRIER = "__syncthreads();"
RESULTS = Path(__file__).with_name("editor.md")
STRIDE = 7
"""From one edited kernel to the next: the shapes of the generated kernels repeat after ten."""
HASTE_S = 0.15

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
        code = f"from cuda_lsp.cli.serve import serve; raise SystemExit(serve(None, None, {engine!r}))"
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
        self.arrivals: list[tuple[float, tuple[str, ...]]] = []
        """When diagnostics came, and what they told, wherever it stands."""
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
        """The time just before the first byte was written."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if identity is not None:
            message["id"] = identity
        body = json.dumps(message).encode()
        stream = self.process.stdin
        assert stream is not None
        started = time.perf_counter()
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        stream.flush()
        return started

    def until(self, holds: Callable[[Any], bool]) -> float:
        """The time at which a message arrived for which something holds."""
        while True:
            arrived, message = self._messages.get(timeout=DEADLINE_S)
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics = message["params"]["diagnostics"]
                self.arrivals.append((arrived, told(self.diagnostics)))
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
        """Wait until no job is left."""
        while (status := self.status())["queued"] or any(worker["running"] for worker in status["workers"]):
            time.sleep(0.02)

    def checked(self) -> None:
        """Wait until no check is left; repairs may still be looked for. A job that waits for its worker is a check, or
        comes when that has ended."""
        while (status := self.status())["queued"] or any(
            (worker["running"] or "").startswith("check") for worker in status["workers"]
        ):
            time.sleep(0.05)


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


def told(diagnostics: Sequence[Any]) -> tuple[str, ...]:
    return tuple(sorted(f"{diagnostic['code']} {diagnostic['message']}" for diagnostic in diagnostics))


def code_lenses(sitting: Sitting) -> list[float]:
    """Seconds of lists of code lenses, each after an edit at the end of the file, so that none is a remembered one."""
    seconds: list[float] = []
    for _ in range(20):
        end = len(sitting.text)
        sitting.replace(end, end, "\n")
        elapsed, answer = sitting.server.request("textDocument/codeLens", {"textDocument": {"uri": sitting.uri}})
        assert answer
        seconds.append(elapsed)
    return seconds


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


def kernels_of(text: str) -> list[str]:
    """The names of the kernels in the order in which they are edited."""
    names = re.findall(r"__global__ void (\w+)\(", text)
    return [names[number * STRIDE % len(names)] for number in range(len(names))]


@dataclass
class Save:
    """One save: of which kernel, after which edit, and what came of it."""

    kernel: str
    edit: str
    seconds: float
    changed: bool


@dataclass
class Report:
    """Rows of the table: what, its target, its value."""

    rows: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def add(self, what: str, value: str, target: str = "") -> None:
        self.rows.append((what, target, value))


def measure(engine: str, text: str, edited: int) -> Report:
    report = Report()
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
        report.add("file", f"{text.count(chr(10)) + 1} lines, {text.count('__global__')} kernels")
        report.add("start of the server until it takes documents", f"{opened - started:.2f} s")
        first = server.published(lambda found: len(found) > 0) - opened
        report.add("cold open: first diagnostics", f"{first:.2f} s", "1.5 s")
        server.arrivals.clear()
        server.idle()
        last = server.arrivals[-1][0] if server.arrivals else opened + first
        report.add("cold open: all diagnostics", f"{last - opened:.2f} s", "10 s")
        report.add("cold open: all repairs looked for", f"{time.perf_counter() - opened:.2f} s")
        names = kernels_of(text)
        calm = edit_and_save(sitting, names[:edited], hasty=False)
        add_saves(report, "save after editing one kernel", calm)
        hasty = edit_and_save(sitting, names[edited : edited + edited // 2], hasty=True)
        server.idle()
        add_saves(report, f"the same {1000 * HASTE_S:.0f} ms after the diagnostics of the save before", hasty)
        unchanged = [unchanged_save(sitting) for _ in range(10)]
        report.add("unchanged save", f"{1000 * statistics.median(unchanged):.1f} ms", "50 ms")
        server.idle()
        hovers, actions, listed = look_around(sitting)
        for what, seconds in (("hover", hovers), ("list of code actions", actions)):
            report.add(
                f"{what}: p50, worst", f"{1000 * statistics.median(seconds):.1f}, {1000 * max(seconds):.1f} ms", "50 ms"
            )
        behind = lists_behind_diagnostics(sitting, names[: 3 * edited])
        if behind:
            worst = f"{1000 * statistics.median(behind):.1f}, {1000 * max(behind):.1f} ms ({len(behind)} lists)"
            report.add("list of code actions right behind new diagnostics: p50, worst", worst, "50 ms")
        lenses = code_lenses(sitting)
        report.add(
            "list of code lenses after an edit: p50, worst",
            f"{1000 * statistics.median(lenses):.1f}, {1000 * max(lenses):.1f} ms",
            "50 ms",
        )
        report.add("diagnostics with a code action", f"{listed} of {len(actions)}")
        status = server.status()
        report.add(
            "event loop blocked at most by the server's own computing, from `initialized` on",
            f"{status['worstOwnLoopLagMs']} ms",
            "10 ms",
        )
        report.add("event loop late at most, the machine's share included", f"{status['worstLoopLagMs']} ms")
        report.add("memory of the process tree, peak", f"{memory.peak / 2**20:.0f} MB", "500 MB")
        report.add("analysis processes", str(len(status["workers"])))
        report.add("broken invariants noticed", str(status["bugs"]))
        memory.stop()
        server.request("shutdown", None)
        server.send("exit", None)
        server.process.wait(10)
    return report


def add_saves(report: Report, what: str, saves: Sequence[Save]) -> None:
    seconds = sorted(save.seconds for save in saves)
    worst = max(saves, key=lambda save: save.seconds)
    news = sum(save.changed for save in saves)
    report.add(f"{what}: p50", f"{1000 * statistics.median(seconds):.0f} ms", "300 ms")
    report.add(f"{what}: p95", f"{1000 * seconds[int(len(seconds) * 0.95)]:.0f} ms", "800 ms")
    report.add(f"{what}: worst", f"{1000 * worst.seconds:.0f} ms ({worst.kernel}: {worst.edit})")
    report.add("of these saves, with another list of diagnostics", f"{news} of {len(saves)}")


def edit_and_save(sitting: Sitting, names: Sequence[str], *, hasty: bool) -> list[Save]:
    """Three edits of each kernel, each saved: another statement; a barrier taken away, where there is one; and put back
    with a statement behind it. The next edit comes when the server is idle or, when hasty, while it may be looking for
    repairs."""
    saves: list[Save] = []

    def save(kernel: str, edit: str, start: int, end: int, new: str) -> None:
        server = sitting.server
        before = told(server.diagnostics)
        sitting.replace(start, end, new)
        server.arrivals.clear()
        sent = sitting.save()
        server.until(lambda message: bool(message.get("method") == "textDocument/publishDiagnostics"))
        server.checked()
        if hasty:
            time.sleep(HASTE_S)
        else:
            server.idle()
        server.settle()
        final = told(server.diagnostics)
        # What is shown from then on arrived with the first message that says so; without any news, with the last one.
        news = [at for at, said in server.arrivals if said == final]
        saves.append(Save(kernel, edit, (news[0] if final != before else news[-1]) - sent, final != before))

    for number, name in enumerate(names):
        kernel = re.search(rf"__global__ void {name}\([^)]*\) {{\n", sitting.text)
        assert kernel is not None
        save(name, "a statement", kernel.end(), kernel.end(), f"  const int added_{name} = {number};\n")
        end = sitting.text.find("\n}\n", kernel.end())
        barrier = sitting.text.find(BARRIER, kernel.end(), end)
        if barrier >= 0:
            save(name, "a barrier less", barrier, barrier + len(BARRIER), "")
            save(name, "the barrier back", barrier, barrier, f"{BARRIER} const int more_{name} = {number};")
    return saves


def lists_behind_diagnostics(sitting: Sitting, names: Sequence[str]) -> list[float]:
    """Seconds of code action lists that are asked for at the moment in which a race shows, after a barrier was taken
    away: its repairs are still being looked for."""
    server, seconds = sitting.server, list[float]()
    for name in names:
        kernel = sitting.text.index(f"__global__ void {name}(")
        barrier = sitting.text.find(BARRIER, kernel, sitting.text.find("\n}\n", kernel))
        if barrier < 0:
            continue
        server.idle()
        server.settle()
        before = {(told([each]), each["range"]["start"]["line"]) for each in server.diagnostics}
        sitting.replace(barrier, barrier + len(BARRIER), "")
        sitting.save()
        server.published(lambda _: True)
        for each in server.diagnostics:
            if (told([each]), each["range"]["start"]["line"]) not in before:
                seconds.append(listed_for(sitting, each)[0])
                break
        server.idle()
        sitting.replace(barrier, barrier, BARRIER)
        sitting.save()
    server.idle()
    return seconds


def listed_for(sitting: Sitting, diagnostic: Any) -> tuple[float, Any]:
    """Seconds until the code actions at a diagnostic that a user asks for, and these."""
    context = {"diagnostics": [diagnostic], "triggerKind": 1}
    parameters = {"textDocument": {"uri": sitting.uri}, "range": diagnostic["range"], "context": context}
    return sitting.server.request("textDocument/codeAction", parameters)


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
        seconds, answer = listed_for(sitting, diagnostic)
        actions.append(seconds)
        listed += bool(answer)
    return hovers, actions, listed


def markdown(report: Report, load: str) -> str:
    when = time.strftime("%Y-%m-%d", time.gmtime())
    lines = [
        "# The language server on a large file",
        "",
        f"`python -m benchmarks editor`, {when}, Python {platform.python_version()}, {os.cpu_count()} cores. {load}",
        "",
        "Times count from the moment the client begins to send until it has read the answer.",
        "Each save is of a text that the server has never seen.",
        "",
        "| what | target | measured |",
        "|---|---|---|",
        *(f"| {what} | {target} | {value} |" for what, target, value in report.rows),
    ]
    return "\n".join(lines) + "\n"


def load_in_words(before: float) -> str:
    return (
        f"Other programs kept the machine busy: load average {before:.1f} when the measurement began, "
        f"{os.getloadavg()[0]:.1f} at its end."
        if before > 0.5
        else f"The machine was quiet: load average {before:.1f} when the measurement began."
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks editor", description=__doc__)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--edited", type=int, default=20, help="how many kernels are edited")
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args(arguments)
    before = os.getloadavg()[0]
    if options.stand_in:
        report = measure("lsp.fake_engine:create", stand_in_file(options.kernels), options.edited)
    else:
        report = measure("cuda_lsp.backend:create", large_file(options.kernels), options.edited)
        if options.kernels == parser.get_default("kernels"):
            RESULTS.write_text(markdown(report, load_in_words(before)), encoding="utf-8")
    for what, target, value in report.rows:
        print(f"{what:80} {value:40} {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
