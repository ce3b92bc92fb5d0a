// Clusters of blocks: their barriers, and the shared memory of another block of the cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each block reads the tile of its neighbour, and stays until the neighbour has read its own.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2, 1, 1) exchange(int *out) {  // expect: race-free
  __shared__ int tile[128];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int *theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  int v = theirs[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = v;
}

// A barrier of the block does not wait for the neighbour.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2, 1, 1) exchange_in_block(int *out) {
  __shared__ int tile[128];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with +3
  __syncthreads();
  int *theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  int v = theirs[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = v;
}

// No barrier in front of the read.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2, 1, 1) exchange_at_once(int *out) {
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with +1
  int v = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = v;
}

// The tile is used again before the neighbour has read it.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2, 1, 1) used_again(int *out) {
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int v = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];  // expect: data-race inter-block with +1
  tile[threadIdx.x] = 0;
  out[blockIdx.x * 128 + threadIdx.x] = v;
}

// All ranks write the cells of the first.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) all_to_the_first(int *out) {
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = 0;
  cluster.sync();
  cluster.map_shared_rank(tile, 0)[threadIdx.x] = cluster.block_rank();  // expect: data-race inter-block with self
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}

// A histogram over the shared memory of a cluster.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int *out) {  // expect: race-free
  __shared__ int bins[128];
  auto cluster = cg::this_cluster();
  bins[threadIdx.x] = 0;
  cluster.sync();
  int v = in[blockIdx.x * 128 + threadIdx.x] & 511;
  atomicAdd(cluster.map_shared_rank(bins, v / 128) + v % 128, 1);
  cluster.sync();
  atomicAdd(&out[cluster.block_rank() * 128 + threadIdx.x], bins[threadIdx.x]);
}

// The bins are read while other blocks still count.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) histogram_read_early(const int *in, int *out) {
  __shared__ int bins[128];
  auto cluster = cg::this_cluster();
  bins[threadIdx.x] = 0;
  cluster.sync();
  int v = in[blockIdx.x * 128 + threadIdx.x] & 511;
  atomicAdd(cluster.map_shared_rank(bins, v / 128) + v % 128, 1);  // expect: possible-data-race inter-block with +2
  __syncthreads();
  atomicAdd(&out[cluster.block_rank() * 128 + threadIdx.x], bins[threadIdx.x]);
}

// Others count before a block has cleared its bins.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) histogram_cleared_late(const int *in, int *out) {
  __shared__ int bins[128];
  auto cluster = cg::this_cluster();
  bins[threadIdx.x] = 0;  // expect: possible-data-race inter-block with +3
  __syncthreads();
  int v = in[blockIdx.x * 128 + threadIdx.x] & 511;
  atomicAdd(cluster.map_shared_rank(bins, v / 128) + v % 128, 1);
  cluster.sync();
  atomicAdd(&out[cluster.block_rank() * 128 + threadIdx.x], bins[threadIdx.x]);
}

// Each block writes the tile of the next one.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) to_the_next(int *out) {  // expect: race-free
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 4)[threadIdx.x] = threadIdx.x;
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}

// Two blocks write the tile of one.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(4, 1, 1) two_to_one(int *out) {
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  cluster.map_shared_rank(tile, (cluster.block_rank() * 2) % 4)[threadIdx.x] = blockIdx.x;  // expect: data-race inter-block with self
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}

#define WIDE 2

// Clusters of two by two blocks.
// cuda-lsp: launch grid=(4,4) block=(64)
__global__ void __cluster_dims__(WIDE, WIDE, 1) square_cluster(int *out) {  // expect: race-free
  __shared__ int tile[64];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = blockIdx.x;
  cluster.sync();
  int v = 0;
  for (int r = 0; r < 4; ++r) v += cluster.map_shared_rank(tile, r)[63 - threadIdx.x];
  cluster.sync();
  out[(blockIdx.y * 4 + blockIdx.x) * 64 + threadIdx.x] = v;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) rounds(int *out, int n) {  // expect: race-free
  __shared__ int tile[64];
  auto cluster = cg::this_cluster();
  int v = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    tile[threadIdx.x] = v;
    cluster.sync();
    v += cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// One barrier too few in a round.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) rounds_run_into_each_other(int *out, int n) {
  __shared__ int tile[64];
  auto cluster = cg::this_cluster();
  int v = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    tile[threadIdx.x] = v;  // expect: data-race inter-block with +2
    cluster.sync();
    v += cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// With two tiles in turn one barrier is enough.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) tiles_in_turn(int *out, int n) {  // expect: race-free
  __shared__ int tile[2][64];
  auto cluster = cg::this_cluster();
  int v = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    tile[i & 1][threadIdx.x] = v;
    cluster.sync();
    v += cluster.map_shared_rank(&tile[i & 1][0], cluster.block_rank() ^ 1)[threadIdx.x];
  }
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// cuda-lsp: launch grid=(8) block=(32)
__global__ void __cluster_dims__(4) reduced_by_the_first(const float *in, float *out) {  // expect: race-free
  __shared__ float part;
  auto cluster = cg::this_cluster();
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) part = v;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += *cluster.map_shared_rank(&part, r);
    out[blockIdx.x / 4] = sum;
  }
  cluster.sync();
}

// The first block writes what the others clear.
// cuda-lsp: launch grid=(8) block=(32)
__global__ void __cluster_dims__(4) told_while_cleared(float *out) {
  __shared__ float part;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    part = 0;  // expect: data-race inter-block with +2
    if (cluster.block_rank() == 0)
      for (unsigned r = 1; r < 4; ++r) *cluster.map_shared_rank(&part, r) = 1.f;
  }
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = part;
}

