// Index arithmetic as it is written: butterflies, scans, swizzles, tiles, rings, decomposed indices.

// Bitonic sort of a block in shared memory.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void bitonic(int *data) {  // expect: race-free
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 2; k <= 256; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned partner = t ^ j;
      if (partner > t) {
        bool up = (t & k) == 0;
        if ((s[t] > s[partner]) == up) { int x = s[t]; s[t] = s[partner]; s[partner] = x; }
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * 256 + t] = s[t];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void bitonic_racy(int *data) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 2; k <= 256; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned partner = t ^ j;
      if (partner > t) {
        bool up = (t & k) == 0;
        if ((s[t] > s[partner]) == up) { int x = s[t]; s[t] = s[partner]; s[partner] = x; }  // expect: possible-data-race intra-block with self
      }
    }
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = s[t];
}

// Bitonic sort with one thread for two keys.
// cuda-lsp: launch grid=(4) block=(512) dir=1
__global__ void bitonic_shared(unsigned *keys, unsigned *vals, unsigned dir) {  // expect: race-free
  __shared__ unsigned s_key[1024], s_val[1024];
  keys += blockIdx.x * 1024 + threadIdx.x;
  vals += blockIdx.x * 1024 + threadIdx.x;
  s_key[threadIdx.x] = keys[0]; s_val[threadIdx.x] = vals[0];
  s_key[threadIdx.x + 512] = keys[512]; s_val[threadIdx.x + 512] = vals[512];
  for (unsigned size = 2; size < 1024; size <<= 1) {
    unsigned falling = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      if ((s_key[pos] > s_key[pos + stride]) == falling) {
        unsigned t = s_key[pos]; s_key[pos] = s_key[pos + stride]; s_key[pos + stride] = t;
        t = s_val[pos]; s_val[pos] = s_val[pos + stride]; s_val[pos + stride] = t;
      }
    }
  }
  __syncthreads();
  keys[0] = s_key[threadIdx.x]; vals[0] = s_val[threadIdx.x];
  keys[512] = s_key[threadIdx.x + 512]; vals[512] = s_val[threadIdx.x + 512];
}

// Global bitonic step.
// cuda-lsp: launch grid=(64) block=(256) j=64 k=256
__global__ void bitonic_global(float *v, int j, int k) {  // expect: race-free
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, partner = i ^ j;
  if (partner > i) {
    if ((i & k) == 0) { if (v[i] > v[partner]) { float t = v[i]; v[i] = v[partner]; v[partner] = t; } }
    if ((i & k) != 0) { if (v[i] < v[partner]) { float t = v[i]; v[i] = v[partner]; v[partner] = t; } }
  }
}

#define BANK_BITS 5
#define PADDED(n) ((n) >> BANK_BITS)
// Conflict free, dynamic shared, n symbolic.
// cuda-lsp: launch grid=(1) block=(256) n=512 shared=2176
__global__ void padded_scan(float *out, float *in, int n) {  // expect: race-free
  extern __shared__ float temp[];
  int t = threadIdx.x, offset = 1;
  int ai = t, bi = t + (n / 2);
  int padA = PADDED(ai), padB = PADDED(bi);
  temp[ai + padA] = in[ai];
  temp[bi + padB] = in[bi];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      ai += PADDED(ai);
      bi += PADDED(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1 + PADDED(n - 1)] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      ai += PADDED(ai);
      bi += PADDED(bi);
      float t = temp[ai]; temp[ai] = temp[bi]; temp[bi] += t;
    }
  }
  __syncthreads();
  out[ai] = temp[ai + padA];
  out[bi] = temp[bi + padB];
}

