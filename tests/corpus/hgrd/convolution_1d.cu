// One thread for each product of a one-dimensional convolution. Sums whose products all belong to one block may be added
// to at block scope, the others may not.

constexpr int BLOCKS = 6, THREADS = 64;

__global__ void convolve_at_block_scope(const float *filter, int taps, const float *in, int n, float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int offset = 0; offset < n * taps; offset += BLOCKS * THREADS) {
    int tap = (offset + t) % taps, at = (offset + t) / taps;
    int from = at - (tap - taps / 2);
    if (at < n && from >= 0 && from < n)
      atomicAdd_block(&out[at], in[from] * filter[tap]);  // expect: data-race inter-block with self
  }
}

__global__ void convolve_at_both_scopes(const float *filter, int taps, const float *in, int n,
                                        float *out) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int offset = 0; offset < n * taps; offset += BLOCKS * THREADS) {
    int tap = (offset + t) % taps, at = (offset + t) / taps;
    int from = at - (tap - taps / 2);
    if (at < n && from >= 0 && from < n) {
      if (threadIdx.x >= tap && blockDim.x - threadIdx.x >= taps - tap)
        atomicAdd_block(&out[at], in[from] * filter[tap]);
      else
        atomicAdd(&out[at], in[from] * filter[tap]);
    }
  }
}

void convolve(const float *filter, int taps, const float *in, int n) {
  float *out;
  cudaMalloc(&out, n * sizeof(float));
  if (taps < 1) return;
  convolve_at_block_scope<<<BLOCKS, THREADS>>>(filter, taps, in, n, out);
  convolve_at_both_scopes<<<BLOCKS, THREADS>>>(filter, taps, in, n, out);
}
