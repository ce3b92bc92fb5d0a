// Facts that the host asserts before it launches, each with a twin that lacks it.
//
// The kernels write row-major pictures `y * w + x` without a guard on x. The grid covers w rounded up or down; only where
// the host makes sure that the block width divides w do the rows stay apart.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define CHECK(condition)                              \
  do {                                                \
    if (!(condition)) {                               \
      std::fprintf(stderr, "failed: " #condition "\n"); \
      std::abort();                                   \
    }                                                 \
  } while (0)

__global__ void asserted_width(unsigned char *out, int w, int h) {  // expect: race-free, cites +6
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;
}

void launch_asserted_width(unsigned char *out, int w, int h) {
  assert(w % 16 == 0);
  asserted_width<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

__global__ void width_not_asserted(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race with self
}

void launch_width_not_asserted(unsigned char *out, int w, int h) {
  width_not_asserted<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// The assertion speaks of another variable.
__global__ void height_asserted(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race with self
}

void launch_height_asserted(unsigned char *out, int w, int h) {
  assert(h % 16 == 0);
  height_asserted<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// The variable changes between the assertion and the launch.
__global__ void width_changed_afterwards(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race with self
}

void launch_width_changed_afterwards(unsigned char *out, int w, int h) {
  assert(w % 16 == 0);
  w = w + 3;
  width_changed_afterwards<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// A checking macro of the project's own.
__global__ void checked_width(unsigned char *out, int w, int h) {  // expect: race-free, cites +6
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;
}

void launch_checked_width(unsigned char *out, int w, int h) {
  CHECK(w % 16 == 0);
  checked_width<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// Leaving early on bad input.
__global__ void bad_width_returns(unsigned char *out, int w, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;
}

int launch_bad_width_returns(unsigned char *out, int w, int h) {
  if (w % 16 != 0) {
    std::puts("width must be a multiple of 16");
    return -1;
  }
  bad_width_returns<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
  return 0;
}

// The same message, but the function goes on.
__global__ void bad_width_warns(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race with self
}

int launch_bad_width_warns(unsigned char *out, int w, int h) {
  if (w % 16 != 0) {
    std::puts("width should be a multiple of 16");
  }
  bad_width_warns<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
  return 0;
}

// Throwing.
__global__ void bad_width_throws(unsigned char *out, int w, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;
}

void launch_bad_width_throws(unsigned char *out, int w, int h) {
  if (w % 16 != 0 || h < 1) throw std::invalid_argument("width");
  bad_width_throws<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// The launch stands inside the condition.
__global__ void good_width_only(unsigned char *out, int w, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;
}

void launch_good_width_only(unsigned char *out, int w, int h) {
  if (w % 16 == 0) good_width_only<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// ... or in the other arm.
__global__ void other_arm(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race with self
}

void launch_other_arm(unsigned char *out, int w, int h) {
  if (w % 16 == 0)
    std::puts("nothing to do");
  else
    other_arm<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, w, h);
}

// A compile-time assertion about a template argument.
template <int STRIDE>
__global__ void static_stride(int *out) {  // expect: race-free
  static_assert(STRIDE >= 2, "two cells per thread");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * STRIDE] = i;
  out[i * STRIDE + 1] = -i;
}

void launch_static_stride(int *out) { static_stride<2><<<4, 64>>>(out); }

// A bound on a parameter.
__global__ void asserted_stride(int *out, int stride) {  // expect: race-free, cites +7
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = i;
  out[i * stride + 1] = -i;
}

void launch_asserted_stride(int *out, int stride) {
  assert(stride >= 2);
  asserted_stride<<<4, 64>>>(out, stride);
}

__global__ void stride_not_asserted(int *out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = i;       // expect: data-race with self; data-race with +1
  out[i * stride + 1] = -i;  // expect: data-race with self
}

void launch_stride_not_asserted(int *out, int stride) { stride_not_asserted<<<4, 64>>>(out, stride); }

// Two facts together.
__global__ void two_asserts(float *out, int n, int pitch) {  // expect: race-free
  int x = threadIdx.x, y = blockIdx.x;
  if (x < n) out[y * pitch + x] = x;
}

void launch_two_asserts(float *out, int n, int pitch, int rows) {
  assert(n > 0);
  assert(pitch >= n);
  two_asserts<<<rows, 256>>>(out, n, pitch);
}

// One of them with the sides exchanged.
__global__ void pitch_assert_reversed(float *out, int n, int pitch) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < n) out[y * pitch + x] = x;  // expect: data-race with self
}

void launch_pitch_assert_reversed(float *out, int n, int pitch, int rows) {
  assert(n > 0);
  assert(pitch <= n);
  pitch_assert_reversed<<<rows, 256>>>(out, n, pitch);
}

// A function of the program that has the name of one that never returns.
void terminate(int odd);
[[noreturn]] void stop(int odd);

__global__ void after_message(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void after_stop(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

void launch_after_message(int *out, int step) {
  if (step < 1) terminate(step);
  after_message<<<1, 64>>>(out, step);
  if (step < 1) stop(step);
  after_stop<<<1, 64>>>(out, step);
}
