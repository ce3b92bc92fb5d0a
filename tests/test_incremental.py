"""A check after an edit says what a fresh check of the same text says: results are kept and moved, never made up."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from analyzers.engine import CheckRequest, Engine, UnitFinished
from analyzers.frontend.flags import CompileFlags
from analyzers.incremental import edit_inside_function, moved
from analyzers.model import CheckOptions, SourceSpan, UnitResult
from benchmarks.large_file import large_file

CORPUS = Path(__file__).parent / "corpus"
KERNEL = re.compile(r"__global__[^;{]*\{\n")
SAMPLE = ("early_exit", "host_relations", "objects", "templates", "macros", "sync_forms")
WORK: dict[str, Any] = {"milliseconds": 0.0, "rungs": ()}
"""What a result cost: less, where answers are known."""


def checked(engine: Engine, path: str, text: str) -> UnitResult:
    request = CheckRequest(path=path, text=text, flags=CompileFlags(), options=CheckOptions())
    (result,) = [event.result for event in engine.check(request) if isinstance(event, UnitFinished)]
    return without_cost(result)


def without_cost(value: Any) -> Any:
    """Plain result data without what it cost."""
    if isinstance(value, tuple):
        return tuple(map(without_cost, value))
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value)]
        return replace(value, **{n: WORK[n] if n in WORK else without_cost(getattr(value, n)) for n in names})
    return value


def edits(text: str) -> list[str]:
    """The text with a statement added to its first, its middle and its last kernel, and without its middle barrier."""
    starts = [m.end() for m in KERNEL.finditer(text)]
    chosen = sorted({starts[0], starts[len(starts) // 2], starts[-1]})
    changed = [f"{text[:at]}  const int added = 3;\n\n{text[at:]}" for at in chosen]
    barriers = [m.start() for m in re.finditer(r"__syncthreads\(\);", text)]
    if barriers:
        at = barriers[len(barriers) // 2]
        changed.append(text[:at] + text[at + len("__syncthreads();") :])
    return changed


@pytest.mark.parametrize("name", SAMPLE)
def test_after_an_edit_the_result_is_that_of_a_fresh_check(name: str) -> None:
    path = str(CORPUS / f"{name}.cu")
    text = Path(path).read_text()
    warm = Engine()
    checked(warm, path, text)
    for changed in edits(text):
        assert checked(warm, path, changed) == checked(Engine(), path, changed)


def test_one_edit_after_the_other(tmp_path: Path) -> None:
    path, text = str(tmp_path / "large.cu"), large_file(12)
    warm = Engine()
    checked(warm, path, text)
    for number, start in enumerate(m.end() for m in list(KERNEL.finditer(text))[::-1]):
        text = f"{text[:start]}  const int added_{number} = {number};\n{text[start:]}"
        checked(warm, path, text)
    assert checked(warm, path, text) == checked(Engine(), path, text)


def test_every_span_of_a_result_is_moved(tmp_path: Path) -> None:
    """Also where the declared types of its parts do not say at once that there is one."""
    path, text = str(tmp_path / "large.cu"), large_file(12)
    result = checked(Engine(), path, text)
    first = KERNEL.search(text)
    assert first is not None
    longer = f"{text[: first.end()]}  const int added = 1;\n{text[first.end() :]}"
    edit = edit_inside_function(path, text, longer, [result.kernels[0].extent])
    assert edit is not None
    before, after = list(spans(result)), list(spans(moved(result, edit)))
    assert len(before) > 50
    assert after == [edit.moved(span) for span in before]
    assert after != before


def spans(value: Any) -> list[SourceSpan]:
    if isinstance(value, SourceSpan):
        return [value]
    if isinstance(value, tuple):
        return [span for item in value for span in spans(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return [span for f in fields(value) for span in spans(getattr(value, f.name))]
    return []
