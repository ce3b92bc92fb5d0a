// Races among the lanes that a condition lets through.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void beside_one(float *out, const float *in) {
  __shared__ float w[64];
  int t = threadIdx.x, lane = t & 31;
  w[t] = in[t];
  __syncwarp();
  if (lane < 8) {
    float v = w[t + 4];
    __syncwarp(0xff);
    w[t] += v;
    out[t] = w[t ^ 1];
  }
}

// cuda-lsp: launch grid=(1) block=(256)
__global__ void last_steps(float *out, const float *in) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 16) {
    s[t] += s[t + 8];
    s[t] += s[t + 4];
  }
  __syncthreads();
  out[t] = s[t % 16];
}
