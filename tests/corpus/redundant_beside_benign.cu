// Barriers that order nothing, in kernels whose threads all write one value to one cell.

// cuda-lsp: launch grid=(2) block=(128)
__global__ void behind_the_init(const float *in, float *most, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = 0;
  __syncthreads();  // expect: redundant-barrier
  if (i < n) s[t] = in[i];
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k && s[t + k] > s[t]) s[t] = s[t + k];
    __syncthreads();
  }
  most[blockIdx.x] = s[0];  // expect: benign-race with self
}

// The last barrier makes the values the same: it stays.

// cuda-lsp: launch grid=(2) block=(128)
__global__ void one_for_all(const float *in, float *first) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  first[blockIdx.x] = s[0];  // expect: benign-race with self
}
