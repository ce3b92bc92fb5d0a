// Vectors, bit-fields, unions, views of raw bytes, memory functions, constant memory and textures.

#include <cstdint>
#include <cstring>
// Textures and surfaces.
texture<float, 2, cudaReadModeElementType> tex_ref;
// cuda-lsp: launch grid=(4,4) block=(16,16) w=64 h=64
__global__ void texture_rotate(cudaTextureObject_t tex, float *out, int w, int h, float theta) {  // expect: race-free
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x / (float)w - 0.5f, v = y / (float)h - 0.5f;
  float tu = u * cosf(theta) - v * sinf(theta) + 0.5f, tv = v * cosf(theta) + u * sinf(theta) + 0.5f;
  out[y * w + x] = tex2D<float>(tex, tu, tv);
}

// Constant memory.
__constant__ float kernel_weights[17];
// cuda-lsp: launch grid=(8) block=(128) n=1024
__global__ void convolution_row(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[128 + 16];
  int base = blockIdx.x * 128;
  for (int i = threadIdx.x; i < 128 + 16; i += 128) {
    int g = base + i - 8;
    s[i] = g >= 0 && g < n ? in[g] : 0.f;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = -8; j <= 8; ++j) sum += kernel_weights[8 - j] * s[threadIdx.x + 8 + j];
  if (base + threadIdx.x < n) out[base + threadIdx.x] = sum;
}

// cuda-lsp: launch grid=(8) block=(128) n=1024
__global__ void convolution_row_racy(const float *in, float *out, int n) {
  __shared__ float s[128 + 16];
  int base = blockIdx.x * 128;
  s[threadIdx.x + 8] = in[base + threadIdx.x];
  if (threadIdx.x < 8) s[threadIdx.x] = base >= 8 ? in[base - 8 + threadIdx.x] : 0.f;
  __syncthreads();
  if (threadIdx.x >= 120) s[threadIdx.x + 16] = base + threadIdx.x + 8 < n ? in[base + threadIdx.x + 8] : 0.f;  // expect: data-race intra-warp with +2
  float sum = 0;
  for (int j = -8; j <= 8; ++j) sum += kernel_weights[8 - j] * s[threadIdx.x + 8 + j];
  if (base + threadIdx.x < n) out[base + threadIdx.x] = sum;
}

// Vector accesses.
// cuda-lsp: launch grid=(8) block=(128) n4=1024
__global__ void vector_copy(const float *in, float *out, int n4) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += blockDim.x * gridDim.x) {
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;
    reinterpret_cast<float4 *>(out)[i] = v;
  }
}

// Vectorised body and scalar tail.
// cuda-lsp: launch grid=(8) block=(128) n=4099
__global__ void vector_tail(const float *in, float *out, int n) {  // expect: race-free
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = idx; i < n / 4; i += blockDim.x * gridDim.x) reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i];
  int remainder = n % 4;
  if (idx < remainder) out[n - remainder + idx] = in[n - remainder + idx];
}

// cuda-lsp: launch grid=(8) block=(128) n=4099
__global__ void vector_tail_racy(const float *in, float *out, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = idx; i < n / 4; i += blockDim.x * gridDim.x) reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i];  // expect: data-race inter-block with +1
  if (idx < 4) out[n - 4 + idx] = in[n - 4 + idx];
}

