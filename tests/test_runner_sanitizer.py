"""``compute-sanitizer`` as a second opinion: its reports read, its absence told, and the program that it looks at."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.cli import gpu, main
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.request import ArrayArgument, Place, Request, ScalarArgument
from gpu_runner.sanitizer import opinion, plain, report

pytestmark = pytest.mark.usefixtures("lasting_workers")

PATH = "/home/me/tiles.cu"

RACES = """========= COMPUTE-SANITIZER
started with 64 threads
========= Error: Potential RAW hazard detected at __shared__ 0x480 in block (1,0,0) :
=========     Write Thread (32,0,0) at tiles(int *, int)+0x1b0 in /home/me/tiles.cu:7
=========     Read Thread (31,0,0) at tiles(int *, int)+0x220 in /home/me/tiles.cu:8
=========     Current Value : 32
=========
========= Error: Potential RAW hazard detected at __shared__ 0x481 in block (1,0,0) :
=========     Write Thread (32,0,0) at tiles(int *, int)+0x1b0 in /home/me/tiles.cu:7
=========     Read Thread (31,0,0) at tiles(int *, int)+0x220 in /home/me/tiles.cu:8
=========     Current Value : 0
=========
========= Warning: (Warp Level Programming) Potential WAW hazard detected at __shared__ 0x40 in block (0,0,0) :
=========     Write Thread (1,0,0) at put(int *)+0x30 in tiles.cu:3
=========     Write Thread (2,0,0) at put(int *)+0x30 in tiles.cu:3
=========     Current Value : 5, Incoming Value : 5
=========
========= Error: Race reported between Write access at tiles(int *, int)+0x1b0 in /home/me/tiles.cu:7
=========     and Read access at tiles(int *, int)+0x220 in /home/me/tiles.cu:8 [1,016 hazards]
=========     and Write access at tiles(int *, int)+0x300 in /home/me/tiles.cu:11 [8 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""

OLD_RACES = """========= CUDA-MEMCHECK
========= WARN: Potential WAR hazard detected at __shared__ 0x8 in block (0, 0, 0) :
=========     Read Thread (0, 0, 0) at 0x00000170 in ./tiles.cu:4:tiles(int*, int)
=========     Write Thread (40, 0, 0) at 0x000001a8 in ./tiles.cu:5:tiles(int*, int)
=========     Current Value : 0, Incoming Value : 0
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame:./tiles [0x101d9]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
"""

ACCESSES = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at store(int *, int)+0xb0 in /home/me/tiles.cu:3
=========     by thread (63,0,0) in block (2,0,0)
=========     Address 0x7f7a4e000300 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f7a4e000000 of size 768 bytes
=========         Device Frame: tiles(int *, int)+0x30 in /home/me/tiles.cu:9
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x381377] in libcuda.so.1
=========
========= Invalid __shared__ read of size 8 bytes
=========     at tiles(int *, int)+0x70 in /home/me/tiles.cu:6
=========     by thread (1,0,0) in block (0,0,0)
=========     Address 0x404 is misaligned
=========
========= Invalid __shared__ read of size 8 bytes
=========     at tiles(int *, int)+0x70 in /home/me/tiles.cu:6
=========     by thread (3,0,0) in block (0,0,0)
=========     Address 0x40c is misaligned
=========
========= Uninitialized __shared__ memory read of size 4 bytes
=========     at tiles(int *, int)+0x90 in /home/me/tiles.cu:7
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x0
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "launch failure" on CUDA API call to cuStreamQuery.
========= Tensor Memory column 32 is not allocated. Columns allocated are: 0-31.
=========     at tiles(int *, int)+0x90 in /home/me/tiles.cu:7
========= ERROR SUMMARY: 5 errors
"""

BARRIERS = """========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at tiles(int *, int)+0xf0 in /home/me/tiles.cu:10
=========     by thread (37,0,0) in block (0,0,0)
=========
========= Barrier error detected. Invalid arguments
=========     at __cuda_sm70_warpsync+0x30
=========     by thread (16,0,0) in block (0,0,0)
=========     Device Frame:__syncwarp(unsigned int)+0xf0 in /usr/local/cuda/include/sm_30_intrinsics.hpp:110
=========     Device Frame:tiles(int *, int)+0x3c0 in /home/me/tiles.cu:12
=========
========= Barrier error detected. Missing wait.
=========     at tiles(int *, int)+0x500 in /home/me/tiles.cu:20
=========     by thread (0,0,0) in block (0,0,0)
=========
========= Barrier called by threads starting at (32,0,0) in block (1,0,0), (active mask: 0xffffffff) \
at tiles(int *, int)+0x2b0 in /home/me/tiles.cu:36
========= ERROR SUMMARY: 3 errors
"""


def test_hazards_of_single_bytes_become_races_with_both_threads() -> None:
    found = report.parse(RACES, PATH, (64, 1, 1))
    blocks, lanes = found.races
    assert (blocks.scope, blocks.space, blocks.same_value, blocks.count) == ("intra-block", "shared", False, 1016)
    assert (blocks.first.kind, blocks.first.thread, blocks.first.block) == ("write", (32, 0, 0), (1, 0, 0))
    assert (blocks.second.kind, blocks.second.thread) == ("read", (31, 0, 0))
    assert blocks.first.places == (Place(PATH, 7, 0, "tiles(int *, int)"),)
    assert (lanes.scope, lanes.same_value, lanes.count) == ("intra-warp", True, 1)
    assert lanes.first.places == (Place(PATH, 3, 0, "put(int *)"),)  # named by its last part only
    assert [text for text in found.other if "tiles.cu:11" in text]  # told without threads
    assert found.errors == 2


def test_the_forms_of_older_releases_are_read() -> None:
    (race,) = report.parse(OLD_RACES, "./tiles.cu", (64, 1, 1)).races
    assert [access.places[0].line for access in (race.first, race.second)] == [4, 5]
    assert (race.scope, race.first.kind, race.second.thread) == ("intra-block", "read", (40, 0, 0))
    assert not race.same_value  # of a read and a write


def test_accesses_outside_and_unwritten_memory_are_faults_with_their_stack() -> None:
    found = report.parse(ACCESSES, PATH, (64, 1, 1))
    assert [fault.kind for fault in found.faults] == ["out-of-bounds", "misaligned", "uninitialised"]
    outside = found.faults[0]
    assert [place.line for place in outside.access.places] == [3, 9]
    assert (outside.access.thread, outside.access.block) == ((63, 0, 0), (2, 0, 0))
    assert "1 bytes after the nearest allocation" in outside.text
    assert any(text.startswith("Tensor Memory") for text in found.other)  # what is new is kept as text
    assert found.errors == 5


def test_barriers_are_told_apart() -> None:
    found = report.parse(BARRIERS, PATH, (64, 1, 1))
    assert [fault.kind for fault in found.faults] == ["divergent-barrier", "lane-not-in-mask"]
    assert [place.line for place in found.faults[1].access.places] == [110, 12]
    assert found.other == ("Barrier error detected. Missing wait.",)
    (waiting,) = found.waiting
    assert (waiting.places[0].line, waiting.thread, waiting.block) == (36, (32, 0, 0), (1, 0, 0))


@pytest.mark.parametrize("number", [",", ",,,", "9" * 5000])
def test_what_is_no_number_is_no_count(number: str) -> None:
    text = f"========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size {number} bytes\n"
    text += f"========= ERROR SUMMARY: {number} errors\n"
    assert report.parse(text, PATH, (64, 1, 1)).errors is None


def test_a_report_without_its_last_line_is_no_clean_one() -> None:
    cut = RACES[: RACES.index("========= RACECHECK SUMMARY")]
    assert report.parse(cut, PATH, (64, 1, 1)).errors is None
    request = Request("tiles", (1, 1, 1), (64, 1, 1), path=PATH)
    ended = json.dumps({"status": "finished", "message": ""})
    clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
    assert opinion.result_of(clean, request, ended, "").status == "finished"
    assert opinion.result_of("========= COMPUTE-SANITIZER\n", request, ended, "").status == "crash"
    assert opinion.result_of("", request, "", "no such tool").message == "no such tool"
    refused = json.dumps({"status": "device", "message": "the driver finds no GPU"})
    assert opinion.result_of(clean, request, refused, "").message == "the driver finds no GPU"


SOURCE = """__global__ void tiles(int *a, int n) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = n;
  a[i] = s[(i + 1) % 64] + i;
}
"""


def test_the_program_that_is_looked_at_launches_the_plain_kernel() -> None:
    compiled = compile_source(SOURCE, PATH, CompileOptions(compiler="nvrtc"))
    arguments = (ArrayArgument("i32", 64, "zeros"), ScalarArgument(7))
    request = Request("tiles", (1, 1, 1), (64, 1, 1), arguments, ("a", "n"), ptx=compiled.ptx, path=PATH)
    status, message, (array,) = plain.launched(request, Device(Rehearsal()))
    assert (status, message) == ("finished", "")
    values = struct.unpack("64i", array)
    assert values[1] in (1, 8)  # whatever the schedule: s[2] was written or not
    assert values[63] == 70
    wrong = Request("tiles", (1, 1, 1), (64, 1, 1), arguments[:1], ("a",), ptx=compiled.ptx)
    assert plain.launched(wrong, Device(Rehearsal()))[0] == "launch"
    broken = Request("tiles", (1, 1, 1), (64, 1, 1), ptx="not PTX")
    assert plain.launched(broken, Device(Rehearsal()))[0] == "launch"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiles.cu"
    path.write_text(SOURCE)
    return path


def asked(file: Path, *more: str) -> list[str]:
    launch = ("--grid", "1", "--block", "64", "--arg", "a=64", "--arg", "n=7", "--seeds", "1")
    return ["run", f"{file}:tiles", *launch, "--sanitizer", "racecheck", *more]


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """A program of that name, which does what `body` says, comes first on the PATH."""
    folder.mkdir()
    program = folder / "compute-sanitizer"
    program.write_text(f"#!{sys.executable}\nimport pathlib, subprocess, sys\narguments = sys.argv[1:]\n{body}")
    program.chmod(0o755)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(gpu, "find", lambda: gpu.Gpus("13.0", ("a GPU",)))


def test_its_findings_are_printed_below_those_of_the_run(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RACES.replace(PATH, str(file))
    body = f"""pathlib.Path(arguments[arguments.index("--log-file") + 1]).write_text({text!r})
