// Device assertions: those that fail, those that cannot, those that nobody can know about.

#include <cassert>

// The last block has threads beyond n.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void beyond_the_end(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);  // expect: assertion-failure
  a[i] = i;
}

// The grid fits.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void up_to_the_end(int *a, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  a[i] = i;
}

// Threads without work do not come to it.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void behind_a_guard(int *a, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  assert(i < 100);
  a[i] = i;
}

// The guard leaves one too many.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void behind_a_guard_off_by_one(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;
  assert(i < n);  // expect: assertion-failure
  a[i] = i;
}

// In one turn of a loop, for one thread.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void in_a_loop(int *a) {
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    assert(t + k != 34);  // expect: assertion-failure
    a[t * 4 + k] = k;
  }
}

// Never, since k stays below 4.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void in_a_loop_never(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    assert(t + k != 35);
    a[t * 4 + k] = k;
  }
}

// A place that is never reached, and one that is.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void never_reached(int *a) {  // expect: race-free
  int t = threadIdx.x;
  switch (t % 3) {
    case 0: a[t] = 1; break;
    case 1: a[t] = 2; break;
    case 2: a[t] = 3; break;
    default: assert(false);
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reached_by_some(int *a) {
  int t = threadIdx.x;
  switch (t % 3) {
    case 0: a[t] = 1; break;
    case 1: a[t] = 2; break;
    default: assert(false);  // expect: assertion-failure
  }
}

// In a function.
__device__ int checked(int i, int extent) {
  assert(i < extent);  // the second kernel below expects assertion-failure here
  return i;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void call_within(int *a) {  // expect: race-free
  a[checked(threadIdx.x, 64)] = 1;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void call_beyond(int *a) {  // expect: assertion-failure at -10
  a[checked(threadIdx.x, 63)] = 1;
}

// What memory holds is not known to anybody.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void about_data(const int *index, int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  assert(index[t] < n);
  a[t] = index[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void where_data_leads(const int *index, int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (index[t] > 5) assert(t < 32);
  a[t] = index[t];
}

// A second assertion for those that pass the first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_behind_the_other(int *a) {
  int t = threadIdx.x;
  assert(t < 40);  // expect: assertion-failure
  assert(t < 50);
  a[t] = 1;
}

// Nobody launches it: the assertion tells what it was written for.
__global__ void unseen(int *a, int n) {  // expect: race-free
  assert(n == blockDim.x);
  a[threadIdx.x] = n;
}

// The value is the caller's, and nobody limits it.
__global__ void open_value(int *a, int n) {
  int t = threadIdx.x;
  assert(t < n);  // expect: possible-assertion-failure
  a[t] = n;
}
void launch_open(int *a, int n) { open_value<<<1, 64>>>(a, n); }

// Here the host does.
__global__ void limited_value(int *a, int n) {  // expect: race-free, cites +6
  int t = threadIdx.x;
  assert(t < n);
  a[t] = n;
}
void launch_limited(int *a, int n) {
  if (n < 64) return;
  limited_value<<<1, 64>>>(a, n);
}

// The host's constant fails it.
__global__ void given_value(int *a, int n) {
  int t = threadIdx.x;
  assert(t < n);  // expect: assertion-failure
  a[t] = n;
}
void launch_given(int *a) { given_value<<<1, 64>>>(a, 48); }

// Without the assertion the threads of a row would write into the next one.
__global__ void rows(int *a, int width) {
  assert((int)threadIdx.x < width);  // expect: possible-assertion-failure
  a[blockIdx.x * width + threadIdx.x] = 1;
}
void launch_rows(int *a, int width) { rows<<<4, 64>>>(a, width); }

// A race is a race whatever an assertion elsewhere says, and both are told.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void race_and_assertion(int *a) {
  int t = threadIdx.x;
  a[t] = a[t + 1];  // expect: data-race with self
  assert(t != 7);  // expect: assertion-failure
}

// Threads that fail do not come to the barrier; the launch is over then, so the barrier is no mistake of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void before_a_barrier(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  assert(t != 7);  // expect: assertion-failure
  __syncthreads();
  a[t] = s[63 - t];
}

// What the first assertion leaves is less than the second allows.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void about_the_block(int *a) {  // expect: race-free
  assert(blockDim.x == 64 && gridDim.x == 1);
  assert(threadIdx.x < blockDim.x);
  a[threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(3) block=(32) n=96
__global__ void about_the_grid(int *a, int n) {  // expect: race-free
  assert(gridDim.x * blockDim.x == n);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[n - 1 - i] = i;
}

// cuda-lsp: launch grid=(3) block=(32) n=100
__global__ void about_the_grid_too_small(int *a, int n) {
  assert(gridDim.x * blockDim.x == n);  // expect: assertion-failure
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[n - 1 - i] = i;
}

// A power of two, by its bits.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void about_bits(int *a) {  // expect: race-free
  assert((blockDim.x & (blockDim.x - 1)) == 0);
  a[threadIdx.x ^ 1] = 1;
}

// Whoever multiplies by a width that is asserted may rely on it.
__global__ void stays_in_its_row(int *a, int width) {  // expect: race-free
  int row = blockIdx.x, t = threadIdx.x;
  assert(t < width);
  a[row * width + t] = 1;
}

// A thread that fails it was here before.
__global__ void before_one_thread_is_left(int *a) {
  a[0] = threadIdx.x;  // expect: possible-data-race with self
  assert(threadIdx.x == 1);
  a[1] = 2;
}

// One thread is left.
__global__ void where_one_thread_is_left(int *a) {  // expect: race-free
  assert(threadIdx.x == 1);
  a[0] = threadIdx.x + blockDim.x;
  a[1] = 2;
}
