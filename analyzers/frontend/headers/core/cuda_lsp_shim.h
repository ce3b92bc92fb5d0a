// Included before every file: what nvcc makes visible without any #include.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/language.h>
// What follows is a few declarations for who goes through those of a unit: to load a thousand takes longer than to decide
// most kernels.
extern "C++" {
#include <cuda_lsp/c_library.h>
#include <cuda_lsp/cpp_core.h>
#include <cuda_lsp/vectors.h>
}
#include <cuda_lsp/builtins.h>  // clang knows __syncthreads, and not as one of C++
extern "C++" {
#include <cuda_lsp/warp.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/runtime_api.h>
#include <cuda_lsp/textures.h>
}
#include <cuda_lsp/show_macros.h>
