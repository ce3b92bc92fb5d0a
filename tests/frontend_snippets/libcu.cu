// libcu++: atomics with scopes, barriers, pipelines; the C pipeline primitives.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/atomic>
#include <cuda/std/type_traits>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <atomic>

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> arrived;
__device__ cuda::std::atomic<int> anywhere;

__global__ void scoped(int *data, int *flag, cuda::atomic<int, cuda::thread_scope_system> *mailbox) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x == 0) {
    data[0] = 1;
    ready.store(1, cuda::memory_order_release);
    mailbox->fetch_add(1, cuda::std::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    data[1] = data[0];
  }
  unsigned seen = 0;
  arrived.compare_exchange_strong(seen, 1, cuda::memory_order_acq_rel);
  arrived++;
  arrived += 2;
  anywhere.exchange(3);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
  cuda::std::atomic_thread_fence(cuda::std::memory_order_release);
  static_assert(cuda::std::is_same_v<int, int>, "");
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>{*reinterpret_cast<unsigned *>(data)}.fetch_max(3u, cuda::std::memory_order_relaxed);
  __nv_atomic_fetch_add(data, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(flag, 2, __NV_ATOMIC_RELEASE);
}
__global__ void staged(const int *in, int *out) {
  using block_barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ block_barrier done;
  __shared__ int stage[2][256];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&done, block.size());
  block.sync();
  cuda::memcpy_async(block, stage[0], in, sizeof(int) * block.size(), done);
  block_barrier::arrival_token token = done.arrive();
  done.wait(std::move(token));
  done.arrive_and_wait();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, stage[1], in, cuda::aligned_size_t<16>(sizeof(int) * 256), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  out[threadIdx.x] = stage[1][threadIdx.x];
  pipe.consumer_release();
  auto own = cuda::make_pipeline();
  own.producer_acquire();
  cuda::memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, sizeof(int), own);
  own.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(own);
  __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __shared__ __mbarrier_t raw;
  __mbarrier_init(&raw, 32);
  __mbarrier_token_t t = __mbarrier_arrive(&raw);
  while (!__mbarrier_test_wait(&raw, t)) {}
}
