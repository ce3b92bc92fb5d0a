"""The table of kernels that run counts what became of each, and names reasons without what is particular to one."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.runnable import Tried, table


def test_the_table_counts_kernels_by_what_became_of_them() -> None:
    rows = [
        Tried("p", "a.cu", "ends", "finished", faults=("out-of-bounds",), races=2, accesses=7000),
        Tried("p", "a.cu", "clean", "finished"),
        Tried("p", "b.cu", "refused", "unsupported", "", ("ldmatrix.x4: instruction (line 7)",)),
        Tried("p", "c.cu", "refused_too", "unsupported", "", ("ldmatrix.x4: instruction (line 9)",)),
        Tried("q", "d.cu", "wrong", "compile", '/x/d.cu(7): error: identifier "at" is undefined\nmore'),
        Tried("q", "e.cu", "open<…>", "instance", "no instance is in sight"),
    ]
    text = table([asdict(row) for row in rows], ["p", "q"], 5, 9)
    assert "**5 of 9 files, the shortest first, as many as the time allowed.**" in text
    assert "| p | 4 | 4 (100 %) | 2 (50 %) | 1 |" in text
    assert "| q | 2 | 0 (0 %) | 0 (0 %) | 0 |" in text
    assert "| all | 6 | 4 (67 %) | 2 (33 %) | 1 |" in text
    assert "| ldmatrix.x4: instruction | 2 |" in text
    assert '| compile: error: identifier "at" is undefined | 1 |' in text
    assert "| race | 1 |" in text
    assert "| a.cu | `ends` | finished; out-of-bounds; 2 races | 7,000 | 0.0 |" in text
