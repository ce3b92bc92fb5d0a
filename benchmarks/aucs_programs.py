"""The scenarios of AuCS's table I: where their kernels are and what is wrong with each. Data for `benchmarks.aucs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from analyzers.model import Dim3
from benchmarks.repositories import Repository

Bug = Literal["data race", "barrier divergence", "redundant barrier"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table."""

    repository: Repository
    """At the parent of the commit that repaired the kernel."""
    revision: str
    """That commit, as the paper names it."""
    kernel: str
    bug: Bug
    on: str
    """A pattern for the accesses or barriers that the commit is about."""
    path: str
    instance: str
    """The kernel with its template arguments, as the check names it."""
    block: Dim3
    grid: Dim3 = (1, 1, 1)
    values: tuple[tuple[str, int], ...] = ()
    unit: str = ""
    """A text that includes the file and names the instance; empty: the file itself."""
    folders: tuple[str, ...] = ()
    """Where includes are looked for, in the repository."""
    flags: tuple[str, ...] = ()
    aucs: bool = True
    """Whether AuCS resolves it."""
    without: str = ""
    """A word that is left out of the source."""
    remark: str = ""
    """What reading the commit says about that, or about a scenario in which nothing is found."""


_KERNELS: Final = "src/backend/cuda/kernel"
_FOLDERS: Final = ("src/backend/cuda", "src/backend", "src/api/c", "include")


def _arrayfire(
    revision: str,
    parent: str,
    kernel: str,
    bug: Bug,
    on: str,
    file: str,
    arguments: str = "",
    instance: str = "",
    *,
    block: Dim3 = (256, 1, 1),
    grid: Dim3 = (1, 1, 1),
    aucs: bool = True,
    without: str = "",
    remark: str = "",
) -> Scenario:
    """`arguments`: the template arguments as they are written; `instance`: the same as the check writes them."""
    unit = (
        f"#include <af/defines.h>\n#include <ops.hpp>\n#include <Param.hpp>\n#include <kernel/{file}>\n"
        f"auto named = &cuda::kernel::{kernel}{arguments};\n"
    )
    return Scenario(
        Repository("arrayfire/arrayfire", parent),
        revision,
        kernel,
        bug,
        on,
        f"{_KERNELS}/{file}",
        kernel + (instance or arguments),
        block,
        grid,
        unit=unit,
        folders=_FOLDERS,
        flags=("-DAF_API_VERSION=33",),
        aucs=aucs,
        without=without,
        remark=remark,
    )


def _gklee(folder: str, kernel: str, bug: Bug, on: str, block: Dim3, grid: Dim3, *, aucs: bool = True) -> Scenario:
    repository = Repository("Geof23/GkleeTests", "326d5697e4193be744c7c7c3b3b6913be6bb729b")
    path = f"{folder}/{folder}.cu"
    return Scenario(repository, "10eb6373d53", kernel, bug, on, path, kernel, block, grid, aucs=aucs)


_RACE: Final = "data race"
_DIVERGENCE: Final = "barrier divergence"
_REDUNDANT: Final = "redundant barrier"

