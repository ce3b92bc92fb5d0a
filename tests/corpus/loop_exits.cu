// Loops left from the end of their body, and conditions with side effects.

// Odd threads take one turn, even ones two.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void turns_differ(int *out) {
  int turn = threadIdx.x & 1;
  do {
    __syncthreads();  // expect: barrier-divergence
  } while (++turn < 2);
  out[threadIdx.x] = turn;
}

// The same number of turns for all, whatever the block.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void turns_agree(int *out) {  // expect: race-free
  __shared__ int s[64];
  int turn = blockIdx.x & 1;
  do {
    s[threadIdx.x] = turn;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
  } while (++turn < 2);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void break_behind_the_barrier(int *out) {
  for (int i = 0; i < 8; ++i) {
    __syncthreads();  // expect: barrier-divergence
    if (threadIdx.x == i) break;
  }
  out[threadIdx.x] = 1;
}

// Whoever returns is counted as having arrived ever after.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void return_behind_the_barrier(int *out) {
  __shared__ int s[64];
  for (int i = 0; i < 8; ++i) {
    s[threadIdx.x] = i;
    __syncthreads();  // expect: barrier-after-exit
    if (threadIdx.x & 1) return;
    out[threadIdx.x] = s[threadIdx.x ^ 2];
    __syncthreads();  // expect: barrier-after-exit
  }
}

__device__ bool more(int turn) {
  __syncthreads();  // expect: barrier-divergence
  return turn < (threadIdx.x & 3);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_the_condition(int *out) {
  int n = 0;
  while (more(n)) ++n;
  out[threadIdx.x] = n;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_of_a_float(int *out) {
  float f = threadIdx.x;
  do {
    __syncthreads();  // expect: barrier-divergence
    f *= 0.5f;
  } while (f > 1.0f);
  out[threadIdx.x] = 1;
}

// The loop is not known to end at once because its condition is a float.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_halves(int *out, float f) {
  int n = 0;
  while (f > 1.0f) {
    f *= 0.5f;
    ++n;
  }
  if (n == 2) out[0] = threadIdx.x;  // expect: possible-data-race with self
}

// Four turns, counted in the condition of the break.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void four_turns(int *out) {  // expect: race-free
  int i = 0;
  while (true) {
    out[threadIdx.x * 4 + i] = i;
    if (++i == 4) break;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void five_turns(int *out) {
  int i = 0;
  while (true) {
    out[threadIdx.x * 4 + i] = i;  // expect: data-race with self
    if (++i == 5) break;
  }
}

// The test that fails decrements too.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void below_zero_in_the_end(int *out) {
  int k = 5;
  while (k-- > 0) {
  }
  if (k == -1) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void never_zero_in_the_end(int *out) {  // expect: race-free
  int k = 5;
  while (k-- > 0) {
  }
  if (k == 0) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void zero_in_the_end(int *out) {
  unsigned k = 10;
  while (--k) {
  }
  if (k == 0) out[0] = threadIdx.x;  // expect: data-race with self
}

// Downwards until the index wraps around: a common way to write it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void down_through_zero(int *out) {
  unsigned i;
  for (i = 9; i < 10; --i) out[threadIdx.x + 64 * i] = i;
  if (i == 0xffffffffu) out[1000] = threadIdx.x;  // expect: data-race with self
}

// A byte that counts over its end.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_over_its_end(int *out) {
  unsigned char i = 250;
  for (; i >= 250; i++) {
  }
  if (i == 0) out[0] = threadIdx.x;  // expect: data-race with self
}

// All bits are shifted out: the count reaches the width of the type.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted_out(int *out, unsigned m) {
  int n = 0;
  for (m |= 0x80000000u; m; m >>= 1) ++n;
  if (n == 32) out[0] = threadIdx.x;  // expect: data-race with self
}

#pragma pack(push, 1)
struct Word {
  int value;
};
#pragma pack(pop)

// Neighbours write the same word, three bytes apart: different bytes in the same cells.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void same_word_shifted(char *out) {
  ((Word *)(out + 3 * threadIdx.x))->value = 0x01020304;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void same_word_in_place(char *out) {
  ((Word *)(out + 5 * (threadIdx.x / 2)))->value = 0x01020304;  // expect: benign-race with self
}

// After three turns i is 3 for all.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void three_after_do(int *out) {  // expect: race-free
  int i = 0;
  do {
    ++i;
  } while (i < 3);
  if (i != 3) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void three_and_no_more(int *out) {
  int i = 0;
  do {
    ++i;
  } while (i < 3);
  if (i == 3) out[0] = threadIdx.x;  // expect: data-race with self
}

// --- short loops that only compute ---------------------------------------------------------------------------

