// Tiles are read in an inner loop: the barrier that keeps the next one away may stand behind it.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void kernel(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    s[t] = in[i * 256 + t];
    __syncthreads();
    for (int k = 0; k < 256; k++) {
      sum += s[k];
      __syncthreads();
    }
  }
  out[blockIdx.x * 256 + t] = sum;
}
