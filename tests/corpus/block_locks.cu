// Locks that the first thread takes for its block, between barriers. The twins lack one piece each.

__device__ int mutex;

// cuda-lsp: launch grid=(3) block=(4)
__global__ void section_of_the_block(int *data) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// Fences by all threads, and a section with a barrier and a loop in it, once for each tile.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void sections_in_a_loop(int *data, int *sums) {  // expect: race-free
  for (int tile = 0; tile < 2; ++tile) {
    if (threadIdx.x == 0) {
      while (atomicCAS(&mutex, 0, 1) != 0) {
      }
      __threadfence();
    }
    __syncthreads();
    for (int i = 0; i < 2; ++i) data[i * 4 + threadIdx.x] += tile;
    __syncthreads();
    sums[threadIdx.x] += data[3 - threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&mutex, 0);
  }
}

__device__ void lock_block(int *next, volatile int *serving) {
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    int mine = atomicAdd(next, 1);
    while (*serving != mine) {
    }
    __threadfence();
  }
  __syncthreads();
}

__device__ void unlock_block(volatile int *serving) {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    *serving = *serving + 1;
  }
}

// What who holds the lock reads again is its number.
// cuda-lsp: launch grid=(2) block=(4,2)
__global__ void served_number_read_again(int *next, volatile int *serving, int *data) {  // expect: race-free
  lock_block(next, serving);
  data[threadIdx.y * 4 + threadIdx.x] += 1;
  unlock_block(serving);
}

// cuda-lsp: launch grid=(2) block=(4,2)
__global__ void ticket_for_the_block(int *next, int *serving, int *data) {  // expect: race-free
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.y * 4 + threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    atomicAdd(serving, 1);
  }
}

// Some threads still work when the lock is given back.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_barrier_before_the_release(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_barrier_behind_the_lock(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void work_behind_the_release(int *data, int *out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with +7
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
  __syncthreads();
  int seen = data[threadIdx.x];
  out[blockIdx.x * 4 + threadIdx.x] = seen;
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_fence_before_the_release(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&mutex, 0);
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_fence_behind_the_lock(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// Threads of one block are in one section: the lock does not keep them apart.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void one_cell_for_the_block(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[0] += 1;  // expect: possible-data-race intra-block with self
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// The first thread of a block has ended: nobody took the lock for the others.
__global__ void first_thread_has_ended(int *data, int first) {
  if (blockIdx.x * 4 + threadIdx.x < first) return;
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();  // expect: barrier-after-exit
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();  // expect: barrier-after-exit
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

void launch_without_first_threads(int *data, int first) { first_thread_has_ended<<<3, 4>>>(data, first); }

// Each block has a lock of its own.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void a_lock_for_each_block(int *locks, int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&locks[blockIdx.x], 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&locks[blockIdx.x], 0);
  }
}

// A block that does not get the lock goes on without it.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void tried_once(int *data) {
  bool mine = false;
  if (threadIdx.x == 0) {
    mine = atomicCAS(&mutex, 0, 1) == 0;
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
  __syncthreads();
  if (threadIdx.x == 0 && mine) {
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// The release of the second round comes before the work of some threads in it.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void released_early_in_the_loop(int *data) {
  for (int tile = 0; tile < 2; ++tile) {
    if (threadIdx.x == 0) {
      while (atomicCAS(&mutex, 0, 1) != 0) {
      }
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0 && tile == 1) {
      __threadfence();
      atomicExch(&mutex, 0);
    }
    data[threadIdx.x] += 1;  // expect: possible-data-race inter-block with self
    __syncthreads();
    if (threadIdx.x == 0 && tile == 0) {
      __threadfence();
      atomicExch(&mutex, 0);
    }
  }
}
