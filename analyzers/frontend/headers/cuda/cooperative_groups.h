// Cooperative groups, written with the barriers and votes that the analysis knows.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/collectives.h>

#pragma clang force_cuda_host_device begin
namespace cooperative_groups {

class thread_block;
class coalesced_group;
template <unsigned Size, class Parent = void> class thread_block_tile;

namespace details {
struct implicit_group {};
enum group_kind : unsigned { kind_block, kind_tile, kind_coalesced, kind_grid, kind_cluster };
constexpr unsigned tile_mask(unsigned size) { return size >= 32u ? 0xffffffffu : (1u << size) - 1u; }
unsigned __cuda_lsp_lane_of_rank(unsigned mask, unsigned rank);
template <class T> T from_some_lane(const T &value);
// The threads of a part of a warp come together, as for what they give each other.
template <class Group> auto meet(const Group &group, int) -> decltype(group.any(1)) { return group.any(1); }
template <class Group> int meet(const Group &, long) { return 0; }
// Threads of the tile that a tile is a part of; 0 where it is a part of the block.
template <class Parent> constexpr unsigned threads_of = 0;
template <unsigned Size, class Parent> constexpr unsigned threads_of<thread_block_tile<Size, Parent>> = Size;
template <class T> struct plain { using type = T; };
template <class T> struct plain<T &> { using type = T; };
template <class T> struct plain<T &&> { using type = T; };
template <class T> struct plain<const T &> { using type = T; };
}  // namespace details

// Any group, by value: what it is, the lanes of it that lie in this warp, its size and this thread's rank in it.
class thread_group {
public:
  unsigned kind_, mask_, size_, rank_;
  thread_group() = default;
  thread_group(unsigned kind, unsigned mask, unsigned size, unsigned rank) : kind_(kind), mask_(mask), size_(size), rank_(rank) {}
  void sync() const {
    if (kind_ == details::kind_block) __syncthreads();
    else if (kind_ == details::kind_grid) __cuda_lsp_grid_sync();
    else __syncwarp(mask_);
  }
  unsigned long long size() const { return size_; }
  unsigned long long num_threads() const { return size_; }
  unsigned long long thread_rank() const { return rank_; }
  unsigned get_type() const { return kind_; }
  bool is_valid() const { return true; }
};

class thread_block : public thread_group {
public:
  struct arrival_token {};
  thread_block() : thread_group(details::kind_block, 0xffffffffu, __cuda_lsp_block_size(), __cuda_lsp_thread_rank()) {}
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return __cuda_lsp_thread_rank(); }
  static unsigned size() { return __cuda_lsp_block_size(); }
  static unsigned num_threads() { return __cuda_lsp_block_size(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  arrival_token barrier_arrive() const { __cuda_lsp_block_arrive(); return arrival_token(); }
  void barrier_wait(arrival_token &&) const { __cuda_lsp_block_wait(); }
};
inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
public:
  struct arrival_token {};
  static bool is_valid() { return true; }
  static void sync() { __cuda_lsp_grid_sync(); }
  static unsigned long long size() { return static_cast<unsigned long long>(__cuda_lsp_grid_blocks()) * __cuda_lsp_block_size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long thread_rank() {
    return static_cast<unsigned long long>(__cuda_lsp_block_rank()) * __cuda_lsp_block_size() + __cuda_lsp_thread_rank();
  }
  static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static unsigned long long num_blocks() { return __cuda_lsp_grid_blocks(); }
  static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static unsigned long long block_rank() { return __cuda_lsp_block_rank(); }
  static dim3 dim_clusters();
  static unsigned long long num_clusters();
  static unsigned long long cluster_rank();
  arrival_token barrier_arrive() const { __cuda_lsp_grid_arrive(); return arrival_token(); }
  void barrier_wait(arrival_token &&) const { __cuda_lsp_grid_wait(); }
};
inline grid_group this_grid() { return grid_group(); }
class multi_grid_group {
public:
  bool is_valid() const;
  void sync() const;
  unsigned long long size() const;
  unsigned long long thread_rank() const;
  unsigned grid_rank() const;
  unsigned num_grids() const;
};
multi_grid_group this_multi_grid();

class cluster_group {
public:
  struct arrival_token {};
  static void sync() { __cuda_lsp_cluster_sync(); }
  static arrival_token barrier_arrive() { __cuda_lsp_cluster_arrive(); return arrival_token(); }
  static void barrier_wait() { __cuda_lsp_cluster_wait(); }
  static void barrier_wait(arrival_token &&) { __cuda_lsp_cluster_wait(); }
  static dim3 dim_blocks() { return __cuda_lsp_cluster_dim(); }
  static dim3 group_dim() { return __cuda_lsp_cluster_dim(); }
  static bool is_valid() { return true; }
  static unsigned num_blocks() { dim3 d = __cuda_lsp_cluster_dim(); return d.x * d.y * d.z; }
  static dim3 dim_threads() {
    dim3 d = __cuda_lsp_cluster_dim();
    return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
  }
  static unsigned num_threads() { return num_blocks() * __cuda_lsp_block_size(); }
  static unsigned size() { return num_threads(); }
  static unsigned block_rank() { return __cuda_lsp_cluster_rank(); }
  static dim3 block_index() { return __cuda_lsp_cluster_block(); }
  static dim3 thread_index() {
    dim3 b = __cuda_lsp_cluster_block();
    return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
  }
  static unsigned thread_rank() { return block_rank() * __cuda_lsp_block_size() + __cuda_lsp_thread_rank(); }
  template <class T> static T *map_shared_rank(T *shared, int rank) { return __cuda_lsp_cluster_map(shared, unsigned(rank)); }
  static unsigned query_shared_rank(const void *shared);
};
inline cluster_group this_cluster() { return cluster_group(); }

#define CUDA_LSP_VOTES                                                                                              \
  template <class T> T shfl_up(T value, unsigned delta) const;                                                      \
  template <class T> T shfl_down(T value, unsigned delta) const;                                                    \
  template <class T> T shfl_xor(T value, unsigned lanes) const;                                                     \
  int any(int predicate) const;                                                                                     \
  int all(int predicate) const;                                                                                     \
  unsigned ballot(int predicate) const;                                                                             \
  template <class T> unsigned match_any(T value) const;                                                             \
  template <class T> unsigned match_all(T value, int &all) const;

class coalesced_group : public thread_group {
public:
  coalesced_group() : thread_group(details::kind_coalesced, __activemask(), 0, 0) {
    size_ = unsigned(__popc(mask_));
    rank_ = unsigned(__popc(mask_ & __lanemask_lt()));
  }
  void sync() const { __syncwarp(mask_); }
  unsigned long long size() const { return size_; }
  unsigned long long num_threads() const { return size_; }
  unsigned long long thread_rank() const { return rank_; }
  unsigned long long meta_group_size() const { return 1; }
  unsigned long long meta_group_rank() const { return 0; }
  unsigned get_mask() const { return mask_; }
  // Ranks count the lanes in the mask: the first one is the lowest.
  template <class T> T shfl(T value, unsigned rank) const {
    if constexpr (__is_arithmetic(T)) return __shfl_sync(mask_, value, rank == 0 ? __ffs(int(mask_)) - 1 : int(details::__cuda_lsp_lane_of_rank(mask_, rank)));
    else return details::from_some_lane(value);
  }
  CUDA_LSP_VOTES
};
inline coalesced_group coalesced_threads() { return coalesced_group(); }

template <unsigned Size, class Parent> class thread_block_tile : public thread_group {
public:
  static constexpr unsigned numThreads = Size;
  thread_block_tile()
      : thread_group(details::kind_tile, details::tile_mask(Size) << (__cuda_lsp_lane() / Size * Size % 32u), Size, __cuda_lsp_thread_rank() % Size) {}
  template <class Other> thread_block_tile(const thread_block_tile<Size, Other> &) : thread_block_tile() {}
  void sync() const {
    if constexpr (Size <= 32) __syncwarp(details::tile_mask(Size) << (__cuda_lsp_lane() / Size * Size));
    else __cuda_lsp_tile_sync(Size);
  }
  static unsigned thread_rank() { return __cuda_lsp_thread_rank() % Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_size() {
    if constexpr (details::threads_of<Parent> != 0) return details::threads_of<Parent> / Size;
    else return (__cuda_lsp_block_size() + Size - 1) / Size;
  }
  static unsigned meta_group_rank() {
    if constexpr (details::threads_of<Parent> != 0) return __cuda_lsp_thread_rank() % details::threads_of<Parent> / Size;
    else return __cuda_lsp_thread_rank() / Size;
  }
  unsigned get_mask() const { return mask_; }
  template <class T> T shfl(T value, unsigned lane) const;
  CUDA_LSP_VOTES
};
#undef CUDA_LSP_VOTES

template <unsigned Size> struct block_tile_memory { unsigned char data[Size >= 32 ? Size : 32]; };
template <unsigned Size> thread_block this_thread_block(block_tile_memory<Size> &) { return thread_block(); }

template <unsigned Size, class Group> thread_block_tile<Size, Group> tiled_partition(const Group &) { return thread_block_tile<Size, Group>(); }
inline thread_group tiled_partition(const thread_group &, unsigned size) {
  unsigned lane = __cuda_lsp_lane();
  return thread_group(details::kind_tile, details::tile_mask(size) << (lane / size * size), size, __cuda_lsp_thread_rank() % size);
}
namespace details {
coalesced_group some_lanes();
}
template <class Group, class T> coalesced_group labeled_partition(const Group &group, T label) {
  details::meet(group, 0);
  return details::some_lanes();
}
template <class Group> coalesced_group binary_partition(const Group &group, bool predicate) {
  details::meet(group, 0);
  return details::some_lanes();
}
namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::thread_block_tile;
using cooperative_groups::this_thread_block;
template <unsigned Size, class Group> thread_block_tile<Size, Group> tiled_partition(const Group &) { return thread_block_tile<Size, Group>(); }
}  // namespace experimental

template <class Group> void sync(const Group &group) { group.sync(); }
template <class Group> auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> auto group_size(const Group &group) { return group.size(); }
template <class Group, class F> void invoke_one(const Group &group, F &&function) {
  if (group.thread_rank() == 0) function();
}

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };
// Collectives on registers: the result is opaque and no memory of the program is touched.
template <class Group, class T, class F> typename details::plain<T>::type reduce(const Group &group, T &&value, F &&operation) {
  details::meet(group, 0);
  return details::from_some_lane(value);
}
// All lanes of a whole warp get one result.
template <class Parent, class T, class F> typename details::plain<T>::type reduce(const thread_block_tile<32, Parent> &, T &&value, F &&) {
  if constexpr (__is_arithmetic(typename details::plain<T>::type)) return __shfl_sync(0xffffffffu, details::from_some_lane(value), 0);
  else return details::from_some_lane(value);
}
template <class Group, class T, class F> typename details::plain<T>::type inclusive_scan(const Group &group, T &&value, F &&operation) {
  details::meet(group, 0);
  return details::from_some_lane(value);
}
template <class Group, class T> typename details::plain<T>::type inclusive_scan(const Group &group, T &&value) {
  details::meet(group, 0);
  return details::from_some_lane(value);
}
template <class Group, class T, class F> typename details::plain<T>::type exclusive_scan(const Group &group, T &&value, F &&operation) {
  details::meet(group, 0);
  return details::from_some_lane(value);
}
template <class Group, class T> typename details::plain<T>::type exclusive_scan(const Group &group, T &&value) {
  details::meet(group, 0);
  return details::from_some_lane(value);
}
template <class Group, class T, class F> void reduce_update_async(const Group &group, T &target, typename details::plain<T>::type value, F &&operation);
template <class Group, class T, class F> void reduce_store_async(const Group &group, T *target, typename details::plain<T>::type value, F &&operation) {
  if (group.thread_rank() == 0) *target = value;
}

// Each thread of the group copies a part; which one is not said. Any byte is copied by one of them.
template <class Group, class To, class From, class Size> void memcpy_async(const Group &group, To *to, const From *from, const Size &size) {
  if (group.thread_rank() == __cuda_lsp_some_rank()) __cuda_lsp_copy_async(to, from, size_t(size));
  __cuda_lsp_copy_async_commit();
}
template <class Group, class T, class ToLayout, class FromLayout>
void memcpy_async(const Group &group, T *to, const ToLayout &, const T *from, const FromLayout &count) {
  if (group.thread_rank() == __cuda_lsp_some_rank()) __cuda_lsp_copy_async(to, from, size_t(count) * sizeof(T));
  __cuda_lsp_copy_async_commit();
}
template <class Group> void wait(const Group &group) {
  __cuda_lsp_copy_async_wait(0);
  group.sync();
}
template <unsigned Newest, class Group> void wait_prior(const Group &group) {
  __cuda_lsp_copy_async_wait(Newest);
  group.sync();
}
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
