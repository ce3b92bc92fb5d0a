// Facade of CUB. A block- or warp-wide collective follows its contract on memory: every thread writes its own slot of the
// temporary storage, the group synchronizes, every thread reads; reusing the storage without a barrier is a race, as
// CUB's manual says. A warp exchanges by shuffles, which order nothing but what the collective itself does. Values are opaque. Device-wide algorithms are host calls.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/collectives.h>
#include <cuda_lsp/cpp_functional.h>
#include <cuda_lsp_thrust.h>

#pragma clang force_cuda_host_device begin
namespace cub {
struct NullType {};
struct Sum { template <class T> constexpr T operator()(const T &a, const T &b) const { return a + b; } };
struct Difference { template <class T> constexpr T operator()(const T &a, const T &b) const { return a - b; } };
struct Max { template <class T> constexpr T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
struct Min { template <class T> constexpr T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct Equality { template <class T> constexpr bool operator()(const T &a, const T &b) const { return a == b; } };
struct Inequality { template <class T> constexpr bool operator()(const T &a, const T &b) const { return a != b; } };
template <class K, class V> struct KeyValuePair { using Key = K; using Value = V; K key; V value; KeyValuePair() = default; KeyValuePair(const K &k, const V &v) : key(k), value(v) {} };
struct ArgMax { template <class T> constexpr T operator()(const T &a, const T &b) const { return b.value > a.value ? b : a; } };
struct ArgMin { template <class T> constexpr T operator()(const T &a, const T &b) const { return b.value < a.value ? b : a; } };
template <class T> struct CastOp { template <class U> constexpr T operator()(const U &a) const { return static_cast<T>(a); } };
template <class T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector;
  DoubleBuffer() = default;
  DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
  T *Current() { return d_buffers[selector]; }
  T *Alternate() { return d_buffers[selector ^ 1]; }
};
template <class T> struct Traits { using UnsignedBits = unsigned; };
template <class T> using CountingInputIterator = thrust::counting_iterator<T>;
template <class T> using ConstantInputIterator = thrust::constant_iterator<T>;
template <class T, class F, class It> using TransformInputIterator = thrust::transform_iterator<F, It, T>;
template <class It> struct ArgIndexInputIterator { ArgIndexInputIterator(It); };
template <class T> struct DiscardOutputIterator { DiscardOutputIterator(); };

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier M, class It> auto ThreadLoad(It it) { return *it; }
template <CacheStoreModifier M, class It, class T> void ThreadStore(It it, T value) { *it = value; }

template <class T> T __cuda_lsp_collective(const T &value);
// The sum of the values of all threads before this one in the block or among `width` lanes, and of all of them.
template <class T> T __cuda_lsp_block_scan(T value, int x, int y, int z);
template <class T> T __cuda_lsp_block_total(T value, int x, int y, int z);
template <class T> T __cuda_lsp_warp_scan(T value, int width);
template <class T> T __cuda_lsp_warp_total(T value, int width);
template <class T> struct __cuda_lsp_uninitialized { alignas(T) unsigned char data[sizeof(T)]; };
// One slot per thread. `exchange` is what a collective does to it.
template <int Threads> struct __cuda_lsp_storage {
  int slots[Threads];
  void exchange_in_block() {
    slots[__cuda_lsp_thread_rank()] = 0;
    __syncthreads();
    (void)*static_cast<volatile int *>(&slots[0]);
  }
  void exchange_in_warp(unsigned width) {
    unsigned lane = __cuda_lsp_thread_rank() % width;
    slots[lane] = 0;
    __cuda_lsp_exchange_sync(width);
    (void)*static_cast<volatile int *>(&slots[0]);
  }
  // Each warp by itself, in a part of the storage that is its own.
  void exchange_in_warps() {
    unsigned rank = __cuda_lsp_thread_rank();
    slots[rank] = 0;
    __cuda_lsp_exchange_sync(32);
    (void)*static_cast<volatile int *>(&slots[rank / 32 * 32]);
  }
  // Raking takes no barrier where one warp does it all.
  void exchange_by_raking() {
    if constexpr (Threads <= 32) exchange_in_warp(32);
    else exchange_in_block();
  }
};
#define CUDA_LSP_COLLECTIVE(name, threads)                                            \
  using TempStorage = __cuda_lsp_storage<(threads)>;                                  \
  TempStorage &storage_;                                                              \
  explicit name(TempStorage &storage) : storage_(storage) {}                          \
  name(TempStorage &storage, int) : storage_(storage) {}                              \
  name() : storage_(__cuda_lsp_private()) {}                                          \
  static TempStorage &__cuda_lsp_private();

#define CUDA_LSP_REDUCTIONS(exchange)                                                                                                   \
  T Sum(T value) { exchange; return __cuda_lsp_collective(value); }                                                                     \
  T Sum(T value, int) { exchange; return __cuda_lsp_collective(value); }                                                                \
  template <int Items> T Sum(T (&values)[Items]) { exchange; return __cuda_lsp_collective(values[0]); }                                 \
  template <class F> T Reduce(T value, F) { exchange; return __cuda_lsp_collective(value); }                                            \
  template <class F> T Reduce(T value, F, int) { exchange; return __cuda_lsp_collective(value); }                                       \
  template <int Items, class F> T Reduce(T (&values)[Items], F) { exchange; return __cuda_lsp_collective(values[0]); }                  \
  template <class Flag> T HeadSegmentedSum(T value, Flag) { exchange; return __cuda_lsp_collective(value); }                            \
  template <class Flag> T TailSegmentedSum(T value, Flag) { exchange; return __cuda_lsp_collective(value); }                            \
  template <class F, class Flag> T HeadSegmentedReduce(T value, Flag, F) { exchange; return __cuda_lsp_collective(value); }             \
  template <class F, class Flag> T TailSegmentedReduce(T value, Flag, F) { exchange; return __cuda_lsp_collective(value); }

#define CUDA_LSP_SCAN_FORMS(name, exchange)                                                                                             \
  void name(T in, T &out) { exchange; out = __cuda_lsp_collective(in); }                                                                \
  void name(T in, T &out, T &total) { exchange; out = __cuda_lsp_collective(in); total = __cuda_lsp_collective(in); }                   \
  template <class F, class = std::enable_if_t<std::is_class_v<F>>> void name(T in, T &out, F) { exchange; out = __cuda_lsp_collective(in); } \
  template <class F, class = std::enable_if_t<std::is_class_v<F>>> void name(T in, T &out, F, T &total) { exchange; out = __cuda_lsp_collective(in); total = __cuda_lsp_collective(in); } \
  template <class F, class = std::enable_if_t<std::is_class_v<F>>> void name(T in, T &out, T, F) { exchange; out = __cuda_lsp_collective(in); } \
  template <class F, class = std::enable_if_t<std::is_class_v<F>>> void name(T in, T &out, T, F, T &total) { exchange; out = __cuda_lsp_collective(in); total = __cuda_lsp_collective(in); } \
  template <int Items> void name(T (&in)[Items], T (&out)[Items]) { exchange; for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]); } \
  template <int Items> void name(T (&in)[Items], T (&out)[Items], T &total) { exchange; for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]); total = __cuda_lsp_collective(in[0]); } \
  template <int Items, class F, class... R, class = std::enable_if_t<std::is_class_v<F>>> void name(T (&in)[Items], T (&out)[Items], F, R &&...) { exchange; for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]); } \
  template <int Items, class F, class... R, class = std::enable_if_t<std::is_class_v<F>>> void name(T (&in)[Items], T (&out)[Items], T, F, R &&...) { exchange; for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]); }
