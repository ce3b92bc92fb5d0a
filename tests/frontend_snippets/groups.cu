// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
using namespace cooperative_groups;

template <typename Group> __device__ int sum(Group g, int *scratch, int value) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    scratch[lane] = value;
    g.sync();
    if (lane < i) value += scratch[lane + i];
    g.sync();
  }
  return value;
}
template <int Size> __device__ float in_tile(cg::thread_block_tile<Size> tile, float v) {
  for (int i = tile.num_threads() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
  return v;
}
__global__ void groups(int *a, float *f) {
  __shared__ int scratch[1024];
  cg::thread_block block = cg::this_thread_block();
  block.sync();
  cg::sync(block);
  auto warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
  cg::thread_group tile = cg::tiled_partition(block, 16), any = block;
  any.sync();
  a[0] = sum(block, scratch, a[threadIdx.x]) + sum(warp, scratch, 1) + sum(tile, scratch, 2);
  f[0] = in_tile<8>(eight, f[1]) + cg::reduce(warp, f[2], cg::plus<float>()) + warp.shfl(f[3], 0);
  a[1] = cg::reduce(warp, 1, cg::greater<int>()) + cg::inclusive_scan(warp, 3) + cg::exclusive_scan(eight, 2, cg::plus<int>());
  a[2] = warp.meta_group_rank() + warp.meta_group_size() + warp.any(1) + warp.ballot(1) + warp.match_any(3) + block.group_index().x;
  auto grid = cg::this_grid();
  if (grid.is_valid()) grid.sync();
  a[grid.thread_rank()] = grid.size() + grid.num_blocks() + block.thread_index().y + block.group_dim().z + block.num_threads();
  if (threadIdx.x & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) a[3] = active.size();
    active.sync();
  }
  auto labelled = cg::labeled_partition(warp, a[4]);
  auto halves = cg::binary_partition(warp, a[5] > 0);
  labelled.sync();
  halves.sync();
  cg::memcpy_async(block, scratch, a, sizeof(int) * 128);
  cg::wait_prior<1>(block);
  cg::wait(block);
  cg::cluster_group cluster = cg::this_cluster();
  int *remote = cluster.map_shared_rank(scratch, 1);
  cluster.sync();
  a[6] = remote[0] + cluster.block_rank();
  cg::invoke_one(block, [&] { a[7] = 1; });
  thread_block_tile<4> four = tiled_partition<4>(this_thread_block());
  four.sync();
}
