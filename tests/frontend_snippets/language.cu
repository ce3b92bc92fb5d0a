// Keywords, coordinates, barriers, fences, memory spaces and loads, with no #include at all.
__constant__ float weights[64];
__device__ int counter;
__managed__ int shared_with_host;
static __device__ unsigned ticket = 0;

template <class T, int N> struct alignas(sizeof(T) * N) Packed { T v[N]; };
static_assert(sizeof(Packed<float, 4>) == 16 && alignof(Packed<double, 2>) == 16, "alignas takes a number");
union alignas(double) Storage { char bytes[8]; };
static_assert(alignof(Storage) == 8, "alignas takes a type");
template <class T> __global__ void aligned(T *out) {
  __shared__ alignas(16) T staged[32];
  alignas(alignof(float4)) __shared__ T other[32];
  extern __shared__ __align__(1024) unsigned char bytes[];
  alignas(T) unsigned char raw[sizeof(T)];
  out[threadIdx.x] = staged[threadIdx.x] + other[0] + bytes[0] + raw[0];
}

struct __align__(16) Pixel {
  unsigned char r, g, b, a;
  __host__ __device__ Pixel operator+(const Pixel &o) const { return Pixel{r, g, b, static_cast<unsigned char>(a + o.a)}; }
};

template <typename T> struct Dynamic {
  __device__ operator T *() {
    extern __shared__ int raw[];
    return reinterpret_cast<T *>(raw);
  }
};

__device__ __forceinline__ unsigned linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__device__ __noinline__ float twice(float x) { return 2 * x; }

template <int Block, typename T>
__global__ void __launch_bounds__(Block, 2) reduce(const T *__restrict__ in, T *out, int n, const __grid_constant__ Pixel p) {
  __shared__ T tile[Block];
  T *dynamic = Dynamic<T>();
  const uint3 at = threadIdx;
  const dim3 size = blockDim, grid = gridDim;
  unsigned i = blockIdx.x * size.x + at.x;
  tile[at.x] = i < n ? __ldg(in + i) : T(0);
  dynamic[at.x] = tile[at.x];
  __syncthreads();
#pragma unroll
  for (int stride = Block / 2; stride > warpSize; stride >>= 1) {
    if (at.x < stride) tile[at.x] += tile[at.x + stride];
    __syncthreads();
  }
  if (__syncthreads_or(at.x == 3) && __syncthreads_count(at.x & 1) > 2 && __syncthreads_and(1)) __syncwarp();
  __syncwarp(0x0000ffffu);
  if (at.x == 0) __stcg(out + blockIdx.x, tile[0]);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  if (atomicInc(&ticket, grid.x) == grid.x - 1) counter = 0;
  volatile T *seen = tile;
  T v = seen[1];
  if (v == T(7)) asm volatile("bar.sync 0;" ::: "memory");
  unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(where) : "r"(where));
  out[1] = weights[3] + __ldcg(out) + __ldcs(in) + p.a + twice(where);
  assert(n > 0 && "positive");
  __builtin_assume(n < 4096);
  printf("%d\n", n);
  if (clock64() < 0 || clock() < 0) __trap();
  __nanosleep(20);
}

__global__ void __cluster_dims__(2, 1, 1) clustered(int *p) { p[threadIdx.x] = 0; }
extern "C" __global__ void plain(int *p) { p[0] = __popc(p[1]) + __clz(p[2]) + __ffs(p[3]) + __brev(p[4]) + __mul24(p[5], p[6]); }

int main() {
  int *p;
  cudaMalloc(&p, 1024 * sizeof(int));
  dim3 grid(4, 4), block(16, 16);
  reduce<256, float><<<grid, block, 2048>>>(nullptr, nullptr, 3, Pixel{});
  reduce<128><<<(1000 + 127) / 128, 128, 0, cudaStreamPerThread>>>((const double *)nullptr, (double *)nullptr, 1, Pixel{});
  clustered<<<2, 32>>>(p);
  aligned<<<1, 32, 1024>>>(p);
  plain<<<1, dim3(3)>>>(p);
  void *arguments[] = {&p};
  cudaLaunchKernel((void *)plain, grid, block, arguments, 0, 0);
  cudaLaunchKernel(plain, grid, block, arguments);
  cudaLaunchCooperativeKernel((void *)&clustered, grid, block, arguments);
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, plain, p);
  void (*chosen)(int *) = grid.x > 2 ? plain : clustered;
  chosen<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