// Sums of integers are what other threads have before; other types are anything. `in` and `out` may be one array.
#define CUDA_LSP_SUM_FORMS(name, exchange, inclusive)                                                                                   \
  void name(T in, T &out) { exchange; out = before_(in, inclusive); }                                                                   \
  void name(T in, T &out, T &total) { exchange; out = before_(in, inclusive); total = all_(in); }                                       \
  template <class F, class = std::enable_if_t<std::is_class_v<F>>> void name(T in, T &out, F) { exchange; out = __cuda_lsp_collective(in); } \
  template <int Items> void name(T (&in)[Items], T (&out)[Items]) { T total; name(in, out, total); }                                    \
  template <int Items> void name(T (&in)[Items], T (&out)[Items], T &total) {                                                           \
    exchange;                                                                                                                           \
    if constexpr (std::is_integral_v<T>) {                                                                                              \
      T own = 0;                                                                                                                        \
      for (int i = 0; i < Items; ++i) own += in[i];                                                                                     \
      T before = before_(own, false);                                                                                                   \
      total = all_(own);                                                                                                                \
      for (int i = 0; i < Items; ++i) { T value = in[i]; out[i] = inclusive ? before + value : before; before += value; }               \
    } else {                                                                                                                            \
      for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]);                                                            \
      total = __cuda_lsp_collective(in[0]);                                                                                             \
    }                                                                                                                                   \
  }                                                                                                                                     \
  template <int Items, class F, class... R, class = std::enable_if_t<std::is_class_v<F>>> void name(T (&in)[Items], T (&out)[Items], F, R &&...) { exchange; for (int i = 0; i < Items; ++i) out[i] = __cuda_lsp_collective(in[i]); }
