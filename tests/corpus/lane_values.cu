// What a lane gives to its whole warp by a shuffle, where coordinates tell what that is.

// The number of the warp, as kernels write it that want the compiler to know it to be one for all of them.
// cuda-lsp: launch grid=(2) block=(128)
__global__ void warp_index(int *out) {  // expect: race-free
  __shared__ int s[4];
  int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (threadIdx.x % 32 == 0) s[warp] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[warp];
}

// One for halves of warps: the second half has the number of the first.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void half_warp_index(int *out) {
  __shared__ int s[4];
  int half = __shfl_sync(0xffffffffu, threadIdx.x / 16, 0);
  if (threadIdx.x % 16 == 0) s[half] = threadIdx.x;  // expect: possible-data-race with +0
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x / 32 * 2];
}

// Each warp has a row of its own.
// cuda-lsp: launch grid=(2) block=(32,4)
__global__ void row_index(int *out) {  // expect: race-free
  __shared__ int s[4][32];
  int row = __shfl_sync(0xffffffffu, threadIdx.y, 0);
  s[row][threadIdx.x] = threadIdx.x;
  out[(blockIdx.x * 4 + threadIdx.y) * 32 + threadIdx.x] = s[row][threadIdx.x];
}

// Warps of two rows get the number of the upper one.
// cuda-lsp: launch grid=(1) block=(16,4)
__global__ void row_of_half_a_warp(int *out) {
  __shared__ int s[4][16];
  int row = __shfl_sync(0xffffffffu, threadIdx.y, 0);
  s[row][threadIdx.x] = threadIdx.y;  // expect: possible-data-race with +0
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = s[row][threadIdx.x];
}

// Warps with roles: one fills what the others read behind the barrier.
// cuda-lsp: launch grid=(2) block=(96)
__global__ void roles_of_warps(int *out) {  // expect: race-free
  __shared__ int s[32];
  int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp == 2) s[threadIdx.x - 64] = threadIdx.x;
  __syncthreads();
  if (warp < 2) out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x % 32];
}

// The last lane's number, and places from it downwards.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void from_the_last_lane(int *out) {  // expect: race-free
  __shared__ int s[64];
  int last = __shfl_sync(0xffffffffu, threadIdx.x, 31);
  s[last - threadIdx.x % 32] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// In each round the warp's own number again.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void in_rounds(int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  for (int i = 0; i < n; ++i) {
    int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32 + i, 0) - i;
    s[warp][threadIdx.x % 32] = i;
  }
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x / 32][threadIdx.x % 32];
}

// The number moves on by one with the rounds, and the barrier stands behind all of them.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void moves_with_the_rounds(int *out) {
  __shared__ int s[3][32];
  for (int i = 0; i < 2; ++i) {
    int row = __shfl_sync(0xffffffffu, threadIdx.x / 32 + i, 0);
    s[row][threadIdx.x % 32] = threadIdx.x + i;  // expect: possible-data-race with +0
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x / 32][threadIdx.x % 32];
}
