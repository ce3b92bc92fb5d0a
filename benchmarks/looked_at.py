"""The alarms that the coverage run raises on the shipped sources, each read by hand and classified.

Plain data for exllamav2 0.3.2, gsplat 1.5.3 and nerfacc 0.5.3 (``benchmarks.sources`` pins the versions: lines stay).
*Host code* is the C++ of the extension with the Python of the package around it: what reaches a kernel through a
function that a user of the package calls. Where nothing checks a precondition, a call that breaks it gets through.
"""

from __future__ import annotations

from benchmarks.alarms import LookedAt

_EXL = "exllamav2/exllamav2_ext/cuda/"
_GS = "gsplat/cuda/csrc/"
_NF = "nerfacc/cuda/csrc/"

_SELF = "write & itself"
_TWO = "write & write"
_WRITE_READ = "write & read"
_READ_WRITE = "read & write"
_WRITE_ATOMIC = "write & atomic"
_ATOMIC_READ = "atomic & read"

_EXLLAMAV2 = (
    LookedAt(
        _EXL + "cache.cu",
        "cache_rotate_kernel",
        (524,),
        (_SELF, _WRITE_READ),
        "false",
        "A block's share of a page is a 128th, rounded up, and is copied 16 bytes at a time: shares overlap, or the"
        " last length wraps below zero, for sizes that `cache_rotate` does not refuse (1,936 bytes). The one caller,"
        " the generator, passes multiples of 512 bytes: their shares tile the page, or (for the scales of a quantized"
        " cache with 64 values for keys per token) the copy is misaligned and the hardware stops it.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_q_kv_kernel",
        (62, 63, 93),
        ("barrier",),
        "true",
        "All lanes of a warp make a shuffle whose mask names every second one, or every fourth: what the others get is"
        " not used, but the PTX manual leaves the whole shuffle undefined.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_q_kv_paged_kernel",
        (62, 63, 93),
        ("barrier",),
        "true",
        "All lanes of a warp make a shuffle whose mask names every second one, or every fourth: what the others get is"
        " not used, but the PTX manual leaves the whole shuffle undefined.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_q_kv_kernel",
        (75, 76, 106, 107),
        (_SELF,),
        "false",
        "Rows of the batch overlap only if offset + width exceeds the length of a row. The Python callers exclude it"
        " (`model.forward` asserts past_len + q_len <= cache.max_seq_len, the cache rounds max_seq_len up to whole"
        " blocks of 512); the analysis sees only the C++, which does not check.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_fp8_kernel",
        (62,),
        (_SELF,),
        "false",
        "As for fp16_to_q_kv_kernel: rows overlap only if offset + width exceeds the length of a row, which an"
        " assertion in Python excludes; rows are a multiple of 8 values long, so that rounding up stays inside.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "q_to_fp16_kv_kernel",
        (184,),
        (_SELF,),
        "false",
        "As for fp16_to_q_kv_kernel: rows overlap only if offset + width exceeds the length of a row, which an"
        " assertion in Python excludes.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_q_kv_paged_kernel",
        (64, 65, 95, 96),
        (_WRITE_READ,),
        "true",
        "The loop has one barrier, between filling the buffers and storing them: a fast warp fills them for its next"
        " block of values while the first warp still stores the last one. It takes two rounds, so more than 131,072"
        " values to quantize per page: 256 tokens of 8 heads of 128 are twice that.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "fp16_to_q_kv_paged_kernel",
        (75, 76, 106, 107),
        (_SELF,),
        "benign",
        "Two blocks meet only where the block table names a page twice. Both then quantize the same input values, in"
        " groups aligned alike (else the 16-byte stores trap), to the same bytes.",
    ),
    LookedAt(
        _EXL + "cache.cu",
        "q_to_fp16_kv_paged_kernel",
        (184,),
        (_SELF,),
        "benign",
        "Sequences with a common prefix share pages, so the block table names a page twice; both blocks unpack the"
        " same bytes to the same place.",
    ),
    LookedAt(
        _EXL + "*.cu",
        "gemm_half_q_half_kernel",
        (228,),
        (_WRITE_ATOMIC,),
        "true",
        "The blocks with z = 0 clear the result that all blocks add to, and nothing orders the clearing before the"
        " additions of blocks with z > 0: a sum that comes first is lost. Every call with clear set and more than one"
        " block along k, such as the projections of attention (hidden size 4,096, 32 or 64 per block). The launch is"
        " not in sight: the kernel comes out of a table of function pointers.",
    ),
    LookedAt(
        _EXL + "*.cu",
        "gemm_half_q_half_gptq_kernel",
        (143,),
        (_WRITE_ATOMIC,),
        "true",
        "As in gemm_half_q_half_kernel: the clearing by the blocks with z = 0 is not ordered before the additions of"
        " the others.",
    ),
    LookedAt(
        _EXL + "*.cu",
        "gemm_half_q_half_kernel",
        (228,),
        (_SELF,),
        "false",
        "Launch not in sight. The real one has as many threads as block_kn_size and a grid no wider than the matrix,"
        " and `make_q_matrix` checks that the width is a multiple of 8, so that the stores of 4 values tile each row.",
    ),
    LookedAt(
        _EXL + "*.cu",
        "gemm_half_q_half_gptq_kernel",
        (143,),
        (_SELF,),
        "false",
        "Instances without a launch in sight: the real one has 128 threads and a grid no wider than the matrix, and"
        " `make_q_matrix` checks that the width is a multiple of 8.",
    ),
    LookedAt(
        _EXL + "head_norm.cu",
        "head_norm_kernel",
        (103,),
        (_READ_WRITE,),
        "true",
        "Without RMS the partial sums are reused with no barrier between reading the first ones and storing the"
        " second: from two warps on (head_dim 128 has two) a fast one overwrites what a slow one still adds.",
    ),
    LookedAt(
        _EXL + "layer_norm.cu",
        "layer_norm_kernel",
        (89,),
        (_READ_WRITE,),
        "true",
        "The partial sums of the mean are overwritten by those of the variance with no barrier after reading them;"
        " the block always has 32 warps, so any call can do it.",
    ),
    LookedAt(
        _EXL + "q_attn.cu",
        "update_cache_kernel",
        (70, 78),
        (_SELF,),
        "false",
        "Launch not in sight, because there is none: the kernel is left over.",
    ),
    LookedAt(
        _EXL + "q_matrix.cu",
        "reconstruct_gptq_kernel",
        (80,),
        (_SELF, _TWO),
        "true",
        "Rows go where the permutation sends them, and `make_sequential` makes one: distinct, which the analysis does"
        " not know. It is cut to 16 bits, however, and nobody checks that a layer has at most 65,536 inputs: above,"
        " rows meet.",
        remote=True,
    ),
    LookedAt(
        _EXL + "q_matrix.cu",
        "reconstruct_kernel",
        (72,),
        (_SELF,),
        "true",
        "Rows go where `torch.argsort` of the stored inverse permutation sends them: distinct, which the analysis"
        " does not know. It is cut to 16 bits, however, and nobody checks that a layer has at most 65,536 inputs.",
        remote=True,
    ),
    LookedAt(
        _EXL + "q_mlp.cu",
        "act_mul_kernel",
        (73,),
        (_SELF, _WRITE_READ),
        "true",
        "The kernel does not check its column, and ceil(width / 32) / 2 blocks of 64 columns reach beyond the row"
        " when the width is 40 to 56 more than a multiple of 64: the end of a row is worked on by the threads of the"
        " next as well. `make_q_matrix` lets any multiple of 8 through; EXL2 layers are padded to 32, GPTQ layers are"
        " not.",
    ),
    LookedAt(
        _EXL + "q_mlp.cu",
        "act_kernel",
        (73,),
        (_SELF, _WRITE_READ),
        "true",
        "As act_mul_kernel: a GPTQ layer whose width is 40 to 56 more than a multiple of 64.",
    ),
    LookedAt(
        _EXL + "q_mlp.cu",
        "act_mul_kernel",
        (69, 72),
        (_SELF, _READ_WRITE),
        "false",
        "Launch not in sight, because there is none: every caller picks the instances for two values at a time.",
    ),
    LookedAt(
        _EXL + "q_mlp.cu",
        "act_kernel",
        (69, 72),
        (_SELF, _READ_WRITE),
        "false",
        "Launch not in sight, because there is none: the only caller picks the instances for two values at a time.",
    ),
    LookedAt(
        _EXL + "rope.cu",
        "rope_cuda_kernel",
        (73,),
        (_SELF, _WRITE_READ),
        "true",
        "Columns run to the width of the sine table, rows are head_dim apart. The two checks that compare them are"
        " commented out in `rope_`; the package's own tables overlap rows or halves only for a head_dim that is not a"
        " multiple of 4 or a partial_rotary_factor above 1 in the model's configuration, which nobody checks.",
        remote=True,
    ),
    LookedAt(
        _EXL + "rope.cu",
        "rope_cuda_qk_kernel",
        (73,),
        (_SELF, _WRITE_READ),
        "true",
        "As rope_cuda_kernel: a sine table that does not fit the head.",
        remote=True,
    ),
)

