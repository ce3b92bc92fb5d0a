// Asynchronous copies: they run on until the thread waits for them, whatever barriers are in between.

#include <cuda/barrier>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void waited_for(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[63 - t];
}

// The barrier is no substitute for the wait.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void never_waited_for(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));  // expect: data-race with +3
  __pipeline_commit();
  __syncthreads();
  out[t] = s[63 - t];
}

// A wait covers committed copies only.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void never_committed(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));  // expect: data-race with +3
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[63 - t];
}

// The thread reads what its own copy may not have brought yet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_data_too_early(const int *in, int *out) {  // expect: unknown(async-copy)
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_data_elsewhere(const int *in, int *out) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  s[64 + t] = t;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  out[t] = s[64 + t];
}

// The newest group is still open.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_group_left(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &in[t + 64], sizeof(int));  // expect: data-race with +4
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = s[127 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void older_group_used(const int *in, int *out) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &in[t + 64], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = s[63 - t];
}

// Two stages: the next one is copied while this one is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void two_stages(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k & 1][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// The stage that is being filled is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void wrong_stage(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n)
      __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], sizeof(int));  // expect: data-race with +4
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[(k + 1) & 1][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// Several copies in a loop before one wait.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void copied_in_a_loop(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[256];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < 4; ++j) __pipeline_memcpy_async(&s[j * 64 + t], &in[k * 256 + j * 64 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += s[255 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// The barrier comes before the wait for copies of several iterations.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void open_from_a_loop(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  for (int j = 0; j < 4; ++j)
    __pipeline_memcpy_async(&s[j * 64 + t], &in[j * 64 + t], sizeof(int));  // expect: data-race with +4
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[t] = s[255 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_copy(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(s));
  cg::wait(block);
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_copy_not_waited_for(const int *in, int *out) {  // expect: unknown(async-copy)
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(s));  // expect: data-race with +2
  block.sync();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void thread_pipeline(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  __syncthreads();
  out[t] = s[63 - t];
  pipe.consumer_release();
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_assembly(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  unsigned to = __cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + t));  // expect: data-race with +4
  asm volatile("cp.async.commit_group;");
  __syncthreads();
  asm volatile("cp.async.wait_group 0;");
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_assembly_waited_for(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  unsigned to = __cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + t));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[t] = s[63 - t];
}

// Half of the threads do not wait.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_wait(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));  // expect: data-race with +4
  __pipeline_commit();
  if (t < 32) __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[63 - t];
}

// Only the half that copies has to wait.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void those_wait_that_copy(const int *in, int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
  }
  if (t < 32) __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[31 - t % 32];
}

// The source is overwritten while it may still be read.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void source_overwritten(int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));  // expect: data-race with +3
  __pipeline_commit();
  __syncthreads();
  in[63 - t] = t;
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[63 - t];
}

// A pipeline object takes its stages in turn.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void staged_pipeline(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[0][t], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  for (int k = 0; k < n; ++k) {
    pipe.producer_acquire();
    if (k + 1 < n) cuda::memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    sum += s[k & 1][63 - t];
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

// Unlocking does not wait for a copy.
__device__ int copy_mutex;

// cuda-lsp: launch grid=(2) block=(32)
__global__ void unlocked_before_the_wait(int *global, int value) {
  __shared__ int staged[4];
  if (threadIdx.x == 0) {
    while (atomicCAS(&copy_mutex, 0, 1) != 0) {
    }
    __threadfence();
    global[0] = value;  // expect: possible-data-race with +1
    __pipeline_memcpy_async(&staged[0], &global[0], 4);
    __pipeline_commit();
    __threadfence();
    atomicExch(&copy_mutex, 0);
    __pipeline_wait_prior(0);
    global[4 + blockIdx.x] = staged[0];
  }
}

// Which thread copies what is not said: each waits for its own part only.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void part_of_another(int *out, const int *in) {
  __shared__ int s[256];
  auto block = cg::this_thread_block();
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(block, s, in + blockIdx.x * 256, sizeof(int) * 256, pipe);  // expect: data-race intra-block with +3
  pipe.producer_commit();
  pipe.consumer_wait();
  if (threadIdx.x == 0) out[blockIdx.x] = s[255];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void overwritten_by_a_copy(int *out, const int *in) {
  __shared__ int s[256];
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) s[7] = 1;
  cg::memcpy_async(block, s, in + blockIdx.x * 256, sizeof(int) * 256);  // expect: data-race intra-block with -1
  cg::wait(block);
  out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}

// Shared memory may be filled again when the bulk copy has read it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bulk_copy_has_read(const int *in, int *out, int *last) {  // expect: race-free
  __shared__ alignas(16) int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, s, 256);
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
  __syncthreads();
  s[63 - t] = t;
  last[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void bulk_copy_still_reads(const int *in, int *out) {
  __shared__ alignas(16) int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, s, 256);  // expect: data-race with +4
    cuda::device::experimental::cp_async_bulk_commit_group();
  }
  __syncthreads();
  if (t > 0) s[t] = t;
}
