// Producers and consumers: a flag is written behind a fence, and waited for in front of one.

#include <cuda/atomic>

__device__ int ready;

// cuda-lsp: launch grid=(2) block=(32)
__global__ void produce_and_consume(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void no_fence_of_the_producer(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +7
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void no_fence_of_the_consumer(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +7
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    *out = *data;
  }
}

// The fence stands behind the flag.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fence_too_late(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +8
    atomicExch(&ready, 1);
    __threadfence();
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// The data come after the flag.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_too_early(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    __threadfence();
    atomicExch(&ready, 1);
    *data = 42;  // expect: possible-data-race inter-block with +6
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// What is read before the wait is not what was produced.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void read_too_early(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +5
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    int now = *data;
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = now;
  }
}

// Fences of a block do not reach the other block.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fence_of_the_producers_block(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +8
    __threadfence_block();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// Within one they do.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void between_the_warps_of_a_block(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0) {
    *data = 42;
    __threadfence_block();
    atomicExch_block(&ready, 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd_block(&ready, 0) == 0) {
    }
    __threadfence_block();
    *out = *data;
  }
}

// A flag of volatile accesses: they order nothing, the fences do.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void volatile_flag(volatile int *flag, int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void volatile_flag_without_fences(volatile int *flag, int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: data-race inter-block with +6
    *flag = 1;
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (*flag == 0) {
    }
    *out = *data;
  }
}

// A plain flag is a race itself, and the compiler may read it once.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void plain_flag(int *flag, int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: data-race inter-block with +8
    __threadfence();
    *flag = 1;  // expect: data-race inter-block with +3
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// The wait ends when the flag is as it was from the start.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void waits_for_nothing(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 1) {
    }
    __threadfence();
    *out = *data;
  }
}

// It looks once, and goes on if there is something.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void looks_once(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    if (atomicAdd(&ready, 0) == 1) {
      __threadfence();
      *out = *data;
    }
  }
}

// It looks a few times, and goes on in any case.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void looks_a_few_times(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    for (int i = 0; i < 100 && atomicAdd(&ready, 0) == 0; ++i) {
    }
    __threadfence();
    *out = *data;
  }
}

// Two producers, one flag: it says that one of them is ready.
// cuda-lsp: launch grid=(3) block=(32)
__global__ void two_producers(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x < 2) {
    data[blockIdx.x] = 42;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 2) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence();
    *out = data[0] + data[1];
  }
}

// A flag for each of them.
// cuda-lsp: launch grid=(3) block=(32)
__global__ void two_producers_two_flags(int *flags, int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x < 2) {
    data[blockIdx.x] = 42;
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 2) {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    while (atomicAdd(&flags[1], 0) == 0) {
    }
    __threadfence();
    *out = data[0] + data[1];
  }
}

// Waiting for the flag of the other one.
// cuda-lsp: launch grid=(3) block=(32)
__global__ void flag_of_the_other(int *flags, int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x < 2) {
    data[blockIdx.x] = 42;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 2) {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    __threadfence();
    *out = data[1];
  }
}

// Whole blocks: barriers hand on what the first thread signals and waits for.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void from_block_to_block(int *flags, const int *in, int *data, int *out) {  // expect: race-free
  int t = threadIdx.x, b = blockIdx.x;
  data[b * 64 + t] = in[b * 64 + t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[b], 1);
  }
  if (b > 0) {
    if (t == 0) {
      while (atomicAdd(&flags[b - 1], 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[b * 64 + t] = data[(b - 1) * 64 + 63 - t];
  }
}

// The first thread signals before the others are ready.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void signals_before_the_others(int *flags, const int *in, int *data, int *out) {
  int t = threadIdx.x, b = blockIdx.x;
  data[b * 64 + t] = in[b * 64 + t];  // expect: possible-data-race inter-block with +12
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[b], 1);
  }
  if (b > 0) {
    if (t == 0) {
      while (atomicAdd(&flags[b - 1], 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[b * 64 + t] = data[(b - 1) * 64 + 63 - t];
  }
}

// The others do not wait for the first thread.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void others_do_not_wait(int *flags, const int *in, int *data, int *out) {
  int t = threadIdx.x, b = blockIdx.x;
  data[b * 64 + t] = in[b * 64 + t];  // expect: possible-data-race inter-block with +12
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[b], 1);
  }
  if (b > 0) {
    if (t == 0) {
      while (atomicAdd(&flags[b - 1], 0) == 0) {
      }
      __threadfence();
    }
    out[b * 64 + t] = data[(b - 1) * 64 + 63 - t];
  }
}

