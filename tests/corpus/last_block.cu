// The block that finishes last does the rest: a counter tells it that all others have passed their fence.

#include <cooperative_groups.h>

__device__ unsigned finished;

// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block_sums(const int *in, int *part, int *out) {  // expect: race-free
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    unsigned ticket = atomicInc(&finished, gridDim.x);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
    if (threadIdx.x == 0) finished = 0;
  }
}

// For any grid, by an addition; the counter is in an argument.
__global__ void last_block_of_any_grid(const int *in, int *part, int *out, int *count) {  // expect: race-free
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    for (int i = threadIdx.x; i < gridDim.x; i += 64) out[i] = part[i];
  }
}

void launch_last_block(const int *in, int *part, int *out, int *count, int blocks) {
  last_block_of_any_grid<<<blocks, 64>>>(in, part, out, count);
}

// All threads write, and each has its fence before the barrier.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void last_block_of_all_threads(const int *in, int *part, int *out) {  // expect: race-free
  __shared__ bool last;
  part[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&finished, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    for (int i = threadIdx.x; i < 4 * 64; i += 64) out[i] = part[255 - i];
  }
}

// The barrier between the others' writes and the counter is missing.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void counted_before_the_others(const int *in, int *part, int *out) {
  __shared__ bool last;
  part[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];  // expect: possible-data-race inter-block with +6
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&finished, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    for (int i = threadIdx.x; i < 4 * 64; i += 64) out[i] = part[255 - i];
  }
}

// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block_without_fence(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +6
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
  }
}

// The fence of a block is not enough for another.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block_with_weak_fence(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +7
    __threadfence_block();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
  }
}

// Nothing keeps the last block from reading what it had in its cache.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block_reads_without_fence(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +5
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
}

// Volatile reads are not served from there: an assumption that is listed.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block_reads_volatile(const int *in, volatile int *part, int *out) {  // expect: race-free
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
}

// The last but one: the last may still be at work.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_but_one(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +7
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 2;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
  }
}

// Every block adds two.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void counted_twice(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicAdd(&finished, 1);
    last = atomicAdd(&finished, 1) >= gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// The increment starts again at four.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void counts_to_four(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +7
    __threadfence();
    last = atomicInc(&finished, 3) == 3;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// Counted in the block only.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void counted_in_the_block(const int *in, int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +7
    __threadfence();
    last = atomicInc_block(&finished, gridDim.x) == gridDim.x - 1;  // expect: data-race inter-block with self
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = part[threadIdx.x];
  }
}

// One thread for each block: no shared memory, no barrier.
// cuda-lsp: launch grid=(8) block=(1)
__global__ void last_thread(const int *in, int *part, int *out) {  // expect: race-free
  part[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(&finished, 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i];
    *out = sum;
  }
}

// A barrier of the grid by hand, for blocks that all run at the same time.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void grid_barrier(const int *in, int *data, int *out) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  data[i] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&finished, 1);
    while (atomicAdd(&finished, 0) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = data[8 * 64 - 1 - i];
}

// One too few is waited for.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void grid_barrier_one_short(const int *in, int *data, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  data[i] = in[i];  // expect: possible-data-race inter-block with +10
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&finished, 1);
    while (atomicAdd(&finished, 0) < gridDim.x - 1) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = data[8 * 64 - 1 - i];
}

// Without the first barrier the first thread counts its block too early.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void grid_barrier_half(const int *in, int *data, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  data[i] = in[i];  // expect: possible-data-race inter-block with +9
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&finished, 1);
    while (atomicAdd(&finished, 0) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = data[8 * 64 - 1 - i];
}

// Cut to eight bits, the numbers of threads 0 and 256 are equal: a block is counted twice.
// cuda-lsp: launch grid=(8) block=(512)
__global__ void counted_by_two_threads(const int *in, int *part, int *out) {
  if (threadIdx.x == 0) part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +7
  __threadfence();
  if ((unsigned char)threadIdx.x == 0) {
    unsigned ticket = atomicAdd(&finished, 1);
    __threadfence();
    if (ticket == gridDim.x - 1 && threadIdx.x == 0) {
      int sum = 0;
      for (int i = 0; i < gridDim.x; ++i) sum += part[i];
      out[blockIdx.x] = sum;
    }
  }
}

