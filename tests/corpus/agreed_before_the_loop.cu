// A variable that a loop sets before it reads it: what it holds in front of the loop stands in the way of nothing.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_the_first_round(const float *in, float *out, float eps) {  // expect: race-free
  __shared__ float s[64];
  float limit;
  for (int round = 0;; round++) {
    s[threadIdx.x] = in[threadIdx.x + round];
    __syncthreads();
    float most = s[0];
    __syncthreads();
    if (round == 0) limit = most * eps;
    if (most < limit) break;
    out[threadIdx.x] = most;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_apart_in_the_first_round(const float *in, float *out) {
  int last;
  for (int round = 0;; round++) {
    if (round == 0) last = threadIdx.x;
    if (round == last) break;
    out[threadIdx.x] = in[round];
    __syncthreads();  // expect: barrier-divergence
  }
}
