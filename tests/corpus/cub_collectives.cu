// CUB's collectives of blocks and warps: their temporary storage is shared memory like any other.

#include <cub/cub.cuh>
// cuda-lsp: launch grid=(8) block=(256) n=100000
__global__ void block_reduce(const float *in, float *out, int n) {  // expect: race-free
  using BlockReduce = cub::BlockReduce<float, 256>;
  __shared__ typename BlockReduce::TempStorage temp;
  float v = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += in[i];
  float sum = BlockReduce(temp).Sum(v);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Reuse with barrier.
// cuda-lsp: launch grid=(8) block=(256) n=100000
__global__ void reuse(const float *in, float2 *out, int n) {  // expect: race-free
  using BlockReduce = cub::BlockReduce<float, 256>;
  __shared__ typename BlockReduce::TempStorage temp;
  float v = in[blockIdx.x * 256 + threadIdx.x];
  float lo = BlockReduce(temp).Reduce(v, cub::Min());
  __syncthreads();
  float hi = BlockReduce(temp).Reduce(v, cub::Max());
  if (threadIdx.x == 0) out[blockIdx.x] = make_float2(lo, hi);
}

// cuda-lsp: launch grid=(8) block=(256) n=100000
__global__ void reuse_racy(const float *in, float2 *out, int n) {
  using BlockReduce = cub::BlockReduce<float, 256>;
  __shared__ typename BlockReduce::TempStorage temp;
  float v = in[blockIdx.x * 256 + threadIdx.x];
  float lo = BlockReduce(temp).Reduce(v, cub::Min());  // expect: data-race intra-block with +1
  float hi = BlockReduce(temp).Reduce(v, cub::Max());
  if (threadIdx.x == 0) out[blockIdx.x] = make_float2(lo, hi);
}

// Loop over tiles with a scan, and a running prefix.
struct Carry {
  int total;
  __device__ Carry(int t) : total(t) {}
  __device__ int operator()(int aggregate) { int old = total; total += aggregate; return old; }
};
// cuda-lsp: launch grid=(1) block=(128) n=4096
__global__ void scan_tiles(int *data, int n) {  // expect: race-free
  typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> BlockLoad;
  typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE> BlockStore;
  typedef cub::BlockScan<int, 128> BlockScan;
  __shared__ union {
    typename BlockLoad::TempStorage load;
    typename BlockStore::TempStorage store;
    typename BlockScan::TempStorage scan;
  } temp;
  Carry prefix(0);
  for (int off = 0; off < n; off += 128 * 4) {
    int items[4];
    BlockLoad(temp.load).Load(data + off, items);
    __syncthreads();
    BlockScan(temp.scan).ExclusiveSum(items, items, prefix);
    __syncthreads();
    BlockStore(temp.store).Store(data + off, items);
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(1) block=(128) n=4096
__global__ void scan_tiles_racy(int *data, int n) {
  typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> BlockLoad;
  typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE> BlockStore;
  typedef cub::BlockScan<int, 128> BlockScan;
  __shared__ union {
    typename BlockLoad::TempStorage load;
    typename BlockStore::TempStorage store;
    typename BlockScan::TempStorage scan;
  } temp;
  Carry prefix(0);
  for (int off = 0; off < n; off += 128 * 4) {
    int items[4];
    BlockLoad(temp.load).Load(data + off, items);  // expect: data-race intra-block with +1
    BlockScan(temp.scan).ExclusiveSum(items, items, prefix);
    __syncthreads();
    BlockStore(temp.store).Store(data + off, items);
    __syncthreads();
  }
}

// Separate storages: struct rather than union, no barrier needed between different ones.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void struct_storage(const int *in, int *out) {  // expect: race-free
  using BlockScan = cub::BlockScan<int, 128>;
  using BlockReduce = cub::BlockReduce<int, 128>;
  __shared__ struct { typename BlockScan::TempStorage scan; typename BlockReduce::TempStorage reduce; } temp;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos;
  BlockScan(temp.scan).InclusiveSum(v, pos);
  int m = BlockReduce(temp.reduce).Reduce(v, cub::Max());
  out[blockIdx.x * 128 + threadIdx.x] = pos;
  if (threadIdx.x == 0) out[gridDim.x * 128 + blockIdx.x] = m;
}

// Warp reduce: temp per warp.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void warp_reduce(const int *in, int *out) {  // expect: race-free
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ typename WarpReduce::TempStorage temp[4];
  int warp = threadIdx.x / 32;
  int agg = WarpReduce(temp[warp]).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 4 + warp] = agg;
}

