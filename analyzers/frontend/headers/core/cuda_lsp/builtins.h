// Thread coordinates, barriers, fences, cached loads and stores, address spaces and the other intrinsics of one thread.
#pragma once
#include <cuda_lsp/vectors.h>

extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;

// Barriers. The analysis knows these by name. clang has this one built in, as a device function.
__device__ void __syncthreads();

#pragma clang force_cuda_host_device begin

int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);
int __syncthreads_count(int predicate);
void __syncwarp(unsigned mask = 0xffffffffu);
void __barrier_sync(unsigned id);
void __barrier_sync_count(unsigned id, unsigned count);
void __cuda_lsp_grid_sync();
void __cuda_lsp_block_arrive();
void __cuda_lsp_block_wait();
void __cuda_lsp_grid_arrive();
void __cuda_lsp_grid_wait();
void __cuda_lsp_cluster_sync();
void __cuda_lsp_cluster_arrive();
void __cuda_lsp_cluster_wait();
// A barrier of `size` consecutive threads of the block, for tiles of several warps.
void __cuda_lsp_tile_sync(unsigned size);
void __cuda_lsp_exchange_sync(unsigned lanes);

void __threadfence();
void __threadfence_block();
void __threadfence_system();

// Read-only and cache-hinted accesses are plain accesses.
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldca(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> T __ldlu(const T *p) { return *p; }
template <class T> T __ldcv(const T *p) { return *p; }
template <class T> struct __cuda_lsp_same { using type = T; };
template <class T> void __stwb(T *p, typename __cuda_lsp_same<T>::type value) { *p = value; }
template <class T> void __stcg(T *p, typename __cuda_lsp_same<T>::type value) { *p = value; }
template <class T> void __stcs(T *p, typename __cuda_lsp_same<T>::type value) { *p = value; }
template <class T> void __stwt(T *p, typename __cuda_lsp_same<T>::type value) { *p = value; }

// Asynchronous copies: the bytes are read and written between the call and the wait that covers it.
void __cuda_lsp_copy_async(void *to, const void *from, size_t size);
void __cuda_lsp_copy_async_on(void *to, const void *from, size_t size, void *barrier);
void __cuda_lsp_copy_async_commit();
void __cuda_lsp_copy_async_wait(unsigned newest_left);
void __cuda_lsp_copy_async_wait_for_reads(unsigned newest_left);

unsigned __isGlobal(const void *p);
unsigned __isShared(const void *p);
unsigned __isConstant(const void *p);
unsigned __isLocal(const void *p);
unsigned __isGridConstant(const void *p);
size_t __cvta_generic_to_global(const void *p);
size_t __cvta_generic_to_shared(const void *p);
size_t __cvta_generic_to_constant(const void *p);
size_t __cvta_generic_to_local(const void *p);
size_t __cvta_generic_to_grid_constant(const void *p);
void *__cvta_global_to_generic(size_t p);
void *__cvta_shared_to_generic(size_t p);
void *__cvta_constant_to_generic(size_t p);
void *__cvta_local_to_generic(size_t p);

void __trap() __attribute__((noreturn));
void __exit() __attribute__((noreturn));
void __brkpt();
void __prof_trigger(int counter);
void __nanosleep(unsigned nanoseconds);
long long clock64();
unsigned long long globaltimer();
void *__nv_associate_access_property(const void *p, unsigned long long property);

#pragma clang force_cuda_host_device end

#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
