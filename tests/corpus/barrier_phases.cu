// Barriers in memory: all threads arrive and wait, with other work and asynchronous copies between.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cuda_awbarrier.h>
namespace cg = cooperative_groups;

// A copy for each batch.
// cuda-lsp: launch grid=(4) block=(256) batches=16
__global__ void barrier_copy(int *out, int const *in, int batches) {  // expect: race-free
  auto block = cg::this_thread_block();
  extern __shared__ int shared[];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int batch = 0; batch < batches; ++batch) {
    size_t first = blockIdx.x * block.size() + batch * gridDim.x * block.size();
    cuda::memcpy_async(block, shared, in + first, sizeof(int) * block.size(), barrier);
    barrier.arrive_and_wait();
    out[first + threadIdx.x] = shared[block.size() - 1 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}

// cuda-lsp: launch grid=(4) block=(256) batches=16
__global__ void barrier_copy_racy(int *out, int const *in, int batches) {
  auto block = cg::this_thread_block();
  extern __shared__ int shared[];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int batch = 0; batch < batches; ++batch) {
    size_t first = blockIdx.x * block.size() + batch * gridDim.x * block.size();
    cuda::memcpy_async(block, shared, in + first, sizeof(int) * block.size(), barrier);  // expect: data-race intra-block with +2
    barrier.arrive_and_wait();
    out[first + threadIdx.x] = shared[block.size() - 1 - threadIdx.x];
  }
}

// Plain arrive_and_wait instead of syncthreads.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void arrive_and_wait(const float *in, float *out) {  // expect: race-free
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  bar.arrive_and_wait();
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void arrive_after_racy(const float *in, float *out) {
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  bar.arrive_and_wait();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];  // expect: data-race intra-block with +1
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// Split arrive / wait.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void split(const float *in, float *out) {  // expect: race-free
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  auto token = bar.arrive();
  float extra = in[blockIdx.x * 256 + (threadIdx.x ^ 1)];
  bar.wait(std::move(token));
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x] + extra;
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void split_racy(const float *in, float *out) {
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto token = bar.arrive();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];  // expect: data-race intra-block with +2
  bar.wait(std::move(token));
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// Init without a barrier behind it.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void no_sync_after_init_racy(const float *in, float *out) {
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);  // expect: data-race intra-block with +2
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  bar.arrive_and_wait();
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// Primitives.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void mbarrier(const float *in, float *out) {  // expect: race-free
  __shared__ float tile[256];
  __shared__ __mbarrier_t bar;
  if (threadIdx.x == 0) __mbarrier_init(&bar, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {}
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// Per-thread cuda::memcpy_async with barrier.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void thread_copy_barrier(const int4 *in, int4 *out) {  // expect: race-free
  __shared__ alignas(16) int4 s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &in[blockIdx.x * 128 + threadIdx.x], cuda::aligned_size_t<16>(16), bar);
  bar.arrive_and_wait();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

// Thread-scope pipeline with own elements only: no barrier needed.
// cuda-lsp: launch grid=(4) block=(128) n=16
__global__ void thread_pipeline_own(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[2][128];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  const float *src = in + (size_t)blockIdx.x * n * 128;
  pipe.producer_acquire();
  cuda::memcpy_async(&s[0][t], &src[t], sizeof(float), pipe);
  pipe.producer_commit();
  float acc = 0.f;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[(k + 1) % 2][t], &src[(k + 1) * 128 + t], sizeof(float), pipe);
      pipe.producer_commit();
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    acc += s[k % 2][t];
    pipe.consumer_release();
  }
  out[blockIdx.x * 128 + t] = acc;
}

// memcpy_async with two stages, wait_prior.
// cuda-lsp: launch grid=(4) block=(128) n=16
__global__ void cg_wait_prior(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][128];
  auto block = cg::this_thread_block();
  const int *src = in + blockIdx.x * n * 128;
  cg::memcpy_async(block, s[0], src, sizeof(int) * 128);
  int acc = 0;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) {
      cg::memcpy_async(block, s[(k + 1) & 1], src + (k + 1) * 128, sizeof(int) * 128);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    acc += s[k & 1][127 - threadIdx.x];
    block.sync();
  }
  out[blockIdx.x * 128 + threadIdx.x] = acc;
}

// How often a thread asks is its own affair.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void counts_attempts(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto token = bar.arrive();
  int attempts = 0;
  while (!bar.try_wait(std::move(token))) ++attempts;
  out[threadIdx.x + attempts] = threadIdx.x;  // expect: possible-data-race with self
}

// Polling at the end of the loop.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void polled_at_the_end(const float *in, float *out) {  // expect: race-free
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  auto token = bar.arrive();
  bool done;
  do {
    done = bar.try_wait(std::move(token));
  } while (!done);
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// The second wait is for the first arrival: it returns at once.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void waits_for_the_past(const float *in, float *out) {  // expect: unknown(split-barrier)
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto first = bar.arrive();
  auto same = first;
  bar.wait(std::move(first));
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  auto second = bar.arrive();
  bar.wait(std::move(same));
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// What runs when a phase completes is not looked into: here every block writes the same cell.
struct NotesBlock {
  int *last;
  __device__ void operator()() { last[0] = blockIdx.x; }
};

// cuda-lsp: launch grid=(4) block=(256)
__global__ void completes(int *last) {  // expect: unknown(split-barrier)
  __shared__ cuda::barrier<cuda::thread_scope_block, NotesBlock> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x, NotesBlock{last});
  __syncthreads();
  bar.arrive_and_wait();
}
