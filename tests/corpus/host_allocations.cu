// Facts from allocations: what was allocated has a size, and different allocations do not overlap.

#include <cuda_runtime.h>

#include <cstdlib>
#include <vector>

// An allocation of n * 4 bytes was made, so n is not zero.
__global__ void row_per_thread(float *out, unsigned n) {  // expect: race-free
  unsigned t = threadIdx.x;
  out[t * n] = t;
}

void launch_row_per_thread(unsigned n) {
  if (n > 1000) return;
  float *out;
  cudaMalloc(&out, n * 64 * sizeof(float));
  row_per_thread<<<1, 64>>>(out, n);
}

// The allocation says nothing about this n.
__global__ void row_per_thread_unsized(float *out, unsigned n) {
  unsigned t = threadIdx.x;
  out[t * n] = t;  // expect: data-race with self
}

void launch_row_per_thread_unsized(unsigned n) {
  if (n > 1000) return;
  float *out;
  cudaMalloc(&out, 64000 * sizeof(float));
  row_per_thread_unsized<<<1, 64>>>(out, n);
}

// Two allocations are two objects.
__global__ void copy_reversed(const int *from, int *to) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_copy_reversed() {
  int *a, *b;
  cudaMalloc(&a, 64 * sizeof(int));
  cudaMalloc(&b, 64 * sizeof(int));
  copy_reversed<<<1, 64>>>(a, b);
}

// One allocation under two names is one.
__global__ void copy_reversed_aliased(const int *from, int *to) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with self
}

void launch_copy_reversed_aliased() {
  int *a;
  cudaMalloc(&a, 64 * sizeof(int));
  int *b = a;
  copy_reversed_aliased<<<1, 64>>>(a, b);
}

// One pool, cut in two by the host.
__global__ void copy_within_pool(const int *from, int *to) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_copy_within_pool() {
  int *pool;
  cudaMalloc(&pool, 128 * sizeof(int));
  copy_within_pool<<<1, 64>>>(pool, pool + 64);
}

// The cut is too early.
__global__ void copy_within_pool_overlapping(const int *from, int *to) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with self
}

void launch_copy_within_pool_overlapping() {
  int *pool;
  cudaMalloc(&pool, 128 * sizeof(int));
  copy_within_pool_overlapping<<<1, 64>>>(pool, pool + 32);
}

// The pool is cut by a byte count that is a multiple of the element.
__global__ void copy_within_byte_pool(const int *from, int *to) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_copy_within_byte_pool() {
  char *pool;
  cudaMalloc(&pool, 1024);
  copy_within_byte_pool<<<1, 64>>>(reinterpret_cast<int *>(pool), reinterpret_cast<int *>(pool + 256));
}

__global__ void copy_within_byte_pool_overlapping(const int *from, int *to) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with self
}

void launch_copy_within_byte_pool_overlapping() {
  char *pool;
  cudaMalloc(&pool, 1024);
  copy_within_byte_pool_overlapping<<<1, 64>>>(reinterpret_cast<int *>(pool), reinterpret_cast<int *>(pool + 64));
}

// The size of a container may be zero: no fact.
__global__ void row_of_container(float *out, unsigned n) {
  unsigned t = threadIdx.x;
  out[t * n] = t;  // expect: data-race with self
}

void launch_row_of_container(float *out, const std::vector<float> &values) {
  unsigned n = static_cast<unsigned>(values.size());
  if (n > 1000) return;
  row_of_container<<<1, 64>>>(out, n);
}

// The width of an allocated picture.
__global__ void allocated_picture(float *out, unsigned w) {  // expect: race-free
  out[blockIdx.x * w + threadIdx.x % w] = 1;
}

void launch_allocated_picture(unsigned w) {
  if (w > 256) return;
  float *out;
  cudaMalloc(&out, w * 10 * sizeof(float));
  allocated_picture<<<10, w>>>(out, w);
}

// The size is computed with int: its square does not overflow, and neither do the indices.
__global__ void tiles_of_square(float *m, int n) {  // expect: race-free
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < n && column < n) m[row * n + column] = row;
}

void launch_tiles_of_square(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  tiles_of_square<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(m, n);
}

// Computed with size_t the square may be any; that its elements can be numbered with 32 bits is assumed.
__global__ void tiles_of_large_square(float *m, int n) {  // expect: race-free
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < n && column < n) m[row * n + column] = row;
}

void launch_tiles_of_large_square(int n) {
  float *m;
  cudaMalloc(&m, sizeof(float) * n * n);
  tiles_of_large_square<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(m, n);
}
