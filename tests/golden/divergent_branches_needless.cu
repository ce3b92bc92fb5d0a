// Both branches wait for nothing: neither barrier may go alone.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void split(int *out) {
  int t = threadIdx.x;
  if (t < 20) {
    out[t] = 1;
    __syncthreads();
  } else {
    __syncthreads();
    out[t] = 2;
  }
}
