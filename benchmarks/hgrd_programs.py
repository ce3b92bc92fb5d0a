"""The programs of HGRD's table (seed 001, table 3) and what is true of each: data for `benchmarks.hgrd`.

An expected race is a kernel and two accesses. An access is what it does and a piece of the source line that it stands
in, which has to be in exactly one line: of the kernel's own definition or, failing that, of the unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from benchmarks.repositories import Repository

Kind = Literal["read", "write", "atomic"]


@dataclass(frozen=True, slots=True)
class Access:
    """One side of an expected race."""

    kind: Kind
    statement: str


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses that race, or one with itself in another thread."""

    kernel: str
    """Without template arguments."""
    first: Access
    second: Access


@dataclass(frozen=True, slots=True)
class Program:
    """One row of the table."""

    name: str
    """As the paper names it."""
    unit: str
    """The file with the kernels: a path in the repository, or in this project where there is none."""
    repository: Repository | None = None
    headers: tuple[str, ...] = ()
    """What the unit includes."""
    host: tuple[str, ...] = ()
    """Files of the same program with host code that the unit does not include."""
    flags: tuple[str, ...] = ()
    """As in the program's own makefile; paths are relative to the repository."""
    kernels: tuple[str, ...] = ()
    """Only these kernels of the unit; empty: all."""
    tags: tuple[str, ...] = ()
    """The variants of an Indigo template that are taken (`benchmarks.hgrd.expanded`)."""
    races: tuple[Race, ...] = ()
    guided: str = ""
    """The class of host facts without which the program is known for false alarms (the paper's table 4)."""
    alarming: str = ""
    """The kernel that raises them; empty: any."""
    cited: str = ""
    """What an assumption of every race-free verdict has to speak of."""
    in_paper: bool = True


_GKLEE: Final = Repository("Geof23/GkleeTests", "326d5697e4193be744c7c7c3b3b6913be6bb729b")
_HECBENCH: Final = Repository("zjin-lcf/HeCBench", "f27000a5188f8ac79bd43fc95a1b3f890c18823d")
_INDIGO: Final = Repository("burtscher/IndigoSuite", "c95ac19c761f6d1db2c6a247a691cc739468ee2e")
_KALDI: Final = Repository("kaldi-asr/kaldi", "f4007661023b98b8081fd875029f0dee62242fd1")
_RANDOM_ACCESS: Final = Repository("zjin-lcf/HeCBench", "4d4bb5dfabb309e22b2c2102dbaf5be209cff4e0")
_RODINIA: Final = Repository("yuhc/gpu-rodinia", "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4")
_SAMPLES: Final = Repository("NVIDIA/cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420")
_SCOR: Final = Repository("csl-iisc/ScoR", "6dc3507ecc419aac6ea3a49ec746b610d5029219")
_UNREPAIRED_EXPDIST: Final = Repository("zjin-lcf/HeCBench", "ed32a0cf46da06056b91606cf44930e16387070c")

_INDIGO_HEADER: Final = "Generators/sources_include/indigo_cuda.h"
_INDIGO_FLAGS: Final = ("-IGenerators/sources_include",)
_SAMPLE_HEADERS: Final = tuple(
    f"Common/{name}.h"
    for name in ("exception", "helper_cuda", "helper_functions", "helper_image", "helper_string", "helper_timer")
)
_CONCEPTS: Final = "Samples/2_Concepts_and_Techniques"
_KALDI_INCLUDES: Final = {
    "base": "io-funcs-inl io-funcs kaldi-common kaldi-error kaldi-math kaldi-types kaldi-utils timer",
    "cudamatrix": """cu-allocator cu-array-inl cu-array cu-block-matrix cu-common cu-device cu-kernels-ansi cu-kernels
        cu-math cu-matrix-inl cu-matrix cu-matrixdim cu-packed-matrix cu-rand cu-sp-matrix cu-sparse-matrix cu-tp-matrix
        cu-value cu-vector cublas-wrappers""",
    "itf": "options-itf",
    "matrix": """compressed-matrix kaldi-matrix-inl kaldi-matrix kaldi-vector-inl kaldi-vector matrix-common
        packed-matrix sp-matrix-inl sp-matrix sparse-matrix tp-matrix""",
    "util": "stl-utils",
}
_KALDI_HEADERS: Final = tuple(f"src/{d}/{name}.h" for d, names in _KALDI_INCLUDES.items() for name in names.split())
_KALDI_HOST: Final = tuple(f"src/cudamatrix/cu-{name}.cc" for name in ("allocator", "common", "device", "matrix"))


