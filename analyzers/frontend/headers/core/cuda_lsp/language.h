// CUDA's keywords, the macros nvcc predefines, and the hooks through which the analysis recognises checks.
#pragma once

#define __NVCC__ 1
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 131
#define __CUDA_ARCH_LIST__ 800
#define __CUDA_API_VERSION 12040
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#define __CUDART_API_VERSION CUDART_VERSION

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __tile_static__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define CUDA_LSP_CLUSTER_DIMS(...) __attribute__((annotate("cluster_dims(" #__VA_ARGS__ ")")))
#define __cluster_dims__(...) CUDA_LSP_CLUSTER_DIMS(__VA_ARGS__)
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#define __nv_builtin_va_list __builtin_va_list
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __no_return__ __attribute__((noreturn))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __specialization_static
#define __thread__ __thread
#define __location__(a) __attribute__((a))
// The include guards of the toolkit's own headers: helper headers ask for them.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
#define __CUDA_MATH_CRTIMP

// nvcc takes alignas wherever a decl-specifier may stand (`__shared__ alignas(16) float s[4]`); clang does so for the GNU
// attribute only. The argument may be a type or a number.
template <class T> constexpr unsigned long __cuda_lsp_alignment() { return alignof(T); }
template <unsigned long N> constexpr unsigned long __cuda_lsp_alignment() { return N; }
#define alignas(...) __attribute__((aligned(__cuda_lsp_alignment<__VA_ARGS__>())))

// A condition that holds where execution goes on: assert, TORCH_CHECK and their like expand to a call of one of these.
extern "C" __host__ __device__ void __cuda_lsp_assert(bool condition, const char *text);
extern "C" __host__ __device__ void __cuda_lsp_check(bool condition, const char *text);
