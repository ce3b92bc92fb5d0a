// Locks: one thread of each block enters. Taken and released with and without fences, for one block and for the grid.

// cuda-lsp: launch grid=(4) block=(32)
// run: clean
__global__ void spin_lock(int *lock, int *data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *data += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void no_fence_behind_the_taking(int *lock, int *data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *data += 1;  // racy
  __threadfence();
  atomicExch(lock, 0);
}

// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void no_fence_before_the_release(int *lock, int *data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *data += 1;  // racy
  atomicExch(lock, 0);
}

// The release is an ordinary store, which meets the next one's compare-and-swap.
// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void released_by_a_plain_store(int *lock, int *data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // racy
  }
  __threadfence();
  *data += 1;                           // racy
  __threadfence();
  *lock = 0;                            // racy
}

// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void fences_of_the_block(int *lock, int *data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence_block();
  *data += 1;  // racy
  __threadfence_block();
  atomicExch(lock, 0);
}

// cuda-lsp: launch grid=(1) block=(128)
// run: clean
__global__ void lock_of_the_block(int *out) {
  __shared__ int lock, data;
  if (threadIdx.x == 0) lock = data = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    data += 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = data;
}

// Even blocks hold one lock and odd ones the other.
// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void two_locks_for_one_variable(int *locks, int *data) {
  if (threadIdx.x != 0) return;
  int *lock = &locks[blockIdx.x & 1];
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *data += 1;  // racy
  __threadfence();
  atomicExch(lock, 0);
}

// cuda-lsp: launch grid=(4) block=(32)
// run: clean
__global__ void a_lock_for_each_bucket(int *locks, int *buckets) {
  if (threadIdx.x != 0) return;
  int bucket = blockIdx.x & 1;
  while (atomicCAS(&locks[bucket], 0, 1) != 0) {
  }
  __threadfence();
  buckets[bucket] += 1;
  __threadfence();
  atomicExch(&locks[bucket], 0);
}

// cuda-lsp: launch grid=(4) block=(32)
// run: clean
__global__ void ticket_lock(int *next, volatile int *serving, int *data) {
  if (threadIdx.x != 0) return;
  int ticket = atomicAdd(next, 1);
  while (*serving != ticket) {
  }
  __threadfence();
  *data += 1;
  __threadfence();
  *serving = ticket + 1;
}

// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void ticket_lock_without_fences(int *next, volatile int *serving, int *data) {
  if (threadIdx.x != 0) return;
  int ticket = atomicAdd(next, 1);
  while (*serving != ticket) {
  }
  *data += 1;  // racy
  *serving = ticket + 1;
}