// The block before the one whose flag was seen.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void one_block_too_far(int *flags, const int *in, int *data, int *out) {
  int t = threadIdx.x, b = blockIdx.x;
  data[b * 64 + t] = in[b * 64 + t];  // expect: possible-data-race inter-block with +13
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[b], 1);
  }
  if (b > 1) {
    if (t == 0) {
      while (atomicAdd(&flags[b - 1], 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[b * 64 + t] = data[(b - 2) * 64 + 63 - t];
  }
}

// Each block waits for the one before it signals: then the one before that is done as well.
// cuda-lsp: launch grid=(3) block=(32)
__global__ void passed_on(int *flag, int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(flag, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(flag, 0) != 1) {
    }
    __threadfence();
    atomicExch(flag, 2);
  }
  if (threadIdx.x == 0 && blockIdx.x == 2) {
    while (atomicAdd(flag, 0) != 2) {
    }
    __threadfence();
    *out = *data;
  }
}

// Passed on without a fence.
// cuda-lsp: launch grid=(3) block=(32)
__global__ void passed_on_without_a_fence(int *flag, int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;  // expect: possible-data-race inter-block with +13
    __threadfence();
    atomicExch(flag, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(flag, 0) != 1) {
    }
    atomicExch(flag, 2);
  }
  if (threadIdx.x == 0 && blockIdx.x == 2) {
    while (atomicAdd(flag, 0) != 2) {
    }
    __threadfence();
    *out = *data;
  }
}

// The flag is set back and used again: the second value may be that of the first round.
// cuda-lsp: launch grid=(2) block=(32) n=4
__global__ void flag_used_again(int *flag, int *data, int *out, int n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      *data = i;  // expect: possible-data-race inter-block with +10
      __threadfence();
      atomicExch(flag, 1);
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    for (int i = 0; i < n; ++i) {
      while (atomicExch(flag, 0) == 0) {
      }
      __threadfence();
      out[i] = *data;
    }
  }
}

// A cell and a flag for each round.
// cuda-lsp: launch grid=(2) block=(32) n=4
__global__ void flag_for_each_round(int *flags, int *data, int *out, int n) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      data[i] = i;
      __threadfence();
      atomicExch(&flags[i], 1);
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    for (int i = 0; i < n; ++i) {
      while (atomicAdd(&flags[i], 0) == 0) {
      }
      __threadfence();
      out[i] = data[i];
    }
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_cpp(int *flag, int *data, int *out) {  // expect: race-free
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    f.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_cpp_stored_relaxed(int *flag, int *data, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +6
    f.store(1, cuda::memory_order_relaxed);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_cpp_loaded_relaxed(int *flag, int *data, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +6
    f.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (f.load(cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;
  }
}

// Relaxed accesses between fences of the same library; the waiting is a function of its own.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_cpp_with_fences(int *flag, int *data, int *out) {  // expect: race-free
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    f.store(1, cuda::memory_order_relaxed);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    f.wait(0, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    *out = *data;
  }
}

// An acquire fence in the producer's place.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_cpp_wrong_fence(int *flag, int *data, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +7
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    f.store(1, cuda::memory_order_relaxed);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    f.wait(0, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    *out = *data;
  }
}

// Volatile data is read after the wait, even without a fence: the proof says so.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void volatile_data(volatile int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    *out = *data;
  }
}