#define CUDA_LSP_SUMS(scan, total)                                                                                                      \
  T before_(T in, bool inclusive) {                                                                                                     \
    if constexpr (std::is_integral_v<T>) { T before = scan; return inclusive ? T(before + in) : before; }                               \
    else return __cuda_lsp_collective(in);                                                                                              \
  }                                                                                                                                     \
  T all_(T in) {                                                                                                                        \
    if constexpr (std::is_integral_v<T>) return total;                                                                                  \
    else return __cuda_lsp_collective(in);                                                                                              \
  }
#define CUDA_LSP_SCANS(exchange)                    \
  CUDA_LSP_SUM_FORMS(ExclusiveSum, exchange, false) \
  CUDA_LSP_SUM_FORMS(InclusiveSum, exchange, true)  \
  CUDA_LSP_SCAN_FORMS(ExclusiveScan, exchange)      \
  CUDA_LSP_SCAN_FORMS(InclusiveScan, exchange)

template <class T, int X, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int Arch = 0> class BlockReduce {
  void exchange() {
    if constexpr (Algorithm == BLOCK_REDUCE_WARP_REDUCTIONS) storage_.exchange_in_block();
    else storage_.exchange_by_raking();
  }

public:
  CUDA_LSP_COLLECTIVE(BlockReduce, X * Y * Z)
  CUDA_LSP_REDUCTIONS(exchange())
};
template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int Arch = 0> class BlockScan {
public:
  CUDA_LSP_COLLECTIVE(BlockScan, X * Y * Z)
  CUDA_LSP_SUMS(__cuda_lsp_block_scan(in, X, Y, Z), __cuda_lsp_block_total(in, X, Y, Z))
  CUDA_LSP_SCANS(storage_.exchange_by_raking())
};
template <class T, int Width = 32, int Arch = 0> class WarpReduce {
public:
  CUDA_LSP_COLLECTIVE(WarpReduce, Width)
  CUDA_LSP_REDUCTIONS(storage_.exchange_in_warp(Width))
};
template <class T, int Width = 32, int Arch = 0> class WarpScan {
public:
  CUDA_LSP_COLLECTIVE(WarpScan, Width)
  CUDA_LSP_SUMS(__cuda_lsp_warp_scan(in, Width), __cuda_lsp_warp_total(in, Width))
  CUDA_LSP_SCANS(storage_.exchange_in_warp(Width))
  T Broadcast(T value, unsigned) { storage_.exchange_in_warp(Width); return __cuda_lsp_collective(value); }
  void Scan(T in, T &inclusive, T &exclusive) { storage_.exchange_in_warp(Width); inclusive = __cuda_lsp_collective(in); exclusive = __cuda_lsp_collective(in); }
};
template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int Arch = 0> class BlockLoad {
  void exchange() {
    if constexpr (Algorithm >= BLOCK_LOAD_WARP_TRANSPOSE) storage_.exchange_in_warps();
    else if constexpr (Algorithm == BLOCK_LOAD_TRANSPOSE) storage_.exchange_in_block();
  }

public:
  CUDA_LSP_COLLECTIVE(BlockLoad, X * Y * Z)
  template <class It> void Load(It from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[__cuda_lsp_thread_rank() * Items + i];
    exchange();
  }
  template <class It> void Load(It from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (int(__cuda_lsp_thread_rank() * Items + i) < valid) items[i] = from[__cuda_lsp_thread_rank() * Items + i];
    exchange();
  }
  template <class It, class D> void Load(It from, T (&items)[Items], int valid, D fallback) {
    for (int i = 0; i < Items; ++i) items[i] = fallback;
    Load(from, items, valid);
  }
};
template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int Arch = 0> class BlockStore {
  void exchange() {
    if constexpr (Algorithm >= BLOCK_STORE_WARP_TRANSPOSE) storage_.exchange_in_warps();
    else if constexpr (Algorithm == BLOCK_STORE_TRANSPOSE) storage_.exchange_in_block();
  }

public:
  CUDA_LSP_COLLECTIVE(BlockStore, X * Y * Z)
  template <class It> void Store(It to, T (&items)[Items]) {
    exchange();
    for (int i = 0; i < Items; ++i) to[__cuda_lsp_thread_rank() * Items + i] = items[i];
  }
  template <class It> void Store(It to, T (&items)[Items], int valid) {
    exchange();
    for (int i = 0; i < Items; ++i)
      if (int(__cuda_lsp_thread_rank() * Items + i) < valid) to[__cuda_lsp_thread_rank() * Items + i] = items[i];
  }
};
#define CUDA_LSP_IN_BLOCK(name) template <class... A> void name(A &&...) { storage_.exchange_in_block(); }
template <class K, int X, int Items, class V = NullType, int Bits = 4, bool Memoize = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int Config = 0, int Y = 1, int Z = 1> class BlockRadixSort {
public:
  CUDA_LSP_COLLECTIVE(BlockRadixSort, X * Y * Z)
  CUDA_LSP_IN_BLOCK(Sort) CUDA_LSP_IN_BLOCK(SortDescending) CUDA_LSP_IN_BLOCK(SortBlockedToStriped) CUDA_LSP_IN_BLOCK(SortDescendingBlockedToStriped)
};
template <class K, int X, int Items, class V = NullType, int Y = 1, int Z = 1> class BlockMergeSort {
public:
  CUDA_LSP_COLLECTIVE(BlockMergeSort, X * Y * Z)
  CUDA_LSP_IN_BLOCK(Sort) CUDA_LSP_IN_BLOCK(StableSort)
};
template <class T, int X, int Items, bool Timeslicing = false, int Y = 1, int Z = 1> class BlockExchange {
public:
  CUDA_LSP_COLLECTIVE(BlockExchange, X * Y * Z)
  CUDA_LSP_IN_BLOCK(StripedToBlocked) CUDA_LSP_IN_BLOCK(BlockedToStriped) CUDA_LSP_IN_BLOCK(WarpStripedToBlocked) CUDA_LSP_IN_BLOCK(BlockedToWarpStriped)
  CUDA_LSP_IN_BLOCK(ScatterToBlocked) CUDA_LSP_IN_BLOCK(ScatterToStriped)
};
template <class T, int X, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1> class BlockHistogram {
public:
  CUDA_LSP_COLLECTIVE(BlockHistogram, X * Y * Z)
  CUDA_LSP_IN_BLOCK(Histogram) CUDA_LSP_IN_BLOCK(InitHistogram) CUDA_LSP_IN_BLOCK(Composite)
};
template <class T, int X, int Y = 1, int Z = 1> class BlockDiscontinuity {
public:
  CUDA_LSP_COLLECTIVE(BlockDiscontinuity, X * Y * Z)
  CUDA_LSP_IN_BLOCK(FlagHeads) CUDA_LSP_IN_BLOCK(FlagTails) CUDA_LSP_IN_BLOCK(FlagHeadsAndTails)
};
template <class T, int X, int Y = 1, int Z = 1> class BlockAdjacentDifference {
public:
  CUDA_LSP_COLLECTIVE(BlockAdjacentDifference, X * Y * Z)
  CUDA_LSP_IN_BLOCK(SubtractLeft) CUDA_LSP_IN_BLOCK(SubtractRight)
};
template <class T, int X, int Y = 1, int Z = 1> class BlockShuffle {
public:
  CUDA_LSP_COLLECTIVE(BlockShuffle, X * Y * Z)
  CUDA_LSP_IN_BLOCK(Offset) CUDA_LSP_IN_BLOCK(Rotate) CUDA_LSP_IN_BLOCK(Up) CUDA_LSP_IN_BLOCK(Down)
};
#undef CUDA_LSP_IN_BLOCK
#undef CUDA_LSP_COLLECTIVE
#undef CUDA_LSP_REDUCTIONS
#undef CUDA_LSP_SCAN_FORMS
#undef CUDA_LSP_SCANS

