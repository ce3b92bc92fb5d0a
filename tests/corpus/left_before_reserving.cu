// The thread that reserves for its block may have left in an earlier round.

// cuda-lsp: launch grid=(2) block=(32)
__global__ void leaves_one_after_the_other(int *count, int n, int *out) {
  __shared__ int base;
  for (int r = 0; r < n; ++r) {
    if (threadIdx.x == r) return;
    if (threadIdx.x == 0) base = atomicAdd(count, 32);
    __syncthreads();                                           // expect: barrier-after-exit
    if (r >= 2) out[base + threadIdx.x] = 1 + blockIdx.x;  // expect: possible-data-race inter-block with self
    __syncthreads();                                           // expect: barrier-after-exit
  }
}
