// Unsigned indices with negative parts: with 32 bits they wrap around on the way, there and back, for ordinary numbers.
#include <assert.h>

// The cells to the left of a thread's own, read too early.
__global__ void blur_left(const float *in, float *out, int radius) {
  extern __shared__ float line[];
  unsigned t = threadIdx.x + radius;
  line[t] = in[blockIdx.x * blockDim.x + threadIdx.x];  // expect: data-race intra-block with +2
  float sum = 0;
  for (int d = -radius; d < 0; d++) sum += line[t + d];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void launch_blur_left(const float *in, float *out, int radius, int blocks) {
  assert(radius >= 1 && radius <= 32);
  blur_left<<<blocks, 128, 160 * sizeof(float)>>>(in, out, radius);
}

// With the barrier, which is needed.
__global__ void blur_left_after_barrier(const float *in, float *out, int radius) {  // expect: race-free
  extern __shared__ float line[];
  unsigned t = threadIdx.x + radius;
  line[t] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int d = -radius; d < 0; d++) sum += line[t + d];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void launch_blur_left_after_barrier(const float *in, float *out, int radius, int blocks) {
  assert(radius >= 1 && radius <= 32);
  blur_left_after_barrier<<<blocks, 128, 160 * sizeof(float)>>>(in, out, radius);
}

// A shift by an offset that the host gives.
__global__ void shift_by(const int *in, int *out, int offset) {  // expect: race-free
  __shared__ int cells[256];
  cells[threadIdx.x + 128] = in[threadIdx.x];
  cells[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x + 128 + offset];
}

void launch_shift_by(const int *in, int *out, int offset) {
  if (offset > 0 || offset < -100) return;
  shift_by<<<1, 128>>>(in, out, offset);
}

__global__ void shift_by_too_early(const int *in, int *out, int offset) {
  __shared__ int cells[256];
  cells[threadIdx.x + 128] = in[threadIdx.x];  // expect: data-race with +1
  out[threadIdx.x] = cells[threadIdx.x + 128 + offset];
}

void launch_shift_by_too_early(const int *in, int *out, int offset) {
  if (offset > 0 || offset < -100) return;
  shift_by_too_early<<<1, 128>>>(in, out, offset);
}

// In place, by offsets that a loop of the host counts down.
__global__ void shift_in_place(int *a, int offset) {
  int to = blockIdx.x * blockDim.x + threadIdx.x;
  int from = blockIdx.x * blockDim.x + threadIdx.x + offset;
  if (from >= 0) a[to] = a[from];  // expect: data-race with self
}

void launch_shift_in_place(int *a, int blocks) {
  for (int offset = -1; offset >= -8; offset--) shift_in_place<<<blocks, 256>>>(a, offset);
}

// The neighbours above and to the left, in place and in another image.
__global__ void smooth_in_place(float *a, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width || y >= height) return;
  float sum = 0;
  for (int dx = -1; dx <= 0; dx++) sum += a[(y - 1) * width + x + dx];
  a[y * width + x] = sum;  // expect: data-race with -1
}

void launch_smooth_in_place(float *a, unsigned width, unsigned height) {
  smooth_in_place<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(a, width, height);
}

__global__ void smooth(const float *a, float *b, unsigned width, unsigned height) {  // expect: race-free
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width || y >= height) return;
  float sum = 0;
  for (int dx = -1; dx <= 0; dx++) sum += a[(y - 1) * width + x + dx];
  b[y * width + x] = sum;
}

void launch_smooth(const float *a, float *b, unsigned width, unsigned height) {
  smooth<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(a, b, width, height);
}

// Both halves of a block fill the cells below n.
__global__ void both_below(int *a, unsigned n) {
  unsigned t = threadIdx.x;
  if (t < 32)
    a[n + (t - 32)] = 1;  // expect: data-race with +2
  else
    a[n - 1 - (t - 32)] = 2;
}

void launch_both_below(int *a, unsigned n) {
  if (n < 64) return;
  both_below<<<1, 64>>>(a, n);
}

// One half below n, one above.
__global__ void below_and_above(int *a, unsigned n) {  // expect: race-free
  unsigned t = threadIdx.x;
  if (t < 32)
    a[n + (t - 32)] = 1;
  else
    a[n + (t - 32)] = 2;
}

void launch_below_and_above(int *a, unsigned n) {
  if (n < 64) return;
  below_and_above<<<1, 64>>>(a, n);
}

// The caller says "none yet" with the largest number: that is not a size.
__global__ void append_after(int *a, unsigned last) {
  a[last + 1 + threadIdx.x] = 1;  // expect: data-race with +1
  a[64 + threadIdx.x] = 2;
}

void launch_append_after(int *a, unsigned last) {
  if (last != ~0u && last < 1000) return;
  append_after<<<1, 128>>>(a, last);
}

__global__ void append_after_some(int *a, unsigned last) {  // expect: race-free
  a[last + 1 + threadIdx.x] = 1;
  a[64 + threadIdx.x] = 2;
}

void launch_append_after_some(int *a, unsigned last) {
  if (last < 1000) return;
  append_after_some<<<1, 128>>>(a, last);
}
