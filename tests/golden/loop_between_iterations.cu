// One barrier is there; the read still meets the write of the next iteration.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void again(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 8; ++k) {
    s[t] = k + t;
    __syncthreads();
    sum += s[63 - t];
  }
  out[t] = sum;
}