_PACKED = (
    "The index is a block's exclusive prefix sum of 0/1 flags plus the running total of the blocks before, which an"
    " earlier launch of the same kernel counted from the same flags: distinct for the threads that write. The"
    " analysis knows neither that ranks of set flags differ nor that the loaded totals are running totals of these"
    " counts."
)
_TWO_PASSES = (
    "Each writer fills a range that starts at the running total (`at::cumsum`) of the lengths which the first launch"
    " of the same kernel counted: disjoint. The analysis does not know that the loaded starts are running totals, nor"
    " that both launches count alike."
)
_BLENDED = (
    "Warps of any tile add to the gradient of a Gaussian while others read it without order and store it, scaled, as"
    " the measure for densification: what stays is a partial sum that depends on the schedule. Any Gaussian that two"
    " warps see."
)
_COEFFICIENTS = (
    "Rows of K * 3 coefficients overlap only if K is less than the degree needs. The Python wrapper asserts"
    " (degree + 1)^2 <= K; the analysis sees only the C++, which does not check. Past 2^32 coefficients elem_id * K * 3"
    " does wrap around, but that the finding assumes away."
)

_GSPLAT = (
    LookedAt(_GS + "IntersectTile.cu", "intersect_tile_kernel", (108, 110), (_SELF,), "false", _TWO_PASSES),
    LookedAt(
        _GS + "IntersectTile.cu",
        "intersect_offset_kernel",
        (235,),
        (_TWO,),
        "true",
        "Threads fill the ranges between neighbouring ids, which are disjoint only if the ids are sorted."
        " `isect_offset_encode` is public and takes any; `isect_tiles(sort=False)` makes unsorted ones.",
    ),
    LookedAt(
        _GS + "Projection2DGSPacked.cu",
        "projection_2dgs_packed_fwd_kernel",
        (169, 170, 171, 176, 177, 178, 186, 187),
        (_SELF,),
        "false",
        _PACKED,
    ),
    LookedAt(
        _GS + "ProjectionEWA3DGSPacked.cu",
        "projection_ewa_3dgs_packed_fwd_kernel",
        (239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 251),
        (_SELF,),
        "false",
        _PACKED,
    ),
    LookedAt(
        _GS + "RasterizeToIndices2DGS.cu",
        "rasterize_to_indices_2dgs_kernel",
        (198, 199),
        (_SELF,),
        "false",
        _TWO_PASSES,
    ),
    LookedAt(
        _GS + "RasterizeToIndices3DGS.cu",
        "rasterize_to_indices_3dgs_kernel",
        (160, 161),
        (_SELF,),
        "false",
        _TWO_PASSES,
    ),
    LookedAt(
        _GS + "RasterizeToPixels2DGSBwd.cu",
        "rasterize_to_pixels_2dgs_bwd_kernel",
        (651, 654),
        (_ATOMIC_READ,),
        "true",
        _BLENDED,
    ),
    LookedAt(
        _GS + "RasterizeToPixels2DGSBwd.cu",
        "rasterize_to_pixels_2dgs_bwd_kernel",
        (677, 678),
        (_SELF,),
        "true",
        _BLENDED,
    ),
    LookedAt(
        _GS + "SphericalHarmonicsCUDA.cu",
        "spherical_harmonics_bwd_kernel",
        (125,),
        (_SELF, _TWO),
        "false",
        _COEFFICIENTS,
    ),
)