def _indigo(name: str, template: str, tag: str, races: tuple[tuple[Access, Access], ...]) -> Program:
    return Program(
        name,
        f"Generators/CUDA_sources/{template}.idg",
        _INDIGO,
        headers=(_INDIGO_HEADER,),
        flags=_INDIGO_FLAGS,
        tags=(tag,),
        races=tuple(Race("test_kernel", *pair) for pair in races),
    )


def _read_modify_write(statement: str) -> tuple[tuple[Access, Access], ...]:
    """The two races of a read-modify-write that is not atomic."""
    read, write = Access("read", statement), Access("write", statement)
    return (read, write), (write, write)


def _hecbench(name: str, folder: str, unit: str, *headers: str, guided: str = "", alarming: str = "") -> Program:
    root = f"src/{folder}-cuda"
    return Program(
        name,
        f"{root}/{unit}",
        _HECBENCH,
        headers=tuple(f"{root}/{h}" for h in headers),
        guided=guided,
        alarming=alarming,
    )


def _scor(
    name: str,
    stem: str,
    blocks: int,
    threads: int,
    *flags: str,
    races: tuple[Race, ...] = (),
    in_paper: bool = True,
) -> Program:
    return Program(
        name,
        f"benchmarks/{stem}_kernel.cu",
        _SCOR,
        headers=(f"benchmarks/{stem}_kernel.cuh",),
        host=(f"benchmarks/{stem}_main.cu",),
        flags=("-arch=compute_60", f"-DNTHREADS={threads}", f"-DNBLOCKS={blocks}", *flags),
        races=races,
        in_paper=in_paper,
    )


def _sample(name: str, folder: str, unit: str, *others: str, guided: str) -> Program:
    return Program(
        name,
        f"{folder}/{unit}",
        _SAMPLES,
        headers=(*_SAMPLE_HEADERS, *(f"{folder}/{o}" for o in others if o.endswith(".h"))),
        host=tuple(f"{folder}/{o}" for o in others if not o.endswith(".h")),
        flags=("-ICommon",),
        guided=guided,
    )


def _kaldi(name: str, kernel: str, guided: str) -> Program:
    return Program(
        name,
        "src/cudamatrix/cu-kernels.cu",
        _KALDI,
        headers=_KALDI_HEADERS,
        host=_KALDI_HOST,
        flags=("-Isrc", "-DHAVE_CUDA=1", "-DKALDI_DOUBLEPRECISION=0", "-DOPENFST_VER=10804"),
        kernels=(kernel,),
        guided=guided,
        cited="pitch",
    )


_ASSERTS: Final = "asserts"
_GRID: Final = "grid dimensions"
_RELATION: Final = "relations"
_LOOP: Final = "loop bounds"
_ALLOCATION: Final = "allocation sizes"

_CT_FIRST: Final = Access("write", "if(itp1 == 0) d_ct[itp] = p;")
_CT_OTHERS: Final = "if(itp1 == istep && itp < nnt) d_ct[itp] += p;"
_SHARED_FILL: Final = Access("write", "sh_mem[sh_offset+ti*stride] = d_mem[d_offset+ti*stride];")

