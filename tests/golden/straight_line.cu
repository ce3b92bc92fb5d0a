// Every thread reads what its neighbour wrote.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void neighbour(float *out, const float *in) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];  // stage the tile

  // the last thread wraps around
  const int next = (t + 1) % 128;
  out[blockIdx.x * 128 + t] = s[next];
}