// In a wider type they are not.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void counted_by_one_thread(const int *in, int *part, int *out) {  // expect: race-free
  unsigned long long lane = threadIdx.x;
  if (lane == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    unsigned ticket = atomicAdd(&finished, 1);
    __threadfence();
    if (ticket == gridDim.x - 1) {
      int sum = 0;
      for (int i = 0; i < gridDim.x; ++i) sum += part[i];
      *out = sum;
    }
  }
}

// All threads say which block is the last, and not all of them know.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void told_by_all_threads(const int *in, int *part, int *out) {
  __shared__ unsigned last;
  if (threadIdx.x == 0) part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +8
  __threadfence();
  unsigned ticket = 7;
  if (threadIdx.x == 0) ticket = atomicAdd(&finished, 1);
  *(volatile unsigned *)&last = ticket;
  __syncthreads();
  if (last == gridDim.x - 1) {
    __threadfence();
    if (threadIdx.x < gridDim.x) out[blockIdx.x * 64 + threadIdx.x] = part[threadIdx.x];
  }
}

// The other blocks' increments start again at three.
// cuda-lsp: launch grid=(8) block=(1)
__global__ void counts_to_three_elsewhere(const int *in, int *part, int *out) {
  if (blockIdx.x == 5) part[0] = in[0];  // expect: possible-data-race inter-block with +4
  __threadfence();
  if (atomicInc(&finished, blockIdx.x == 5 ? 100 : 3) == gridDim.x - 1) {
    __threadfence();
    out[blockIdx.x] = part[0];
  }
}

// Different limits, none of them reached.
// cuda-lsp: launch grid=(8) block=(1)
__global__ void counts_far_enough_everywhere(const int *in, int *part, int *out) {  // expect: race-free
  part[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicInc(&finished, gridDim.x + blockIdx.x) == gridDim.x - 1) {
    __threadfence();
    for (int i = 0; i < gridDim.x; ++i) out[blockIdx.x * 8 + i] = part[i];
  }
}

// One block sets the counter to a number of its own before all others count.
__device__ int begun;
// cuda-lsp: launch grid=(8) block=(1)
__global__ void counts_from_one(const int *in, int *part, int *out) {
  if (blockIdx.x == 0) {
    finished = 1;
    __threadfence();
    atomicExch(&begun, 1);
  } else {
    while (atomicAdd(&begun, 0) != 1) {
    }
    __threadfence();
  }
  part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +5
  __threadfence();
  if (atomicAdd(&finished, 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i];
    out[blockIdx.x] = sum;
  }
}

// The source itself says that the counter does not start at zero.
__device__ unsigned begins_at_one = 1;
// cuda-lsp: launch grid=(8) block=(1)
__global__ void declared_to_be_one(const int *in, int *part, int *out) {
  part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +5
  __threadfence();
  if (atomicAdd(&begins_at_one, 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i];
    out[blockIdx.x] = sum;
  }
}

__device__ unsigned counts[2] = {0, 0};
// cuda-lsp: launch grid=(8) block=(1)
__global__ void declared_to_be_zero(const int *in, int *part, int *out) {  // expect: race-free
  part[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(&counts[1], 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i];
    *out = sum;
  }
}

// Set to zero before any block counts: a barrier of the grid is between.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void zeroed_before_all_count(const int *in, int *part, int *out) {  // expect: race-free
  if (blockIdx.x == 0 && threadIdx.x == 0) finished = 0;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&finished, 1) == gridDim.x - 1) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i) out[blockIdx.x * 8 + i] = part[i];
    }
  }
}

// cuda-lsp: launch grid=(8) block=(64)
__global__ void set_to_two_before_all_count(const int *in, int *part, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) finished = 2;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  // expect: possible-data-race inter-block with +4
    __threadfence();
    if (atomicAdd(&finished, 1) == gridDim.x - 1) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i) out[blockIdx.x * 8 + i] = part[i];
    }
  }
}

// Whoever is told that all have been counted may set the counter back, for any number of blocks.
__global__ void set_back_for_any_grid(const int *in, int *part, int *out, int *count) {  // expect: race-free
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    for (int i = threadIdx.x; i < gridDim.x; i += 64) out[i] = part[i];
    if (threadIdx.x == 0) *count = 0;
  }
}

void launch_set_back(const int *in, int *part, int *out, int *count, int blocks) {
  set_back_for_any_grid<<<blocks, 64>>>(in, part, out, count);
}
