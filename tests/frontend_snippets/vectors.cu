// Vector types, their makers, and arithmetic on them that projects write themselves.
#include <vector_types.h>
#include <vector_functions.h>
__host__ __device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__host__ __device__ inline void operator*=(float3 &a, float s) { a.x *= s; a.y *= s; a.z *= s; }
static_assert(sizeof(float3) == 12 && sizeof(float4) == 16 && alignof(float4) == 16 && alignof(int2) == 8 && sizeof(char4) == 4, "layout");
static_assert(sizeof(double2) == 16 && alignof(longlong2) == 16 && sizeof(ushort3) == 6 && sizeof(dim3) == 12, "layout");
__global__ void vectors(float4 *v, int2 *w, uchar4 *c, longlong2 *l, double3 *d, float3 *t) {
  int i = threadIdx.x;
  v[i] = v[i] + make_float4(1, 2, 3, 4);
  reinterpret_cast<float2 *>(v)[i] = make_float2(v[i].x, v[i].y);
  w[i] = make_int2(i, i + 1);
  c[i] = make_uchar4(1, 2, 3, 255);
  l[i] = longlong2{1, 2};
  d[i].z = 3;
  t[i] *= 2.0f;
  uint4 u = {0u, 1u, 2u, 3u};
  ulonglong2 q = make_ulonglong2(u.x, u.y);
  float1 one = make_float1(1);
  v[i].w = one.x + q.x;
}
