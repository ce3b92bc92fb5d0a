// Pairs at a distance that has to be a power of two: what host code says of it.

#include <cassert>

#define EXCHANGE(a, i, stride)                  \
  unsigned pos = 2 * i - (i & ((stride) - 1));  \
  float x = a[pos], y = a[pos + (stride)];      \
  a[pos] = x + y;                               \
  a[pos + (stride)] = x - y;

// The distance halves from half of one bit that is moved.
__global__ void halves_of_a_moved_bit(float *a, int stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)
}

void transform(float *a, int log2n) {
  int n = 1 << log2n;
  for (int s = n / 2; s > 0; s /= 2) halves_of_a_moved_bit<<<n / 512, 256>>>(a, s);
}

// Three bits that are moved.
__global__ void halves_of_three_times_a_bit(float *a, int stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void transform_three(float *a, int log2n) {
  int n = 3 << log2n;
  for (int s = n / 2; s > 0; s /= 2) halves_of_three_times_a_bit<<<n / 512, 256>>>(a, s);
}

// A third of a power of two is none.
__global__ void thirds_of_a_moved_bit(float *a, int stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void transform_thirds(float *a, int log2n) {
  int n = 1 << log2n;
  thirds_of_a_moved_bit<<<n / 512, 256>>>(a, n / 3);
}

// Half of it, in the argument.
__global__ void half_of_a_moved_bit(float *a, unsigned stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)
}

void one_step(float *a, int log2n) {
  unsigned n = 1u << log2n;
  half_of_a_moved_bit<<<n / 512, 256>>>(a, n / 2);
}

// A function of the host takes the factors of two out of a length, and one is left.
static unsigned without_twos(unsigned *count, unsigned length) {
  if (!length) {
    *count = 0;
    return 0;
  }
  for (*count = 0; (length & 1) == 0; length >>= 1, (*count)++)
    ;
  return length;
}

__global__ void only_twos_in_the_length(float *a, unsigned stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)
}

void checked_length(float *a, unsigned length) {
  unsigned count;
  unsigned rest = without_twos(&count, length);
  assert(rest == 1);
  only_twos_in_the_length<<<length / 512, 256>>>(a, length / 2);
}

// Any odd number may be left.
__global__ void other_factors_in_the_length(float *a, unsigned stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void badly_checked_length(float *a, unsigned length) {
  unsigned count;
  unsigned rest = without_twos(&count, length);
  assert(rest >= 1);
  other_factors_in_the_length<<<length / 512, 256>>>(a, length / 2);
}

// Two bits go at once, and only the first one is known to be zero: one is left of six, too.
static unsigned without_fours(unsigned length) {
  while ((length & 1) == 0 && length) length >>= 2;
  return length;
}

__global__ void two_bits_at_once(float *a, unsigned stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void two_at_once(float *a, unsigned length) {
  if (without_fours(length) != 1) return;
  two_bits_at_once<<<length / 512, 256>>>(a, length / 2);
}

// The first bit goes before anybody has looked at it: one is left of three, too.
static unsigned halved_first(unsigned length) {
  do {
    length >>= 1;
  } while ((length & 1) == 0 && length);
  return length;
}

__global__ void a_bit_that_nobody_looked_at(float *a, unsigned stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void looked_too_late(float *a, unsigned length) {
  if (halved_first(length) != 1) return;
  a_bit_that_nobody_looked_at<<<length / 512, 256>>>(a, length / 2);
}

// Divided as often as it goes, in a loop of its own.
__global__ void divided_while_even(float *a, long stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, (unsigned)stride)
}

void in_a_while_loop(float *a, int length) {
  int rest = length;
  while (rest % 2 == 0 && rest > 0) rest /= 2;
  if (rest != 1 || length > (1 << 30)) return;
  divided_while_even<<<length / 512, 256>>>(a, length / 2);
}

// A function gives a truth value as a number.
static int is_power(unsigned x) { return (x & (x - 1)) == 0; }

__global__ void told_by_a_function(float *a, unsigned stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)
}

void asked_before(float *a, unsigned length) {
  if (!is_power(length)) return;
  told_by_a_function<<<length / 512, 256>>>(a, length / 2);
}

// The answer is turned round.
__global__ void told_the_opposite(float *a, unsigned stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  EXCHANGE(a, i, stride)  // expect: data-race with self
}

void asked_the_wrong_way(float *a, unsigned length) {
  if (is_power(length) == 1) return;
  told_the_opposite<<<length / 512, 256>>>(a, length / 2);
}
