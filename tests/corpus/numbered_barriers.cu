// Barriers with a number, in PTX and through the intrinsics.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void literal_number(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("barrier.sync 3;" ::: "memory");
  out[t] = s[63 - t];
}

// Each warp waits at a barrier of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void number_by_warp(int *out) {  // expect: unknown(asm)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync %0;" ::"r"(1 + t / 32) : "memory");
  out[t] = s[63 - t];
}

// The same number for everybody.
// cuda-lsp: launch grid=(1) block=(64) which=2
__global__ void number_from_the_host(int *out, int which) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync %0;" ::"r"(which) : "memory");
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void intrinsic_by_warp(int *out) {  // expect: unknown(named-barrier)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __barrier_sync(t / 32);
  out[t] = s[63 - t];
}

// Half of the block would do, and which half is not told apart.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void thread_count(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync 1, 32;" ::: "memory");
  out[t] = s[63 - t];
}

// Two numbers are two barriers: each waits for the whole block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_numbers(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: possible-data-race with +5
  if (t < 32)
    asm volatile("bar.sync 1;" ::: "memory");  // expect: barrier-divergence
  else
    asm volatile("bar.sync 2;" ::: "memory");  // expect: barrier-divergence
  out[t] = s[63 - t];
}
