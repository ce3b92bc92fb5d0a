// The second barrier orders nothing.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void twice(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int x = s[63 - threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = x;
}
