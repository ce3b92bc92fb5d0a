// Barriers of a block: missed, numbered, and split into arrival and wait.

// cuda-lsp: launch grid=(1) block=(64)
// run: divergence
__global__ void each_side_has_its_own(int *a) {
  if (threadIdx.x < 32) {
    a[threadIdx.x] = 1;
    __syncthreads();
  } else {
    a[threadIdx.x] = 2;
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void both_sides_meet_behind(int *a) {
  if (threadIdx.x < 32)
    a[threadIdx.x] = 1;
  else
    a[threadIdx.x] = 2;
  __syncthreads();
  a[threadIdx.x] += a[threadIdx.x];
}

// One warp announces its data and goes on, the other waits for them.
// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void announced_and_awaited(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[t - 32];
  }
}

// The wrong one waits.
// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-block
__global__ void announced_by_the_reader(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;            // racy
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[t] = s[t - 32];  // racy
  }
}

// Each half of the block meets at a barrier of its own.
// cuda-lsp: launch grid=(1) block=(128)
// run: clean
__global__ void halves_by_themselves(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  s[t] = t;
  if (half)
    asm volatile("bar.sync 2, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[t] = s[half * 64 + (t + 1) % 64];
}

// … and reads what the other half has written.
// cuda-lsp: launch grid=(1) block=(128)
// run: race intra-block
__global__ void halves_read_each_other(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  s[t] = t;                 // racy
  if (half)
    asm volatile("bar.sync 2, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[t] = s[(t + 64) % 128];  // racy
}
