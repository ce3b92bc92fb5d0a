// Threads that signal to threads of other blocks: the fences and scopes that make what they wrote visible.

__device__ unsigned int done;

// cuda-lsp: launch grid=(4) block=(64)
__global__ void no_fence(int *part, int *out, int n) {
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) {
    part[blockIdx.x] = blockIdx.x;
    last = atomicAdd(&done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    out[0] = sum;
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void weak_fence(int *part, int *out, int n) {
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence_block();
    last = atomicAdd(&done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    out[0] = sum;
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void weak_scope(int *sum) {
  atomicAdd_block(sum, 1);
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void flag(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void locked(int *lock, int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    sum[0] += 1;
    atomicExch(lock, 0);
  }
}

// cuda-lsp: launch grid=(8) block=(64)
__global__ void weak_and_one_missing(int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence_block();
    last = atomicAdd(&done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0)
    for (int i = 0; i < gridDim.x; i++)
      out[0] += part[i];
}
