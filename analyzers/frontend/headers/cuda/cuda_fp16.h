// Half precision (cuda_fp16.h).
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/warp.h>

#pragma clang force_cuda_host_device begin

struct __nv_bfloat16;
#define CUDA_LSP_FLOAT __half
#define CUDA_LSP_FLOAT2 __half2
#define CUDA_LSP_RAW __half_raw
#define CUDA_LSP_RAW2 __half_raw2
#define CUDA_LSP_NAME half
#include <cuda_lsp/short_float.h>

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half_raw2 __half2_raw;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)

#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
