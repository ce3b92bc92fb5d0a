// Either of the two barriers is enough, but one must stay.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_two(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
