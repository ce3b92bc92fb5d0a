// A subscript of an array that every thread makes says how many threads a block has at most: subscripts of declared
// arrays are in bounds, an assumption that is listed.
#include <cuda_runtime.h>

__global__ void one_each(float *a) {  // expect: race-free
  __shared__ float s[128];
  s[threadIdx.x] = 1;
  __syncthreads();
  a[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void tile(float *a) {  // expect: race-free
  __shared__ float s[16][17];
  s[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  a[(blockIdx.x * 16 + threadIdx.y) * 17 + threadIdx.x] = s[threadIdx.y][0];
}

__global__ void after_the_store(float *a) {  // expect: race-free
  __shared__ float s[128];
  a[blockIdx.x * 128 + threadIdx.x] = blockIdx.x;
  s[threadIdx.x] = 1;
}

__global__ void half_of_it(float *a) {  // expect: race-free
  __shared__ float s[128];
  int t = threadIdx.x;
  s[2 * t] = 0;
  s[2 * t + 1] = 1;
  a[blockIdx.x * 64 + t] = t;
}

// Some threads only.
__global__ void guarded(float *a) {
  __shared__ float s[128];
  if (threadIdx.x < 128) s[threadIdx.x] = 1;
  __syncthreads();
  a[blockIdx.x * 128 + threadIdx.x] = s[0];  // expect: data-race inter-block with self
}

// Only if the launch asks for it.
__global__ void asked_for(float *a, int flag) {
  __shared__ float s[128];
  if (flag) s[threadIdx.x] = 1;
  a[blockIdx.x * 128 + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

// A remainder is always in bounds.
__global__ void wrapped(float *a) {
  __shared__ float s[128];
  s[threadIdx.x % 128] = threadIdx.x;                // expect: data-race intra-block with self
  a[blockIdx.x * 128 + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

// The array is larger than the rows.
__global__ void too_wide(float *a) {
  __shared__ float s[129];
  s[threadIdx.x] = 1;
  a[blockIdx.x * 128 + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

void run(float *a, int threads, int rows, int flag) {
  one_each<<<100, threads>>>(a);
  tile<<<100, dim3(threads, rows)>>>(a);
  after_the_store<<<100, threads>>>(a);
  half_of_it<<<100, threads>>>(a);
  guarded<<<100, threads>>>(a);
  asked_for<<<100, threads>>>(a, flag);
  wrapped<<<100, threads>>>(a);
  too_wide<<<100, threads>>>(a);
}
