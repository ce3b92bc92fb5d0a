// Numbers that are cut off, shifted or asked for their signs: what that leaves of them counts, for small numbers too.

__global__ void unsigned_difference(unsigned *out, long long x, long long w) {
  if (x < w && (unsigned)(x - w) >= 100u) out[0] = threadIdx.x;  // expect: data-race with self
}

__global__ void halves(int *out, long long v) {
  long long k = v + 1;
  unsigned low = (unsigned)k, high = (unsigned)(k >> 32);
  if (high != 0 && low == 5) out[0] = threadIdx.x;  // expect: data-race with self
}

__global__ void does_not_fit(int *out, unsigned long long bytes) {
  int n = (int)(bytes * 8);
  if ((unsigned long long)n != bytes * 8) out[0] = threadIdx.x;  // expect: data-race with self
}

__global__ void negative_number_shifted(int *out, int s) {
  if (threadIdx.x < 3)
    out[((threadIdx.x - 5) << s) + (5u << s)] = threadIdx.x;  // expect: data-race with +2
  else
    out[(threadIdx.x - 3) << s] = threadIdx.x;  // expect: data-race with self
}

__global__ void mask_shifted_away(unsigned *out, unsigned mask) {
  if (threadIdx.x > 0 && threadIdx.x < 32 && mask != 0 && (mask << (32 - threadIdx.x)) == 0)
    out[0] = threadIdx.x;  // expect: data-race with self
}

__global__ void sign_of_a_number(int *out, unsigned n) {
  if ((int)n < 0) out[0] = threadIdx.x;  // expect: data-race with self
}

void launch_bits(unsigned *u, int *i, long long x, long long w, unsigned long long bytes, unsigned n, int s) {
  unsigned_difference<<<1, 64>>>(u, x, w);
  halves<<<1, 64>>>(i, x);
  does_not_fit<<<1, 64>>>(i, bytes);
  negative_number_shifted<<<1, 64>>>(i, s);
  mask_shifted_away<<<1, 64>>>(u, n);
  sign_of_a_number<<<1, 64>>>(i, n);
}

// A block of 255 threads that was computed as -1: the quotient is another number.
__global__ void negative_block(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) out[0] = i;  // expect: data-race with self
}

void launch_negative_block(float *out, int n, signed char b) {
  unsigned char threads = b;
  negative_block<<<n / b, threads>>>(out, n);
}

// The address of a parameter that is written as an array is that of a pointer.
__global__ void address_of_a_parameter(int out[]) {  // expect: unknown(expression)
  auto where = &out;
  (*where)[0] = threadIdx.x;
}

void launch_address_of_a_parameter(int *out) { address_of_a_parameter<<<1, 64>>>(out); }
