// Several threads write the same value to one cell.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void constant_flag(const int *in, int *flag) {
  int t = threadIdx.x;
  if (in[t] < 0) *flag = 1;  // expect: benign-race with self
}

// All threads clear the same cell.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void everybody_clears(int *cell) {
  *cell = 0;  // expect: benign-race with self
}

// The value is a parameter, the same for every thread.
// cuda-lsp: launch grid=(1) block=(64) v=7
__global__ void everybody_stores_parameter(int *out, int v) {
  __shared__ int s;
  s = v;  // expect: benign-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = s;
}

// A concurrent read makes it a race.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flag_read_at_once(int *out) {
  __shared__ int s;
  s = 5;  // expect: data-race intra-block with +1; data-race intra-block with self
  out[threadIdx.x] = s;
}

// Two different constants.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_constants(int *flag) {
  int t = threadIdx.x;
  *flag = t < 32 ? 1 : 2;  // expect: data-race with self
}

// Every pair of threads that shares a cell computes the same value for it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void value_is_a_function_of_the_cell(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t % 32] = 3 * (t % 32) + 1;  // expect: benign-race intra-block with self
  __syncthreads();
  out[t] = s[31 - t % 32];
}

// Both threads copy the same input cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void copied_twice(const int *in, int *out) {
  int c = threadIdx.x / 2;
  out[c] = in[c];  // expect: benign-race intra-warp with self
}

// Two statements store the same constant to one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void same_constant_twice(int *flag) {
  int t = threadIdx.x;
  if (t == 3) *flag = 1;  // expect: benign-race with +1
  if (t == 40) *flag = 1;
}

// The constants differ between the statements.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void different_constants_twice(int *flag) {
  int t = threadIdx.x;
  if (t == 3) *flag = 1;  // expect: data-race intra-block with +1
  if (t == 40) *flag = 0;
}

// One store with one value by one thread: nothing to report.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flag_by_one_thread(int *flag) {  // expect: race-free
  if (threadIdx.x == 3) *flag = 1;
}

// Numbers that are no integers: what all rows of a block load from one place is equal.
// cuda-lsp: launch grid=(4) block=(32,4)
__global__ void rows_load_alike(const float *in, float *out) {
  __shared__ float line[32];
  line[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];  // expect: benign-race with self
  __syncthreads();
  if (threadIdx.y == 0) out[blockIdx.x * 32 + threadIdx.x] = line[31 - threadIdx.x];
}

// Each row loads its own.
// cuda-lsp: launch grid=(4) block=(32,4)
__global__ void rows_load_apart(const float *in, float *out) {
  __shared__ float line[32];
  line[threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];  // expect: data-race with self
  __syncthreads();
  if (threadIdx.y == 0) out[blockIdx.x * 32 + threadIdx.x] = line[31 - threadIdx.x];
}

// All lanes of a warp write what a reduction gave each of them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void total_of_the_warp_by_all_lanes(const float *in, float *out) {
  __shared__ float totals[2];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  totals[warp.meta_group_rank()] = cg::reduce(warp, in[threadIdx.x], cg::plus<float>());  // expect: benign-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = totals[0] + totals[1];
}

// The same, divided.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mean_of_the_warp_by_all_lanes(const float *in, float *out) {
  __shared__ float means[2];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  means[threadIdx.x / 32] = cg::reduce(warp, in[threadIdx.x], cg::plus<float>()) / 32.0f;  // expect: benign-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = means[0] + means[1];
}

// Divided by something of each lane's own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void share_of_the_warp_by_all_lanes(const float *in, float *out) {
  __shared__ float shares[2];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float mine = in[threadIdx.x];
  shares[threadIdx.x / 32] = cg::reduce(warp, mine, cg::plus<float>()) / mine;  // expect: data-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = shares[0] + shares[1];
}

// Two tiles of a warp write to one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void totals_of_half_warps(const float *in, float *out) {
  __shared__ float totals[2];
  auto half = cg::tiled_partition<16>(cg::this_thread_block());
  totals[threadIdx.x / 32] = cg::reduce(half, in[threadIdx.x], cg::plus<float>());  // expect: data-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = totals[0] + totals[1];
}

// Both warps write to one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void totals_of_two_warps_in_one_cell(const int *in, int *out) {
  __shared__ int total;
  total = __reduce_add_sync(~0u, in[threadIdx.x]);  // expect: data-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = total;
}

// What a vote of the warp gave, written by all lanes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void votes_by_all_lanes(const int *in, unsigned *out) {
  __shared__ unsigned votes[2];
  votes[threadIdx.x / 32] = __ballot_sync(~0u, in[threadIdx.x] > 0);  // expect: benign-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = votes[0] + votes[1];
}

// From one lane to all of them, which write it; then from each lane's neighbour.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void from_one_lane_and_from_the_next(const int *in, int *out) {
  __shared__ int one[2], next[2];
  int v = in[threadIdx.x];
  one[threadIdx.x / 32] = __shfl_sync(~0u, v, 7);         // expect: benign-race intra-warp with self
  next[threadIdx.x / 32] = __shfl_down_sync(~0u, v, 1);  // expect: data-race intra-warp with self
  __syncthreads();
  out[threadIdx.x] = one[0] + next[1];
}

// Shared memory that nobody writes holds something else in each block. Within a block all read the same.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void what_blocks_found(int *out) {
  __shared__ int s[4];
  out[0] = s[1];  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void what_a_block_found(int *out) {
  __shared__ int s[4];
  out[0] = s[1];  // expect: benign-race intra-block with self
}

// A block of 8 has no lanes from 8 on: what comes from there is not the constant that the others give.
// cuda-lsp: launch grid=(1) block=(8)
__global__ void from_lanes_that_are_not_there(int *out) {
  int v = __shfl_down_sync(0xffffffff, 5, 3);
  out[threadIdx.x % 4] = v;  // expect: data-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(8)
__global__ void from_lanes_that_are_there(int *out) {
  int v = __shfl_up_sync(0xffffffff, 5, 3);
  out[threadIdx.x % 4] = v;  // expect: benign-race intra-warp with self
}
