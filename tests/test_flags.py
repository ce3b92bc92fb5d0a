"""Compile commands in, clang flags out."""

from __future__ import annotations

import json

import pytest

from analyzers.frontend.flags import (
    CompileFlags,
    DroppedFlag,
    FlagsError,
    from_compilation_database,
    guessed_include_folders,
    translate,
    without_library_folders,
)


def arguments(command: str, directory: str = "/p/build") -> tuple[str, ...]:
    return translate(command.split(), directory).arguments


def dropped(command: str) -> dict[str, str]:
    return {flag.flag: flag.reason for flag in translate(command.split(), "/p").dropped}


def test_no_flags_give_the_default() -> None:
    assert translate([], ".") == CompileFlags(arguments=("-std=c++17",), arch=80, dropped=(), directory=".")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("-DX", ("-DX",)),
        ("-D X=1", ("-DX=1",)),
        ("--define-macro X=1", ("-DX=1",)),
        ("--define-macro=X=1", ("-DX=1",)),
        ("-UX --undefine-macro=Y", ("-UX", "-UY")),
        ("-Iinc", ("-I", "/p/build/inc")),
        ("-I ../inc", ("-I", "/p/inc")),
        ("-I/abs", ("-I", "/abs")),
        ("--include-path=inc", ("-I", "/p/build/inc")),
        ("-isystem/abs -isystem=rel", ("-isystem", "/abs", "-isystem", "/p/build/rel")),
        ("-isystem rel -idirafter late", ("-isystem", "/p/build/rel", "-isystem", "/p/build/late")),
        ("-iquote q", ("-iquote", "/p/build/q")),
        ("-include a.h", ("-include", "a.h", "-iquote", "/p/build")),
        ("--pre-include=a.h", ("-include", "a.h", "-iquote", "/p/build")),
        ("-fno-exceptions -funsigned-char", ("-fno-exceptions", "-funsigned-char")),
        ("-Xcompiler -DA,-fPIC,-Iinc", ("-DA", "-I", "/p/build/inc")),
        ("-Xcompiler=-DA", ("-DA",)),
        ("--compiler-options -DA", ("-DA",)),
        ("-rdc=true -G", ("-D__CUDACC_RDC__", "-D__CUDACC_DEBUG__")),
        ("--expt-relaxed-constexpr", ("-D__CUDACC_RELAXED_CONSTEXPR__",)),
    ],
)  # fmt: skip
def test_flags_that_pass(command: str, expected: tuple[str, ...]) -> None:
    assert arguments(command) == ("-std=c++17", *expected)


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("-std=c++20", "c++20"),
        ("--std c++17", "c++17"),
        ("-std=gnu++2a", "gnu++20"),
        ("-std=c++2b", "c++23"),
        ("-std=c++14", "c++17"),
        ("-std=c++03", "c++17"),
        ("-std=c99", "c++17"),
        ("-std=nonsense", "c++17"),
        ("-std=c++14 -std=c++20", "c++20"),
        ("-Xcompiler -std=c++20", "c++20"),
    ],
)
def test_standard(written: str, used: str) -> None:
    assert arguments(written) == (f"-std={used}",)


def test_a_raised_standard_is_reported() -> None:
    assert dropped("-std=c++11") == {"-std=c++11": "raised to C++17, which the bundled headers need"}


@pytest.mark.parametrize(
    ("command", "arch"),
    [
        ("", 80),
        ("-arch=sm_75", 75),
        ("-arch sm_90a", 90),
        ("--gpu-architecture=compute_70", 70),
        ("-gencode arch=compute_60,code=sm_61", 61),
        ("-gencode=arch=compute_80,code=[sm_80,compute_80] --generate-code arch=compute_120f,code=sm_120f", 120),
        ("--cuda-gpu-arch=sm_86", 86),
        ("--offload-arch=sm_89", 89),
        ("-arch=native", 80),
    ],
)
def test_architecture(command: str, arch: int) -> None:
    assert translate(command.split(), ".").arch == arch


def test_nothing_that_writes_or_loads_gets_through() -> None:
    command = (
        "nvcc -MD -MF dep.d -MT x.o -MQ y -MJ z.json -MMD -o x.o -c x.cu -Xclang -load -Xclang plugin.so "
        "-fplugin=p.so "
        "-save-temps=obj --keep --keep-dir k -odir out -mllvm -debug -fpass-plugin=q.so -serialize-diagnostics d.dia "
        "-emit-llvm -S -E -fmodules-cache-path=/x -fdebug-prefix-map=a=b -Wp,-MD,dep.d -Wl,-rpath,/x "
        "--cuda-path=/usr/local/cuda "
        "-ccbin /usr/bin/g++ -x cu -Xptxas -v -Xcudafe --diag_suppress=177 -t 4 --threads 8 -lineinfo "
        "-O3 -g -lcudart -L/usr/lib"
    )
    flags = translate(command.split(), "/p")
    assert flags.arguments == ("-std=c++17",)
    reasons = {flag.flag: flag.reason for flag in flags.dropped}
    assert reasons["-MF dep.d"] == reasons["-MD"] == reasons["-o x.o"] == "would write a file"
    assert reasons["-Xclang -load"] == reasons["-fplugin=p.so"] == "could load code into the parser or crash it"
    assert reasons["-O3"] == "does not change what the source means"


