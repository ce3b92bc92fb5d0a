// Templates: types, sizes, flags, functors and lambdas; each instance is checked for itself.

template <typename T, int N>
__global__ void reverse_block(const T *in, T *out) {  // expect: race-free
  __shared__ T s[N];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * N + t];
  __syncthreads();
  out[blockIdx.x * N + t] = s[N - 1 - t];
}

void launch_reverse(const float *f, float *g, const double *d, double *e) {
  reverse_block<float, 128><<<4, 128>>>(f, g);
  reverse_block<double, 64><<<8, 64>>>(d, e);
}

// With 32 cells for 64 threads; the instance with 64 cells is in order.
template <int CELLS>
__global__ void modulo_cells(int *out) {
  __shared__ int s[CELLS];
  int t = threadIdx.x;
  s[t % CELLS] = t;  // expect: data-race intra-block with self
  __syncthreads();
  out[t] = s[(t + 1) % CELLS];
}

void launch_modulo(int *out) {
  modulo_cells<64><<<1, 64>>>(out);
  modulo_cells<32><<<1, 64>>>(out);
}

// A flag known at compile time switches the barrier on; only the instance without it races.
template <bool ORDERED>
__global__ void optional_barrier(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +2
  if constexpr (ORDERED) __syncthreads();
  out[t] = s[63 - t];
}

void launch_optional(int *out) {
  optional_barrier<true><<<1, 64>>>(out);
  optional_barrier<false><<<1, 64>>>(out);
}

// Only the ordered instance is launched; the other one does not exist.
template <bool ORDERED>
__global__ void optional_barrier_always_on(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (ORDERED) __syncthreads();
  out[t] = s[63 - t];
}

void launch_optional_on(int *out) { optional_barrier_always_on<true><<<1, 64>>>(out); }

// The loop over powers of two is unrolled by hand; each `if` is decided per instance.
template <int BLOCK>
__global__ void unrolled_reduction(const int *in, int *out) {  // expect: race-free
  __shared__ int s[BLOCK];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * BLOCK + t];
  __syncthreads();
  if (BLOCK >= 128) {
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
  }
  if (BLOCK >= 64) {
    if (t < 32) s[t] += s[t + 32];
    __syncthreads();
  }
  if (t == 0) {
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += s[k];
    out[blockIdx.x] = sum;
  }
}

void launch_unrolled(const int *in, int *out) {
  unrolled_reduction<128><<<4, 128>>>(in, out);
  unrolled_reduction<64><<<4, 64>>>(in, out);
}

// A functor decides where each thread writes.
struct Shifted {
  int by;
  __device__ int operator()(int t) const { return t + by; }
};

struct Halved {
  __device__ int operator()(int t) const { return t / 2; }
};

template <typename Map>
__global__ void scatter_by(int *out, Map map) {
  int t = threadIdx.x;
  out[map(t)] = t;  // expect: data-race intra-warp with self
}

template <typename Map>
__global__ void scatter_injective(int *out, Map map) {  // expect: race-free
  int t = threadIdx.x;
  out[map(t)] = t;
}

void launch_scatter(int *out) {
  scatter_by<<<1, 64>>>(out, Halved{});
  scatter_injective<<<1, 64>>>(out, Shifted{5});
}

// A lambda in the kernel.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lambda_inside(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  auto store = [&](int i, int v) { s[i] = v; };
  auto load = [&](int i) { return s[i]; };
  store(t, 2 * t);
  __syncthreads();
  out[t] = load(63 - t);
}

// The lambdas' bodies race with each other; the kernel calls them without a barrier between.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lambda_inside_unordered(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto store = [&](int i, int v) {
    s[i] = v;  // expect: data-race intra-block with +2
  };
  auto load = [&](int i) { return s[i]; };
  store(t, 2 * t);
  out[t] = load(63 - t);
}

// Explicit instantiation, launched nowhere in this file: what is certain with a launch is possible without.
template <int N>
__global__ void instantiated_here(int *out) {
  __shared__ int s[N];
  int t = threadIdx.x;
  s[t] = t;  // expect: possible-data-race intra-block with +1
  out[blockIdx.x * blockDim.x + t] = s[N - 1 - t];
}
template __global__ void instantiated_here<1024>(int *);

// A device function template with a size of its own.
template <int N>
__device__ int tree_sum(int *s, int t) {
  for (int d = N / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  return s[0];
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void sum_of_64(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  int sum = tree_sum<64>(s, t);
  out[blockIdx.x * 64 + t] = sum;
}

// Called twice on one array: the second call's first writes meet the readers of the first sum.
template <int N>
__device__ int tree_sum_of(int *s, int t, int v) {
  s[t] = v;
  __syncthreads();
  for (int d = N / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  return s[0];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_sums_one_array(const int *in, int *out) {  // expect: data-race intra-block at -10 with -4
  __shared__ int s[64];
  int t = threadIdx.x;
  int a = tree_sum_of<64>(s, t, in[t]);
  int b = tree_sum_of<64>(s, t, in[t + 64]);
  out[t] = a + b;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_sums_two_arrays(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64], r[64];
  int t = threadIdx.x;
  int a = tree_sum_of<64>(s, t, in[t]);
  int b = tree_sum_of<64>(r, t, in[t + 64]);
  out[t] = a + b;
}

// A variadic kernel.
template <typename... Values>
__global__ void store_all(int *out, Values... values) {  // expect: race-free
  int t = threadIdx.x, k = 0;
  ((out[t * sizeof...(Values) + k++] = values), ...);
}

void launch_store_all(int *out) { store_all<<<1, 64>>>(out, 1, 2, 3); }

// A long table of kernels: which one runs and how wide its block is are decided by the same value.
template <int WIDTH, int STEP>
__global__ void tiled(int *out, int n) {  // expect: race-free
  int i = blockIdx.x * WIDTH + threadIdx.x;
  if (i < n) out[i] += STEP;
}

typedef void (*tiled_kernel)(int *, int);

template <int WIDTH>
tiled_kernel tiled_of(int step) {
  switch (step) {
#define ENTRY(n) case n: return tiled<WIDTH, n>;
    ENTRY(1) ENTRY(2) ENTRY(3) ENTRY(4) ENTRY(5) ENTRY(6) ENTRY(7) ENTRY(8) ENTRY(9) ENTRY(10) ENTRY(11) ENTRY(12)
    ENTRY(13)
#undef ENTRY
    default: return nullptr;
  }
}

void launch_tiled(int *out, int n, int step, bool wide) {
  int width = wide ? 128 : 32;
  tiled_kernel chosen = wide ? tiled_of<128>(step) : tiled_of<32>(step);
  if (!chosen) return;
  chosen<<<(n + width - 1) / width, width>>>(out, n);
}

// Functions that call themselves for the compiler.
constexpr int log2_of(int n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }

template <typename T> struct Tile {
  static constexpr int width = 8 * sizeof(T);
};

template <typename T> __global__ void shifted_by_logarithm(T *out) {  // expect: race-free
  constexpr int bits = log2_of(Tile<T>::width);
  out[((blockIdx.x * blockDim.x + threadIdx.x) << bits) + log2_of(16)] = 1;
}

template <typename T> __global__ void shifted_by_logarithm_racy(T *out) {
  constexpr int bits = log2_of(Tile<T>::width);
  out[threadIdx.x >> bits] = threadIdx.x;  // expect: data-race intra-warp with self
}

void launch_shifted(float *out) {
  shifted_by_logarithm<<<4, 64>>>(out);
  shifted_by_logarithm_racy<<<1, 64>>>(out);
}
