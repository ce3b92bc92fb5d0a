"""What an editor would show: a session with the real language server over stdio, printed step by step.

Starts `cuda-lsp serve`, opens a copy of `center_rows.cu`, prints the diagnostics, the hover and the quick fix, applies
it, saves, and prints the result of the new check. Needs nothing but the standard library; ends with 1 if a step fails.
"""

from __future__ import annotations

import difflib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parent / "center_rows.cu"
RACY_KERNEL, CLEAN_KERNEL = "row_means", "subtract_means"
PATIENCE_S = 120.0
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "dataSupport": True},
        "hover": {"contentFormat": ["plaintext"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "isPreferredSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}

Message = dict[str, Any]


class DemoError(Exception):
    """A step did not give what it should."""


class Session:
    """One client of one server: sends requests, keeps the last diagnostics of each file."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._incoming: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._answers: dict[int, Message] = {}
        self._number = 0
        self.diagnostics: dict[str, tuple[int | None, list[Message]]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def request(self, method: str, parameters: Any = None) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        self.wait(lambda: number in self._answers, f"an answer to {method}")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise DemoError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def notify(self, method: str, parameters: Any = None) -> None:
        self._send({"method": method, "params": parameters})

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Take what the server says until a condition holds."""
        until = time.monotonic() + PATIENCE_S
        while not condition():
            try:
                message = self._incoming.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise DemoError(f"the server did not give {what} within {PATIENCE_S:.0f} s") from None
            if message is None:
                raise DemoError(f"the server ended while {what} was expected")
            self._take(message)

    def close(self) -> int:
        self.request("shutdown")
        self.notify("exit")
        return self._process.wait(20)

    def kill(self) -> None:
        self._process.kill()

    def _take(self, message: Message) -> None:
        if "method" not in message:
            self._answers[message["id"]] = message
        elif "id" in message:
            # The server asks for what this client does not have: settings, registrations.
            items = (
                message.get("params", {}).get("items", []) if message["method"] == "workspace/configuration" else None
            )
            self._send({"id": message["id"], "result": None if items is None else [None] * len(items)})
        elif message["method"] == "textDocument/publishDiagnostics":
            published = message["params"]
            self.diagnostics[published["uri"]] = (published.get("version"), published["diagnostics"])

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length == 0:
                self._incoming.put(None)
                return
            self._incoming.put(json.loads(stream.read(length)))


# --- what an editor does with positions and edits ---------------------------------------------------------------


def offset_of(text: str, position: Message) -> int:
    """A position counts lines and UTF-16 units; an offset counts characters."""
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position["line"]])
    units = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]]
    return before + len(units.decode("utf-16-le"))