// Bit reversal, bit by bit: a permutation.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void bits_reversed(int *a) {  // expect: race-free
  int t = threadIdx.x, r = 0;
  for (int i = 0; i < 5; ++i) {
    if (t >> i & 1) r |= 1 << (4 - i);
  }
  a[r] = t;
}

// One bit is left out: two threads share each cell.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void four_bits_reversed(int *a) {
  int t = threadIdx.x, r = 0;
  for (int i = 0; i < 4; ++i) {
    if (t >> i & 1) r |= 1 << (4 - i);
  }
  a[r] = t;  // expect: data-race with self
}

// `continue` skips a bit that is set: the complement, and a permutation too.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void bits_that_are_clear(int *a) {  // expect: race-free
  int t = threadIdx.x, r = 0;
  for (int i = 0; i < 5; ++i) {
    if (t >> i & 1) continue;
    r += 1 << i;
  }
  a[r] = t;
}

// The largest power of two up to t, found by a loop that breaks: each thread adds what is left.
__device__ int largest_power(int t) {
  int p = 1;
  for (int i = 0; i < 6; ++i) {
    if (2 * p > t) break;
    p *= 2;
  }
  return p;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void power_and_rest(int *a) {  // expect: race-free
  int t = threadIdx.x, p = largest_power(t);
  a[p * 2 + (t - p)] = t;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void power_alone(int *a) {
  int t = threadIdx.x;
  a[largest_power(t)] = t;  // expect: data-race with self
}

// All threads leave through the return, in the third turn.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void returned_by_then(int *a) {  // expect: race-free
  for (int i = 0; i < 4; ++i) {
    if (i & 2) return;
  }
  a[0] = threadIdx.x;
}

// Nobody does: the loop ends before.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void not_returned_by_then(int *a) {
  for (int i = 0; i < 2; ++i) {
    if (i & 2) return;
  }
  a[0] = threadIdx.x;  // expect: data-race with self
}

// The barrier stands under a condition that the loop makes the same for all.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void barrier_behind_a_short_loop(int *a) {  // expect: race-free
  int t = threadIdx.x, c = 0;
  while (c < 4) {
    if (c * 8 > t + 32) break;
    ++c;
  }
  a[t] = c;
  if (c == 4) {
    __syncthreads();
    a[31 - t] = t;
  }
}

// The same with another bound: some threads leave before.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void barrier_behind_a_loop_left_early(int *a) {
  int t = threadIdx.x, c = 0;
  while (c < 4) {
    if (c * 8 > t) break;
    ++c;
  }
  a[t] = c;
  if (c == 4) {
    __syncthreads();  // expect: barrier-divergence
    a[t] = t;
  }
}

// Gray code, built bit by bit: neighbours differ in one bit, and no two threads agree.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void gray_code(int *a) {  // expect: race-free
  int t = threadIdx.x, g = 0;
  for (int i = 0; i < 5; ++i) {
    int bit = t >> i & 1, next = t >> (i + 1) & 1;
    if (bit != next) g |= 1 << i;
  }
  a[g] = t;
}

// Sorting two bits by a loop with two ways out: the class of a thread, and its place in the class.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void class_and_place(int *a) {  // expect: race-free
  int t = threadIdx.x, k = 0;
  do {
    if (t % 4 == k) break;
  } while (++k < 3);
  a[k * 8 + t / 4] = t;
}

// Interleaving two halves of an index.
// cuda-lsp: launch grid=(1) block=(16)
__global__ void interleaved(int *a) {  // expect: race-free
  int t = threadIdx.x, x = t & 3, y = t >> 2, m = 0;
  for (int i = 0; i < 2; ++i) {
    if (x >> i & 1) m += 1 << (2 * i);
    if (y >> i & 1) m += 2 << (2 * i);
  }
  a[m] = t;
}

// The number of digits of t in base 3, and a row for each.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void digits(int *a) {  // expect: race-free
  int t = threadIdx.x, left = t, n = 0;
  for (int i = 0; i < 4; ++i) {
    if (left == 0) break;
    left /= 3;
    ++n;
  }
  a[n * 32 + t] = n;
}

// Two loops, one after the other, of which the second goes on where the first has stopped.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void up_and_down(int *a) {  // expect: race-free
  int t = threadIdx.x, k = 0, v = t;
  while (k < 3) {
    if (v & 1) break;
    v >>= 1;
    ++k;
  }
  for (int i = 0; i < 3; ++i) {
    if (i >= k) break;
    v <<= 1;
  }
  a[2 * t - v] = t;
}

// Floats that are true for the first threads and not for the last.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void below_a_float(float *out) {
  float x = threadIdx.x;
  if (x < 25.0f) __syncthreads();  // expect: barrier-divergence
  out[threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void above_a_float(float *out) {
  float x = threadIdx.x;
  if (x > 60.0f) return;
  __syncthreads();  // expect: barrier-after-exit; redundant-barrier
  out[threadIdx.x] = 1;
}