assert arguments[arguments.index("--tool") + 1] == "racecheck"
print('{{"status": "finished", "message": ""}}')
"""
    installed(tmp_path / "bin", monkeypatch, body)
    assert main.main(asked(file)) == 1
    ours, _, theirs = capsys.readouterr().out.partition("compute-sanitizer, racecheck:\n")
    assert "data race on shared s" in ours
    assert f"  {file}:8: intra-block data race on shared memory at 0x480\n" in theirs
    assert theirs.endswith("  1 race in 1 run\n")
    assert main.main(asked(file, "--format", "json")) == 1
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [race["scope"] for race in document["sanitizer"]["racecheck"]["races"]] == ["intra-block", "intra-warp"]


def test_where_it_cannot_run_a_kernel_it_says_why(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body = """at = arguments.index(sys.executable)
pathlib.Path(arguments[at - 1]).write_text("========= COMPUTE-SANITIZER\\n========= ERROR SUMMARY: 0 errors\\n")
sys.exit(subprocess.run(arguments[at:]).returncode)
"""
    installed(tmp_path / "bin", monkeypatch, body)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main.main(asked(file)) == 3
    out = capsys.readouterr().out
    assert "data race on shared s" in out
    assert "compute-sanitizer, racecheck:\n  device: " in out


def test_without_it_the_message_says_where_it_comes_from(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opinion.shutil, "which", lambda *_, **__: None)
    assert main.main(asked(file)) == 3
    out, err = capsys.readouterr()
    assert "compute-sanitizer is not on this machine: it comes with the CUDA toolkit" in err
    assert "data race on shared s" in out  # the run itself was made
    assert main.main(["run", f"{file}:tiles", "--sanitizer", "helgrind"]) == 2
    monkeypatch.undo()
    monkeypatch.setattr(opinion.shutil, "which", lambda *_, **__: "/opt/compute-sanitizer")
    monkeypatch.setattr(gpu, "find", gpu.Gpus)
    assert main.main(asked(file)) == 3
    assert "/opt/compute-sanitizer needs a GPU: none is here" in capsys.readouterr().err
