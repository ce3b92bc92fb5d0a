// NVTX: names for what the runtime makes.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/runtime_api.h>
#include <nvToolsExt.h>
extern "C" {
void nvtxNameCudaDeviceA(int device, const char *name);
void nvtxNameCudaStreamA(cudaStream_t stream, const char *name);
void nvtxNameCudaEventA(cudaEvent_t event, const char *name);
}
#include <cuda_lsp/show_macros.h>
