// Only half of the threads reach the barrier, and nobody needs it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void half(int *out) {
  int t = threadIdx.x;
  if (t < 32) {
    out[t] = t;
    __syncthreads();
  }
}