// Each rank writes a part of the first tile.
// cuda-lsp: launch grid=(8) block=(32)
__global__ void __cluster_dims__(4, 1, 1) parts_to_the_first(int *out) {  // expect: race-free
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  cluster.map_shared_rank(tile, 0)[cluster.block_rank() * 32 + threadIdx.x] = cluster.block_rank();
  cluster.sync();
  if (cluster.block_rank() == 0)
    for (int i = threadIdx.x; i < 128; i += 32) out[blockIdx.x * 32 + i] = tile[i];
}

// All ranks count in one cell of the first.
// cuda-lsp: launch grid=(8) block=(32)
__global__ void __cluster_dims__(4, 1, 1) counted_by_the_first(int *out) {  // expect: race-free
  __shared__ int count;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&count, 0), 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 4] = count;
}

// A block writes its own tile through its own rank.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2, 1, 1) to_itself(int *out) {  // expect: race-free
  __shared__ int tile[128];
  auto cluster = cg::this_cluster();
  cluster.map_shared_rank(tile, cluster.block_rank())[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

// Dynamic shared memory of the neighbour.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) dynamic_exchange(int *out) {  // expect: race-free
  extern __shared__ int cells[];
  auto cluster = cg::this_cluster();
  cells[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int *theirs = cluster.map_shared_rank(cells, 1 - (int)cluster.block_rank());
  out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x];
  cluster.sync();
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) dynamic_exchange_in_block(int *out) {
  extern __shared__ int cells[];
  auto cluster = cg::this_cluster();
  cells[threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with +3
  __syncthreads();
  int *theirs = cluster.map_shared_rank(cells, 1 - (int)cluster.block_rank());
  out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x];
  cluster.sync();
}

// --- global memory

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) handed_over(int *cells) {  // expect: race-free
  auto cluster = cg::this_cluster();
  unsigned base = blockIdx.x / 2 * 256, i = cluster.thread_rank();
  cells[base + i] = i;
  cluster.sync();
  cells[2048 + base + i] = cells[base + 255 - i];
}

// The blocks whose cells are read belong to another cluster.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) from_another_cluster(int *cells) {
  auto cluster = cg::this_cluster();
  cells[blockIdx.x * 64 + threadIdx.x] = 1;  // expect: data-race inter-block with +2
  cluster.sync();
  cells[1024 + blockIdx.x * 64 + threadIdx.x] = cells[(blockIdx.x ^ 2) * 64 + threadIdx.x];
}

// Nothing says that there are clusters at all.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void size_not_given(int *cells) {
  auto cluster = cg::this_cluster();
  cells[blockIdx.x * 64 + threadIdx.x] = 1;  // expect: data-race inter-block with +2
  cluster.sync();
  cells[1024 + blockIdx.x * 64 + threadIdx.x] = cells[(blockIdx.x ^ 1) * 64 + threadIdx.x];
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void memory_of_an_unknown_cluster(int *cells) {  // expect: unknown(cluster-memory)
  __shared__ int tile[64];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = 1;
  cluster.sync();
  cells[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(tile, 0)[threadIdx.x];
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) only_the_first_waits(int *cells) {
  auto cluster = cg::this_cluster();
  if (cluster.block_rank() == 0) cluster.sync();  // expect: barrier-divergence
  cells[blockIdx.x * 128 + threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) from_the_own_cluster(int *cells) {  // expect: race-free
  auto cluster = cg::this_cluster();
  cells[blockIdx.x * 64 + threadIdx.x] = 1;
  cluster.sync();
  cells[1024 + blockIdx.x * 64 + threadIdx.x] = cells[(blockIdx.x ^ 1) * 64 + threadIdx.x];
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) all_wait(int *cells) {  // expect: race-free
  auto cluster = cg::this_cluster();
  if (cluster.block_rank() < 2) cluster.sync();
  cells[blockIdx.x * 128 + threadIdx.x] = 1;
}

// --- arriving and waiting

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) in_two_steps(int *cells) {  // expect: race-free
  auto cluster = cg::this_cluster();
  unsigned base = blockIdx.x / 2 * 256, i = cluster.thread_rank();
  cells[base + i] = i;
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
  cells[2048 + base + i] = cells[base + 255 - i];
}

// What is written behind the arrival is not waited for.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void __cluster_dims__(2) written_behind_the_arrival(int *out) {
  __shared__ int tile[64];
  auto cluster = cg::this_cluster();
  auto token = cluster.barrier_arrive();
  tile[threadIdx.x] = 3;  // expect: data-race inter-block with +2
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
}

// --- in PTX

__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ unsigned rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ unsigned in_block_of_rank(const void *p, unsigned r) {
  unsigned d;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(r));
  return d;
}
__device__ int load(unsigned address) {
  int v;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(address));
  return v;
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) exchange_in_ptx(int *out) {  // expect: race-free
  __shared__ int tile[128];
  tile[threadIdx.x] = threadIdx.x;
  arrive();
  wait();
  int v = load(in_block_of_rank(tile, rank() ^ 1) + 4 * (127 - threadIdx.x));
  arrive();
  out[blockIdx.x * 128 + threadIdx.x] = v;
  wait();
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void __cluster_dims__(2) read_before_the_wait(int *out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = threadIdx.x;  // expect: possible-data-race inter-block at 368 with 387
  arrive();
  int v = load(in_block_of_rank(tile, rank() ^ 1) + 4 * (127 - threadIdx.x));
  wait();
  out[blockIdx.x * 128 + threadIdx.x] = v;
}
