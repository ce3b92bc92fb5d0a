// One thread signals for its block, another one waits for its own: barriers and fences are missing.

// cuda-lsp: launch grid=(8) block=(64)
__global__ void hand_over(volatile int *flag, int *data, int *out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t * 3;
    if (t == 0) flag[0] = 1;
  } else if (blockIdx.x == 1) {
    if (t == 0) while (flag[0] == 0) ;
    out[t] = data[t];
  }
}

// The last block adds up what all have written.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void last_block(unsigned *count, float *part, float *out) {
  __shared__ bool is_last;
  int t = threadIdx.x;
  part[blockIdx.x * 64 + t] = t;
  if (t == 0) is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (is_last) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i * 64 + t];
    out[t] = sum;
  }
}
