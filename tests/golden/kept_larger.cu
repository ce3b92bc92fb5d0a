// A call in a larger statement is made in front of it, by all threads; what it passes is read by those that read it.
__device__ float step(float *s, float v) {
  s[threadIdx.x] = v;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < 64; i++) {
    total += s[i];
  }
  return total;
}

// cuda-lsp: launch grid=(1) block=(64) n=40
__global__ void centred(const float *in, float *out, int n) {
  __shared__ float s[64];
  int i = threadIdx.x;
  s[i] = 0;
  __syncthreads();
  if (i < n) {
    float mean = step(s, in[i]) / n;
    out[i] = in[i] - mean;
  }
}
