// Barriers of groups of warps: numbers with a count of threads, wide tiles.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Producer / consumer warps with named barriers (warp specialisation).
__device__ __forceinline__ void named_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void named_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

// cuda-lsp: launch grid=(4) block=(128) n=32
__global__ void warp_specialised(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float buf[64];
  int warp = threadIdx.x / 32;
  if (warp < 2) {  // producers
    for (int i = 0; i < n; ++i) {
      named_sync(1, 128);  // empty
      buf[threadIdx.x] = in[(blockIdx.x * n + i) * 64 + threadIdx.x];
      named_arrive(2, 128);  // full
    }
  } else {
    int t = threadIdx.x - 64;
    float acc = 0;
    named_arrive(1, 128);
    for (int i = 0; i < n; ++i) {
      named_sync(2, 128);
      acc += buf[63 - t];
      if (i + 1 < n) named_arrive(1, 128);
    }
    out[blockIdx.x * 64 + t] = acc;
  }
}

// A barrier of a warp group: half the block, its own number.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void group_barrier(const float *in, float *out) {  // expect: race-free
  __shared__ float s[2][128];
  int group = threadIdx.x / 128, t = threadIdx.x % 128;
  s[group][t] = in[blockIdx.x * 256 + threadIdx.x];
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(128) : "memory");
  out[blockIdx.x * 256 + threadIdx.x] = s[group][127 - t];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void group_barrier_racy(const float *in, float *out) {
  __shared__ float s[2][128];
  int group = threadIdx.x / 128, t = threadIdx.x % 128;
  s[group][t] = in[blockIdx.x * 256 + threadIdx.x];  // expect: data-race intra-block with +2
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(128) : "memory");
  out[blockIdx.x * 256 + threadIdx.x] = s[1 - group][127 - t];
}

// The first 128 threads only.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void first_half(const float *in, float *out) {  // expect: race-free
  __shared__ float s[128];
  int t = threadIdx.x;
  if (t < 128) {
    s[t] = in[blockIdx.x * 256 + t];
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[blockIdx.x * 256 + t] = s[127 - t];
  }
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void first_half_too_few(const float *in, float *out) {  // expect: unknown(partial-barrier)
  __shared__ float s[128];
  int t = threadIdx.x;
  if (t < 128) {
    s[t] = in[blockIdx.x * 256 + t];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 256 + t] = s[127 - t];
  }
}

// Bar.sync with whole block count.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void whole_count(const float *in, float *out) {  // expect: race-free
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  asm volatile("bar.sync 1, 256;" ::: "memory");
  out[blockIdx.x * 256 + t] = s[255 - t];
}

// Number in a variable.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void number_variable(const float *in, float *out) {  // expect: race-free
  __shared__ float s[256];
  const int t = threadIdx.x;
  const int id = t / 64 + 1;
  s[t] = in[blockIdx.x * 256 + t];
  asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
  out[blockIdx.x * 256 + t] = s[t ^ 63];
}

// Both groups use one number: completes when any 64 arrived.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void one_number(const float *in, float *out) {  // expect: unknown(partial-barrier)
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[blockIdx.x * 128 + t] = s[t ^ 63];
}

// Cg tile of 64 and 128.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void wide_tile(const float *in, float *out) {  // expect: race-free
  __shared__ float s[256];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<128>(block);
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  tile.sync();
  out[blockIdx.x * 256 + t] = s[t ^ 127];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void wide_tile_racy(const float *in, float *out) {
  __shared__ float s[256];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<128>(block);
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];  // expect: data-race intra-block with +2
  tile.sync();
  out[blockIdx.x * 256 + t] = s[t ^ 255];
}

// Not all of the group arrive.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void group_missing_racy(const float *in, float *out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  if (t % 128 < 96) asm volatile("bar.sync %0, 128;" ::"r"(t / 128 + 1) : "memory");  // expect: barrier-divergence
  out[blockIdx.x * 256 + t] = s[t];
}

// Loop over tiles per group.
// cuda-lsp: launch grid=(4) block=(256) n=32
__global__ void group_loop(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[4][64];
  const int group = threadIdx.x >> 6, t = threadIdx.x & 63;
  float acc = 0;
  for (int k = 0; k < n; ++k) {
    s[group][t] = in[(blockIdx.x * n + k) * 256 + threadIdx.x];
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(64) : "memory");
    acc += s[group][63 - t];
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(64) : "memory");
  }
  out[blockIdx.x * 256 + threadIdx.x] = acc;
}

// cuda-lsp: launch grid=(4) block=(256) n=32
__global__ void group_loop_racy(const float *in, float *out, int n) {
  __shared__ float s[4][64];
  const int group = threadIdx.x >> 6, t = threadIdx.x & 63;
  float acc = 0;
  for (int k = 0; k < n; ++k) {
    s[group][t] = in[(blockIdx.x * n + k) * 256 + threadIdx.x];  // expect: data-race intra-block with +2
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(64) : "memory");
    acc += s[group][63 - t];
  }
  out[blockIdx.x * 256 + threadIdx.x] = acc;
}

// Groups in 2 dimensions.
// cuda-lsp: launch grid=(4) block=(32,8)
__global__ void group_2d(const float *in, float *out) {  // expect: race-free
  __shared__ float s[8][32];
  s[threadIdx.y][threadIdx.x] = in[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x];
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.y / 2 + 1) : "memory");
  out[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x] = s[threadIdx.y ^ 1][threadIdx.x];
}

// Numbers of two groups overlap: group g uses g+1 here and g+2 there.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void overlapping_numbers(const float *in, float *out) {  // expect: unknown(partial-barrier)
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  asm volatile("bar.sync %0, 128;" ::"r"(t / 128 + 1) : "memory");
  float v = s[t ^ 127];
  asm volatile("bar.sync %0, 128;" ::"r"(t / 128 + 2) : "memory");
  s[t] = v;
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void two_sets_of_numbers(const float *in, float *out) {  // expect: race-free
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  asm volatile("bar.sync %0, 128;" ::"r"(t / 128 + 1) : "memory");
  float v = s[t ^ 127];
  asm volatile("bar.sync %0, 128;" ::"r"(t / 128 + 3) : "memory");
  s[t] = v;
}

// Number 0 is the block's own.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void number_zero(const float *in, float *out) {  // expect: unknown(partial-barrier)
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  asm volatile("bar.sync %0, 128;" ::"r"(t / 128) : "memory");
  float v = s[t ^ 127];
  __syncthreads();
  s[t] = v;
}

// The halves of the block meet at one number, at two places.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void two_places(const float *in, float *out) {  // expect: race-free
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (t < 64) {
    s[t] = in[blockIdx.x * 64 + t];
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[blockIdx.x * 64 + t - 64] = s[127 - t];
  }
}

// At two numbers they wait for ever.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void two_numbers(const float *in, float *out) {
  const int t = threadIdx.x;
  if (t < 64) {
    asm volatile("bar.sync 1, 128;" ::: "memory");  // expect: barrier-divergence
  } else {
    asm volatile("bar.sync 2, 128;" ::: "memory");  // expect: barrier-divergence
  }
  out[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
}

// The barrier of the block is number 0.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void number_of_the_block(const float *in, float *out) {  // expect: unknown(partial-barrier)
  const int t = threadIdx.x;
  if (t < 64) asm volatile("bar.sync 0;" ::: "memory");
  else asm volatile("bar.sync 0, 128;" ::: "memory");
  out[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
}