// Not before it is written, though.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void volatile_data_written_late(volatile int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(&ready, 1);
    *data = 43;  // expect: possible-data-race inter-block with +5
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    *out = *data;
  }
}

// What the declaration puts there ends the wait.
__device__ int raised = 1;
// cuda-lsp: launch grid=(2) block=(32)
__global__ void waits_for_a_flag_that_is_up(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&raised, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&raised, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

__device__ int lowered[2] = {0};
// cuda-lsp: launch grid=(2) block=(32)
__global__ void waits_for_a_flag_that_is_down(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(&lowered[1], 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&lowered[1], 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// A flag in shared memory, set to zero before anybody looks at it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shared_flag(int *out) {  // expect: race-free
  __shared__ int flags[2], data;
  if (threadIdx.x == 0) flags[1] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 1;
    __threadfence_block();
    atomicExch(&flags[1], 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&flags[1], 0) != 1) {
    }
    __threadfence_block();
    *out = data;
  }
}

// It is the other one that is set to zero.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shared_flag_never_zeroed(int *out) {
  __shared__ int flags[2], data;
  if (threadIdx.x == 0) flags[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 1;  // expect: possible-data-race intra-block with +8
    __threadfence_block();
    atomicExch(&flags[1], 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&flags[1], 0) != 1) {
    }
    __threadfence_block();
    *out = data;
  }
}

// It is set to zero afterwards.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shared_flag_zeroed_too_late(int *out) {
  __shared__ int flag, data;
  if (threadIdx.x == 0) {
    data = 1;  // expect: possible-data-race intra-block with +8
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) != 1) {
    }
    __threadfence_block();
    *out = data;
  }
  __syncthreads();
  if (threadIdx.x == 0) flag = 0;
}

// All threads wait for the number of steps, which nobody writes behind a wait: it is one number.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void steps_behind_a_flag(volatile int *flag, int *steps, int *out) {  // expect: race-free
  __shared__ int row[64];
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *steps = 5;
      __threadfence();
      *flag = 1;
    }
    return;
  }
  while (*flag == 0) {
  }
  __threadfence();
  int n = *steps;
  for (int i = 0; i < n; ++i) {
    row[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] = row[63 - threadIdx.x];
    __syncthreads();
  }
}

// The test of the wait stands in front of the load; before it nothing was seen.
// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_acquire(int *flag, int *data, int *out) {  // expect: race-free
  if (blockIdx.x == 0) {
    *data = 5;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
  } else {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_without_release(int *flag, int *data, int *out) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +5
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
  } else {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_of_a_parameter(int *flag, int *data, int *out, int start) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +5
    asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
  } else {
    int seen = start;
    while (seen == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_and_a_limit(int *flag, int *data, int *out) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +5
    asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
  } else {
    int seen = 0, tries = 0;
    while (seen == 0 && tries < 100) { asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); tries++; }
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_and_a_way_around(volatile int *flag, int *data, int *out, int n) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +7
    __threadfence();
    *flag = 1;
  } else {
    int seen = 0, k = 0;
    while (seen == 0) { if (k++ == n) { seen = 2; continue; } seen = *flag; }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_of_volatile(volatile int *flag, int *data, int *out, int n) {  // expect: race-free
  if (blockIdx.x == 0) {
    *data = 5;
    __threadfence();
    *flag = 1;
  } else {
    int seen = 0;
    while (!seen) { seen = *flag; }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_and_a_break(volatile int *flag, int *data, int *out, int n) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +7
    __threadfence();
    *flag = 1;
  } else {
    int seen = 0;
    while (!seen) { if (n == 3) break; seen = *flag; }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void test_in_front_for_the_other(volatile int *flag, int *data, int *out, int n) {
  if (blockIdx.x == 0) {
    *data = 5;  // expect: possible-data-race inter-block with +7
    __threadfence();
    *flag = 1;
  } else {
    int seen = 1;
    while (seen != 0) { seen = *flag; }
    __threadfence();
    *out = *data;
  }
}