PROGRAMS: Final = (
    _indigo(
        "pathCompression",
        "path_compression",
        "raceBug",
        (
            (Access("read", "while (v > data1[v]) {"), Access("write", "data1[i] = v;")),
            (Access("read", "v = data1[v];"), Access("write", "data1[i] = v;")),
        ),
    ),
    _indigo("condNeighbor", "conditional_vertex_neighbor", "atomicBug", _read_modify_write("data1[0]++;")),
    _indigo(
        "pushNode",
        "push_node_neighbor",
        "atomicBug",
        _read_modify_write("data1[nei] = min(data1[nei], data2[i]);"),
    ),
    Program(
        "conel",
        "both_ww_and_rw_race/both_ww_and_rw_race.cu",
        _GKLEE,
        races=tuple(Race("colonel", *pair) for pair in _read_modify_write("in[tidx%N]++;")),
    ),
    Program(
        "warpCommunicate",
        "tests/corpus/hgrd/warp_communicate.cu",
        races=(
            Race(
                "warp_communicate",
                Access("write", "cell[lane] = value;"),
                Access("read", "value += cell[lane ^ 16];"),
            ),
            Race(
                "warp_communicate",
                Access("write", "cell[lane] = 2 * value;"),
                Access("read", "value -= cell[31 - lane];"),
            ),
        ),
        kernels=("warp_communicate",),
    ),
    Program(
        "tissue",
        "src/tissue-cuda/main.cu",
        _HECBENCH,
        races=(
            Race("tissue", _CT_FIRST, Access("read", _CT_OTHERS)),
            Race("tissue", _CT_FIRST, Access("write", _CT_OTHERS)),
            *(Race("tissue", *pair) for pair in _read_modify_write(_CT_OTHERS)),
        ),
    ),
    _scor(
        "1dconv",
        "1dconv/1dconv",
        15,
        1024,
        "-DRACEY",
        races=(
            Race(
                "convolveKernel",
                Access("atomic", "                atomicAdd_block(&output[outputIndex], array[inputIndex]"),
                Access("atomic", "                atomicAdd_block(&output[outputIndex], array[inputIndex]"),
            ),
        ),
    ),
    _hecbench("bilateralFilter", "bilateral", "main.cu", "reference.h"),
    _kaldi("copyUppToLow", "_copy_upp_low", _ASSERTS),
    _kaldi("copyLowToUpp", "_copy_low_upp", _ASSERTS),
    _kaldi("copyFromTp", "_copy_from_tp", _ASSERTS),
    _sample("reduction", f"{_CONCEPTS}/reduction", "reduction_kernel.cu", "reduction.h", "reduction.cpp", guided=_GRID),
    Program("randomAccess", "src/randomAccess-cuda/main.cu", _RANDOM_ACCESS, guided=_GRID, alarming="update"),
    _hecbench("expDistance", "expdist", "main.cu", "kernel.h", guided=_GRID, alarming="reduce_cross_term"),
    _hecbench("toneMapping", "tonemapping", "main.cu", "kernels.cu", guided=_RELATION),
    _sample(
        "convSeparable",
        f"{_CONCEPTS}/convolutionSeparable",
        "convolutionSeparable.cu",
        "convolutionSeparable_common.h",
        "main.cpp",
        guided=_RELATION,
    ),
    Program(
        "luDecomposition",
        "cuda/lud/cuda/lud_kernel.cu",
        _RODINIA,
        headers=("cuda/lud/common/common.h",),
        host=("cuda/lud/cuda/lud.cu", "cuda/lud/common/common.c"),
        guided=_LOOP,
    ),
    _hecbench("needlemanWunsch", "nw", "nw.cu", "reference.h", guided=_LOOP),
    _sample(
        "pitchLinear",
        "Samples/0_Introduction/simplePitchLinearTexture",
        "simplePitchLinearTexture.cu",
        guided=_ALLOCATION,
    ),
    _kaldi("copyFromVec", "_copy_rows_from_vec", _ALLOCATION),
    _scor("matMul", "matrix-multiplication/mm", 120, 128),
    _scor("rule110", "rule-110/r110", 15, 1024),
    _scor("1dconv, not racy", "1dconv/1dconv", 15, 1024, in_paper=False),
    Program(
        "expDistance before its repair",
        "src/expdist-cuda/main.cu",
        _UNREPAIRED_EXPDIST,
        headers=("src/expdist-cuda/kernel.h",),
        races=(
            Race("distance", _SHARED_FILL, _SHARED_FILL),
            *(
                Race("distance", _SHARED_FILL, Access("read", statement))
                for statement in (
                    "dist_ij += (sh_A[d][tx+ti*block_size_x]-sh_B[d][ty+tj*block_size_y])*",
                    "           (sh_A[d][tx+ti*block_size_x]-sh_B[d][ty+tj*block_size_y]);",
                    "s_cross_term += exp(-dist_ij/(sh_scale_A",
                )
            ),
            Race(
                "distance",
                Access("write", "if (tx == 0 && ty == 0) sum = 0;"),
                Access("atomic", "atomicAdd(&sum, s_cross_term);"),
            ),
        ),
        in_paper=False,
    ),
)
