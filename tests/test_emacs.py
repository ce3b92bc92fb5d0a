"""A person's sitting in Emacs with Eglot, in a terminal of its own, with the real engine; and the package's form."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.client import ROOT
from test_nvim import KERNEL

PACKAGE = ROOT / "editors" / "emacs" / "cuda-lsp.el"
DEADLINE_S = 60


@pytest.fixture
def emacs(require_program: Callable[[str], str]) -> str:
    program = require_program("emacs")
    look = "(progn (package-initialize) (require 'eglot))"
    found = subprocess.run([program, "--batch", "--eval", look], capture_output=True, check=False)
    if found.returncode != 0:
        # Emacs before 29 comes without it; Debian has it as elpa-eglot.
        require_program("eglot of Emacs")
    return program


def sitting(emacs: str, setsid: str, folder: Path, file: Path) -> dict[str, Any]:
    """Run tests/emacs/session.el on a file; gives what it has seen."""
    report = folder / "report.json"
    wish = {
        "report": str(report),
        "folder": str(PACKAGE.parent),
        "file": str(file),
        "program": [sys.executable, "-m", "cuda_lsp"],
        "deadline_s": DEADLINE_S,
    }
    environment = {
        **os.environ,
        "TERM": "xterm",
        "HOME": str(folder),
        "CUDA_LSP_TEST": json.dumps(wish),
        "CUDA_LSP_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    session = ROOT / "tests" / "emacs" / "session.el"
    ours, terminal = pty.openpty()
    screen: list[bytes] = []

    def watch() -> None:
        try:
            while data := os.read(ours, 65_536):
                screen.append(data)
        except OSError:
            # The terminal is gone with the last process that had it.
            pass

    watching = threading.Thread(target=watch)
    try:
        run = subprocess.Popen(
            # Emacs wants a controlling terminal; closing it is what ends an Emacs that hangs.
            [setsid, "--ctty", "--wait", emacs, "-nw", "--no-init-file", "--no-splash", "--load", str(session)],
            env=environment,
            cwd=folder,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
    finally:
        os.close(terminal)
    watching.start()
    try:
        run.wait(4 * DEADLINE_S)
    finally:
        os.close(ours)
        run.wait(DEADLINE_S)
        watching.join(DEADLINE_S)
    assert report.exists(), b"".join(screen)[-3000:].decode("utf-8", "replace")
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert seen.get("problem") is None, seen
    return seen


def test_see_eldoc_fix_undo_save_and_gone(emacs: str, require_program: Callable[[str], str], tmp_path: Path) -> None:
    file = tmp_path / "shift.cu"
    file.write_text(KERNEL, encoding="utf-8")
    seen = sitting(emacs, require_program("setsid"), tmp_path, file)
    assert seen["mode"] == "cuda-mode"
    (diagnostic,) = seen["diagnostics"]
    assert (diagnostic["line"], diagnostic["column"]) == (5, 2)
    assert diagnostic["type"] == "eglot-error"
    assert "[data-race]" in diagnostic["text"]
    # Eglot has no place for related information: it is in the message.
    assert re.search(r"line 6: read of `a\[i \+ 1\]` by thread", diagnostic["text"])
    assert "both touch" in seen["hover"]

    assert "What happens when" in Path(seen["page"].removeprefix("file://")).read_text(encoding="utf-8")
    assert seen["docs"] == (ROOT / "docs" / "diagnostics" / "data-race.md").read_text(encoding="utf-8")
    assert "in 2 runs" in seen["run"]
    assert seen["led_to"] == {"file": str(file), "line": 5}

    last = "  out[i] = a[i + 1];\n"
    assert seen["text"] == KERNEL.replace(last, f"  __syncthreads();\n{last}")
    assert seen["undone"] is True
    assert seen["fixed_again"] is True
    assert file.read_text(encoding="utf-8") == seen["text"]
    assert seen["clean"] is True


def test_the_package_compiles_without_a_warning(emacs: str, tmp_path: Path) -> None:
    copy = tmp_path / PACKAGE.name
    copy.write_bytes(PACKAGE.read_bytes())
    strict = "(setq byte-compile-error-on-warn t byte-compile-docstring-max-column 120)"
    check = f'(progn (package-initialize) {strict} (unless (byte-compile-file "{copy}") (kill-emacs 1)))'
    run = subprocess.run([emacs, "--batch", "--eval", check], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
