// CUB in blocks and warps, and device-wide.
#include <cub/cub.cuh>
template <int Threads, int Items> __global__ void collectives(const int *in, int *out, int n) {
  using Load = cub::BlockLoad<int, Threads, Items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, Threads, Items>;
  typedef cub::BlockScan<int, Threads> Scan;
  using Reduce = cub::BlockReduce<int, Threads>;
  using Sort = cub::BlockRadixSort<int, Threads, Items, int>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } storage;
  int items[Items], values[Items];
  Load(storage.load).Load(in, items);
  __syncthreads();
  int total;
  Scan(storage.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  int sum = Reduce(storage.reduce).Sum(items) + Reduce(storage.reduce).Reduce(items[0], cub::Max()) + Reduce(storage.reduce).Sum(items[0], n);
  __syncthreads();
  Sort(storage.sort).Sort(items, values);
  Store(storage.store).Store(out, items, n);
  typedef cub::WarpReduce<float> Warp;
  __shared__ typename Warp::TempStorage warps[4];
  float w = Warp(warps[threadIdx.x / 32]).Sum(1.0f);
  int running;
  Scan(storage.scan).InclusiveSum(sum, running);
  Scan(storage.scan).ExclusiveScan(sum, running, 0, cub::Max());
  out[threadIdx.x] = sum + total + w + running;
}
struct Custom { __device__ int operator()(int a, int b) const { return a < b ? a : b; } };
void whole(int *in, int *out, int n, int *keys) {
  collectives<128, 4><<<(n + 511) / 512, 128>>>(in, out, n);
  void *storage = nullptr;
  size_t size = 0;
  cub::DeviceReduce::Sum(storage, size, in, out, n);
  cub::DeviceScan::ExclusiveSum(storage, size, in, out, n);
  cub::DeviceReduce::Reduce(storage, size, in, out, n, Custom(), 100);
  cub::DoubleBuffer<int> buffer(keys, out);
  cub::DeviceRadixSort::SortPairs(storage, size, buffer, buffer, n, 0, 32);
  cub::DeviceSelect::If(storage, size, in, out, keys, n, [] __device__(int x) { return x > 0; });
  in = buffer.Current();
}
