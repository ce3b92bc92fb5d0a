"""The suite of small programs: a run shows the races that are there and no others, and the check never denies one."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Generator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from analyzers.engine import Engine
from benchmarks.run_suite import FOLDER, programs, run
from benchmarks.runs import is_false_proof, share
from gpu_runner.cpu.handover import RECORDS, Handover
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import Pruning, flat, logged
from gpu_runner.ptx.parse import parse

FILES = sorted(FOLDER.glob("*.cu"))


@cache
def engine() -> Engine:
    return Engine()


@pytest.fixture(autouse=True, scope="module")
def _free_engine() -> Generator[None, None, None]:
    yield
    engine.cache_clear()


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_a_run_shows_what_is_true_of_a_program(file: Path) -> None:
    ran = list(run(file, engine()))
    assert {r.program.name: r.wrong for r in ran if r.wrong} == {}
    assert [r.program.name for r in ran if is_false_proof(r)] == []
    differing = {r.program.name: r.verdict.value for r in ran if not r.check_agrees}
    assert differing == {r.program.name: r.program.verdict for r in ran if r.program.verdict}
    for one in ran:
        counted = share(one.module, one.mangled)
        assert counted.instructions > counted.before >= counted.after >= counted.paper > 0


def test_there_are_66_programs_and_both_kinds() -> None:
    known = [program for file in FILES for program in programs(file)]
    assert len(known) == 66
    assert len({program.name for program in known}) == 66
    truths = Counter(program.truth for program in known)
    assert truths["race"] >= 30
    assert truths["clean"] >= 25


LAUNCH = "// cuda-lsp: launch grid=(1) block=(32)\n"


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("// run: clean\n", "", "no launch"),
        (LAUNCH, "", "what is true"),
        (LAUNCH + "// run: clean\n", "  a[0] = 1;  // racy\n", "marks 1"),
        (LAUNCH + "// run: race intra-warp\n", "", "marks 0"),
    ],
)
def test_a_program_that_does_not_say_what_is_true_is_an_error(
    tmp_path: Path, head: str, body: str, message: str
) -> None:
    file = tmp_path / "k.cu"
    file.write_text(f"{head}__global__ void k(int *a) {{\n{body}}}\n")
    with pytest.raises(ValueError, match=message):
        programs(file)


FUNCTION = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 p)
{
.local .align 8 .b8 depot[16];
.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
.loc 1 1 0
mov.u64 %rd8, depot;
cvta.local.u64 %rd7, %rd8;
add.u64 %rd6, %rd7, 8;
ld.param.u64 %rd1, [p];
ld.u32 %r1, [%rd1];
ld.u32 %r2, [%rd1];
ld.u32 %r3, [%rd1+4];
.loc 1 2 0
ld.u32 %r2, [%rd1];
st.u32 [%rd1], %r2;
st.u32 [%rd6], %r2;
st.u32 [%rd1], %r3;
bar.sync 0;
ld.u32 %r4, [%rd1];
@%p1 ld.u32 %r5, [%rd1];
add.u64 %rd1, %rd1, 4;
ld.u32 %r6, [%rd1];
atom.add.u32 %r7, [%rd1], 1;
ld.u32 %r6, [%rd1];
ret;
}
"""


@pytest.mark.parametrize(
    ("pruning", "expected"),
    [
        (Pruning.NONE, "ld ld ld ld st st bar ld ld ld atom ld"),
        (Pruning.SAME_LINE, "ld ld ld st st bar ld ld atom ld"),
        (Pruning.PAPER, "ld ld st bar ld ld atom ld"),
    ],
)
def test_what_says_nothing_new_is_not_logged(pruning: Pruning, expected: str) -> None:
    (function,) = parse(FUNCTION).functions
    found = logged(function, pruning)
    statements = list(flat(function.body or ()))
    kept = [statements[position - 1] for position in sorted(found.positions)]
    assert " ".join(s.opcode for s in kept if isinstance(s, model.Instruction)) == expected
    assert found.instructions == 19


def test_records_are_handed_over_in_order() -> None:
    seen: list[int] = []

    def consume(records: NDArray[np.uint64]) -> None:
        seen.extend(int(value) for value in records[:, 0])

    queue = Handover(consume)
    view = np.ctypeslib.as_array((ctypes.c_uint64 * 3 * RECORDS).from_address(queue.begin))
    view[:2, 0] = [1, 2]
    queue.give(2)
    queue.give(0)
    queue.give(1)
    queue.close()
    assert seen[:2] == [1, 2]
    assert (len(seen), queue.records) == (3, 3)


def test_what_a_consumer_raises_is_raised_at_the_end() -> None:
    def consume(_records: NDArray[np.uint64]) -> None:
        raise MemoryError

    queue = Handover(consume)
    for _ in range(5):
        queue.give(1)
    with pytest.raises(MemoryError):
        queue.close()