template <int Threads, class T, int Items, class It> void LoadDirectBlocked(int thread, It from, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = from[thread * Items + i];
}
template <int Threads, class T, int Items, class It> void LoadDirectStriped(int thread, It from, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = from[thread + i * Threads];
}
template <int Threads, class T, int Items, class It> void StoreDirectStriped(int thread, It to, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) to[thread + i * Threads] = items[i];
}
template <class T, int Items, class It> void LoadDirectBlocked(int thread, It from, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = from[thread * Items + i];
}
template <class T, int Items, class It> void StoreDirectBlocked(int thread, It to, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) to[thread * Items + i] = items[i];
}
inline unsigned LaneId() { return __cuda_lsp_lane(); }
inline unsigned WarpId() { return __cuda_lsp_thread_rank() / 32u; }
inline int RowMajorTid(int x, int y, int z) { return int(threadIdx.x + (blockDim.x) * (threadIdx.y + blockDim.y * threadIdx.z)); }
template <int Width, class T> T ShuffleDown(T value, int delta, int last, unsigned mask);
template <int Width, class T> T ShuffleUp(T value, int delta, int first, unsigned mask);
template <int Width, class T> T ShuffleIndex(T value, int lane, unsigned mask);
template <class A, class B> constexpr auto DivideAndRoundUp(A a, B b) { return (a + b - 1) / b; }
inline unsigned SHL_ADD(unsigned a, unsigned shift, unsigned b) { return (a << shift) + b; }
template <class T> unsigned BFE(T source, unsigned start, unsigned length) { return unsigned((source >> start) & ((T(1) << length) - 1)); }
}  // namespace cub
#pragma clang force_cuda_host_device end

