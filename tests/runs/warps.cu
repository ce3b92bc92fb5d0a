// Within a warp: lanes are not in lock-step, and only `__syncwarp` orders them.

// cuda-lsp: launch grid=(1) block=(32)
// run: race intra-warp
__global__ void exchange_without_sync(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;               // racy
  out[t] = s[t ^ 1];      // racy
}

// cuda-lsp: launch grid=(1) block=(32)
// run: clean
__global__ void exchange_behind_sync(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 1];
}

// The halves meet apart, and the exchange goes across.
// cuda-lsp: launch grid=(1) block=(32)
// run: race intra-warp
__global__ void halves_exchange_across(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;                                     // racy
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = s[t ^ 16];                           // racy
}

// cuda-lsp: launch grid=(1) block=(32)
// run: clean
__global__ void halves_exchange_inside(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = s[t ^ 1];
}

// Which side of the branch comes first is for the hardware to say.
// cuda-lsp: launch grid=(1) block=(32)
// run: race intra-warp
__global__ void sides_of_a_branch(int *out) {
  __shared__ int s[16];
  int t = threadIdx.x;
  if (t < 16)
    s[t] = t;            // racy
  else
    out[t] = s[t - 16];  // racy
}

// cuda-lsp: launch grid=(1) block=(32)
// run: clean
__global__ void one_branch_after_the_other(int *out) {
  __shared__ int s[16];
  int t = threadIdx.x;
  if (t < 16) s[t] = t;
  __syncwarp();
  if (t >= 16) out[t] = s[t - 16];
}

// A shuffle hands over values of registers and orders no memory.
// cuda-lsp: launch grid=(1) block=(32)
// run: race intra-warp
__global__ void shuffle_is_no_barrier(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;                                            // racy
  int from = __shfl_sync(0xffffffffu, t, (t + 1) & 31);
  out[t] = s[from];                                    // racy
}

// A meeting of each warp does nothing for two of them.
// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-block
__global__ void warps_meet_apart(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;              // racy
  __syncwarp();
  out[t] = s[t ^ 32];    // racy
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void warps_meet_together(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[t ^ 32];
}
