// Only half of the threads reach the barrier: it belongs behind the branch.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void half(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    __syncthreads();
  }
  out[t] = s[t % 32];
}
