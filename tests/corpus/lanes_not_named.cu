// Barriers and exchanges of a warp whose mask does not name the lane that comes to them.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// --- masks that are numbers

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_eight_by_sixteen(int *out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t % 32 < 16) {
    __syncwarp(0xff);  // expect: lane-not-in-mask, fix: no
    out[t] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_sixteen_by_sixteen(int *out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t % 32 < 16) {
    __syncwarp(0xffff);  // expect: redundant-barrier
    out[t] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_of_eight_by_sixteen(int *out) {
  int t = threadIdx.x, v = 0;
  if (t % 32 < 16) v = __shfl_sync(0xff, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_of_eight_by_eight(int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 32 < 8) v = __shfl_sync(0xff, t, 0);
  out[t] = v;
}

// Whoever is not named is not ordered by it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_half_by_a_warp(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-warp with +2
  __syncwarp(0xffff);  // expect: lane-not-in-mask
  out[t] = s[t ^ 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_a_warp(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 1];
}

// Every second lane asks the next one, and all come.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_of_even_lanes_by_all(int *out) {
  int t = threadIdx.x, v = t;
  v |= __shfl_down_sync(0x55555555, v, 1) << 8;  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_of_all_for_even_lanes(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  int next = __shfl_down_sync(0xffffffff, v, 1);
  if (t % 2 == 0) v |= next << 8;
  out[t] = v;
}

// What comes out of it goes nowhere.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void votes_of_some_by_all(const int *in, int *sum) {
  int t = threadIdx.x;
  __any_sync(0x7fffffff, in[t] > 3);  // expect: lane-not-in-mask
  __match_any_sync(0xfffffffe, in[t]);  // expect: lane-not-in-mask
  atomicAdd(sum, __reduce_add_sync(0xffff0000, in[t]));  // expect: lane-not-in-mask
}

// There are no lanes but these.
// cuda-lsp: launch grid=(1) block=(16)
__global__ void shuffle_in_a_block_of_half_a_warp(int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = __shfl_xor_sync(0xffff, t, 1);
}

// cuda-lsp: launch grid=(1) block=(24)
__global__ void shuffle_in_a_block_of_more_than_half_a_warp(int *out) {
  int t = threadIdx.x;
  out[t] = __shfl_xor_sync(0xffff, t, 1);  // expect: lane-not-in-mask
}

// --- lanes are counted through the rows of a block

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void first_rows_of_eight(int *out) {  // expect: race-free
  int t = threadIdx.x + 8 * threadIdx.y, v = 0;
  if (threadIdx.y % 4 < 2) v = __ballot_sync(0xffff, t > 3);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void first_columns_of_eight(int *out) {
  int t = threadIdx.x + 8 * threadIdx.y, v = 0;
  if (threadIdx.x < 4) v = __ballot_sync(0xf, t > 3);  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32,4)
__global__ void first_columns_of_a_warp(int *out) {  // expect: race-free
  int t = threadIdx.x + 32 * threadIdx.y, v = 0;
  if (threadIdx.x < 4) v = __ballot_sync(0xf, t > 3);
  out[t] = v;
}

// The number along a row is no lane where rows are short.
// cuda-lsp: launch grid=(1) block=(16,2)
__global__ void lane_along_a_row(int *out) {
  int t = threadIdx.x + 16 * threadIdx.y;
  out[t] = __ballot_sync(1u << threadIdx.x, t > 3);  // expect: lane-not-in-mask
}

// --- masks that are computed

// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_lane_alone(int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = __ballot_sync(1u << (t & 31), t > 3);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void next_lane_alone(int *out) {
  int t = threadIdx.x;
  out[t] = __ballot_sync(1u << ((t + 1) & 31), t > 3);  // expect: lane-not-in-mask
}

// Each of two names the other, and not itself: nothing is ordered.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_the_other_alone(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-warp with +2
  __syncwarp(1u << (t & 31 ^ 1));  // expect: lane-not-in-mask
  out[t] = s[t ^ 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_of_two(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp(3u << (t & 30));
  out[t] = s[t ^ 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void groups_of_eight(int *out) {  // expect: race-free
  int t = threadIdx.x;
  unsigned group = 0xffu << (t % 32 / 8 * 8);
  for (int d = 4; d > 0; d /= 2) out[t] += __shfl_xor_sync(group, t, d);
}

// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void first_lanes(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 32 < n) v = __shfl_sync((1u << n) - 1, t, 0);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void first_lanes_but_one(int *out, int n) {
  int t = threadIdx.x, v = 0;
  if (t % 32 < n) v = __shfl_sync((1u << (n - 1)) - 1, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=24
__global__ void all_but_the_last_lanes(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t < 32 - n) v = __shfl_sync(0xffffffffu >> n, t, 0);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=24
__global__ void last_lanes(int *out, int n) {
  int t = threadIdx.x, v = 0;
  if (t >= n) v = __shfl_sync(0xffffffffu >> n, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}

__global__ void lanes_that_the_host_chooses(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t < n) v = __shfl_sync(0xff, t, 0);
  out[t] = v;
}
void few(int *out, int n) {
  if (n > 8) return;
  lanes_that_the_host_chooses<<<1, 32>>>(out, n);
}

__global__ void more_lanes_that_the_host_chooses(int *out, int n) {
  int t = threadIdx.x, v = 0;
  if (t < n) v = __shfl_sync(0xff, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}
void more(int *out, int n) {
  if (n > 9) return;
  more_lanes_that_the_host_chooses<<<1, 32>>>(out, n);
}

// A mask from the host may be the right one, whatever it is.
__global__ void mask_that_the_host_chooses(int *out, unsigned lanes, int n) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 32 < n) v = __shfl_sync(lanes, t, 0) + __shfl_sync((1u << n) - 1, t, 0);
  out[t] = v;
}
void masked(int *out, unsigned lanes, int n) { mask_that_the_host_chooses<<<1, 64>>>(out, lanes, n); }

__global__ void mask_of_one_less_than_come(int *out, int n) {
  int t = threadIdx.x, v = 0;
  if (t < n) v = __shfl_sync((1u << (n - 1)) - 1, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}
void masked(int *out, int n) { mask_of_one_less_than_come<<<1, 32>>>(out, n); }

// What a vote of a condition gave names the lanes for which it holds; of others nothing is said.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lanes_that_voted(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  unsigned many = __ballot_sync(0xffffffff, in[t] > 3);
  if (in[t] > 3) v = __shfl_sync(many, t, 0);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void lanes_that_are_there(int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 3) v = __shfl_sync(__activemask(), t, 0);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void lanes_from_memory(const unsigned *in, int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = __shfl_sync(in[0], t, 0);
}

// --- who comes

// cuda-lsp: launch grid=(1) block=(64)
__global__ void others_have_returned(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 >= 8) return;
  out[t] = __shfl_sync(0xff, t, 0);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_others_have_returned(int *out) {
  int t = threadIdx.x;
  if (t % 32 >= 9) return;
  out[t] = __shfl_sync(0xff, t, 0);  // expect: lane-not-in-mask
}

// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void others_have_left_the_loop(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (t >= 16) break;
    v += __shfl_xor_sync(0xffff, v, 1);
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void others_leave_the_loop_later(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (i == 2 && t >= 16) break;
    v += __shfl_xor_sync(0xffff, v, 1);  // expect: lane-not-in-mask
  }
  out[t] = v;
}

// Whoever is not named has left two rounds before.
// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void others_have_left_the_loop_long_before(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (i == 1 && t >= 16) break;
    if (i == 3) v += __shfl_xor_sync(0xffff, v, 1);
  }
  out[t] = v;
}

// Fewer lanes in each round, and as many as the mask names.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void fewer_lanes_in_each_round(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) v += __ballot_sync((1u << d) - 1, v > 3);
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void fewer_lanes_in_each_round_than_come(int *out) {
  int t = threadIdx.x, v = t;
  for (int d = 16; d > 0; d /= 2) {
    if (t <= d) v += __ballot_sync((1u << d) - 1, v > 3);  // expect: lane-not-in-mask
  }
  out[t] = v;
}

// Data that all lanes share lets all of them come, data of each thread's own perhaps those that are named.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void data_of_the_block(const int *in, int *out) {
  int t = threadIdx.x, v = 0;
  if (in[blockIdx.x] > 3) v = __shfl_sync(0xffff, t, 0);  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void data_of_each_thread(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (in[t] > 3) v = __shfl_sync(0xffff, t, 0);
  out[t] = v;
}

// --- blocks whose size is not known

__global__ void part_of_a_block_of_any_size(int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 32 < 16) v = __shfl_sync(0xffff, t, 0);
  out[t + blockIdx.x * blockDim.x] = v;
}

__global__ void more_of_a_block_of_any_size(int *out) {
  int t = threadIdx.x, v = 0;
  if (t % 32 < 17) v = __shfl_sync(0xffff, t, 0);  // expect: lane-not-in-mask
  out[t + blockIdx.x * blockDim.x] = v;
}

// It may have as many threads as the mask names.
__global__ void all_of_a_block_of_any_size(int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t + blockIdx.x * blockDim.x] = __shfl_sync(0xffff, t, 0);
}

__global__ void all_of_a_block_of_any_size_for_even_lanes(int *out) {
  int t = threadIdx.x;
  out[t + blockIdx.x * blockDim.x] = __shfl_down_sync(0x55555555, t, 1);  // expect: lane-not-in-mask
}

__global__ void lanes_before_any_other(int *out, int n) {
  int t = threadIdx.x, v = 0;
  if (t < n) v = __shfl_sync(0xf0, t, 4);  // expect: lane-not-in-mask
  out[t + blockIdx.x * blockDim.x] = v;
}

// The number in the grid gives the lane, as blocks of warps are what everybody launches.
__global__ void lane_by_the_number_in_the_grid(int *out, int n) {  // expect: race-free
  int i = threadIdx.x + blockIdx.x * blockDim.x, v = 0;
  if (i < n) v = __ballot_sync(1u << (i & 31), i > 3);
  if (i % 32 < 8) v += __shfl_sync(0xff, i, 0);
  if (i % 32 < 8 && i < n) v += __shfl_sync(0xffu << (i % 32 / 8 * 8), i, 0);
  out[i] = v;
}

// today: race-free because no solver divides the number in the grid by the size of a block that is not known
__global__ void other_lane_by_the_number_in_the_grid(int *out, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, v = 0;
  if (i % 32 < 9) v += __shfl_sync(0xff, i, 0);  // expect: lane-not-in-mask
  out[i] = v;
}
void any(int *out, int n, int threads) {
  lane_by_the_number_in_the_grid<<<n / threads, threads>>>(out, n);
  other_lane_by_the_number_in_the_grid<<<n / threads, threads>>>(out, n);
}

// How long its rows are only the kernel knows.
__global__ void rows_of_any_size(int *out) {  // expect: race-free
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  unsigned group = 0xffu << (threadIdx.x % 32 / 8 * 8);
  out[t + blockIdx.x * blockDim.x * blockDim.y] = __shfl_xor_sync(group, t, 4);
}

// --- in other forms

// A group knows its lanes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void part_of_a_group(int *out) {  // expect: race-free
  auto half = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = 0;
  if (t % 32 < 8) v = half.shfl_down(t, 1);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_of_those_that_are_there(int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 3) {
    auto some = cg::coalesced_threads();
    v = some.shfl(t, 0);
  }
  out[t] = v;
}