def test_a_value_is_dropped_with_its_flag() -> None:
    assert arguments("-o -DX -DY") == ("-std=c++17", "-DY")
    assert arguments("-Xptxas -DX -O -DY") == ("-std=c++17", "-DY")


def test_a_missing_value_is_reported() -> None:
    assert dropped("-D") == {"-D": "its value is missing"}


def test_flags_for_the_host_compiler_are_told_apart() -> None:
    assert dropped("-Xcompiler -MD") == {"-Xcompiler -MD": "would write a file"}


def test_response_files() -> None:
    files = {"/p/a.rsp": '-DA "-DB=x y" @b.rsp', "/p/b.rsp": "-I inc", "/p/c.rsp": "-DC"}
    flags = translate(["@a.rsp", "-optf", "c.rsp", "@none.rsp"], "/p", files.get)
    assert flags.arguments == ("-std=c++17", "-DA", "-DB=x y", "-I", "/p/inc", "-DC")
    assert flags.dropped == (DroppedFlag("@none.rsp", "response file none.rsp cannot be read"),)


def test_a_response_file_that_names_itself_ends() -> None:
    assert translate(["@a"], "/p", {"/p/a": "-DA @a"}.get).arguments.count("-DA") < 20


def database(*entries: dict[str, object]) -> str:
    return json.dumps(entries)


def test_compilation_database() -> None:
    text = database(
        {"directory": "/p/build", "file": "../src/a.cu", "command": 'nvcc -DX="1 2" -I. -c ../src/a.cu -o a.o'},
        {"directory": "/p/build", "file": "/p/src/b.cu", "arguments": ["clang++", "-DY", "--cuda-gpu-arch=sm_70"]},
        {"directory": "/p/build", "file": "../src/a.cu", "command": "nvcc -DSECOND"},
    )
    found = from_compilation_database(text, "/p/build/compile_commands.json")
    assert set(found) == {"/p/src/a.cu", "/p/src/b.cu"}
    assert found["/p/src/a.cu"].arguments == ("-std=c++17", "-DX=1 2", "-I", "/p/build")
    assert found["/p/src/b.cu"].arch == 70
    assert found["/p/src/b.cu"].directory == "/p/build"


def test_a_relative_directory_is_taken_from_the_database() -> None:
    text = database({"directory": "build", "file": "a.cu", "command": "nvcc -Iinc"})
    assert from_compilation_database(text, "/p/compile_commands.json")["/p/build/a.cu"].arguments[1:] == (
        "-I",
        "/p/build/inc",
    )


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"file": "a.cu"}]', '[{"file": 1, "command": ""}]', "[" * 5000])
def test_a_database_that_is_none(text: str) -> None:
    with pytest.raises(FlagsError):
        from_compilation_database(text, "/p/compile_commands.json")


def test_include_folders_are_guessed_from_the_workspace() -> None:
    files = ["/w/include/Common.h", "/w/src/util.cuh", "/w/old/util.cuh", "/w/third/glm/glm.hpp", "/w/third/other.h"]
    assert guessed_include_folders(["Common.h", "glm/glm.hpp", "nowhere.h"], files, "/w/src/a.cu") == (
        "/w/include",
        "/w/third",
    )
    assert guessed_include_folders(["util.cuh"], files, "/w/src/deep/a.cu") == ("/w/src",)


def test_folders_of_real_libraries_are_left_out() -> None:
    flags = translate(["-I/opt/cuda/include", "-I", "src", "-isystem", "/opt/torch/include", "-DX"], "/p")
    files = {"/opt/cuda/include/cuda_runtime_api.h", "/opt/torch/include/ATen/ATen.h", "/p/src/stdio_tools.h"}
    kept = without_library_folders(flags, files.__contains__)
    assert kept.arguments == ("-std=c++17", "-I", "/p/src", "-DX")
    assert [flag.flag for flag in kept.dropped] == ["-I /opt/cuda/include", "-isystem /opt/torch/include"]
    assert without_library_folders(kept, files.__contains__) is kept