_CHUNKS = (
    "Two rows of the block write the same place if their chunks overlap. `packed_info` is an argument of the public"
    " functions, and nothing checks it: [[0, 4], [2, 4]]."
)
_ROWS = (
    "The rows of a block loop as often as their chunk is long, around barriers that count all 512 threads; chunks of"
    " 10 and of 100 values are enough, or a last block that is not full."
)

_NERFACC = (
    LookedAt(_NF + "grid.cu", "traverse_grids_kernel", (223, 224, 251, 252), (_SELF, _TWO), "false", _TWO_PASSES),
    LookedAt(
        _NF + "pdf.cu",
        "compute_intervels_kernel",
        (213,),
        (_SELF, _TWO),
        "false",
        "One thread per ray has sid = 0, and rays are n + 1 values apart: the last dimension of a tensor made by"
        " `torch::empty` from a vector of sizes, which the analysis does not follow, so that it tries a distance of"
        " 0. The form with a count per ray never gets here: its samples are allocated with a length of `false`.",
    ),
    LookedAt(
        _NF + "pdf.cu",
        "compute_intervels_kernel",
        (215, 217),
        (_SELF, _TWO),
        "false",
        "Only for the form with a count per ray, and that never gets here: `memalloc_data(false, false)` passes"
        " `false` as the length, so there are no samples to work on. The analysis does not carry the length of a"
        " tensor made by `torch::empty({size})` to its numel().",
    ),
    LookedAt(_NF + "scan.cu", "inclusive_scan_kernel", (71, 79, 88, 97), ("barrier",), "true", _ROWS),
    LookedAt(_NF + "scan.cu", "exclusive_scan_kernel", (198, 206, 215, 224), ("barrier",), "true", _ROWS),
    LookedAt(_NF + "scan.cu", "inclusive_scan_kernel", (93,), (_SELF, _TWO), "true", _CHUNKS),
    LookedAt(
        _NF + "scan.cu",
        "exclusive_scan_kernel",
        (172,),
        (_SELF,),
        "benign",
        "All 16 threads of a row write the initial value to its first place.",
    ),
    LookedAt(_NF + "scan.cu", "exclusive_scan_kernel", (172,), (_TWO,), "true", _CHUNKS),
)

LOOKED_AT: tuple[LookedAt, ...] = (*_EXLLAMAV2, *_GSPLAT, *_NERFACC)
"""All of them; no two speak of the same site."""