namespace cub {
#define CUDA_LSP_DEVICE_WIDE(name) template <class... A> static __host__ __device__ cudaError_t name(void *storage, size_t &size, A &&...arguments);
struct DeviceReduce {
  CUDA_LSP_DEVICE_WIDE(Sum) CUDA_LSP_DEVICE_WIDE(Min) CUDA_LSP_DEVICE_WIDE(Max) CUDA_LSP_DEVICE_WIDE(ArgMin) CUDA_LSP_DEVICE_WIDE(ArgMax)
  CUDA_LSP_DEVICE_WIDE(Reduce) CUDA_LSP_DEVICE_WIDE(ReduceByKey) CUDA_LSP_DEVICE_WIDE(TransformReduce)
};
struct DeviceSegmentedReduce { CUDA_LSP_DEVICE_WIDE(Sum) CUDA_LSP_DEVICE_WIDE(Min) CUDA_LSP_DEVICE_WIDE(Max) CUDA_LSP_DEVICE_WIDE(Reduce) CUDA_LSP_DEVICE_WIDE(ArgMin) CUDA_LSP_DEVICE_WIDE(ArgMax) };
struct DeviceScan {
  CUDA_LSP_DEVICE_WIDE(ExclusiveSum) CUDA_LSP_DEVICE_WIDE(InclusiveSum) CUDA_LSP_DEVICE_WIDE(ExclusiveScan) CUDA_LSP_DEVICE_WIDE(InclusiveScan)
  CUDA_LSP_DEVICE_WIDE(ExclusiveSumByKey) CUDA_LSP_DEVICE_WIDE(InclusiveSumByKey) CUDA_LSP_DEVICE_WIDE(ExclusiveScanByKey) CUDA_LSP_DEVICE_WIDE(InclusiveScanByKey)
};
struct DeviceRadixSort { CUDA_LSP_DEVICE_WIDE(SortPairs) CUDA_LSP_DEVICE_WIDE(SortKeys) CUDA_LSP_DEVICE_WIDE(SortPairsDescending) CUDA_LSP_DEVICE_WIDE(SortKeysDescending) };
struct DeviceSegmentedRadixSort { CUDA_LSP_DEVICE_WIDE(SortPairs) CUDA_LSP_DEVICE_WIDE(SortKeys) CUDA_LSP_DEVICE_WIDE(SortPairsDescending) CUDA_LSP_DEVICE_WIDE(SortKeysDescending) };
struct DeviceSegmentedSort { CUDA_LSP_DEVICE_WIDE(SortPairs) CUDA_LSP_DEVICE_WIDE(SortKeys) CUDA_LSP_DEVICE_WIDE(SortPairsDescending) CUDA_LSP_DEVICE_WIDE(StableSortPairs) };
struct DeviceMergeSort { CUDA_LSP_DEVICE_WIDE(SortPairs) CUDA_LSP_DEVICE_WIDE(SortKeys) CUDA_LSP_DEVICE_WIDE(StableSortPairs) CUDA_LSP_DEVICE_WIDE(StableSortKeys) };
struct DeviceSelect { CUDA_LSP_DEVICE_WIDE(If) CUDA_LSP_DEVICE_WIDE(Flagged) CUDA_LSP_DEVICE_WIDE(Unique) CUDA_LSP_DEVICE_WIDE(UniqueByKey) };
struct DevicePartition { CUDA_LSP_DEVICE_WIDE(If) CUDA_LSP_DEVICE_WIDE(Flagged) };
struct DeviceHistogram { CUDA_LSP_DEVICE_WIDE(HistogramEven) CUDA_LSP_DEVICE_WIDE(HistogramRange) CUDA_LSP_DEVICE_WIDE(MultiHistogramEven) };
struct DeviceRunLengthEncode { CUDA_LSP_DEVICE_WIDE(Encode) CUDA_LSP_DEVICE_WIDE(NonTrivialRuns) };
struct DeviceSpmv { CUDA_LSP_DEVICE_WIDE(CsrMV) };
struct DeviceMemcpy { CUDA_LSP_DEVICE_WIDE(Batched) };
struct DeviceAdjacentDifference { CUDA_LSP_DEVICE_WIDE(SubtractLeft) CUDA_LSP_DEVICE_WIDE(SubtractLeftCopy) };
struct DeviceFor { template <class... A> static cudaError_t Bulk(A &&...arguments); template <class... A> static cudaError_t ForEach(A &&...arguments); template <class... A> static cudaError_t ForEachN(A &&...arguments); };
#undef CUDA_LSP_DEVICE_WIDE
struct CachingDeviceAllocator {
  template <class... A> CachingDeviceAllocator(A &&...arguments);
  cudaError_t DeviceAllocate(void **pointer, size_t size, cudaStream_t stream = 0);
  cudaError_t DeviceFree(void *pointer);
};
}  // namespace cub
#define CubDebugExit(e) ((void)(e))
#define CubDebug(e) (e)
#define CUB_VERSION 200300
#define CUB_NS_PREFIX
#define CUB_NS_POSTFIX
#define CUB_PTX_WARP_THREADS 32
#define CUB_QUOTIENT_CEILING(a, b) (((a) + (b)-1) / (b))
#define CUB_MAX(a, b) ((a) > (b) ? (a) : (b))
#define CUB_MIN(a, b) ((a) < (b) ? (a) : (b))
#include <cuda_lsp/show_macros.h>
