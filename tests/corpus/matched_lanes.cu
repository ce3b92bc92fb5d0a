// Lanes that have one key find each other by __match_any_sync, and one of them acts for all.

// The lowest lane of each key writes, and the others have read before.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void ranks_of_keys(const unsigned *keys, unsigned *ranks) {  // expect: race-free
  __shared__ unsigned count[8][16];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int d = lane; d < 16; d += 32) count[w][d] = 0;
  __syncwarp();
  unsigned key = keys[blockIdx.x * 256 + threadIdx.x] & 15;
  unsigned peers = __match_any_sync(0xffffffff, key);
  unsigned below = __popc(peers & ((1u << lane) - 1));
  unsigned before = count[w][key];
  __syncwarp();
  if (below == 0) count[w][key] = before + __popc(peers);
  __syncwarp();
  ranks[blockIdx.x * 256 + threadIdx.x] = count[w][key] + below;
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void read_beside_the_write(const unsigned *keys, unsigned *ranks) {
  __shared__ unsigned count[8][16];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int d = lane; d < 16; d += 32) count[w][d] = 0;
  __syncwarp();
  unsigned key = keys[blockIdx.x * 256 + threadIdx.x] & 15;
  unsigned peers = __match_any_sync(0xffffffff, key);
  unsigned below = __popc(peers & ((1u << lane) - 1));
  unsigned before = count[w][key];  // expect: possible-data-race intra-warp with +1
  if (below == 0) count[w][key] = before + __popc(peers);
  __syncwarp();
  ranks[blockIdx.x * 256 + threadIdx.x] = count[w][key] + below;
}

// Known by its number, in rounds.
// cuda-lsp: launch grid=(2) block=(64) rounds=8
__global__ void leaders_in_rounds(const int *keys, int *bins, int rounds) {  // expect: race-free
  __shared__ int count[2][64];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  count[w][lane] = count[w][lane + 32] = 0;
  __syncwarp();
  for (int i = 0; i < rounds; ++i) {
    int key = keys[i * 64 + threadIdx.x] & 63;
    unsigned peers = __match_any_sync(~0u, key);
    if (lane == __ffs(peers) - 1) count[w][key] += __popc(peers);
    __syncwarp();
  }
  atomicAdd(&bins[lane], count[w][lane]);
}

// Leaders of two rounds meet.
// cuda-lsp: launch grid=(1) block=(32) rounds=8
__global__ void leaders_without_rounds(const int *keys, int *bins, int rounds) {
  int lane = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    int key = keys[i * 32 + lane] & 63;
    unsigned peers = __match_any_sync(~0u, key);
    if (lane == __ffs(peers) - 1) bins[key] += __popc(peers);  // expect: possible-data-race intra-warp with self
  }
}

// Matched by something else than where they write.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void leaders_of_other_keys(const int *keys, int *bins) {
  int lane = threadIdx.x;
  int key = keys[lane] & 63;
  unsigned peers = __match_any_sync(~0u, key);
  if (lane == __ffs(peers) - 1) bins[key / 2] += __popc(peers);  // expect: possible-data-race intra-warp with self
}

// Each warp has its leaders.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaders_of_two_warps(const int *keys, int *bins) {
  int lane = threadIdx.x % 32;
  int key = keys[threadIdx.x] & 63;
  unsigned peers = __match_any_sync(~0u, key);
  if (__popc(peers & ((1u << lane) - 1)) == 0) bins[key] += __popc(peers);  // expect: possible-data-race intra-block with self
}

// Among those that are active.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void leaders_of_active_lanes(const int *keys, int *bins, int n) {  // expect: race-free
  int lane = threadIdx.x;
  int key = keys[lane];
  unsigned valid = __ballot_sync(~0u, key >= 0);
  if (key >= 0) {
    unsigned peers = __match_any_sync(valid, key);
    if (lane == __ffs(peers) - 1) bins[key] += __popc(peers);
  }
}
