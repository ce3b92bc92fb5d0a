// Building blocks for cooperative groups, pipelines and matrix fragments: everything else in the headers is written in
// terms of these, so the analysis needs to know no class.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/warp.h>

#pragma clang force_cuda_host_device begin

// Accesses of `size` bytes, a constant, by the calling thread.
void __cuda_lsp_read_bytes(const void *from, size_t size);
void __cuda_lsp_write_bytes(void *to, size_t size);

// A split barrier in memory (mbarrier): `wait` returns once the phase of `token` is complete.
void __cuda_lsp_barrier_init(void *barrier, unsigned expected);
unsigned long long __cuda_lsp_barrier_arrive(void *barrier, unsigned count);
bool __cuda_lsp_barrier_test(void *barrier, unsigned long long token);
void __cuda_lsp_barrier_wait(void *barrier, unsigned long long token);
void __cuda_lsp_barrier_wait_parity(void *barrier, bool parity);
void __cuda_lsp_barrier_drop(void *barrier);
void __cuda_lsp_barrier_inval(void *barrier);
// The open phase waits for the calling thread's copies so far; that is no arrival.
void __cuda_lsp_barrier_copies(void *barrier);
// What is called whenever a phase completes.
void __cuda_lsp_barrier_completion(void *barrier);

// The number within a group of a thread that does something for all: nobody knows which one it is.
unsigned __cuda_lsp_some_rank();

// A pipeline shared by the threads of a scope (the numbers of __cuda_lsp_atomic_*); scope 0 is one thread's own.
// `role`: 0 both, 1 producer, 2 consumer.
void __cuda_lsp_pipeline_make(void *pipeline, int scope, int stages, unsigned long long threads, int role);
// Out of the pipeline, or a wait that may give up.
void __cuda_lsp_pipeline_leave(void *pipeline, int scope);
void __cuda_lsp_pipeline_producer_acquire(void *pipeline, int scope);
void __cuda_lsp_pipeline_producer_commit(void *pipeline, int scope);
void __cuda_lsp_pipeline_consumer_wait(void *pipeline, int scope);
void __cuda_lsp_pipeline_consumer_release(void *pipeline, int scope);

inline unsigned __cuda_lsp_thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned __cuda_lsp_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned __cuda_lsp_block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
inline unsigned __cuda_lsp_grid_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
inline unsigned __cuda_lsp_lane() { return __cuda_lsp_thread_rank() % 32u; }
// Blocks per cluster along an axis, a constant.
unsigned __cuda_lsp_cluster_size(int axis);
inline dim3 __cuda_lsp_cluster_dim() {
  return dim3(__cuda_lsp_cluster_size(0), __cuda_lsp_cluster_size(1), __cuda_lsp_cluster_size(2));
}
inline dim3 __cuda_lsp_cluster_block() {
  return dim3(blockIdx.x % __cuda_lsp_cluster_size(0), blockIdx.y % __cuda_lsp_cluster_size(1),
              blockIdx.z % __cuda_lsp_cluster_size(2));
}
inline unsigned __cuda_lsp_cluster_rank() {
  return blockIdx.x % __cuda_lsp_cluster_size(0) +
         __cuda_lsp_cluster_size(0) * (blockIdx.y % __cuda_lsp_cluster_size(1) +
                                       __cuda_lsp_cluster_size(1) * (blockIdx.z % __cuda_lsp_cluster_size(2)));
}
// The address of a shared object of the calling thread's block in the block with that rank in the cluster.
template <class T> T *__cuda_lsp_cluster_map(T *shared, unsigned rank);

#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
