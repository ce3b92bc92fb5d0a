// Warp barriers for some lanes: a mask that the lanes vote for, one of the active lanes, one that nobody knows.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// The lanes that voted are those that go on.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void voted_mask(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  unsigned odd = __ballot_sync(~0u, t & 1);
  if (t & 1) {
    __syncwarp(odd);
    out[t] = s[t ^ 2];
  }
}

// The partner did not vote.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void read_from_outside(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: possible-data-race with +4
  unsigned odd = __ballot_sync(~0u, t & 1);
  if (t & 1) {
    __syncwarp(odd);
    out[t] = s[t ^ 1];
  }
}

// Other lanes than those that voted go on.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other_lanes(int *out) {  // expect: unknown(unknown-mask)
  int t = threadIdx.x;
  unsigned odd = __ballot_sync(~0u, t & 1);
  if (t & 2) {
    __syncwarp(odd);
    out[t] = t;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void mask_from_the_host(int *out, unsigned lanes) {  // expect: unknown(unknown-mask)
  int t = threadIdx.x;
  if (t & 2) {
    __syncwarp(lanes);
    out[t] = t;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void fixed_mask(int *out) {
  int t = threadIdx.x;
  if (t & 2) {
    __syncwarp(0xffff);  // expect: barrier-divergence; lane-not-in-mask
    out[t] = t;
  }
}

// Some of the group leave before the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_left(int *out) {  // expect: unknown(unknown-mask)
  int t = threadIdx.x;
  cg::coalesced_group group = cg::coalesced_threads();
  if (t & 2) {
    group.sync();
    out[t] = t;
  }
}
