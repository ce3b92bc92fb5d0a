// Unsigned arithmetic that is meant to wrap around, or does so for ordinary sizes: never assumed away.

#include <cuda_runtime.h>

// A multiplicative hash: the high bits of different products agree.
__global__ void hash_high_bits(unsigned *table, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[(i * 2654435761u) >> 22] = i;  // expect: data-race inter-block with self; unknown(budget)
}

void launch_hash_high_bits(unsigned *table, unsigned n) { hash_high_bits<<<(n + 255) / 256, 256>>>(table, n); }

// One with a factor from outside, reduced by a mask.
__global__ void hash_masked(unsigned *table, unsigned factor, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[(i * factor) & 1023] = i;  // expect: data-race with self
}

void launch_hash_masked(unsigned *table, unsigned factor, unsigned n) {
  hash_masked<<<(n + 255) / 256, 256>>>(table, factor, n);
}

// The row above: the first row has none, and its index wraps around.
__global__ void row_above(float *a, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) a[y * width + x] = a[(y - 1) * width + x];  // expect: data-race with self
}

void launch_row_above(float *a, unsigned width, unsigned height) {
  row_above<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(a, width, height);
}

// A ring of cells entered backwards: below zero the number is huge, and its remainder is another cell's.
__global__ void ring_backwards(int *ring, unsigned start) {
  unsigned place = (start - threadIdx.x) % 70;
  ring[place] = threadIdx.x;  // expect: data-race with self
}

void launch_ring_backwards(int *ring, unsigned start) { ring_backwards<<<1, 64>>>(ring, start); }

// As many cells as a power of two: the remainder does not notice the wrap-around.
__global__ void ring_of_a_power(int *ring, unsigned start) {  // expect: race-free
  unsigned place = (start - threadIdx.x) % 128;
  ring[place] = threadIdx.x;
}

void launch_ring_of_a_power(int *ring, unsigned start) { ring_of_a_power<<<1, 64>>>(ring, start); }

// Sizes that are known and too large for the product.
__global__ void square_of_65536(int *out, unsigned width) {
  unsigned y = blockIdx.x * 1024;
  out[y * width + threadIdx.x] = y;  // expect: data-race inter-block with self
}

void launch_square_of_65536(int *out) { square_of_65536<<<128, 32>>>(out, 65536); }

// One row less leaves room.
__global__ void less_than_a_square(int *out, unsigned width) {  // expect: race-free
  unsigned y = blockIdx.x * 1024;
  out[y * width + threadIdx.x] = y;
}

void launch_less_than_a_square(int *out) { less_than_a_square<<<64, 32>>>(out, 65536); }

// A counter that goes down past zero: the loop ends where it wraps around, after as many iterations as it began with.
__global__ void down_past_zero(int *out) {
  for (unsigned i = threadIdx.x & 7; i != 0xffffffffu; i--) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// The same, as often for all threads: the cells below the first one are a thread's own.
__global__ void down_past_zero_together(int *out) {  // expect: race-free
  __shared__ int s[64];
  for (unsigned i = 7; i <= 7; i--) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x * 8 + i] = s[63 - threadIdx.x];
    __syncthreads();
  }
}

