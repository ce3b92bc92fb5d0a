// Eight-bit floating point: storage and conversions.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#pragma clang force_cuda_host_device begin
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
#define CUDA_LSP_FP8(name)                                                                              \
  struct name {                                                                                         \
    __nv_fp8_storage_t __x;                                                                             \
    name() = default;                                                                                   \
    explicit name(float value); explicit name(double value); explicit name(int value);                  \
    explicit name(__half value); explicit name(__nv_bfloat16 value);                                    \
    explicit operator __half() const; explicit operator __nv_bfloat16() const; explicit operator float() const; \
    explicit operator double() const; explicit operator int() const; explicit operator bool() const;    \
  };
CUDA_LSP_FP8(__nv_fp8_e4m3)
CUDA_LSP_FP8(__nv_fp8_e5m2)
#undef CUDA_LSP_FP8
#define CUDA_LSP_FP8_SEVERAL(kind)                                                                                    \
  struct __nv_fp8x2_##kind {                                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                        \
    __nv_fp8x2_##kind() = default;                                                                                   \
    explicit __nv_fp8x2_##kind(float2 value); explicit __nv_fp8x2_##kind(double2 value);                             \
    explicit __nv_fp8x2_##kind(__half2 value); explicit __nv_fp8x2_##kind(__nv_bfloat162 value);                     \
    explicit operator float2() const; explicit operator __half2() const;                                             \
  };                                                                                                                 \
  struct __nv_fp8x4_##kind {                                                                                         \
    __nv_fp8x4_storage_t __x;                                                                                        \
    __nv_fp8x4_##kind() = default;                                                                                   \
    explicit __nv_fp8x4_##kind(float4 value); explicit __nv_fp8x4_##kind(double4 value);                             \
    explicit __nv_fp8x4_##kind(__half2 low, __half2 high);                                                           \
    explicit __nv_fp8x4_##kind(__nv_bfloat162 low, __nv_bfloat162 high);                                             \
    explicit operator float4() const;                                                                                \
  };
CUDA_LSP_FP8_SEVERAL(e4m3)
CUDA_LSP_FP8_SEVERAL(e5m2)
#undef CUDA_LSP_FP8_SEVERAL
__nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind);
__nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind);
__nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind);
__nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind);
__nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind);
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t value, __nv_fp8_interpretation_t kind);
__half_raw2 __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t value, __nv_fp8_interpretation_t kind);
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