// One storage for all the warps.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void warp_reduce_racy(const int *in, int *out) {
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ typename WarpReduce::TempStorage temp;
  int warp = threadIdx.x / 32;
  int agg = WarpReduce(temp).Sum(in[blockIdx.x * 128 + threadIdx.x]);  // expect: data-race intra-block with self
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 4 + warp] = agg;
}

// The lanes of one logical warp take part, and wait for no others.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void one_logical_warp(int *out) {  // expect: race-free
  using WarpReduce = cub::WarpReduce<int, 16>;
  __shared__ typename WarpReduce::TempStorage temp;
  int t = threadIdx.x, v = t;
  if (t < 16) v = WarpReduce(temp).Sum(v);
  out[blockIdx.x * 32 + t] = v;
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void part_of_a_logical_warp(int *out) {
  using WarpReduce = cub::WarpReduce<int, 16>;
  __shared__ typename WarpReduce::TempStorage temp;
  int t = threadIdx.x, v = t;
  if (t < 12) v = WarpReduce(temp).Sum(v);  // expect: barrier-divergence
  out[blockIdx.x * 32 + t] = v;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void logical_warps_of_eight(int *out) {  // expect: race-free
  using WarpScan = cub::WarpScan<int, 8>;
  __shared__ typename WarpScan::TempStorage temp[8];
  int t = threadIdx.x, v = t;
  if (t / 8 % 2 == 0) WarpScan(temp[t / 8]).InclusiveSum(v, v);
  __syncthreads();
  if (t == 0) v += *reinterpret_cast<int *>(&temp[0]);
  out[blockIdx.x * 64 + t] = v;
}

// One storage for two logical warps.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void logical_warps_in_one_storage(int *out) {
  using WarpScan = cub::WarpScan<int, 8>;
  __shared__ typename WarpScan::TempStorage temp[4];
  int t = threadIdx.x, v = t;
  WarpScan(temp[t / 16]).InclusiveSum(v, v);  // expect: data-race with self
  out[blockIdx.x * 64 + t] = v;
}

// Where the size is no power of two, it is the first lanes of the warp.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void first_lanes_of_a_warp(int *out) {  // expect: race-free
  using WarpReduce = cub::WarpReduce<int, 24>;
  __shared__ typename WarpReduce::TempStorage temp;
  int t = threadIdx.x, v = t;
  if (t < 24) v = WarpReduce(temp).Sum(v);
  out[blockIdx.x * 32 + t] = v;
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void too_few_of_the_first_lanes(int *out) {
  using WarpReduce = cub::WarpReduce<int, 24>;
  __shared__ typename WarpReduce::TempStorage temp;
  int t = threadIdx.x, v = t;
  if (t < 20) v = WarpReduce(temp).Sum(v);  // expect: barrier-divergence
  out[blockIdx.x * 32 + t] = v;
}

// Radix sort of a block.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void block_sort(const unsigned *in, unsigned *out) {  // expect: race-free
  using Load = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, 128, 8>;
  __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; } temp;
  unsigned keys[8];
  int base = blockIdx.x * 128 * 8;
  Load(temp.load).Load(in + base, keys);
  __syncthreads();
  Sort(temp.sort).Sort(keys);
  cub::StoreDirectStriped<128>(threadIdx.x, out + base, keys);
}

// Exchange.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void exchange(const int4 *in, int *out) {  // expect: race-free
  using Exchange = cub::BlockExchange<int, 128, 4>;
  __shared__ typename Exchange::TempStorage temp;
  int4 v = in[blockIdx.x * 128 + threadIdx.x];
  int items[4] = {v.x, v.y, v.z, v.w};
  Exchange(temp).BlockedToStriped(items);
  for (int i = 0; i < 4; ++i) out[blockIdx.x * 512 + i * 128 + threadIdx.x] = items[i];
}