template <unsigned MASK>
__device__ int total_of(int v) {
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(MASK, v, d);  // expect: lane-not-in-mask
  return v;
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void total_of_eight_by_sixteen(int *out) {
  int t = threadIdx.x, v = 0;
  if (t % 32 < 16) v = total_of<0xff>(t);
  out[t] = v;
}

template <unsigned MASK>
__device__ int sum_of(int v) {
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(MASK, v, d);
  return v;
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void total_of_sixteen_by_sixteen(int *out) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (t % 32 < 16) v = sum_of<0xffff>(t);
  out[t] = v;
}

__device__ int from_first(unsigned mask, int v) { return __shfl_sync(mask, v, 0); }  // expect: lane-not-in-mask
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mask_that_is_passed(int *out) {
  int t = threadIdx.x;
  int v = from_first(0xffffffff, t);
  if (t < 32) v += from_first(0xff, t);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void parts_of_eight(int *out) {
  int t = threadIdx.x, v = 0;
  if (t % 32 < 16) v = __shfl_down_sync(0xff, t, 1, 8);  // expect: lane-not-in-mask
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_assembly(int *out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t % 32 < 16) {
    asm volatile("bar.warp.sync 0xff;" ::: "memory");  // expect: lane-not-in-mask
    out[t] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_assembly_of_those_that_come(int *out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t % 32 < 16) {
    asm volatile("bar.warp.sync %0;" ::"r"(0xffff) : "memory");  // expect: redundant-barrier
    out[t] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_in_assembly(int *out) {
  int t = threadIdx.x, v = t;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0x55555555;" : "=r"(v) : "r"(t));  // expect: lane-not-in-mask
  out[t] = v;
}