def with_edits(text: str, edits: list[Message]) -> str:
    for edit in sorted(edits, key=lambda edit: offset_of(text, edit["range"]["start"]), reverse=True):
        start, end = (offset_of(text, edit["range"][side]) for side in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text


def position_of(text: str, needle: str) -> Message:
    before = text[: text.index(needle)]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


def squiggle(text: str, place: Message, remark: str) -> Iterator[str]:
    """A source line with a range marked, as an editor underlines it."""
    start, end = place["start"], place["end"]
    line = text.split("\n")[start["line"]]
    last = end["character"] if end["line"] == start["line"] else len(line)
    gutter = f"{start['line'] + 1:>5} | "
    yield gutter + line
    yield " " * len(gutter) + " " * start["character"] + "~" * max(1, last - start["character"]) + f" {remark}"


# --- the steps --------------------------------------------------------------------------------------------------


class Demo:
    """The session that is shown."""

    def __init__(self, session: Session, file: Path) -> None:
        self._session = session
        self._file = file
        self._uri = file.as_uri()
        self._text = file.read_text(encoding="utf-8")
        self._started = time.monotonic()

    def run(self) -> None:
        self._open()
        diagnostic = self._show_diagnostics()
        self._show_hover(diagnostic)
        self._show_fix(diagnostic)
        self._show_recheck()

    def _open(self) -> None:
        root = self._file.parent.as_uri()
        self._session.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "demo"}],
                "capabilities": CAPABILITIES,
            },
        )
        self._session.notify("initialized", {})
        document = {"uri": self._uri, "languageId": "cuda", "version": 1, "text": self._text}
        self._session.notify("textDocument/didOpen", {"textDocument": document})

    def _show_diagnostics(self) -> Message:
        self._title(f"{self._file.name} is opened: the diagnostics")
        self._session.wait(lambda: bool(self._races()), "a diagnostic")
        for diagnostic in self._races():
            print(f"{SEVERITIES[diagnostic['severity']]}: {diagnostic.get('code')}")
            print(textwrap.fill(diagnostic["message"], 100, initial_indent="  ", subsequent_indent="  ") + "\n")
            print("\n".join(squiggle(self._text, diagnostic["range"], diagnostic["code"])))
            for related in diagnostic.get("relatedInformation") or []:
                print("\n".join(squiggle(self._text, related["location"]["range"], related["message"])))
        (first, *_) = self._races()
        if not first.get("relatedInformation"):
            raise DemoError("the diagnostic does not name the second access")
        return first

    def _show_hover(self, diagnostic: Message) -> None:
        self._title("The mouse rests on the squiggle: the hover")
        text = self._hover(diagnostic["range"]["start"])
        print(textwrap.indent(text, "  "))
        if "thread" not in text.lower():
            raise DemoError("the hover does not name the threads")

    def _show_fix(self, diagnostic: Message) -> None:
        self._title("The light bulb is clicked: the quick fix")
        action = self._quick_fix(diagnostic)
        edit = action["edit"]
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri}, "edits": edits} for uri, edits in edit.get("changes", {}).items()
        ]
        mine = [change["edits"] for change in changes if change["textDocument"]["uri"] == self._uri]
        if len(changes) != len(mine) or not mine:
            raise DemoError("the edit changes other files than the one that is open")
        new = with_edits(self._text, [edit for edits in mine for edit in edits])
        print(f"  {action['title']}\n")
        name = self._file.name
        old_lines, new_lines = (text.splitlines(keepends=True) for text in (self._text, new))
        print("  " + "  ".join(difflib.unified_diff(old_lines, new_lines, f"a/{name}", f"b/{name}", n=2)))
        self._text = new

    def _show_recheck(self) -> None:
        self._title("The edit is applied and the file saved: the new check")
        self._file.write_text(self._text, encoding="utf-8")
        document = {"uri": self._uri, "version": 2}
        self._session.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": self._text}]}
        )
        self._session.notify("textDocument/didSave", {"textDocument": {"uri": self._uri}})
        self._session.wait(lambda: self._version() == 2 and not self._races(), "a clean result")
        for kernel in (RACY_KERNEL, CLEAN_KERNEL):
            text = self._verdict(kernel)
            print(textwrap.indent(text, "  ") + "\n")
            if "race-free" not in text.lower():
                raise DemoError(f"{kernel} is not race-free after the fix")
        if self._session.diagnostics[self._uri][1]:
            raise DemoError("diagnostics are left")
        print("  No diagnostics are left.")

    # --- requests -------------------------------------------------------------------------------------------------

    def _races(self) -> list[Message]:
        _, found = self._session.diagnostics.get(self._uri, (None, []))
        return [diagnostic for diagnostic in found if diagnostic.get("code") == "data-race"]

    def _version(self) -> int | None:
        return self._session.diagnostics.get(self._uri, (None, []))[0]

    def _hover(self, position: Message) -> str:
        answer = self._session.request("textDocument/hover", {"textDocument": {"uri": self._uri}, "position": position})
        if not answer:
            raise DemoError("there is no hover")
        return answer["contents"]["value"]

    def _verdict(self, kernel: str) -> str:
        """The hover on a kernel's name, once the new check has got there."""
        until = time.monotonic() + PATIENCE_S
        while True:
            text = self._hover(
                position_of(self._text, f"{kernel}(const float" if kernel == RACY_KERNEL else f"{kernel}(float")
            )
            if "race-free" in text.lower() or time.monotonic() > until:
                return text
            time.sleep(0.05)

    def _quick_fix(self, diagnostic: Message) -> Message:
        """The repair with its edit. It is proved in the background; an editor shows the bulb when it is there."""
        context = {"diagnostics": [diagnostic], "only": ["quickfix"], "triggerKind": 1}
        parameters = {"textDocument": {"uri": self._uri}, "range": diagnostic["range"], "context": context}
        until = time.monotonic() + PATIENCE_S
        while True:
            # Until the repair is proved, the bulb offers to find one, and to ignore the finding.
            actions = self._session.request("textDocument/codeAction", parameters) or ()
            action = next((a for a in actions if a.get("isPreferred") and not a["data"].get("pending")), None)
            if action is not None:
                break
            if time.monotonic() > until:
                raise DemoError("no quick fix is offered")
            time.sleep(0.05)
        return action if "edit" in action else self._session.request("codeAction/resolve", action)

    def _title(self, text: str) -> None:
        print(f"\n=== {text}  ({time.monotonic() - self._started:.1f} s)\n", flush=True)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="cuda-lsp-demo-") as name:
        folder = Path(name).resolve()
        file = folder / EXAMPLE.name
        shutil.copy(EXAMPLE, file)
        print(f"$ cuda-lsp serve   (a language server session in {folder})")
        session = Session([sys.executable, "-m", "cuda_lsp", "serve"], folder)
        try:
            demo = Demo(session, file)
            demo.run()
            code = session.close()
            if code != 0:
                raise DemoError(f"the server ended with exit code {code}")
        except (DemoError, BrokenPipeError) as error:
            session.kill()
            print(f"\nThe demonstration failed: {error}", file=sys.stderr)
            return 1
    print("\nDone. Set up your editor as described in README.md; `cuda-lsp check examples` does the same for a folder.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