// Bit fields.
struct Flags { unsigned a : 4; unsigned b : 12; unsigned c : 16; };
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bit_fields(Flags *f) {  // expect: race-free
  int t = threadIdx.x;
  f[t].a = t & 15;
  f[t].b = t;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void bit_fields_racy(Flags *f) {
  int t = threadIdx.x;
  if (t & 1) f[t / 2].a = t & 15; else f[t / 2].b = t;  // expect: data-race intra-warp with self
}

struct Bits2 { unsigned a : 16; unsigned : 0; unsigned b : 16; };
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bit_fields_apart(Bits2 *f) {  // expect: race-free
  int t = threadIdx.x;
  if (t & 1) f[t / 2].a = t; else f[t / 2].b = t;
}

// Unions.
union Word { uint32_t u; uint8_t b[4]; float f; };
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_union(const Word *in, Word *out) {  // expect: race-free
  Word w = in[threadIdx.x];
  w.u ^= 0x80000000u;
  for (int i = 0; i < 4; ++i) w.b[i] += i;
  out[threadIdx.x].f = w.f;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void union_bytes_shared(const uint32_t *in, uint8_t *out) {  // expect: race-free
  __shared__ Word s[16];
  s[threadIdx.x / 4].b[threadIdx.x % 4] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 16].u >> 3;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void union_bytes_shared_racy(const uint32_t *in, uint8_t *out) {
  __shared__ Word s[16];
  s[threadIdx.x / 4].b[threadIdx.x % 4] = in[threadIdx.x];  // expect: data-race intra-block with +2
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x % 16].u >> 3;
}

// One shared buffer, two views (float and int halves).
// cuda-lsp: launch grid=(1) block=(128)
__global__ void two_views(const float *in, int *out) {  // expect: race-free
  __shared__ __align__(16) char raw[128 * 8];
  float *f = reinterpret_cast<float *>(raw);
  int *idx = reinterpret_cast<int *>(raw + 128 * sizeof(float));
  f[threadIdx.x] = in[threadIdx.x];
  idx[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s && f[threadIdx.x + s] > f[threadIdx.x]) {
      f[threadIdx.x] = f[threadIdx.x + s];
      idx[threadIdx.x] = idx[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = idx[0];
}

// cuda-lsp: launch grid=(1) block=(128)
__global__ void two_views_racy(const float *in, int *out) {
  __shared__ __align__(16) char raw[128 * 8];
  double *f = reinterpret_cast<double *>(raw);
  int *idx = reinterpret_cast<int *>(raw + 128 * sizeof(float));
  f[threadIdx.x] = in[threadIdx.x];  // expect: data-race intra-block with +1
  idx[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = idx[127 - threadIdx.x];
}

// Memcpy, memset in device code.
struct Item { int key; float value[7]; };
// cuda-lsp: launch grid=(2) block=(64)
__global__ void copied_items(const Item *in, Item *out) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  Item x;
  memset(&x, 0, sizeof(x));
  memcpy(&x.key, &in[i].key, sizeof(int));
  memcpy(out + i, &x, sizeof(Item));
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void copied_items_racy(const Item *in, Item *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  memcpy(&out[i].key, &in[i], sizeof(Item) + sizeof(int));  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(2) block=(64) stride=16
__global__ void memset_rows(unsigned char *buf, int stride) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  memset(buf + (size_t)i * stride, 0, stride);
}

// cuda-lsp: launch grid=(2) block=(64) stride=16
__global__ void memset_rows_racy(unsigned char *buf, int stride) {
  int i = blockIdx.x * 64 + threadIdx.x;
  memset(buf + (size_t)i * stride, i, stride + 1);  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void bitcast(const float *in, unsigned *out) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  float x = in[i];
  unsigned u;
  memcpy(&u, &x, sizeof(u));
  out[i] = (u & 0x80000000u) ? ~u : u | 0x80000000u;
}

// Half2.
#include <cuda_fp16.h>
// cuda-lsp: launch grid=(2) block=(64)
__global__ void half_pairs(const __half *in, __half *out) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  __half2 v = reinterpret_cast<const __half2 *>(in)[i];
  reinterpret_cast<__half2 *>(out)[i] = __hmul2(v, v);
}

// Fp16 pack in uint4.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void pack8(const __half *in, __half *out) {  // expect: race-free
  int i = (blockIdx.x * 64 + threadIdx.x) * 8;
  uint4 pack = *reinterpret_cast<const uint4 *>(in + i);
  __half2 *h = reinterpret_cast<__half2 *>(&pack);
#pragma unroll
  for (int k = 0; k < 4; ++k) h[k] = __hadd2(h[k], h[k]);
  *reinterpret_cast<uint4 *>(out + i) = pack;
}
