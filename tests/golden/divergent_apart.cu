// Two conditions that are each other's opposite: every thread waits once, at one of two barriers.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves(int *out) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = t + 1;
  if (t < 20) __syncthreads();
  out[t] = 1;
  if (t >= 20) __syncthreads();
  out[t] += tile[63 - t];
}
