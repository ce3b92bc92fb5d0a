// Half precision and bfloat16: storage, arithmetic, conversions, intrinsics, atomics and shuffles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(__nv_bfloat16) == 2 && sizeof(__nv_fp8_e4m3) == 1, "layout");
__global__ void halves(half *a, half2 *b, __nv_bfloat16 *c, nv_bfloat162 *e, float *f, __nv_fp8_e4m3 *g, unsigned short *bits) {
  __shared__ half tile[64];
  int i = threadIdx.x;
  tile[i] = a[i] * __float2half(2.0f);
  tile[0] += a[1];
  tile[1] -= tile[2] / tile[3];
  b[i] = __hadd2(b[i], b[i + 1]);
  b[i] = __hfma2(b[0], b[1], b[2]);
  b[1].x = __low2half(b[2]);
  a[i] = __hadd(a[1], a[2]);
  half one = 1.0f, zero(0), sum = one * one + zero;
  half third = (half)0.333, fourth = __int2half_rn(4);
  f[0] = __half2float(a[0]) + (float)a[1] + static_cast<float>(sum) + __low2float(b[0]);
  if (one < zero || one == sum || __hgt(one, zero)) c[0] = __float2bfloat16(1.f);
  f[1] = __bfloat162float(c[0]) + float(c[1]) + float(static_cast<half>(c[2])) + float(static_cast<nv_bfloat16>(a[1]));
  c[2] = c[0] * c[1] + __nv_bfloat16(2.0f);
  e[0] = __floats2bfloat162_rn(1.f, 2.f);
  e[1] = __hmul2(e[0], e[0]);
  f[2] = __hmax(a[0], a[1]);
  atomicAdd(a, one);
  atomicAdd(b, b[1]);
  atomicAdd(c, c[1]);
  sum = __shfl_xor_sync(0xffffffffu, sum, 1);
  b[3] = __shfl_down_sync(0xffffffffu, b[2], 2);
  a[2] = hexp(a[1]) + hsqrt(third) - fourth;
  b[4] = h2exp(__half2half2(sum)) * __halves2half2(one, zero);
  float2 pair = __half22float2(b[4]);
  *reinterpret_cast<half2 *>(f) = __float22half2_rn(pair);
  half picked = a[0] == zero ? a[1] : third;
  a[3] = -picked;
  a[4] = __ldg(a + 5);
  bits[0] = __half_as_ushort(picked) + __bfloat16_as_ushort(c[0]);
  a[6] = __ushort_as_half(bits[1]);
  g[0] = __nv_fp8_e4m3(1.0f);
  f[3] = float(g[0]);
  int whole = (int)a[0] + __half2int_rn(a[1]);
  a[whole & 7] = CUDART_INF_FP16;
  half4: a[7] = __float2half_rn(0.f);
  b[5] = {};
}
