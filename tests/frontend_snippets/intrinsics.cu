// Warp intrinsics, atomics of every scope and type, arithmetic and conversion intrinsics, mathematics.
__global__ void warp(int *a, float *f, double *d, unsigned long long *l) {
  unsigned mask = __activemask(), full = 0xffffffff;
  int lane = threadIdx.x % warpSize;
  a[0] = __shfl_sync(full, lane, 0) + __shfl_up_sync(full, lane, 1) + __shfl_down_sync(mask, lane, 2, 16) + __shfl_xor_sync(full, lane, 4);
  f[0] = __shfl_down_sync(full, f[1], 16);
  d[0] = __shfl_sync(full, d[1], 3);
  l[0] = __shfl_xor_sync(full, l[1], 1);
  unsigned votes = __ballot_sync(full, lane > 3) | __any_sync(full, lane) | __all_sync(full, lane);
  int all;
  votes |= __match_any_sync(full, lane) | __match_all_sync(full, l[0], &all);
  a[1] = __reduce_add_sync(full, lane) + __reduce_max_sync(full, 3u) + __reduce_or_sync(full, votes);
  a[2] = __shfl(a[1], 0) + __any(1) + __ballot(1);
}
__global__ void atomics(int *a, unsigned *u, unsigned long long *l, long long *s, float *f, double *d, unsigned short *h) {
  atomicAdd(a, 1); atomicAdd(u, 1u); atomicAdd(l, 1ull); atomicAdd(f, 1.0f); atomicAdd(d, 1.0);
  atomicAdd_block(a, 1); atomicAdd_system(f, 1.0f);
  atomicSub(a, 1); atomicExch(f, 2.0f); atomicExch_system(l, 2ull); atomicMin(a, 3); atomicMax_block(u, 3u); atomicMin(s, 4ll); atomicMax(l, 4ull);
  atomicInc(u, 7); atomicDec(u, 7); atomicAnd(a, 1); atomicOr(u, 1u); atomicXor(l, 1ull);
  int seen = atomicCAS(a, 0, 1);
  atomicCAS_system(l, 0ull, 1ull); atomicCAS(h, (unsigned short)0, (unsigned short)1);
  unsigned long long *word = (unsigned long long *)d, old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(1.0 + __longlong_as_double(assumed)));
  } while (assumed != old);
  a[1] = seen;
}
__global__ void arithmetic(int *a, unsigned *u, float *f, double *d, long long *l) {
  a[0] = min(a[0], 3) + max(a[1], a[2]) + abs(a[3]) + __mulhi(a[4], a[5]) + __sad(a[6], a[7], 1u) + __float2int_rn(f[0]) + __dp4a(a[0], a[1], a[2]);
  u[0] = umin(u[0], 3u) + max(u[1], 2) + __umulhi(u[2], u[3]) + __popcll(u[4]) + __byte_perm(u[5], u[6], 0x3210) + __funnelshift_l(u[7], u[8], 3);
  l[0] = min(l[0], 3ll) + llabs(l[1]) + __mul64hi(l[2], l[3]) + __ffsll(l[4]) + __clzll(l[5]) + (long long)max((size_t)1, sizeof(int));
  f[0] = __expf(f[0]) + __logf(f[1]) + __powf(f[2], 2.f) + __sinf(f[3]) + __fdividef(f[4], f[5]) + __frcp_rn(f[6]) + __fsqrt_rn(f[7]) + __int_as_float(a[0]);
  f[1] = sqrtf(f[0]) + rsqrtf(f[1]) + expf(f[2]) + powf(f[3], 2) + fmaxf(f[4], 1) + fminf(f[5], 0.f) + floorf(f[6]) + fabsf(f[7]) + fmodf(f[0], 2.f) + roundf(f[1]);
  f[2] = sqrt(f[0]) + exp(f[1]) + pow(f[2], 3) + fabs(f[3]) + sin(f[4]) + max(f[5], 0.0f) + abs(f[6]) + floor(f[7]) + log2(f[8]) + tanh(f[9]) + isnan(f[10]) + isinf(f[11]);
  d[0] = sqrt(d[0]) + pow(d[1], 2) + pow(2.0, 3) + fma(d[2], d[3], d[4]) + hypot(d[5], d[6]) + atan2(d[7], d[8]) + max(d[9], 1.0) + min(1, 2) + ceil(5 / 2.0) + exp2(3) + cbrt(2.0);
  float s, c;
  sincosf(f[0], &s, &c);
  sincospif(f[1], &s, &c);
  f[3] = s + c + erff(f[4]) + normcdff(f[5]) + fmaf(f[6], f[7], f[8]) + lgammaf(2.f) + M_PI + CUDART_PI_F + INFINITY + FLT_MAX + INT_MAX + copysignf(1.f, f[9]);
  u[1] = __vadd4(u[0], u[1]) + __vabsdiffu4(u[2], u[3]) + __vcmpeq4(u[4], u[5]) + __float_as_uint(f[0]) + __vmaxs2(u[6], u[7]);
  a[2] = __double2int_rz(d[0]) + __float2uint_rd(f[0]) + __double2hiint(d[1]) + lrintf(f[1]) + llround(d[2]) + ilogb(d[3]) + signbit(f[3]);
}
