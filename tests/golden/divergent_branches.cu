// Each branch waits by itself, which is not waiting together: one barrier in front of both does.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mirror(int *out) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = 3 * t;
  if (t % 2 == 0) {
    __syncthreads();
    out[t] = tile[63 - t];
  } else {
    __syncthreads();
    out[t] = -tile[63 - t];
  }
}
