#define SYNC() __syncthreads()

// cuda-lsp: launch grid=(4) block=(256)
__global__ void turned(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
  s[t] = in[t];
  for (int k = 0; k < n; k++) {
    SYNC();
    sum += s[(t + k) % 256];
  }
  out[blockIdx.x * 256 + t] = sum;
}
