"""How the coverage benchmark joins the alarms of a run with what somebody found when reading the code."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.alarms import LookedAt, Site, accesses, judge, section, sites, unused
from benchmarks.looked_at import LOOKED_AT

_SELF = "Data race on global `a`: the write `a[i]` and itself, by two threads, meet at a[0]"
_READ = "Data race on shared `s`: the write `s[i]` and the read `s[i + 1]`, by two threads, meet at s[0]"
_BARRIER = "Barrier divergence: thread (0,0,0) waits at `__syncthreads()`, thread (0,1,0) does not get there"


def _report(path: str, **kernels: list[str]) -> dict[str, Any]:
    return {"path": path, "kernels": [{"name": name, "alarms": alarms} for name, alarms in kernels.items()]}


def test_a_message_gives_its_accesses_in_words() -> None:
    assert accesses(_SELF) == "write & itself"
    assert accesses(_READ) == "write & read"
    assert accesses(_READ.replace("the read", "the atomic")) == "write & atomic"
    assert accesses(_BARRIER) == "barrier"


def test_instances_of_one_template_are_one_site() -> None:
    rows = [
        {"name": "k<1>", "alarms": [f"data-race error line 7: {_SELF}"]},
        {
            "name": "k<2>",
            "alarms": [f"possible-data-race information line 7: {_SELF}", f"data-race error line 7: {_READ}"],
        },
    ]
    found = sites([{"path": "p/a.cu", "kernels": rows}])
    assert list(found) == [Site("p/a.cu", "k", 7, "write & itself"), Site("p/a.cu", "k", 7, "write & read")]
    both = found[Site("p/a.cu", "k", 7, "write & itself")]
    assert both.instances == {"k<1>", "k<2>"}
    assert dict(both.codes) == {"data-race error": 1, "possible-data-race information": 1}


def test_a_site_gets_the_entry_about_it_and_no_other() -> None:
    entry = LookedAt("p/*.cu", "k", (7, 8), ("write & itself",), "true", "why")
    fits = Site("p/a.cu", "k", 8, "write & itself")
    others = [
        Site("q/a.cu", "k", 8, "write & itself"),
        Site("p/a.cu", "other", 8, "write & itself"),
        Site("p/a.cu", "k", 9, "write & itself"),
        Site("p/a.cu", "k", 8, "write & read"),
    ]
    judged = judge([fits, *others], [entry])
    assert judged[fits] is entry
    assert [judged[s] for s in others] == [None] * 4
    assert unused([fits, *others], [entry]) == ["p/*.cu: `k` line 7"]


def test_two_entries_about_one_site_are_refused() -> None:
    entries = [LookedAt(f, "k", (7,), ("barrier",), "true", "why") for f in ("p/*.cu", "p/a.cu")]
    with pytest.raises(ValueError, match="2 entries"):
        judge([Site("p/a.cu", "k", 7, "barrier")], entries)


def test_the_section_counts_and_names_what_nobody_looked_at() -> None:
    reports = [
        _report("p/a.cu", k=[f"data-race error line 7: {_SELF}", f"data-race error line 9: {_READ}"], m=[]),
        _report("p/b.cu", k=[f"barrier-divergence error line 3: {_BARRIER}"]),
    ]
    entries = [
        LookedAt("p/a.cu", "k", (7,), ("write & itself",), "false", "The launch has one thread."),
        LookedAt("p/b.cu", "k", (3, 4), ("barrier",), "true", "Any input.", remote=True),
    ]
    text = "\n".join(section(reports, entries))
    assert "| true | 1 (1 of them remote) | 1 | 1 |" in text
    assert "| not looked at | 1 | 1 | 1 |" in text
    assert "| false | 1 | 1 | 0 |" in text
    assert "### not looked at" in text
    assert f"- p/a.cu: `k` line 9, write & read (1× data-race error): {_READ}" in text
    assert "**`k`**: The launch has one thread." in text
    assert "- p/b.cu: `k` line 4\n" in text
    assert "no longer raised" not in "\n".join(section(reports, entries, complete=False))


def test_what_is_not_an_alarm_is_refused() -> None:
    with pytest.raises(ValueError, match="not an alarm"):
        sites([_report("p/a.cu", k=["line 7"])])


def test_no_two_entries_speak_of_the_same_place() -> None:
    seen: dict[tuple[str, str, int, str], int] = {}
    for number, entry in enumerate(LOOKED_AT):
        assert entry.reason.endswith(".")
        for line in entry.lines:
            for pair in entry.accesses:
                key = (entry.files, entry.kernel, line, pair)
                assert key not in seen, f"entries {seen[key]} and {number} speak of {key}"
                seen[key] = number
