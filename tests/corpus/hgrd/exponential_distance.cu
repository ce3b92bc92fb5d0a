// Tiles of two sets of points in shared memory, a sum for each block, and one block that adds these up. All rows of a
// block fill one tile with the same values, which is harmless while nobody reads it.

constexpr int WIDE = 32, HIGH = 4, TILE = 2;

template <typename T, int STRIDE>
__device__ void fill(T (&tile)[TILE * STRIDE], const T *from, int own, int start) {
  for (int i = 0; i < TILE; i++) tile[own + i * STRIDE] = from[start + i * STRIDE];
}

template <typename T>
__global__ void cross_terms(const T *a, const T *b, int n, T *term) {  // expect: benign-race at -4 with self
  __shared__ T tile_a[TILE * WIDE], tile_b[TILE * HIGH], sum;
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = tx + blockIdx.x * WIDE * TILE, j = ty + blockIdx.y * HIGH * TILE;
  if (tx == 0 && ty == 0) sum = 0;
  fill<T, WIDE>(tile_a, a, tx, i);
  if (tx == 0) fill<T, HIGH>(tile_b, b, ty, j);
  __syncthreads();
  T own = 0;
  for (int p = 0; p < TILE; p++)
    for (int q = 0; q < TILE; q++)
      if (i + p * WIDE < n && j + q * HIGH < n) own += exp(-(tile_a[tx + p * WIDE] - tile_b[ty + q * HIGH]));
  atomicAdd(&sum, own);
  __syncthreads();
  if (tx == 0 && ty == 0) term[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

template <typename T>
__global__ void add_terms(T *result, const T *term, int count) {  // expect: race-free
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  T own = 0;
  for (int i = threadIdx.x; i < count; i += 256) own += term[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) result[0] = sum;
}

template <typename T>
__global__ void add_terms_at_once(T *result, const T *term, int count) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;  // expect: data-race intra-block with +3
  T own = 0;
  for (int i = threadIdx.x; i < count; i += 256) own += term[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) result[0] = sum;
}

template <typename T>
void measure(int size) {
  dim3 grid(size / (WIDE * TILE), size / (HIGH * TILE)), block(WIDE, HIGH);
  int blocks = grid.x * grid.y;
  T *a, *b, *term, *result;
  cudaMalloc(&a, size * sizeof(T));
  cudaMalloc(&b, size * sizeof(T));
  cudaMalloc(&term, blocks * sizeof(T));
  cudaMalloc(&result, sizeof(T));
  cross_terms<T><<<grid, block>>>(a, b, size, term);
  add_terms<T><<<1, 256>>>(result, term, blocks);
  add_terms_at_once<T><<<1, 256>>>(result, term, blocks);
}

int main(int argc, char **argv) {
  measure<float>(argc);
  measure<double>(argc);
  return 0;
}