// Hillis-Steele double buffer.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void hillis(const int *in, int *out) {  // expect: race-free
  __shared__ int temp[2 * 256];
  int t = threadIdx.x, to = 0, from = 1;
  temp[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    to = 1 - to; from = 1 - to;
    temp[to * 256 + t] = t >= offset ? temp[from * 256 + t] + temp[from * 256 + t - offset] : temp[from * 256 + t];
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = temp[to * 256 + t];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void hillis_racy(const int *in, int *out) {
  __shared__ int temp[256];
  int t = threadIdx.x;
  temp[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    if (t >= offset) temp[t] += temp[t - offset];  // expect: data-race intra-block with self
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = temp[t];
}

// Tiled transpose with padding, several rows per thread.
// cuda-lsp: launch grid=(8,8) block=(32,8) width=256 height=256
__global__ void transpose(float *out, const float *in, int width, int height) {  // expect: race-free
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// cuda-lsp: launch grid=(8,8) block=(32,8) width=256 height=256
__global__ void transpose_racy(float *out, const float *in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];  // expect: data-race intra-block with +4
  __syncwarp();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Xor swizzle.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void swizzle(const float *in, float *out) {  // expect: race-free
  __shared__ float s[32 * 32];
  for (int k = threadIdx.x; k < 1024; k += 256) {
    int r = k / 32, c = k % 32;
    s[r * 32 + (c ^ r)] = in[blockIdx.x * 1024 + k];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256) {
    int r = k / 32, c = k % 32;
    out[blockIdx.x * 1024 + k] = s[c * 32 + (r ^ c)];
  }
}

// cuda-lsp: launch grid=(8) block=(256)
__global__ void swizzle_racy(const float *in, float *out) {
  __shared__ float s[32 * 32];
  for (int k = threadIdx.x; k < 1024; k += 256) {
    int r = k / 32, c = k % 32;
    s[r * 32 + (c & r)] = in[blockIdx.x * 1024 + k];  // expect: data-race intra-warp with self
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256) out[blockIdx.x * 1024 + k] = s[k];
}

// Gemm tile with register blocking, symbolic sizes.
#define BM 64
#define BN 64
#define BK 8
#define TM 8
// cuda-lsp: launch grid=(4,4) block=(512)
__global__ void column_of_products(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {  // expect: race-free
  const unsigned tileRow = blockIdx.y, tileCol = blockIdx.x;
  const int col = threadIdx.x % BN, row = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += tileRow * BM * K;
  B += tileCol * BN;
  C += tileRow * BM * N + tileCol * BN;
  const unsigned ac = threadIdx.x % BK, ar = threadIdx.x / BK;
  const unsigned bc = threadIdx.x % BN, br = threadIdx.x / BN;
  float sums[TM] = {0.0};
  for (unsigned k0 = 0; k0 < K; k0 += BK) {
    As[ar * BK + ac] = A[ar * K + ac];
    Bs[br * BN + bc] = B[br * N + bc];
    __syncthreads();
    A += BK; B += BK * N;
    for (unsigned k = 0; k < BK; ++k) {
      float right = Bs[k * BN + col];
      for (unsigned j = 0; j < TM; ++j) sums[j] += As[(row * TM + j) * BK + k] * right;
    }
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(4,4) block=(512)
__global__ void column_of_products_racy(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const int col = threadIdx.x % BN, row = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const unsigned ac = threadIdx.x % BK, ar = threadIdx.x / BK;
  const unsigned bc = threadIdx.x % BN, br = threadIdx.x / BN;
  float r[TM] = {0.0};
  for (unsigned k0 = 0; k0 < K; k0 += BK) {
    As[ar * BK + ac] = A[ar * K + ac];  // expect: data-race intra-block with +6
    Bs[br * BN + bc] = B[br * N + bc];  // expect: data-race intra-block with +4
    __syncthreads();
    A += BK; B += BK * N;
    for (unsigned k = 0; k < BK; ++k) {
      float right = Bs[k * BN + col];
      for (unsigned j = 0; j < TM; ++j) r[j] += As[(row * TM + j) * BK + k] * right;
    }
  }
  C[threadIdx.x] = r[0];  // expect: data-race inter-block with self
}

// Sequential-addressing reduction with odd sizes.
// cuda-lsp: launch grid=(4) block=(192)
__global__ void odd_reduce(const float *in, float *out) {  // expect: race-free
  __shared__ float s[192];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 192 + t];
  __syncthreads();
  for (int n = blockDim.x; n > 1;) {
    int half = (n + 1) / 2;
    if (t < n / 2) s[t] += s[t + half];
    __syncthreads();
    n = half;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// cuda-lsp: launch grid=(4) block=(192)
__global__ void odd_reduce_racy(const float *in, float *out) {
  __shared__ float s[192];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 192 + t];
  __syncthreads();
  for (int n = blockDim.x; n > 1;) {
    int half = n / 2;
    if (t < (n + 1) / 2) s[t] += s[t + half];  // expect: data-race intra-warp with self
    __syncthreads();
    n = half;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// FFT butterfly: stages with index split.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void fft(float2 *data) {  // expect: race-free
  __shared__ float2 s[256];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  s[t + 128] = data[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int half = 1; half < 256; half <<= 1) {
    int group = t / half, within = t % half;
    int a = group * half * 2 + within, b = a + half;
    float2 x = s[a], y = s[b];
    s[a] = make_float2(x.x + y.x, x.y + y.y);
    s[b] = make_float2(x.x - y.x, x.y - y.y);
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = s[t];
  data[blockIdx.x * 256 + t + 128] = s[t + 128];
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void fft_racy(float2 *data) {
  __shared__ float2 s[256];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  s[t + 128] = data[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int half = 1; half < 256; half <<= 1) {
    int group = t / half, within = t % half;
    int a = group * half + within, b = a + half;
    float2 x = s[a], y = s[b];  // expect: data-race intra-block with +1; data-race intra-block with +2
    s[a] = make_float2(x.x + y.x, x.y + y.y);  // expect: data-race intra-block with +1
    s[b] = make_float2(x.x - y.x, x.y - y.y);
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = s[t];
}

// 3D stencil marching in z, ring buffer of planes by %.
// cuda-lsp: launch grid=(4,4) block=(16,16) nx=64 ny=64 nz=32
__global__ void march(const float *in, float *out, int nx, int ny, int nz) {  // expect: race-free
  __shared__ float plane[3][18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  for (int z = 0; z < nz; ++z) {
    plane[z % 3][ty][tx] = in[(z * ny + y) * nx + x];
    __syncthreads();
    if (z >= 2) out[((z - 1) * ny + y) * nx + x] = plane[(z - 1) % 3][ty][tx] + plane[(z + 1) % 3][ty][tx] + plane[z % 3][ty][tx - 1];
  }
}

// cuda-lsp: launch grid=(4,4) block=(16,16) nx=64 ny=64 nz=32
__global__ void march_racy(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float plane[2][18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  for (int z = 0; z < nz; ++z) {
    plane[z % 2][ty][tx] = in[(z * ny + y) * nx + x];  // expect: data-race intra-warp with +2
    __syncthreads();
    if (z >= 2) out[((z - 1) * ny + y) * nx + x] = plane[(z + 1) % 2][ty][tx - 1] + plane[z % 2][ty][tx - 1];
  }
}

// NCHW index decomposition.
// cuda-lsp: launch grid=(64) block=(256) n=100000 c=16 h=30 w=30
__global__ void nchw_to_nhwc(const float *in, float *out, int n, int c, int h, int w) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int x = i % w, y = (i / w) % h, ch = (i / (w * h)) % c, b = i / (w * h * c);
    out[((b * h + y) * w + x) * c + ch] = in[i];
  }
}

// cuda-lsp: launch grid=(64) block=(256) n=100000 c=16 h=30 w=30
__global__ void nchw_to_nhwc_racy(const float *in, float *out, int n, int c, int h, int w) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int x = i % w, y = (i / w) % h, ch = (i / (w * h)) % c, b = i / (w * h * c);
    out[((b * h + y) * w + x) * (c - 1) + ch] = in[i];  // expect: data-race intra-block with self
  }
}

// Bit reversal.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void reversed_bits(const float *in, float *out) {  // expect: race-free
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  out[__brev(i) >> 22] = in[i];
}

// Triangular: pairs (i,j).
// cuda-lsp: launch grid=(16,16) block=(16,16) n=256
__global__ void symmetric(const float *a, float *m, int n) {  // expect: race-free
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < n && j <= i) { float v = a[i] * a[j]; m[i * n + j] = v; m[j * n + i] = v; }
}

// Block-strided chunks, ceil div.
// cuda-lsp: launch grid=(7) block=(128) n=10000
__global__ void chunks(const float *in, float *out, int n) {  // expect: race-free
  int chunk = (n + gridDim.x - 1) / gridDim.x;
  int begin = blockIdx.x * chunk, end = min(begin + chunk, n);
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i] * 2;
}

// cuda-lsp: launch grid=(7) block=(128) n=10000
__global__ void chunks_racy(const float *in, float *out, int n) {
  int chunk = n / gridDim.x;
  int begin = blockIdx.x * chunk, end = min(begin + chunk + 1, n);
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
    out[i] = in[i] * blockIdx.x;  // expect: data-race inter-block with self
}

// The same with the same value on both sides.
// cuda-lsp: launch grid=(7) block=(128) n=10000
__global__ void chunks_overlap(const float *in, float *out, int n) {
  int chunk = n / gridDim.x;
  int begin = blockIdx.x * chunk, end = min(begin + chunk + 1, n);
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i] * 2;  // expect: benign-race inter-block with self
}

// Warp-strided rows.
// cuda-lsp: launch grid=(8) block=(256) rows=100 cols=77
__global__ void row_per_warp(const float *in, float *out, int rows, int cols) {  // expect: race-free
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  int warps = (gridDim.x * blockDim.x) >> 5;
  for (int r = warp; r < rows; r += warps) {
    float m = -1e30f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, in[r * cols + c]);
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    for (int c = lane; c < cols; c += 32) out[r * cols + c] = expf(in[r * cols + c] - m);
  }
}
