// Parameters that come from one host variable, each case with a twin whose parameters are unrelated.
//
// Block numbers are copied to int first: `blockIdx.y * pitch` itself is unsigned and may wrap.

// `half` is n / 2 of the same n.
__global__ void fold_halves(float *a, int n, int half) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) a[i] += a[n - half + i];
}

void launch_fold_halves(float *a, int n) { fold_halves<<<(n / 2 + 127) / 128, 128>>>(a, n, n / 2); }

__global__ void fold_unrelated(float *a, int n, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) a[i] += a[n - half + i];  // expect: data-race with self
}

void launch_fold_unrelated(float *a, int n, int half) { fold_unrelated<<<(half + 127) / 128, 128>>>(a, n, half); }

// The second array begins where the first ends.
__global__ void two_parts(int *pool, int n, int offset) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    pool[i] = i;
    pool[offset + i] = -i;
  }
}

void launch_two_parts(int *pool, int n) { two_parts<<<(n + 63) / 64, 64>>>(pool, n, n); }

__global__ void two_parts_unrelated(int *pool, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    pool[i] = i;  // expect: data-race with +1
    pool[offset + i] = -i;
  }
}

void launch_two_parts_unrelated(int *pool, int n, int offset) { two_parts_unrelated<<<(n + 63) / 64, 64>>>(pool, n, offset); }

// The pitch is the width plus padding.
__global__ void padded_pitch(float *out, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x < w) out[y * pitch + x] = x;
}

void launch_padded_pitch(float *out, int w, int h) { padded_pitch<<<dim3((w + 31) / 32, h), 32>>>(out, w, w + 16); }

// The padding goes the wrong way.
__global__ void shortened_pitch(float *out, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x < w) out[y * pitch + x] = x;  // expect: data-race with self
}

void launch_shortened_pitch(float *out, int w, int h) { shortened_pitch<<<dim3((w + 31) / 32, h), 32>>>(out, w, w - 16); }

// A stride and a count whose product is the size of a row.
__global__ void strided_groups(int *out, int groups, int size, int row) {  // expect: race-free
  int g = threadIdx.x, b = blockIdx.x;
  if (g < groups)
    for (int k = 0; k < size; ++k) out[b * row + g * size + k] = g;
}

void launch_strided_groups(int *out, int groups, int size, int rows) {
  if (groups <= 0 || size <= 0) return;
  strided_groups<<<rows, 128>>>(out, groups, size, groups * size);
}

__global__ void strided_groups_unrelated(int *out, int groups, int size, int row) {
  int g = threadIdx.x, b = blockIdx.x;
  if (g < groups)
    for (int k = 0; k < size; ++k) out[b * row + g * size + k] = g;  // expect: data-race with self
}

void launch_strided_groups_unrelated(int *out, int groups, int size, int row, int rows) {
  if (groups <= 0 || size <= 0) return;
  strided_groups_unrelated<<<rows, 128>>>(out, groups, size, row);
}

// The block's size is also a parameter.
__global__ void block_size_as_parameter(int *out, int threads) {  // expect: race-free
  out[blockIdx.x * threads + threadIdx.x] = threadIdx.x;
}

void launch_block_size_as_parameter(int *out, int n) {
  int threads = n > 4096 ? 256 : 64;
  block_size_as_parameter<<<16, threads>>>(out, threads);
}

__global__ void block_size_halved(int *out, int threads) {
  out[blockIdx.x * threads + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

void launch_block_size_halved(int *out, int n) {
  int threads = n > 4096 ? 256 : 64;
  block_size_halved<<<16, threads>>>(out, threads / 2);
}

// The relation passes through a struct on the host.
struct Plan {
  int width, height, pitch;
};

static Plan make_plan(int w, int h) {
  Plan p;
  p.width = w;
  p.height = h;
  p.pitch = (w + 31) / 32 * 32;
  return p;
}

__global__ void planned(float *out, int width, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x < width) out[y * pitch + x] = x;
}

void launch_planned(float *out, int w, int h) {
  Plan p = make_plan(w, h);
  planned<<<dim3((p.width + 63) / 64, p.height), 64>>>(out, p.width, p.pitch);
}

// Same pointer, disjoint ranges by one size.
__global__ void lower_to_upper(float *to, const float *from, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

void launch_lower_to_upper(float *a, int n) { lower_to_upper<<<(n + 127) / 128, 128>>>(a + n, a, n); }

__global__ void lower_to_middle(float *to, const float *from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];  // expect: data-race with self
}

void launch_lower_to_middle(float *a, int n) { lower_to_middle<<<(n + 127) / 128, 128>>>(a + n / 2, a, n); }

// Sizes read from a stream stay what they are while other things are read and allocated.
#include <fstream>

__global__ void from_stream(float *out, int width) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * width + x] = x;
}

__global__ void from_changed_stream(float *out, int width) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * width + x] = x;  // expect: data-race with self
}

void launch_from_stream(const char *path) {
  std::ifstream file(path);
  int width, height;
  file >> width >> height;
  float *out, level;
  file >> level;
  cudaMalloc(&out, width * height * sizeof(float));
  dim3 grid(width / 16, height / 16), block(16, 16);
  from_stream<<<grid, block>>>(out, width);
  file >> width;
  from_changed_stream<<<grid, block>>>(out, width);
}
