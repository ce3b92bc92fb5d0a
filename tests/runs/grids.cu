// All blocks of a grid: barriers made of counters, and the last block that does the rest.

// cuda-lsp: launch grid=(8) block=(64)
// run: clean
__global__ void barrier_of_the_grid(int *arrived, int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  b[i] = a[gridDim.x * blockDim.x - 1 - i];
}

// cuda-lsp: launch grid=(8) block=(64)
// run: race inter-block
__global__ void barrier_of_the_grid_without_fences(int *arrived, int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;                                   // racy
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
  }
  __syncthreads();
  b[i] = a[gridDim.x * blockDim.x - 1 - i];   // racy
}

// Goes on when one block has not arrived.
// cuda-lsp: launch grid=(8) block=(64)
// run: race inter-block
__global__ void barrier_of_all_but_one(int *arrived, int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  // racy
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x - 1) {
    }
    __threadfence();
  }
  __syncthreads();
  int sum = 0;
  for (int block = 0; block < gridDim.x; block++) sum += a[block * blockDim.x + threadIdx.x];  // racy
  b[i] = sum;
}

// The first thread arrives before the others have written.
// cuda-lsp: launch grid=(8) block=(64)
// run: race inter-block
__global__ void arrived_too_early(int *arrived, int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;                                   // racy
  __threadfence();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  b[i] = a[gridDim.x * blockDim.x - 1 - i];   // racy
}

// cuda-lsp: launch grid=(4) block=(32)
// run: clean
__global__ void last_block_adds_up(unsigned *finished, int *parts, int *sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int block = 0; block < gridDim.x; block++) total += parts[block];
    *sum = total;
  }
}

// cuda-lsp: launch grid=(4) block=(32)
// run: race inter-block
__global__ void last_block_without_fence(unsigned *finished, int *parts, int *sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;                                         // racy
    last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int block = 0; block < gridDim.x; block++) total += parts[block];  // racy
    *sum = total;
  }
}
