// The comment behind the barrier is about nothing else and goes with it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void commented(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();  // the other half is read next
  int x = s[63 - threadIdx.x];
  __syncthreads();  // make sure that all have read
  out[threadIdx.x] = x;
}
