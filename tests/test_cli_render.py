"""What a person sees: findings, summaries, colours and the progress bar, rendered from results built by hand."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import documented_json
import pytest

from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    Fix,
    FixRefusal,
    KernelResult,
    LaunchSummary,
    LoopTurn,
    Reason,
    Remark,
    Severity,
    Skipped,
    SourceSpan,
    SyntaxIssue,
    TextEdit,
    UnitResult,
    Verdict,
    Witness,
)
from cuda_lsp.adoption.baseline import Baseline
from cuda_lsp.adoption.fingerprints import Identity
from cuda_lsp.cli import progress, render_json, terminal
from cuda_lsp.cli.judging import Judge, JudgedUnit, Report
from cuda_lsp.cli.render_run import text_of
from cuda_lsp.cli.render_text import TextRenderer
from cuda_lsp.cli.terminal import Style
from cuda_lsp.config import Settings
from gpu_runner.request import Place, RunAccess, RunRace, RunResult

PATH = "/project/sum.cu"
SOURCE = [
    "__global__ void sum(int *out) {",
    "  __shared__ int s[64];",
    "  s[t] = t;",
    "\tfor (int d = 1; d < n; d *= 2)",
    "\t\tout[t] = s[t + d];",
    "}",
    "  sum<<<4, n>>>(out);",
]


def span(line: int, column: int, length: int, path: str = PATH) -> SourceSpan:
    return SourceSpan(path, line, column, line, column + length, 0, length)


WRITE = Access(3, span(3, 3, 4), "write", 4, "s[t]", (0, 0, 0), (1, 0, 0))
READ = Access(
    5,
    span(5, 12, 8),
    "read",
    4,
    "s[t + d]",
    (0, 0, 0),
    (0, 0, 0),
    (("for (int d = 1; d < n; d *= 2)", 0), ("for (int d = 1; d < n; d *= 2)", 3)),
    (span(9, 3, 5),),
    (LoopTurn(span(4, 3, 3), 0, "d", 1), LoopTurn(span(4, 3, 3), 3, "d"), LoopTurn(span(8, 3, 3, "/project/b.h"), 2)),
)
RACE = Finding(
    Verdict.DATA_RACE,
    Severity.ERROR,
    "Data race on shared `s`",
    span(3, 3, 4),
    (WRITE, READ),
    "race:s",
    "intra-warp",
    "shared",
    "s",
    Witness((4, 1, 1), (64, 1, 1), (("n", 64),), "s[1]", (("idx[3]", 7),), replayed=True),
    (Remark(("The threads are in different iterations.",)),),
)
LAUNCH = LaunchSummary("launch", span(7, 3, 20), ("4", "1", "1"), ("n", "1", "1"))
CONTEXT = ContextResult(
    LAUNCH,
    Verdict.DATA_RACE,
    (RACE,),
    assumptions=("every loop ends", "subscripts are in bounds"),
    facts=(FactNote("n > 0", span(6, 1, 5), "assert"), FactNote("block=64", None, "user")),
)
FIX = Fix(
    "Insert __syncthreads() after line 3", "insert-barrier", (TextEdit(span(4, 1, 0), "x"),), ("race:s",), "+1 barrier"
)


def kernel(*contexts: ContextResult, name: str = "sum") -> KernelResult:
    worst = min((c.verdict for c in contexts), key=lambda v: v.rank)
    return KernelResult(name, f"_Z{name}", span(1, 17, 3), span(1, 1, 3), worst, contexts)


def unit(*kernels: KernelResult) -> UnitResult:
    return UnitResult(PATH, 80, kernels)


def render(
    result: UnitResult, fixes: Sequence[Fix | FixRefusal] = (), *, verbose: bool = False, lines: Sequence[str] = SOURCE
) -> str:
    return TextRenderer(Style(), lambda path: lines if path == PATH else (), verbose).unit(result, fixes)


def test_a_race_in_full() -> None:
    assert render(unit(kernel(CONTEXT)), [FIX]) == (
        "/project/sum.cu:3:3: data-race in sum\n"
        "  Data race on shared `s`\n"
        "\n"
        "  3 |   s[t] = t;\n"
        "    |   ^^^^ write of 4 bytes by thread (1, 0, 0) of block (0, 0, 0)\n"
        "    :\n"
        "  5 |         out[t] = s[t + d];\n"
        "    |                  ^^^^^^^^ read of 4 bytes by thread (0, 0, 0) of block (0, 0, 0)\n"
        "    |                           with d = 1 in the loop at line 4\n"
        "    |                           in iteration 3 of the loop over d at line 4\n"
        "    |                           in iteration 2 of the loop at /project/b.h:8:3\n"
        "    |                           called at /project/sum.cu:9:3\n"
        "\n"
        "  cell      s[1] (shared memory)\n"
        "  values    grid (4, 1, 1), block (64, 1, 1), n = 64\n"
        "  if        idx[3] = 7\n"
        "  launch    /project/sum.cu:7:3 grid (4, 1, 1), block (n, 1, 1)\n"
        "  given     n > 0 (assert, /project/sum.cu:6:1)\n"
        "  given     block=64 (given by the user)\n"
        "  note      The threads are in different iterations.\n"
        "  assumes   2 assumptions, listed with -v\n"
        "  fix       Insert __syncthreads() after line 3 (+1 barrier)\n"
    )


def test_verbose_lists_the_assumptions() -> None:
    out = render(unit(kernel(CONTEXT)), verbose=True)
    assert "  assumes   every loop ends\n  assumes   subscripts are in bounds\n" in out


def test_two_accesses_of_one_expression_are_marked_once() -> None:
    other = replace(WRITE, id=4, thread=(2, 0, 0))
    out = render(unit(kernel(replace(CONTEXT, findings=(replace(RACE, accesses=(WRITE, other)),)))))
    assert out.count("^^^^") == 1
    assert out.count("s[t] = t;") == 1
    assert "|   ^^^^ write of 4 bytes by thread (1, 0, 0)" in out
    assert "|        write of 4 bytes by thread (2, 0, 0)" in out


def test_one_mistake_in_several_launches_is_shown_once() -> None:
    elsewhere = replace(CONTEXT, launch=replace(LAUNCH, span=span(8, 3, 20)))
    clean = ContextResult(replace(LAUNCH, span=span(9, 3, 20)), Verdict.RACE_FREE)
    out = render(unit(kernel(CONTEXT, elsewhere, clean)))
    assert out.count("data-race in") == 1
    assert "; in 2 of 3 launches" in out


def test_the_pairs_of_one_mistake_are_listed_together() -> None:
    other = replace(RACE, accesses=(WRITE, replace(READ, id=9, span=span(6, 1, 1), text="s[0]")))
    out = render(unit(kernel(replace(CONTEXT, findings=(RACE, other)))))
    assert out.count("data-race in") == 1
    assert "  also      write s[t] on line 3 and read s[0] on line 6\n" in out
    separate = replace(other, group="race:other")
    assert render(unit(kernel(replace(CONTEXT, findings=(RACE, separate))))).count("data-race in") == 2


def test_template_instances_are_named_together() -> None:
    instances = (kernel(CONTEXT, name="sum<32>"), kernel(CONTEXT, name="sum<64>"))
    assert "data-race in sum<32>, sum<64>\n" in render(unit(*instances))


def test_an_access_in_a_header_is_shown_with_its_file() -> None:
    inside = replace(READ, span=span(2, 3, 4, "/project/parts.cuh"))
    out = render(unit(kernel(replace(CONTEXT, findings=(replace(RACE, accesses=(WRITE, inside)),)))))
    assert "in /project/parts.cuh\n" in out


def test_marks_stand_below_what_they_mark_in_any_script() -> None:
    lines = list(SOURCE)
    lines[2] = "/* 合計 é */ s[t] = t;"
    column = len("/* 合計 é */ ".encode()) + 1
    finding = replace(RACE, accesses=(replace(WRITE, span=span(3, column, 4)), READ), span=span(3, column, 4))
    out = render(unit(kernel(replace(CONTEXT, findings=(finding,)))), lines=lines)
    text, mark = out.splitlines()[3:5]
    assert terminal.width(text[: text.index("s[t]")]) == mark.index("^^^^")


def test_control_characters_do_not_reach_the_terminal() -> None:
    lines = list(SOURCE)
    lines[2] = "  s[t] = t;  // \x1b[31mred\x07"
    out = render(unit(kernel(CONTEXT)), lines=lines)
    assert "\x1b" not in out
    assert "\x07" not in out


def test_a_file_that_is_gone_is_no_reason_to_fail() -> None:
    assert "3 | \n" in render(unit(kernel(CONTEXT)), lines=())


def test_unknown_kernels_give_their_reasons_once() -> None:
    reason = Reason("recursion", "`f` calls itself", span(2, 1, 3))
    context = ContextResult(LAUNCH, Verdict.UNKNOWN, reasons=(reason, Reason("asm", "assembly")))
    out = render(unit(kernel(context, replace(context, launch=replace(LAUNCH, span=span(8, 1, 1))))))
    assert out == ("/project/sum.cu:1:17: unknown in sum\n  recursion: `f` calls itself (line 2)\n  asm: assembly\n")


def test_clean_kernels_show_with_verbose_only() -> None:
    clean = unit(kernel(replace(CONTEXT, verdict=Verdict.RACE_FREE, findings=())))
    assert render(clean) == ""
    out = render(clean, verbose=True)
    assert out.startswith("/project/sum.cu:1:17: race-free: sum\n  launch    /project/sum.cu:7:3")
    assert "  given     n > 0 (assert, /project/sum.cu:6:1)\n" in out
    assert "  assumes   every loop ends\n" in out


def test_what_was_left_out_is_counted_and_with_verbose_listed() -> None:
    result = replace(
        unit(),
        skipped=(Skipped("a launch of `f`", span(4, 2, 1)),),
        syntax=(SyntaxIssue("no such name", span(2, 1, 1)),),
    )
    assert render(result) == "/project/sum.cu: 1 compiler error, 1 thing skipped, listed with -v\n"
    out = render(result, verbose=True)
    assert "/project/sum.cu:2:1: compiler: no such name\n" in out
    assert "/project/sum.cu:4:2: skipped: a launch of `f`\n" in out


def test_a_failure_is_one_line() -> None:
    failed = UnitResult(PATH, 0, failure=Reason("unreadable", "cannot be read: No such file or directory"))
    assert render(failed) == "/project/sum.cu: not analysed: cannot be read: No such file or directory\n"


def test_the_summary_counts_kernels_and_files() -> None:
    renderer = TextRenderer(Style(), lambda _: (), verbose=False)
    failed = UnitResult("/b.cu", 0, failure=Reason("unreadable", "gone"))
    clean = kernel(ContextResult(LAUNCH, Verdict.RACE_FREE), name="still")
    assert renderer.summary([judged(unit(kernel(CONTEXT), clean)), judged(failed)], 1.25) == (
        "2 kernels in 2 files: 1 data-race, 1 race-free, 1 file not analysed (1.2 s)\n"
    )
    assert renderer.summary([judged(unit())], 0) == "0 kernels in 1 file: nothing to check (0.0 s)\n"


# --- colours --------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.style_for("auto", Terminal()).is_colored
    assert not terminal.style_for("auto", io.StringIO()).is_colored
    assert not terminal.style_for("never", Terminal()).is_colored
    assert terminal.style_for("always", io.StringIO()).is_colored
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.style_for("auto", Terminal()).is_colored
    assert terminal.style_for("always", Terminal()).is_colored


def test_colours_change_nothing_but_colours() -> None:
    plain = render(unit(kernel(CONTEXT)), [FIX])
    colored = TextRenderer(Style(True), lambda _: SOURCE, verbose=False).unit(unit(kernel(CONTEXT)), [FIX])
    assert "\x1b[1;31m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


# --- the progress bar -----------------------------------------------------------------------------------------


def test_the_bar_is_drawn_on_a_terminal_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    bar = progress.ProgressBar(4, stream, columns=40)
    bar.working("some/very/long/path/to/a/file.cu", 1, 2, "kernel_with_a_name")
    drawn = stream.getvalue().rsplit("\r", 1)[-1]
    assert "0/4" in drawn
    assert len(re.sub(r"\x1b\[K", "", drawn)) <= 40
    bar.clear()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_no_bar_without_a_terminal() -> None:
    stream = io.StringIO()
    bar = progress.ProgressBar(1, stream)
    bar.working("a.cu", 0, 1, "k")
    bar.finished("a.cu")
    bar.clear()
    assert stream.getvalue() == ""


# --- JSON -----------------------------------------------------------------------------------------------------


COMMENTED = "\n".join([*SOURCE[:3], f"{SOURCE[3]}  // cuda-lsp: ignore[redundant-barrier]", *SOURCE[4:]])


def judged(result: UnitResult, answers: Sequence[Fix | FixRefusal] = ()) -> JudgedUnit:
    return Judge(lambda _: Settings(), {PATH: COMMENTED}).judge(result, tuple(answers))


def report(results: Sequence[tuple[UnitResult, Sequence[Fix | FixRefusal]]]) -> Report:
    units = tuple(judged(result, answers) for result, answers in results)
    gone = Identity("f:1", PATH, "sum", "data-race", ("write s[t]",))
    return Report(
        tuple(replace(each, baseline=Baseline("/project/known.json")) for each in units),
        (),
        (gone,),
        {"ignored by git": 2},
    )


def everything() -> list[tuple[UnitResult, Sequence[Fix | FixRefusal]]]:
    reason = Reason("recursion", "`f` calls itself", span(2, 1, 3))
    unknown = ContextResult(LAUNCH, Verdict.UNKNOWN, reasons=(reason,))
    barrier = Finding(
        Verdict.REDUNDANT_BARRIER,
        Severity.HINT,
        "orders nothing",
        span(4, 1, 1),
        (Access(7, span(4, 1, 1), "barrier", 0, "__syncthreads()"),),
        "b",
    )
    default = LaunchSummary("default", None, ("gridDim.x", "1", "1"), ("blockDim.x", "1", "1"))
    result = replace(
        unit(kernel(CONTEXT), kernel(unknown), kernel(ContextResult(default, barrier.code, (barrier,)))),
        skipped=(Skipped("a launch", None),),
        syntax=(SyntaxIssue("no such name", span(2, 1, 1)),),
    )
    return [(result, [FIX]), (UnitResult("/b.cu", 0, failure=Reason("unreadable", "gone")), ())]


def test_every_field_is_documented_and_every_documented_field_occurs() -> None:
    document = render_json.document(report(everything()))
    assert documented_json.violations(document) == []
    seen = {path for path, _ in documented_json.fields(document)}
    assert seen == set(documented_json.schema())


def test_the_documentation_is_not_blind() -> None:
    document = render_json.document(report(everything()))
    document["extra"] = 1
    document["schema"] = "1"
    del document["tool"]["version"]
    assert documented_json.violations(document) == [
        "extra is not documented",
        "schema is '1', documented as integer",
        "tool.version is missing",
    ]


def test_json_says_what_the_finding_says() -> None:
    finding = render_json.document(report(everything()))["units"][0]["kernels"][0]["contexts"][0]["findings"][0]
    assert finding["accesses"][1]["iterations"] == {
        "for (int d = 1; d < n; d *= 2)": 0,
        "for (int d = 1; d < n; d *= 2) #2": 3,
    }
    assert finding["witness"]["parameters"] == {"n": 64}
    assert finding["fix"] == {"available": True, "title": "Insert __syncthreads() after line 3", "reason": None}
    assert finding["run"] is None


def test_json_says_where_and_how_often() -> None:
    document = render_json.document(report(everything()))
    unit_json = document["units"][0]
    finding = unit_json["kernels"][0]["contexts"][0]["findings"][0]
    read = finding["accesses"][1]
    assert read["text"] == "s[t + d]"
    assert read["loops"][0] == {
        "path": PATH, "line": 4, "column": 3, "iteration": 0, "variable": "d", "value": 1
    }  # fmt: skip
    assert [loop["value"] for loop in read["loops"]] == [1, None, None]
    assert read["loops"][2]["path"] == "/project/b.h"
    assert finding["notes"] == ["The threads are in different iterations."]
    assert unit_json["skipped"] == [{"what": "a launch", "path": None, "line": None}]
    assert unit_json["kernels"][1]["contexts"][0]["reason"]["path"] == PATH


def test_why_there_is_no_repair() -> None:
    refusal = FixRefusal("They are in one statement.", RACE.group)
    found = unit(kernel(CONTEXT))
    assert "\n  no fix    They are in one statement.\n" in render(found, [refusal])
    assert "no fix" not in render(found, [FIX, refusal])
    assert "no fix" not in render(found, [FixRefusal("About something else.", "other")])
    finding = render_json.document(report([(found, [refusal])]))["units"][0]["kernels"][0]["contexts"][0]["findings"][0]
    assert finding["fix"] == {"available": False, "title": None, "reason": "They are in one statement."}


def test_both_sides_of_a_barrier_say_what_they_do() -> None:
    waits, misses = (
        Access(7, span(4, 3, 3), "barrier", 0, "__syncthreads()", (0, 0, 0), thread)
        for thread in ((0, 0, 0), (9, 0, 0))
    )

    def rendered(code: Verdict) -> str:
        finding = Finding(code, Severity.ERROR, "who", span(4, 3, 3), (waits, misses), "b")
        return render(unit(kernel(ContextResult(LAUNCH, code, (finding,)))))

    text = rendered(Verdict.BARRIER_DIVERGENCE)
    assert "thread (0, 0, 0) of block (0, 0, 0) waits at it\n" in text
    assert "thread (9, 0, 0) of block (0, 0, 0) does not reach it\n" in text
    assert "thread (9, 0, 0) of block (0, 0, 0) returned before it\n" in rendered(Verdict.BARRIER_AFTER_EXIT)


def test_dimensions_are_numbers_where_they_are_known() -> None:
    contexts = [k["contexts"][0] for k in render_json.document(report(everything()))["units"][0]["kernels"]]
    assert (contexts[0]["grid"], contexts[0]["block"]) == ([4, 1, 1], ["n", 1, 1])
    assert contexts[2]["launch"] is None


def test_races_that_look_the_same_are_told_once() -> None:
    """Instructions of a function in a header stand where it is called, and are told apart by nothing there."""

    def access(kind: Literal["read", "write"], instruction: str, column: int = 3) -> RunAccess:
        return RunAccess(kind, (0, 0, 0), (1, 0, 0), (Place(PATH, 3, column, "sum"),), instruction)

    def race(first: RunAccess, second: RunAccess, cell: str) -> RunRace:
        return RunRace(first, second, "intra-warp", "global", cell, False, 5, 0)

    read, write = access("read", "ld.u32"), access("write", "st.u32")
    races = (
        race(read, write, "a + 8 bytes"),
        race(access("read", "ld.u64"), write, "a + 16 bytes"),
        race(write, read, "a[2]"),
        race(write, write, "a[2]"),
        race(read, write, "b[2]"),
        race(access("read", "ld.u32", 9), write, "a[2]"),
    )
    text = text_of(RunResult("finished", races=races, runs=1, ended=1), PATH, SOURCE, Style())
    assert [line.split(" data race on ")[1] for line in text.splitlines() if " data race on " in line] == [
        "global a + 8 bytes",
        "global a[2]",
        "global b[2]",
        "global a[2]",
    ]
    assert "seen 15 times" in text
    assert "4 races in 1 run" in text
