// Index arithmetic with C's integers: division truncates, unsigned numbers wrap, conversions cut off.

// (0 - 1) / 2 is 0 in C, so thread 0 meets thread 1. Rounding down would give -1.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void division_truncates(int *a) {
  int t = threadIdx.x;
  if (t == 0 || t % 2 == 1) a[(t - 1) / 2] = t;  // expect: data-race intra-warp with self
}

// Without thread 0 the quotients are 0, 1, 2, ...
// cuda-lsp: launch grid=(1) block=(64)
__global__ void division_of_positive_numbers(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 2 == 1) a[(t - 1) / 2] = t;
}

// The remainder takes the sign of the dividend: -31 ... -1 and 1 ... 31 do not meet. Rounding down would make them equal.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void remainder_keeps_sign(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t > 0) a[(t - 32) % 32 + 31] = t;
}

// 0 - 32 and 32 - 32 both leave 0.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void remainder_zero_twice(int *a) {
  int t = threadIdx.x;
  a[(t - 32) % 32 + 31] = t;  // expect: data-race intra-block with self
}

// The same remainder with unsigned numbers: t - 32 wraps to a multiple of 32 plus t.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void remainder_of_wrapped(int *a) {
  unsigned t = threadIdx.x;
  a[(t - 32) % 32 + 31] = t;  // expect: data-race intra-block with self
}

// Below 32 the difference wraps to a huge number; the guard lets exactly the threads 32 to 63 through.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void wrap_around_guard(int *a) {  // expect: race-free
  unsigned t = threadIdx.x;
  a[t] = 1;
  if (t - 32 < 32) a[t + 64] = 2;
  if (t - 32 >= 32) a[t + 128] = 3;
}

// `0 - 1` wraps in the guard and keeps thread 0 out.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void predecessor_guard(int *a) {  // expect: race-free
  if (threadIdx.x - 1 < 31) a[threadIdx.x - 1] = threadIdx.x;
}

// The same guard on signed numbers lets thread 0 in; its clamped cell belongs to thread 1.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void predecessor_guard_signed(int *a) {
  int t = threadIdx.x;
  if (t - 1 < 31) a[max(t - 1, 0)] = t;  // expect: data-race intra-warp with self
}

// A multiplicative hash keeps the low bits apart: the factor is odd.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void hash_low_bits(int *a) {  // expect: race-free
  unsigned h = threadIdx.x * 2654435761u;
  a[h & 63] = threadIdx.x;
}

// Its high bits collide once the product wraps; numbers without a limit would never reach them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void hash_high_bits(int *a) {
  unsigned h = threadIdx.x * 2654435761u;
  a[h >> 26] = threadIdx.x;  // expect: data-race with self
}

// Stored in a byte, 4 * 64 is 0 again.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void narrowed_to_byte(int *a) {
  unsigned char c = threadIdx.x * 4;
  a[c] = threadIdx.x;  // expect: data-race intra-block with self
}

// 64 threads fit.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void narrowed_but_fits(int *a) {  // expect: race-free
  unsigned char c = threadIdx.x * 4;
  a[c] = threadIdx.x;
}

// A signed byte turns 128 ... 255 into -128 ... -1: still one value per thread.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void signed_byte(int *a) {  // expect: race-free
  signed char c = (signed char)threadIdx.x;
  a[c + 128] = threadIdx.x;
}

// The absolute value folds them together.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void signed_byte_folded(int *a) {
  signed char c = (signed char)threadIdx.x;
  a[c < 0 ? -c : c] = threadIdx.x;  // expect: data-race with self
}

// 16-bit products are computed as int and cut off when stored.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void narrowed_product(int *a) {
  unsigned short p = threadIdx.x * 2048;
  a[p] = threadIdx.x;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void product_kept_wide(int *a) {  // expect: race-free
  unsigned p = threadIdx.x * 2048;
  a[p] = threadIdx.x;
}

// A shift by one is a division by two: two threads per cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted_right(int *a) {
  int t = threadIdx.x;
  a[t >> 1] = t;  // expect: data-race intra-warp with self
}

// Even threads only.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted_right_even(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (!(t & 1)) a[t >> 1] = t;
}