SCENARIOS: Final = (
    _gklee("read_write_race_0", "device_global", _RACE, "input_array", (128, 1, 1), (1, 1, 1)),
    _gklee("both_ww_and_rw_race", "colonel", _RACE, "in", (128, 1, 1), (2, 1, 1), aucs=False),
    _gklee("deadlock_0", "dl", _DIVERGENCE, "", (32, 1, 1), (2, 1, 1)),
    _gklee("deadlock_2", "dl", _DIVERGENCE, "", (64, 1, 1), (1, 1, 1)),
    _arrayfire(
        "0a8371a876b",
        "a151ed8789aa517ccf01ed6957253700314ccd3a",
        "computeEvalHomography",
        _RACE,
        "s_inliers|s_idx",
        "homography.hpp",
        "<float>",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "a7a297ba814",
        "a35a2d080737833f3b011b7ab97cd7c909207f56",
        "scan_nonfinal_kernel",
        _RACE,
        "s_ftmp",
        "scan_first_by_key_impl.hpp",
        "<float, int, float, af_add_t, 256, true>",
        "<float, int, float, 0, 256, true>",
    ),
    _arrayfire(
        "a7a297ba814",
        "a35a2d080737833f3b011b7ab97cd7c909207f56",
        "scan_dim_nonfinal_kernel",
        _RACE,
        "s_ftmp",
        "scan_dim_by_key_impl.hpp",
        "<float, int, float, af_add_t, 1, 8, true>",
        "<float, int, float, 0, 1, 8, true>",
        block=(32, 8, 1),
    ),
    _arrayfire(
        "0c5a38182b7",
        "763b615ec71b6db3ade09f07d07248341bf36b29",
        "hamming_matcher",
        _RACE,
        r"s_(?:dist|idx)\[0\]",
        "hamming.hpp",
        "<unsigned, true>",
        "<unsigned int, true>",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "0c5a38182b7",
        "763b615ec71b6db3ade09f07d07248341bf36b29",
        "hamming_matcher_unroll",
        _RACE,
        r"s_(?:dist|idx)\[0\]",
        "hamming.hpp",
        "<unsigned, 8, true>",
        "<unsigned int, 8, true>",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "d7abcf2358e",
        "b3da23b6a362f8d0990f112a066555fd93014c5f",
        "buildLinearSystem",
        _RACE,
        r"S[ij]\[|\bd\[",
        "homography.hpp",
        "<float>",
        block=(16, 16, 1),
    ),
    _arrayfire(
        "c59116e3ec3",
        "437b35a5e9a385fb1f8ea601c6fe3e3ea80e5f54",
        "ireduce_first_kernel",
        _RACE,
        "s_ptr|s_idx",
        "ireduce.hpp",
        "<float, af_max_t, true, 256>",
        "<float, 18, true, 256>",
        without="volatile",
        remark="as written it is race-free: volatile accesses do not race in the PTX memory model; the commit leaves "
        "`volatile` out, so does this row",
    ),
    _arrayfire(
        "a515b112076",
        "bdcc64c18a7a36f074edbed4a0fb0c621efccac1",
        "scan_dim_kernel",
        _RACE,
        "s_tmp",
        "scan_dim.hpp",
        "<float, float, af_add_t, 1, false, 8>",
        "<float, float, 0, 1, false, 8>",
        block=(32, 8, 1),
    ),
    _arrayfire(
        "d88e6a3540f",
        "97aa791bd536de1d8fdef07b219fa26a097a7303",
        "reduce_first_kernel",
        _RACE,
        "s_ptr",
        "reduce.hpp",
        "<float, float, af_add_t, 256>",
        "<float, float, 0, 256>",
    ),
    _arrayfire(
        "1050816e422",
        "e0ce42ffcb0adfa6d3929d0e8f79e988b8217ed4",
        "hamming_matcher",
        _RACE,
        "s_dist|s_idx",
        "hamming.hpp",
        "<unsigned, true>",
        "<unsigned int, true>",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "1050816e422",
        "e0ce42ffcb0adfa6d3929d0e8f79e988b8217ed4",
        "hamming_matcher_unroll",
        _RACE,
        "s_dist|s_idx",
        "hamming.hpp",
        "<unsigned, 8, true>",
        "<unsigned int, 8, true>",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "0ed6cccc5f",
        "1b18226dfec811e4b7b7254f5cfc85a3116a3dc2",
        "select_matches",
        _DIVERGENCE,
        "",
        "nearest_neighbour.hpp",
        "<float>",
        block=(32, 8, 1),
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "dfbfca5fb77",
        "b448612379f727a23aee358e906c3a825c927ae5",
        "select_matches",
        _DIVERGENCE,
        "",
        "nearest_neighbour.hpp",
        "<float>",
        block=(32, 8, 1),
        grid=(2, 1, 1),
        aucs=False,
    ),
    _arrayfire(
        "0e0c726d7d0",
        "25a12d8fdb89f3bb8eed4a84abf514966443f435",
        "hamming_matcher_unroll",
        _DIVERGENCE,
        "",
        "hamming.hpp",
        "<unsigned, 8, true>",
        "<unsigned int, 8, true>",
        grid=(2, 1, 1),
        aucs=False,
    ),
    _arrayfire(
        "ee4d0bd77d7",
        "faefa30c3a0b9b386919e40151dc966b42110ef5",
        "computeDescriptor",
        _DIVERGENCE,
        "",
        "sift.hpp",
        "<float>",
        block=(32, 8, 1),
        grid=(1, 2, 1),
    ),
    _arrayfire(
        "0d0d7d1285a",
        "d88e6a3540f89d3289df0ee8f42c3bda0682597c",
        "reduce_first_kernel",
        _DIVERGENCE,
        "",
        "reduce.hpp",
        "<float, float, af_add_t, 256>",
        "<float, float, 0, 256>",
    ),
    _arrayfire(
        "31761d27f01",
        "c55cae4f68551889fdbd2889e786735de7ecfd04",
        "computeMedian",
        _REDUNDANT,
        "",
        "homography.hpp",
        grid=(2, 1, 1),
    ),
    _arrayfire(
        "faefa30c3a0",
        "b5636151fa893aec0e5d4a9a42770e013cc04f7f",
        "harris_response",
        _REDUNDANT,
        "",
        "orb.hpp",
        "<float, true>",
        block=(16, 16, 1),
        grid=(2, 1, 1),
    ),
    Scenario(
        Repository("kaldi-asr/kaldi", "64d888ee4b105820f39cd6971655aaa8b9eb317b"),
        "bc13196e7fe",
        "_add_diag_mat_mat",
        _DIVERGENCE,
        "",
        "src/cudamatrix/cu-kernels.cu",
        "_add_diag_mat_mat<float>",
        (256, 1, 1),
        (2, 1, 1),
        folders=("src", "src/cudamatrix"),
        aucs=False,
    ),
    Scenario(
        Repository("Xtra-Computing/thundersvm", "aa906f59d464c5825930e0721c63b106dbb07d09"),
        "febf515a826",
        "nu_smo_solve_kernel",
        _RACE,
        "f_val2reduce|f_val|idx",
        "src/thundersvm/kernel/smo_kernel.cu",
        "nu_smo_solve_kernel",
        (256, 1, 1),
        values=(("ws_size", 256),),
        folders=("include", "src"),
    ),
)
