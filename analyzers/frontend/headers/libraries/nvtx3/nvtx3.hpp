// NVTX for C++.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <nvToolsExt.h>
namespace nvtx3 {
struct scoped_range { template <class... A> explicit scoped_range(A &&...arguments); };
template <class... A> void mark(A &&...arguments);
}  // namespace nvtx3
#define NVTX3_FUNC_RANGE() ((void)0)
#include <cuda_lsp/show_macros.h>
