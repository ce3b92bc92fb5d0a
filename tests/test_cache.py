"""The disk cache: it survives damage, full disks and other processes; and results survive the wire."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from analyzers import engine
from analyzers.frontend.flags import CompileFlags, DroppedFlag
from analyzers.model import (
    Access,
    CheckOptions,
    ContextResult,
    FactNote,
    Finding,
    Fix,
    KernelResult,
    LaunchSummary,
    Reason,
    Remark,
    Severity,
    Skipped,
    SourceSpan,
    SyntaxIssue,
    TextEdit,
    UnitResult,
    UserLaunch,
    Verdict,
    Witness,
)
from analyzers.requests import CheckRequest
from cuda_lsp import cache, unit_view, wire
from cuda_lsp.cache import DiskCache
from cuda_lsp.lookups import Lookups


def test_what_is_written_is_read(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path)
    assert disk.read("units", "abcd") is None
    disk.write("units", "abcd", {"x": [1, "ä"]})
    assert disk.read("units", "abcd") == {"x": [1, "ä"]}
    assert disk.read("fixes", "abcd") is None
    assert DiskCache(None).read("units", "abcd") is None


def test_a_damaged_entry_is_a_miss_and_goes(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path)
    disk.write("units", "abcd", 1)
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    for damage in (b"", b"junk", path.read_bytes()[:-3]):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(damage)
        assert disk.read("units", "abcd") is None
        assert not path.exists()


def test_a_disk_that_is_full_turns_the_cache_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = DiskCache(tmp_path)
    disk.write("units", "before", 1)

    def fail(**_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.tempfile, "mkstemp", fail)
    disk.write("units", "abcd", 1)
    disk.write("units", "efgh", 1)
    assert disk.read("units", "before") is None


def test_a_cache_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    disk = DiskCache(tmp_path / "file" / "cache")
    disk.write("units", "abcd", 1)
    assert disk.read("units", "abcd") is None


def test_two_writers_leave_a_whole_entry(tmp_path: Path) -> None:
    values = ["a" * 100_000, "b" * 100_000]
    seen: set[str] = set()

    def write(value: str) -> None:
        disk = DiskCache(tmp_path)
        for _ in range(20):
            disk.write("units", "abcd", value)
            seen.add(disk.read("units", "abcd"))

    threads = [threading.Thread(target=write, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= set(values)
    assert len(list(tmp_path.rglob("*.json.z"))) == 1
    assert not list(tmp_path.rglob(".new-*"))


def test_pruning_keeps_what_was_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = DiskCache(tmp_path)
    for number, key in enumerate(("aaaa", "bbbb", "cccc")):
        disk.write("units", key, "x")
        (path,) = (tmp_path / "units" / key[:2]).iterdir()
        os.utime(path, (1000 + number, 1000 + number))
        monkeypatch.setattr(cache, "_MAXIMAL_BYTES", 2 * path.stat().st_size)
    disk.prune()
    assert [disk.read("units", key) for key in ("aaaa", "bbbb", "cccc")] == [None, "x", "x"]


def test_the_cache_lives_where_caches_live(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_LSP_CACHE_DIR", str(tmp_path))
    assert cache.default_directory() == tmp_path
    monkeypatch.delenv("CUDA_LSP_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.default_directory() == tmp_path / "xdg" / "cuda-lsp"


def test_an_entry_holds_while_its_dependencies_do(tmp_path: Path) -> None:
    header = tmp_path / "a.cuh"
    header.write_text("one")
    digest = cache.file_digest(str(header))
    dependencies = [(str(header), digest), (str(tmp_path / "gone"), None)]
    assert cache.still_holds(dependencies, {})
    assert not cache.still_holds(dependencies, {str(header): "another"})
    header.write_text("two")
    assert not cache.still_holds(dependencies, {})
    assert cache.still_holds(dependencies, {str(header): str(digest)}), "a buffer has the old text"


def test_where_a_missing_header_could_turn_up() -> None:
    span = SourceSpan("/p/src/a.cu", 1, 1, 1, 1, 0, 0)
    unit = UnitResult("/p/src/a.cu", 80, syntax=(SyntaxIssue("'lib/x.h' file not found", span),))
    flags = CompileFlags(arguments=("-std=c++17", "-I", "/p/include", "-DX", "-isystem", "/opt"))
    request = engine.CheckRequest("/p/src/a.cu", "", flags)
    assert Lookups().absent(unit, request, 0) == ["/p/src/lib/x.h", "/p/include/lib/x.h", "/opt/lib/x.h"]


def test_where_a_header_could_be_shadowed(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    found = tmp_path / "second" / "x.h"
    found.write_text('#include <y.h>\n#include "z.h"\n')
    (tmp_path / "third" / "unread.h").write_text("")
    old = time.time_ns() - 10**12
    for path in (found, tmp_path / "third" / "unread.h"):
        os.utime(path, ns=(old, old))
    main = str(tmp_path / "a.cu")
    flags = CompileFlags(
        arguments=tuple(part for name in ("first", "second", "third") for part in ("-I", str(tmp_path / name)))
    )
    unit = UnitResult(main, 80, dependencies=(str(found),))
    text = '#include "x.h"\n#if 0\n#include <unread.h>\n#endif\n'
    later = time.time_ns() + 10**10
    absent = {
        str(Path(path).relative_to(tmp_path)) for path in Lookups().absent(unit, CheckRequest(main, text, flags), later)
    }
    assert {"x.h", "first/x.h"} <= absent, "searched before the one that was found"
    assert not {"second/x.h", "third/x.h"} & absent, "the one that was found, and what it shadows itself"
    assert {"first/y.h", "third/y.h", "second/z.h"} <= absent, "what a header includes counts"
    assert "y.h" not in absent, "angle brackets do not search beside the file"
    assert "third/unread.h" not in absent, "the compiler saw it and did not want it"
    absent_then = Lookups().absent(unit, CheckRequest(main, text, flags), old)
    assert str(tmp_path / "third" / "unread.h") in absent_then, "it may have come too late for the compiler"


def test_a_file_that_changed_during_a_check(tmp_path: Path) -> None:
    path = tmp_path / "a.h"
    path.write_text("")
    now = time.time_ns()
    assert cache.changed_since(str(path), now - 10**9)
    assert not cache.changed_since(str(path), now + 10**9)
    os.utime(path, ns=(0, 0))
    assert cache.changed_since(str(path), now - 10**9), "an old file moved here is a change"
    assert cache.changed_since(str(tmp_path / "gone"), now)
    assert not cache.still_holds([(str(path), cache.UNSURE)], {})


def test_a_file_that_changes_while_it_is_hashed_was_not_seen_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.cuh"
    path.write_text("old")
    os.utime(path, (0, 0))
    really = cache.file_digest
    later = time.time_ns() + 10**9
    seen = cache.digest_seen(str(path), later)
    assert seen == really(str(path)) is not None

    def changed(name: str) -> str | None:
        path.write_text("new")
        return really(name)

    monkeypatch.setattr(cache, "file_digest", changed)
    assert cache.digest_seen(str(path), time.time_ns()) == cache.UNSURE


# The wire


def span(line: int, path: str = "/p/a.cu") -> SourceSpan:
    return SourceSpan(path, line, 1, line, 5, line * 10, line * 10 + 4)


def kernel(line: int) -> KernelResult:
    accesses = (
        Access(1, span(line), "write", 4, "s[t]", (0, 0, 0), (1, 0, 0), (("k", 1),), (span(3, "/p/b.cuh"),)),
        Access(2, span(line + 1), "barrier", 0, "x"),
    )
    witness = Witness((1, 1, 1), (2, 1, 1), (("n", 3),), "s[1]", (("i[0]", 2),), (("k", 1),), True)
    finding = Finding(
        Verdict.DATA_RACE,
        Severity.ERROR,
        "m",
        span(line),
        accesses,
        "g",
        "intra-warp",
        "shared",
        "s",
        witness,
        (Remark(("e", "."), (span(2),)),),
    )
    launch = LaunchSummary("launch", span(line + 9), ("n", "1", "1"), ("32", "1", "1"))
    context = ContextResult(
        launch,
        Verdict.DATA_RACE,
        (finding, finding),
        (Reason("k", "t", span(line)), Reason("k", "t")),
        ("assumed",),
        (FactNote("n > 0", None, "assert"),),
        1.5,
        (("algebra", 3),),
    )
    return KernelResult(
        "k<int>", "_Zk", span(line), span(line), Verdict.DATA_RACE, (context,), 1, 2, 3, ("/p/a.cu", "/p/b.cuh")
    )


def test_a_kernel_survives_the_wire() -> None:
    body, table = wire.dump_kernel(kernel(7))
    rows = json.loads(json.dumps(table.rows))
    assert wire.load_kernel(body, wire.SpanTable.read(table.paths, rows)) == kernel(7)


def test_a_kernel_that_only_moved_has_the_same_body() -> None:
    assert wire.dump_kernel(kernel(7))[0] == wire.dump_kernel(kernel(8))[0]


@pytest.mark.parametrize(
    "value",
    [
        UnitResult("/p/a.cu", 80, (kernel(1),), (Skipped("w"),), (SyntaxIssue("m", span(2)),), ("/d",), 2.5, None),
        UnitResult("/p/a.cu", 80, failure=Reason("parse-error", "t")),
        CompileFlags(("-DX",), 90, (DroppedFlag("-o", "r"),), "/p"),
        CheckOptions(launches=(UserLaunch((1, 2, 3), None, (("n", 1),), 5),), kernels=("k",)),
        Fix("t", "insert-barrier", (TextEdit(span(1), "x"),), ("g",), "+1", False, ("n",)),
    ],
)
def test_everything_else_survives_the_wire(value: object) -> None:
    assert wire.load(type(value), json.loads(json.dumps(wire.dump(value)))) == value


def test_the_name_of_a_parse_error_is_the_engines() -> None:
    assert unit_view.PARSE_ERROR == engine.PARSE_ERROR
