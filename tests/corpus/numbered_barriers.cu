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

// The count of the block, from a register.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_by_the_block(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync 2, %0;" ::"r"(blockDim.x) : "memory");
  out[t] = s[63 - t];
}

// Half of the count of the block: who is meant is not known.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_by_half(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync 2, %0;" ::"r"(blockDim.x / 2) : "memory");
  out[t] = s[63 - t];
}

// A barrier that counts votes, in PTX.
__device__ int votes(int mine) {
  int n;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(n) : "r"(mine) : "memory");
  return n;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void counts_votes(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  int n = votes(t & 1);
  out[t] = s[63 - t] + n;
}

// The vote comes too early.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counts_votes_too_early(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int n = votes(t & 1);
  s[t] = t;  // expect: data-race with +1
  out[t] = s[63 - t] + n;
}

// All threads agree on the result, so that a barrier may depend on it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void votes_decide(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (votes(out[t] > 3) > 10) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void any_vote(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, found;
  s[t] = t;
  asm volatile(
      "{ .reg .pred p, q; setp.eq.s32 p, %1, 5; bar.red.or.pred q, 1, p; selp.s32 %0, 1, 0, q; }"
      : "=r"(found)
      : "r"(t)
      : "memory");
  out[t] = s[63 - t] + found;
}

// --- twins

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_number_for_both(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync 1;" ::: "memory");
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void count_of_all(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_by_the_block_in_rows(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    s[t] = t + i;
    asm volatile("bar.sync 3, %0;" ::"r"(blockDim.x) : "memory");
    out[i * 64 + t] = s[63 - t];
    asm volatile("bar.sync 3, %0;" ::"r"(blockDim.x) : "memory");
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void votes_in_rows(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, n = 0;
  for (int i = 0; i < 4; ++i) {
    s[t] = t + i;
    n += votes(t & i);
    out[i * 64 + t] = s[63 - t] + n;
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void votes_without_memory(int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = votes(t & 1) + votes(t & 2);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void count_and_number_from_the_host(int *out, int which) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("barrier.sync %0, %1;" ::"r"(which), "r"(blockDim.x) : "memory");
  out[t] = s[63 - t];
}

// --- constant numbers of groups

// Each half of the block waits at a place and a number of its own.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void a_number_for_each_half(int *out) {  // expect: race-free
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
__global__ void halves_read_each_other(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  s[t] = t;  // expect: data-race with +5
  if (half)
    asm volatile("bar.sync 2, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[t] = s[(t + 64) % 128];
}

// The second group works alone, round after round.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void second_group(int *out, int n) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < 128) {
    out[t + blockIdx.x * 256] = 1;
  } else {
    for (int i = 0; i < n; ++i) {
      s[t - 128] = t + i;
      __barrier_sync_count(3, 128);
      out[t + 256 * blockIdx.x] = s[255 - t];
      __barrier_sync_count(3, 128);
    }
  }
}

// The next round writes before all have read.
// cuda-lsp: launch grid=(4) block=(256) n=4
__global__ void second_group_in_a_hurry(int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= 128) {
    for (int i = 0; i < n; ++i) {
      s[t - 128] = t + i;  // expect: data-race with +2
      __barrier_sync_count(3, 128);
      out[t + 256 * blockIdx.x] = s[255 - t];
    }
  }
}

// Every second warp comes to the number: as many as it is for.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void every_second_warp(int *out) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  if ((t / 32) % 2) {
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[t ^ 64];
  }
}

// Others come to the same number at another place.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void others_wait_too(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < 64) {
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[63 - t];
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

// Some of the group do not come.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void part_of_the_group(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 50) {
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");  // expect: barrier-divergence
    out[t] = s[49 - t];
  }
}

// Which group waits the host decides.
// cuda-lsp: launch grid=(1) block=(128) which=1
__global__ void group_of_the_host(int *out, int which) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t / 64 == which) {
    s[t % 64] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[63 - t % 64];
  }
}

// cuda-lsp: launch grid=(1) block=(128)
__global__ void group_of_an_open_number(int *out, int which) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t / 64 == which) {
    s[t % 64] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[63 - t % 64];
  }
}

// Three warps of four: more than the number is for.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void three_warps_for_two(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= 32) {
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[159 - t];
  }
}

// Every second lane: whole warps are counted.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void every_second_lane(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t % 2) {
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[128 - t];
  }
}

// The upper two of three warps.
// cuda-lsp: launch grid=(2) block=(96)
__global__ void upper_two(int *out) {  // expect: race-free
  __shared__ int s[96];
  int t = threadIdx.x;
  s[t] = t;
  if (t >= 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 96 + t] = s[127 - t];
  }
}

// They read what the first warp writes, which does not come.
// cuda-lsp: launch grid=(2) block=(96)
__global__ void upper_two_and_the_first(int *out) {
  __shared__ int s[96];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race with +3
  if (t >= 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 96 + t] = s[95 - t];
  }
}

// Two rounds in an iteration: one behind what is written, one behind what is read.
// cuda-lsp: launch grid=(2) block=(128) n=3
__global__ void two_rounds_a_turn(int *out, int n) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= 32 && t < 96) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[blockIdx.x * 128 + t] += s[127 - t];
      asm volatile("bar.sync 1, 64;" ::: "memory");
    }
  }
}

// The second one is missing.
// cuda-lsp: launch grid=(2) block=(128) n=3
__global__ void one_round_a_turn(int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= 32 && t < 96) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;  // expect: data-race with +2
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[blockIdx.x * 128 + t] += s[127 - t];
    }
  }
}
