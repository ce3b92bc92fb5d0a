// The only place all threads reach is between the two branches.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void evens_then_sixths(int *out, const int *in) {
  __shared__ int a[258];
  int tid = threadIdx.x, x = 0;
  for (int i = tid; i < 258; i += 256) {
    a[i] = in[i];
  }
  __syncthreads();
  if (tid % 2 == 0) {
    x = a[tid + 2];
  }
  if (tid % 6 == 0) {
    a[tid] += x;
  }
  out[tid] = x;
}