// Storage reused as user shared memory behind barrier.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void alias_user(const int *in, int *out) {  // expect: race-free
  using Reduce = cub::BlockReduce<int, 256>;
  __shared__ union { typename Reduce::TempStorage reduce; int stage[256]; } smem;
  int v = in[blockIdx.x * 256 + threadIdx.x];
  smem.stage[threadIdx.x] = v;
  __syncthreads();
  int w = smem.stage[255 - threadIdx.x];
  __syncthreads();
  int sum = Reduce(smem.reduce).Sum(w);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void alias_user_racy(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, 256>;
  __shared__ union { typename Reduce::TempStorage reduce; int stage[256]; } smem;
  int v = in[blockIdx.x * 256 + threadIdx.x];
  smem.stage[threadIdx.x] = v;
  __syncthreads();
  int w = smem.stage[255 - threadIdx.x];  // expect: data-race intra-block with +1
  int sum = Reduce(smem.reduce).Sum(w);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Broadcasting the aggregate, the normalised_rows pattern.
// cuda-lsp: launch grid=(64) block=(256) n=1024
__global__ void normalised_rows(const float *x, float *y, int n) {  // expect: race-free
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ float s_mean, s_var;
  const float *row = x + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  sum = Reduce(temp).Sum(sum);
  if (threadIdx.x == 0) s_mean = sum / n;
  __syncthreads();
  float var = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float d = row[i] - s_mean; var += d * d; }
  var = Reduce(temp).Sum(var);
  if (threadIdx.x == 0) s_var = rsqrtf(var / n + 1e-5f);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = (row[i] - s_mean) * s_var;
}

// cuda-lsp: launch grid=(64) block=(256) n=1024
__global__ void normalised_rows_racy(const float *x, float *y, int n) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ float s_mean;
  const float *row = x + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  sum = Reduce(temp).Sum(sum);
  if (threadIdx.x == 0) s_mean = sum / n;  // expect: data-race intra-block with +1
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = row[i] - s_mean;
}

// Multidimensional block & algorithm choice.
// cuda-lsp: launch grid=(4) block=(16,16)
__global__ void plane_reduce(const float *in, float *out) {  // expect: race-free
  using Reduce = cub::BlockReduce<float, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 16>;
  __shared__ typename Reduce::TempStorage temp;
  int t = threadIdx.y * 16 + threadIdx.x;
  float sum = Reduce(temp).Sum(in[blockIdx.x * 256 + t]);
  if (t == 0) out[blockIdx.x] = sum;
}

// Discontinuity, histogram.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void histogram(const unsigned char *in, unsigned *out) {  // expect: race-free
  using Hist = cub::BlockHistogram<unsigned char, 128, 4, 256>;
  __shared__ typename Hist::TempStorage temp;
  __shared__ unsigned bins[256];
  unsigned char data[4];
  cub::LoadDirectStriped<128>(threadIdx.x, in + blockIdx.x * 512, data);
  Hist(temp).Histogram(data, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) atomicAdd(&out[i], bins[i]);
}

// Sums of a warp order its shuffles, and not what its lanes do to other memory.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void warp_sum_for_barrier(const int *in, int *out) {
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ typename WarpReduce::TempStorage temp;
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x];  // expect: possible-data-race intra-warp with +2, fix: yes
  int sum = WarpReduce(temp).Sum(in[threadIdx.x]);
  out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x] + sum;
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void warp_sum_beside_barrier(const int *in, int *out) {  // expect: race-free
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ typename WarpReduce::TempStorage temp;
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  int sum = WarpReduce(temp).Sum(in[threadIdx.x]);
  __syncwarp();
  out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x] + sum;
}

// Nor does the scan of a block that is one warp.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void small_scan_for_barrier(const int *in, int *out) {
  using Scan = cub::BlockScan<int, 32>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x];  // expect: possible-data-race intra-warp with +2, fix: yes
  int before; Scan(temp).ExclusiveSum(in[threadIdx.x], before);
  out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x] + before;
}

// The block's load is one of each warp by itself: it orders nothing between warps.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void load_of_each_warp(const int *in, int *out) {
  using Load = cub::BlockLoad<int, 64, 2, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  __shared__ typename Load::TempStorage temp;
  __shared__ int tile[64];
  int items[2];
  tile[threadIdx.x] = in[threadIdx.x];  // expect: data-race with +2
  Load(temp).Load(in + blockIdx.x * 128, items);
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + items[0] + items[1];
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void raked_by_one_warp(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, 32, cub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x];  // expect: possible-data-race with +2
  int sum = Reduce(temp).Sum(in[threadIdx.x]);
  out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x] + sum;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void stored_of_each_warp(const int *in, int *out) {  // expect: race-free
  using Store = cub::BlockStore<int, 64, 2, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ typename Store::TempStorage temp;
  int items[2] = {in[threadIdx.x], in[threadIdx.x + 1]};
  Store(temp).Store(out + blockIdx.x * 128, items);
}
