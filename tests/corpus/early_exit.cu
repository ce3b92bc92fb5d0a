// Threads that return before a barrier. CUDA no longer counts them, so this is a hint, never an error.

// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void guard_returns(const int *in, int *out, int n) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();  // expect: barrier-after-exit
  out[i] = s[threadIdx.x ^ 1];
}

// The grid fits exactly: nobody returns.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void guard_never_taken(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[threadIdx.x ^ 1];
}

// Whole blocks return.
// cuda-lsp: launch grid=(4) block=(64) blocks=3
__global__ void whole_blocks_return(const int *in, int *out, int blocks) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x >= blocks) return;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[63 - t];
}

// The return stands behind the last barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void return_after_barrier(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  out[t] = s[t + 32];
}

// Missing barrier and early return together: the return is no excuse.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void guard_and_race(const int *in, int *out, int n) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];  // expect: data-race intra-block with +1
  out[i] = s[threadIdx.x ^ 1];
}

// A return inside a divergent loop, barriers in the loop: those still running are ordered among themselves.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void return_inside_loop(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    if (t < k) return;
    s[t] = k;
    __syncthreads();  // expect: barrier-after-exit
    out[t] = s[63 - t / 2];
    __syncthreads();  // expect: barrier-after-exit
  }
}

// Only the first warp goes on; its barrier has one warp's threads to wait for.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void first_warp_continues(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  int v = s[t + 32];
  s[t] += v;
  __syncthreads();  // expect: barrier-after-exit
  out[t] = s[31 - t];
}

// One thread returns, which writes nothing that the others read.
// cuda-lsp: launch grid=(1) block=(33)
__global__ void surplus_thread(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t == 32) return;
  s[t] = in[t];
  __syncthreads();  // expect: barrier-after-exit
  out[t] = s[31 - t];
}

// The guard as a positive condition around everything is divergence, not exit: these threads do not return.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void guard_around_everything(const int *in, int *out, int n) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = in[i];
    __syncthreads();  // expect: barrier-divergence
    out[i] = s[threadIdx.x ^ 1];
  }
  out[i] += 1;
}

// The host only launches whole blocks, and says so.
#include <cassert>
__global__ void guard_never_taken_by_assert(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[127 - threadIdx.x];
}

void launch_whole_blocks(const float *in, float *out, int n) {
  assert(n % 128 == 0);
  guard_never_taken_by_assert<<<n / 128, 128>>>(in, out, n);
}

// Rounded up without a promise: the last block may be partial.
__global__ void guard_taken_by_last_block(const float *in, float *out, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();  // expect: barrier-after-exit
  out[i] = s[127 - threadIdx.x];
}

void launch_rounded_up(const float *in, float *out, int n) {
  guard_taken_by_last_block<<<(n + 127) / 128, 128>>>(in, out, n);
}

// To return in the other branch is to return early.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void return_in_the_other_branch(const int *in, int *out, int n) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = in[i];
    __syncthreads();  // expect: barrier-after-exit
    out[i] = s[threadIdx.x ^ 1];
  } else {
    return;
  }
}

// Some of those in the other branch stay, and go past the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_return_in_the_other_branch(int *out) {
  int t = threadIdx.x;
  if (t < 8) {
    if (t & 1) return;
  } else {
    __syncthreads();  // expect: barrier-divergence
  }
  out[t] = t;
}

// All of them return, in two ways.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_return_in_the_other_branch(int *out) {
  int t = threadIdx.x;
  if (t < 8) {
    if (t & 1) return;
    out[t + 64] = t;
    return;
  } else {
    out[t] = 1;
    __syncthreads();  // expect: barrier-after-exit
  }
  out[71 - t] = t;
}

// A barrier in each branch, with a return behind it: some wait at one while the others wait at the other.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void both_wait_and_return(int *out) {
  int t = threadIdx.x;
  if (t < 8) {
    out[t] = 1;
    __syncthreads();  // expect: barrier-divergence
    return;
  } else {
    out[t] = 2;
    __syncthreads();  // expect: barrier-divergence
    return;
  }
}

// Nobody of this block comes to the other branch.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void nobody_in_the_other_branch(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 64) {
    out[t] = 1;
    __syncthreads();
    out[63 - t] = 2;
  } else {
    return;
  }
}

// The other branch is another block's.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void another_block_returns(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = 1;
    __syncthreads();
    out[63 - t] = 2;
  } else {
    return;
  }
}

// Returning or not hangs on a parameter, alike for all.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_return_or_none(int *out, int n) {  // expect: race-free
  int t = threadIdx.x;
  if (n > 3) {
    out[t] = 1;
    __syncthreads();
    out[63 - t] = 2;
  } else {
    return;
  }
}
