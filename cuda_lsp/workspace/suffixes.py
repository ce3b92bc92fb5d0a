"""How the names of files with C, C++ and CUDA code end, in lower case."""

from __future__ import annotations

CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
HEADER_SUFFIXES = frozenset(
    {
        ".cuh", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc", ".cuinl", ".ipp", ".ixx", ".tpp", ".tcc", ".txx",
        ".def", ".impl",
    }
)  # fmt: skip
SOURCE_SUFFIXES = frozenset({".cu", ".c", ".cc", ".cpp", ".cxx", ".c++"})
