// Sums under locks: at block scope for what one block shares, at device scope for the result.

constexpr int BLOCKS = 8, THREADS = 128, LANES = 32;



__global__ void add_under_locks(volatile int *result, int *block_locks, volatile int *sums, int *locks, int n) {
  // expect: race-free
  int lane = threadIdx.x % LANES, cell = blockIdx.x * LANES + lane;
  if (threadIdx.x < LANES) sums[cell] = 0;
  __syncthreads();
  bool done = false;
  do {
    if (atomicCAS_block(&block_locks[cell], 0, 1) == 0) {
      __threadfence_block();
      sums[cell] += threadIdx.x;
      __threadfence_block();
      atomicExch_block(&block_locks[cell], 0);
      done = true;
    }
  } while (!done);
  __syncthreads();
  if (threadIdx.x < LANES && lane < n) {
    done = false;
    do {
      if (atomicCAS(&locks[lane], 0, 1) == 0) {
        __threadfence();
        result[lane] += sums[cell];
        __threadfence();
        atomicExch(&locks[lane], 0);
        done = true;
      }
    } while (!done);
  }
}

// Without the lock, and without volatile.
__global__ void add_without_locks(int *result, int n) {
  int lane = threadIdx.x % LANES;
  if (lane < n) result[lane] += threadIdx.x;  // expect: data-race with self
}

void multiply(volatile int *result, int *plain, int n) {
  int *block_locks, *sums, *locks;
  cudaMalloc(&block_locks, BLOCKS * LANES * sizeof(int));
  cudaMalloc(&sums, BLOCKS * LANES * sizeof(int));
  cudaMalloc(&locks, LANES * sizeof(int));
  cudaMemset(block_locks, 0, BLOCKS * LANES * sizeof(int));
  cudaMemset(locks, 0, LANES * sizeof(int));
  add_under_locks<<<BLOCKS, THREADS>>>(result, block_locks, sums, locks, n);
  add_without_locks<<<BLOCKS, THREADS>>>(plain, n);
}
