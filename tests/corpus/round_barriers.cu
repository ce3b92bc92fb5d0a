// Barriers of the whole grid made of a counter: each block adds one and waits for all, in several rounds.

__device__ unsigned arrived;

__device__ void all_blocks(unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (*(volatile unsigned *)&arrived < goal) {
    }
    __threadfence();
  }
  __syncthreads();
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void goal_grows(int *count, int *data) {  // expect: race-free
  data[blockIdx.x * 4 + threadIdx.x] = 1;
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];
  }
}

// Called at two places.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void one_place_after_the_other(int *data) {  // expect: race-free
  int i = blockIdx.x * 4 + threadIdx.x, other = 11 - i;
  data[i] = i;
  all_blocks(gridDim.x);
  data[12 + i] = data[other];
  all_blocks(2 * gridDim.x);
  data[i] = data[12 + other];
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void goal_by_steps(int *data, int rounds) {  // expect: race-free
  int i = blockIdx.x * 4 + threadIdx.x, other = 11 - i;
  unsigned goal = 0;
  for (int r = 0; r < rounds; ++r) {
    data[(r % 2) * 12 + i] = r;
    goal += gridDim.x;
    all_blocks(goal);
    int seen = data[(r % 2) * 12 + other];
    data[24 + i] = seen;
  }
}

// The second call ends at once: the goal was reached before.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void goal_does_not_grow(int *data) {
  int i = blockIdx.x * 4 + threadIdx.x, other = 11 - i;
  data[i] = i;  // expect: possible-data-race inter-block with +2
  all_blocks(gridDim.x);
  data[12 + i] = data[other];  // expect: possible-data-race inter-block with +2
  all_blocks(gridDim.x);
  data[i] = data[12 + other];
}

// One block may be missing.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void all_but_one(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +11
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < r * (gridDim.x - 1)) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// Threads behind the first may not have written yet.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_barrier_before_the_addition(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +10
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_barrier_behind_the_wait(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +10
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_fence_before_the_addition(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +10
  for (int r = 1; r < 4; ++r) {
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// Block 0 does not wait in the first round, and counts for others in the second.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void one_does_not_wait(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +11
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      if (blockIdx.x != 0 || r > 1) while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// The wait of a round stands in front of its addition: a block may be a round behind.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void wait_before_the_addition(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +11
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      while (atomicAdd(count, 0) < (r - 1) * gridDim.x) {
      }
      atomicAdd(count, 1);
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// Somebody sets the counter back.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void set_back(int *count, int *data) {
  data[blockIdx.x * 4 + threadIdx.x] = 1;  // expect: possible-data-race inter-block with +12
  for (int r = 1; r < 4; ++r) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      int last = atomicAdd(count, 1);
      if (last == 7) atomicExch(count, 9);
      while (atomicAdd(count, 0) < r * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    data[r * 12 + blockIdx.x * 4 + threadIdx.x] = data[(r - 1) * 12 + (blockIdx.x + 1) % 3 * 4 + threadIdx.x];  // expect: possible-data-race inter-block with self
  }
}

// Flags that all threads set to zero before they are used.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flags_zeroed_by_all(int *data) {  // expect: race-free
  __shared__ volatile int flags[64];
  __shared__ int s[64];
  flags[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  __threadfence_block();
  flags[threadIdx.x] = 1;
  int other = (threadIdx.x + 32) % 64;
  while (flags[other] == 0) {
  }
  __threadfence_block();
  data[threadIdx.x] = s[other];
}

// Shared memory holds anything at first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flags_not_zeroed(int *data) {
  __shared__ volatile int flags[64];
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // expect: possible-data-race intra-block with +7
  __threadfence_block();
  flags[threadIdx.x] = 1;
  int other = (threadIdx.x + 32) % 64;
  while (flags[other] == 0) {
  }
  __threadfence_block();
  data[threadIdx.x] = s[other];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void half_of_the_flags_zeroed(int *data) {
  __shared__ volatile int flags[64];
  __shared__ int s[64];
  if (threadIdx.x < 32) flags[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // expect: possible-data-race intra-block with +7
  __threadfence_block();
  flags[threadIdx.x] = 1;
  int other = (threadIdx.x + 32) % 64;
  while (flags[other] == 0) {
  }
  __threadfence_block();
  data[threadIdx.x] = s[other];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void zeroed_without_a_barrier(int *data) {
  __shared__ volatile int flags[64];
  __shared__ int s[64];
  flags[threadIdx.x] = 0;
  s[threadIdx.x] = threadIdx.x;  // expect: possible-data-race intra-block with +7
  __threadfence_block();
  flags[threadIdx.x] = 1;
  int other = (threadIdx.x + 32) % 64;
  while (flags[other] == 0) {
  }
  __threadfence_block();
  data[threadIdx.x] = s[other];
}
