// Compaction by votes: a lane's place is the number of lanes below it that keep something, behind a ticket of its warp.

// cuda-lsp: launch grid=(4) block=(128)
__global__ void kept_by_warps(const int *in, int *out, int *count) {  // expect: race-free
  int v = in[blockIdx.x * 128 + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  int lane = threadIdx.x & 31, base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (v > 0) out[base + __popc(mask & ((1u << lane) - 1))] = v;
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void kept_by_blocks_of_a_warp(const int *in, int *out) {  // expect: race-free
  int v = in[blockIdx.x * 32 + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  if (v > 0) out[blockIdx.x * 32 + __popc(mask & ((1u << threadIdx.x) - 1))] = v;
}

// In rounds, with the register of the lanes below.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void kept_in_rounds(const int *in, int *out, int *count, int n) {  // expect: race-free
  unsigned below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  for (int first = blockIdx.x * 128; first < n; first += gridDim.x * 128) {
    int v = first + threadIdx.x < n ? in[first + threadIdx.x] : 0;
    unsigned mask = __ballot_sync(0xffffffffu, v != 0);
    int base = 0;
    if (threadIdx.x % 32 == 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (v != 0) out[base + __popc(mask & below)] = v;
  }
}

// One ticket of a warp, each lane has its part of it.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void parts_of_a_ticket(int *out, int *count) {  // expect: race-free
  int base = 0;
  if (threadIdx.x % 32 == 3) base = atomicAdd(count, 32);
  base = __shfl_sync(0xffffffffu, base, 3);
  out[base + threadIdx.x % 32] = threadIdx.x;
}

// The lane counts itself, and the one below it may do so, too.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void vote_of_another_kind(const int *in, int *out) {
  int v = in[blockIdx.x * 32 + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  if (v >= 0) out[blockIdx.x * 32 + __popc(mask & ((1u << threadIdx.x) - 1))] = v;  // expect: possible-data-race intra-warp with self
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void ticket_of_one(const int *in, int *out, int *count) {
  int v = in[blockIdx.x * 128 + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  int lane = threadIdx.x & 31, base = 0;
  if (lane == 0) base = atomicAdd(count, 1);
  base = __shfl_sync(0xffffffffu, base, 0);
  if (v > 0) out[base + __popc(mask & ((1u << lane) - 1))] = v;  // expect: possible-data-race intra-block with self
}

// The lane that is asked took no ticket.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void asked_another_lane(int *out, int *count) {
  int base = 0;
  if (threadIdx.x % 32 == 3) base = atomicAdd(count, 32);
  base = __shfl_sync(0xffffffffu, base, 0);
  out[base + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race intra-block with self
}

// Only the first warp took a ticket.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void ticket_of_the_first_warp(int *out, int *count) {
  int base = 0;
  if (threadIdx.x == 0) base = atomicAdd(count, 32);
  base = __shfl_sync(0xffffffffu, base, 0);
  out[base + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race intra-block with self
}

// Two threads of a warp have each number: its lanes count on along y.
// cuda-lsp: launch grid=(4) block=(16,2)
__global__ void lanes_along_x(const int *in, int *out) {
  int v = in[blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  int lane = threadIdx.x & 31;
  if (v > 0) out[blockIdx.x * 32 + __popc(mask & ((1u << lane) - 1))] = v;  // expect: possible-data-race intra-warp with self
}

// Somebody else gives tickets of the counter back.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void tickets_given_back(int *out, int *count) {
  int base = 0;
  if (threadIdx.x % 32 == 0) base = atomicAdd(count, 32);
  base = __shfl_sync(0xffffffffu, base, 0);
  out[base + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race intra-block with self
  if (threadIdx.x % 32 == 0) atomicSub(count, 32);
}

// A mask from the round before.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void mask_of_the_round_before(const int *in, int *out, int n) {
  unsigned mask = 0;
  for (int i = 0; i < n; ++i) {
    int v = in[(blockIdx.x * n + i) * 32 + threadIdx.x];
    unsigned now = __ballot_sync(0xffffffffu, v > 0);
    if (v > 0) out[(blockIdx.x * n + i) * 32 + __popc(mask & ((1u << threadIdx.x) - 1))] = v;  // expect: possible-data-race intra-warp with self
    mask = now;
  }
}
