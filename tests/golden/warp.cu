// What only threads of one warp do to each other, a barrier of the warp orders.

// cuda-lsp: launch grid=(4) block=(256)
__global__ void neighbours(int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  out[blockIdx.x * 256 + t] = s[t ^ 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void first_warp(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = in[t] + in[t + 32];
    out[t] = s[31 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_one_statement(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  s[t] = s[t ^ 16] + 1;
  out[t] = s[t];
}

// Half of the warp does not get there: a place is made where all of it is.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void half_a_warp(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t % 32 < 16) {
    s[t] = t;
    out[t] = s[t ^ 1];
  }
}
