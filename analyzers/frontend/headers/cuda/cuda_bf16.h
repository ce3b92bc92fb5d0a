// bfloat16 (cuda_bf16.h).
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/warp.h>
#include <cuda_fp16.h>

#pragma clang force_cuda_host_device begin

#define CUDA_LSP_FLOAT __nv_bfloat16
#define CUDA_LSP_FLOAT2 __nv_bfloat162
#define CUDA_LSP_RAW __nv_bfloat16_raw
#define CUDA_LSP_RAW2 __nv_bfloat16_raw2
#define CUDA_LSP_NAME bfloat16
#define CUDA_LSP_FROM_HALF
#include <cuda_lsp/short_float.h>

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16_raw2 __nv_bfloat162_raw;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)

#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
