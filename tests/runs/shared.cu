// Shared memory: barriers that are there, missing, or in the wrong place; words and bytes.

// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-warp intra-block
__global__ void neighbour_without_barrier(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;                   // racy
  out[t] = s[(t + 1) & 63];   // racy
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void neighbour_behind_barrier(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[(t + 1) & 63];
}

// The tile is loaded anew while others still read it.
// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-block
__global__ void tile_reused_at_once(const int *in, int *out) {
  __shared__ int tile[64];
  int t = threadIdx.x, sum = 0;
  for (int part = 0; part < 4; part++) {
    tile[t] = in[part * 64 + t];  // racy
    __syncthreads();
    sum += tile[63 - t];          // racy
  }
  out[t] = sum;
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void tile_reused_behind_barrier(const int *in, int *out) {
  __shared__ int tile[64];
  int t = threadIdx.x, sum = 0;
  for (int part = 0; part < 4; part++) {
    tile[t] = in[part * 64 + t];
    __syncthreads();
    sum += tile[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// The last steps believe that a warp runs in lock-step.
// cuda-lsp: launch grid=(1) block=(128)
// run: race intra-warp
__global__ void reduction_ends_in_one_warp(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int width = 64; width >= 32; width /= 2) {
    if (t < width) s[t] += s[t + width];
    __syncthreads();
  }
  if (t < 16) s[t] += s[t + 16];  // racy
  if (t < 8) s[t] += s[t + 8];    // racy
  if (t == 0) *out = s[0];
}

// cuda-lsp: launch grid=(1) block=(128)
// run: clean
__global__ void reduction_with_all_barriers(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int width = 64; width > 0; width /= 2) {
    if (t < width) s[t] += s[t + width];
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}

// Four threads share each word and no byte.
// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void bytes_of_one_word(int *out) {
  __shared__ unsigned char s[64];
  int t = threadIdx.x;
  s[t] = t;
  out[t] = s[t];
}

// The word of the last thread has the bytes of three others in it.
// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-warp
__global__ void word_over_bytes_of_others(int *out) {
  __shared__ union {
    unsigned char bytes[64];
    int words[16];
  } s;
  int t = threadIdx.x;
  s.bytes[t] = 1;                  // racy
  if (t == 63) s.words[15] = 300;  // racy
  out[t] = 0;
}