// Rotating six bits is a permutation.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rotated_bits(int *a) {  // expect: race-free
  unsigned t = threadIdx.x;
  a[((t << 1) | (t >> 5)) & 63] = t;
}

// Shifting without bringing the top bit back loses it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted_out(int *a) {
  unsigned t = threadIdx.x;
  a[(t << 1) & 63] = t;  // expect: data-race intra-block with self
}

// Reversing the bits of a five-bit number.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void reversed_bits(int *a) {  // expect: race-free
  a[__brev(threadIdx.x) >> 27] = threadIdx.x;
}

// The Gray code of a number is unique.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void gray_code(int *a) {  // expect: race-free
  int t = threadIdx.x;
  a[t ^ (t >> 1)] = t;
}

// The number of set bits is not.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bit_count(int *a) {
  a[__popc(threadIdx.x)] = threadIdx.x;  // expect: data-race with self
}

// An arithmetic right shift of negative numbers rounds down: -1 >> 1 is -1, not 0.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void arithmetic_shift(int *a) {  // expect: race-free
  int v = (int)threadIdx.x - 32;
  if (v & 1) a[(v >> 1) + 16] = v;
}

// A logical shift of the same bits.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void logical_shift(int *a) {
  unsigned v = threadIdx.x - 32u;
  if (v & 1) a[(v >> 1) & 15] = v;  // expect: data-race intra-block with self
}

// A comparison between signed and unsigned happens unsigned: -1 is not below 40.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mixed_comparison(int *a) {  // expect: race-free
  int v = (int)threadIdx.x - 1;
  unsigned limit = 40;
  if (v < limit) a[v < 0 ? 0 : v] = threadIdx.x;
}

// The same comparison on signed numbers lets -1 in, whose cell is that of 0.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void signed_comparison(int *a) {
  int v = (int)threadIdx.x - 1;
  int limit = 40;
  if (v < limit) a[v < 0 ? 0 : v] = threadIdx.x;  // expect: data-race intra-warp with self
}

// A 64-bit index of a 32-bit product: 65536 * 65536 wraps to 0 before it is widened.
// cuda-lsp: launch grid=(2) block=(1)
__global__ void widened_too_late(int *a) {
  unsigned stride = 65536u * (blockIdx.x * 65536u);
  size_t i = stride;
  a[i] = blockIdx.x;  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void widened_in_time(int *a) {  // expect: race-free
  size_t stride = (size_t)65536 * (blockIdx.x * 65536u);
  a[stride] = blockIdx.x;
}

// Division by a negative number.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void negative_divisor(int *a) {
  int t = threadIdx.x;
  a[t / -4 + 8] = t;  // expect: data-race intra-warp with self
}

// A boolean is 0 or 1, whatever was stored in it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void converted_to_bool(int *a) {
  bool b = threadIdx.x;
  a[b] = threadIdx.x;  // expect: data-race with self
}

// Complement: ~t is -t - 1.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void complement(int *a) {  // expect: race-free
  int t = threadIdx.x;
  a[~t + 64] = t;
}

// Triangular numbers modulo a power of two are a permutation.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void triangular_probing(int *a) {  // expect: race-free
  int t = threadIdx.x;
  a[(t * (t + 1) / 2) % 64] = t;
}

// Squares are not.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void squares_modulo(int *a) {
  int t = threadIdx.x;
  a[(t * t) % 64] = t;  // expect: data-race with self
}

// The product of a block number and a pitch is unsigned and wraps for huge pitches; nothing here limits the pitch. The
// proof says that it assumes otherwise.
__global__ void unsigned_row_offset(int *out, int pitch) {  // expect: race-free
  int x = threadIdx.x;
  if (x < pitch) out[blockIdx.x * pitch + x] = blockIdx.x;
}

void launch_unsigned_row_offset(int *out, int pitch) { unsigned_row_offset<<<8, 64>>>(out, pitch); }

// Here the pitch is limited.
__global__ void unsigned_row_offset_limited(int *out, int pitch) {  // expect: race-free
  int x = threadIdx.x;
  if (x < pitch) out[blockIdx.x * pitch + x] = blockIdx.x;
}

void launch_unsigned_row_offset_limited(int *out, int pitch) {
  if (pitch > 100000) return;
  unsigned_row_offset_limited<<<8, 64>>>(out, pitch);
}