// Tested as a number with a sign, in rows of the block.
__global__ void rows_past_zero(int *out) {
  for (unsigned i = threadIdx.x + 64 * (threadIdx.x & 3); int(i) >= 0; i -= blockDim.x) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// Where it begins is a number with a sign that may be below zero, as far as its range says.
__global__ void down_past_zero_from_a_difference(int *out) {
  for (unsigned i = 50 - threadIdx.x; ~i; --i) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// Up to zero, from below.
__global__ void up_to_zero_from_a_difference(int *out) {
  for (unsigned i = threadIdx.x - 70; i != 0; i++) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// What ends the loop stands in its body.
__global__ void leaving_past_zero(int *out) {
  unsigned i = threadIdx.x;
  while (true) {
    if (int(i) < 0) break;
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
    i -= 1;
  }
}

// The same, asked of the value after the step.
__global__ void left_past_zero(int *out) {
  unsigned i = threadIdx.x;
  do {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
    i--;
    if (i == 0xffffffffu) break;
  } while (true);
}

// A narrow counter, which is compared as an `int`.
__global__ void narrow_past_zero(int *out, int n) {
  for (signed char i = threadIdx.x; i <= n + 31; i--) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// The test fails for the last two values of the type.
__global__ void two_past_zero(int *out, int n) {
  for (unsigned i = (threadIdx.x & 3) + n; i + 2 > 1; i = i - 2) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// What else may end it comes later.
__global__ void two_past_zero_or_so_many(int *out, int n) {
  int made = 0;
  for (unsigned i = (threadIdx.x & 3) + n; i + 2 > 1; i = i - 2) {
    if (++made > 600) break;
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// Where a narrow counter begins, on this or that side of the value at which it ends, is left to the block's size.
__global__ void narrow_up_to_three(int *out) {
  for (unsigned char i = -1 - threadIdx.x; i != 3; ++i) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// It begins behind the value at which it ends, or before it, as the thread's number says.
__global__ void up_to_three(int *out) {
  for (unsigned i = threadIdx.x - 40; i != 3; ++i) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// It begins below zero for all threads, and the value at which it ends is not known.
__global__ void up_to_some(int *out, int n) {
  for (unsigned i = -1 - threadIdx.x; i != n; ++i) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// By what it goes down is the thread's affair: still past zero.
__global__ void past_zero_in_own_steps(int *out) {
  for (unsigned i = 64 >> (threadIdx.x & 3); i < 90; i -= threadIdx.x + 1) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// Nobody says by what it goes down, but that it goes down.
__global__ void past_zero_in_some_steps(int *out, int n) {
  for (unsigned char i = threadIdx.x & 7; i < 64; i -= n) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// A limit behind it, that it comes to around zero only.
__global__ void past_zero_together_with_another(int *out, int n) {
  unsigned made = 7;
  for (size_t i = n - (int)threadIdx.x; (i | made) < 32; i--, made++) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// Nothing wraps around: some threads begin behind the limit.
__global__ void beginning_behind_the_limit(int *out, int n) {
  int made = 0;
  for (size_t i = n - (int)threadIdx.x; i < 32 && made < 8; i += 3, made++) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
  }
}

// A product grows with its factors, up to the limit; a quotient goes down to it.
__global__ void up_to_a_root(int *out, unsigned n, unsigned stride) {  // expect: race-free
  __shared__ int s[32];
  for (unsigned i = 2; i * i <= n; i++) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += s[31 - threadIdx.x];
    __syncthreads();
  }
  for (unsigned i = 1; n / i > 2; i++) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += s[31 - threadIdx.x];
    __syncthreads();
  }
  for (unsigned i = 0; i * stride + 1 < n; i++) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += s[31 - threadIdx.x];
    __syncthreads();
  }
}

// From below zero to a limit, as long as a flag of the thread is set.
__global__ void flagged_up_to_eight(int *out) {
  __shared__ int s[8];
  unsigned i = threadIdx.x - 40;
  bool go = true;
  for (int r = 0; r < 64; r++) {
    if (go) {
      if (i < 8) s[i] = threadIdx.x;  // expect: data-race with self
      i++;
      go = i != 8;
    }
  }
}

// What memory holds may end it, too.
__global__ void flagged_up_to_eight_or_so(int *out, const int *in) {
  __shared__ int s[8];
  unsigned i = threadIdx.x - 40;
  bool go = true;
  for (int r = 0; r < 64; r++) {
    if (go) {
      if (i < 8) s[i] = threadIdx.x;  // expect: possible-data-race with self
      i++;
      go = i != 8 && in[i & 7] > 3;
    }
  }
}

__global__ void up_to_eight_or_so(int *out, const int *in) {
  __shared__ int s[8];
  for (unsigned i = threadIdx.x - 40; i != 8 && in[i & 7] > 3; i++)
    if (i < 8) s[i] = threadIdx.x;  // expect: possible-data-race with self
}

__global__ void around_as_memory_says(int *out, const int *in) {
  __shared__ int s[8];
  for (unsigned char i = 240 + threadIdx.x; in[i] > 3; i++)
    if (i < 3) s[i] = threadIdx.x;  // expect: possible-data-race with self
}

// The test is of a variable that is set to what is asked of the counter.
__global__ void up_to_three_by_a_flag(int *out) {
  unsigned i = threadIdx.x - 40;
  bool go = i != 3;
  while (go) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
    i++;
    go = i != 3;
  }
}

__global__ void up_to_three_by_a_number(int *out) {
  unsigned i = threadIdx.x - 40;
  int left = 7;
  while (left != 0) {
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x] += i;
    i++;
    left = i - 3;
  }
}

__global__ void up_to_eight_from_below_zero(int *out, int n) {
  for (unsigned i = n - threadIdx.x; i != 8; i++)
    if (i == 1) out[0] += threadIdx.x;  // expect: data-race intra-warp with self
}

void launch_past_zero(int *out, int k) {
  up_to_eight_from_below_zero<<<1, 32>>>(out, 0);
  up_to_three_by_a_flag<<<1, 32>>>(out);
  up_to_three_by_a_number<<<1, 32>>>(out);
  flagged_up_to_eight<<<1, 32>>>(out);
  flagged_up_to_eight_or_so<<<1, 32>>>(out, out + 64);
  up_to_eight_or_so<<<1, 32>>>(out, out + 64);
  around_as_memory_says<<<1, 16>>>(out, out + 64);
  past_zero_in_own_steps<<<1, 32>>>(out);
  past_zero_in_some_steps<<<1, 32>>>(out, 5);
  past_zero_together_with_another<<<1, 32>>>(out, 5);
  beginning_behind_the_limit<<<1, 32>>>(out, 5);
  up_to_a_root<<<1, 32>>>(out, k, k);
  up_to_some<<<1, 32>>>(out, k);
  up_to_three<<<1, 32>>>(out);
  two_past_zero<<<1, 64>>>(out, 5);
  two_past_zero_or_so_many<<<1, 64>>>(out, 5);
  narrow_up_to_three<<<1, 64>>>(out);
  leaving_past_zero<<<1, 64>>>(out);
  left_past_zero<<<1, 64>>>(out);
  narrow_past_zero<<<1, 64>>>(out, 5);
  down_past_zero_from_a_difference<<<1, 64>>>(out);
  up_to_zero_from_a_difference<<<1, 64>>>(out);
  down_past_zero<<<1, 64>>>(out);
  down_past_zero_together<<<1, 64>>>(out);
  rows_past_zero<<<1, 64>>>(out);
}
