// A tree in shared memory for each block, then one block that adds up what they left.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int THREADS>
__global__ void sum_blocks(const float *in, float *partial, unsigned n) {  // expect: race-free
  cg::thread_block block = cg::this_thread_block();
  __shared__ float sums[THREADS];
  unsigned t = threadIdx.x, i = blockIdx.x * (THREADS * 2) + t;
  float own = i < n ? in[i] : 0;
  if (i + THREADS < n) own += in[i + THREADS];
  sums[t] = own;
  cg::sync(block);
  for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] = own = own + sums[t + s];
    cg::sync(block);
  }
  if (t == 0) partial[blockIdx.x] = own;
}

__global__ void sum_partial(const float *partial, float *result, int count) {  // expect: race-free
  __shared__ float sums[256];
  float own = 0;
  for (int i = threadIdx.x; i < count; i += 256) own += partial[i];
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) result[0] = sums[0];
}

__global__ void sum_partial_in_each_block(const float *partial, float *result, int count) {
  float own = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += 256 * gridDim.x) own += partial[i];
  if (threadIdx.x == 0) result[0] = own;  // expect: data-race inter-block with self
}

void reduce(const float *in, unsigned n, float *result) {
  float *partial;
  int blocks = (n + 2 * 256 - 1) / (2 * 256);
  cudaMalloc(&partial, blocks * sizeof(float));
  sum_blocks<256><<<dim3(blocks, 1, 1), dim3(256, 1, 1)>>>(in, partial, n);
  sum_partial<<<1, 256>>>(partial, result, blocks);
  sum_partial_in_each_block<<<2, 256>>>(partial, result, blocks);
}
