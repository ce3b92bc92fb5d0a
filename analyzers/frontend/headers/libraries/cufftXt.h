// cuFFT over several devices: descriptors; the routines take anything.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cufft.h>
typedef struct cudaXtDesc_t { int version, nGPUs, GPUs[64]; void *data[64]; size_t size[64]; void *cudaXtState; } cudaXtDesc;
typedef struct cudaLibXtDesc_t { int version; cudaXtDesc *descriptor; int library, subFormat; void *libDescriptor; } cudaLibXtDesc;
typedef enum { CUFFT_XT_FORMAT_INPUT, CUFFT_XT_FORMAT_OUTPUT, CUFFT_XT_FORMAT_INPLACE, CUFFT_XT_FORMAT_INPLACE_SHUFFLED, CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED } cufftXtSubFormat;
typedef enum { CUFFT_COPY_HOST_TO_DEVICE, CUFFT_COPY_DEVICE_TO_HOST, CUFFT_COPY_DEVICE_TO_DEVICE } cufftXtCopyType;
#define CUDA_LSP_XT(name) template <class... A> cufftResult name(A &&...arguments);
CUDA_LSP_XT(cufftXtSetGPUs) CUDA_LSP_XT(cufftXtMalloc) CUDA_LSP_XT(cufftXtMemcpy) CUDA_LSP_XT(cufftXtFree) CUDA_LSP_XT(cufftXtSetWorkArea)
CUDA_LSP_XT(cufftXtExecDescriptorC2C) CUDA_LSP_XT(cufftXtExecDescriptorR2C) CUDA_LSP_XT(cufftXtExecDescriptorC2R) CUDA_LSP_XT(cufftXtExecDescriptorZ2Z)
CUDA_LSP_XT(cufftXtExecDescriptor) CUDA_LSP_XT(cufftXtMakePlanMany) CUDA_LSP_XT(cufftXtExec) CUDA_LSP_XT(cufftXtSetCallback) CUDA_LSP_XT(cufftXtQueryPlan)
#undef CUDA_LSP_XT
#include <cuda_lsp/show_macros.h>
