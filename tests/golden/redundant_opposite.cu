// What the barrier leaves of its condition is the other branch.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void choose(int *out, int n) {
  if (n > 2)
    __syncthreads();
  else
    out[threadIdx.x] = 2;
}
