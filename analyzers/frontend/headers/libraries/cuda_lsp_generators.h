// The device side of cuRAND for runs where its headers are not installed: states of the same sizes and functions of the same
// names, whose numbers are others. Compilers get this text; a check reads cuda_lsp_curand.h.
#pragma once
#if defined(__has_include) && __has_include(<curand_kernel.h>)
#include <curand_kernel.h>
#else
#define CUDA_LSP_GENERATOR(name, words) \
  struct name { unsigned v[words]; int boxmuller_flag; int boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; }; \
  typedef name name##_t;
CUDA_LSP_GENERATOR(curandStateXORWOW, 6)
CUDA_LSP_GENERATOR(curandStateMRG32k3a, 12)
CUDA_LSP_GENERATOR(curandStatePhilox4_32_10, 12)
CUDA_LSP_GENERATOR(curandStateSobol32, 34)
CUDA_LSP_GENERATOR(curandStateScrambledSobol32, 34)
CUDA_LSP_GENERATOR(curandStateSobol64, 68)
CUDA_LSP_GENERATOR(curandStateMtgp32, 1028)
#undef CUDA_LSP_GENERATOR
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

// A counter, and a key that tells sequences apart; numbers are the two, mixed.
__device__ inline unsigned __cuda_lsp_mixed(unsigned long long x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 29)) * 0xc4ceb9fe1a85ec53ull;
  return (unsigned)(x >> 32);
}
template <class S> __device__ inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S *state) {
  state->v[0] = __cuda_lsp_mixed(seed + 1);
  state->v[1] = __cuda_lsp_mixed(sequence ^ ((unsigned long long)state->v[0] << 32));
  state->v[2] = (unsigned)offset;
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
}
template <class V, class S> __device__ inline void curand_init(V *vectors, unsigned offset, S *state) {
  curand_init(vectors[0], 0, offset, state);
}
template <class V, class S> __device__ inline void curand_init(V *vectors, unsigned scramble, unsigned offset, S *state) {
  curand_init(vectors[0], scramble, offset, state);
}
template <class S> __device__ inline unsigned curand(S *state) {
  unsigned long long number = state->v[2]++;
  return __cuda_lsp_mixed((((unsigned long long)state->v[1] << 32) | state->v[0]) + 0x9e3779b97f4a7c15ull * (number + 1));
}
template <class S> __device__ inline void skipahead(unsigned long long n, S *state) { state->v[2] += (unsigned)n; }
template <class S> __device__ inline void skipahead_sequence(unsigned long long n, S *state) { state->v[1] += (unsigned)n; }
template <class S> __device__ inline float curand_uniform(S *state) { return ((curand(state) >> 8) + 1) * 5.9604645e-8f; }
template <class S> __device__ inline double curand_uniform_double(S *state) {
  unsigned long long high = curand(state);
  return ((high << 21 ^ curand(state)) + 1) * 1.1102230246251565e-16;
}
template <class S> __device__ inline float2 curand_normal2(S *state) {
  float radius = sqrtf(-2.0f * logf(curand_uniform(state)));
  float turn = 6.2831853f * curand_uniform(state);
  return make_float2(radius * cosf(turn), radius * sinf(turn));
}
template <class S> __device__ inline double2 curand_normal2_double(S *state) {
  double radius = sqrt(-2.0 * log(curand_uniform_double(state)));
  double turn = 6.283185307179586 * curand_uniform_double(state);
  return make_double2(radius * cos(turn), radius * sin(turn));
}
template <class S> __device__ inline float curand_normal(S *state) {
  if (state->boxmuller_flag) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  float2 both = curand_normal2(state);
  state->boxmuller_flag = 1;
  state->boxmuller_extra = both.y;
  return both.x;
}
template <class S> __device__ inline double curand_normal_double(S *state) {
  if (state->boxmuller_flag_double) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  double2 both = curand_normal2_double(state);
  state->boxmuller_flag_double = 1;
  state->boxmuller_extra_double = both.y;
  return both.x;
}
template <class S> __device__ inline double2 curand_uniform2_double(S *state) {
  double first = curand_uniform_double(state);
  return make_double2(first, curand_uniform_double(state));
}
template <class S> __device__ inline uint4 curand4(S *state) {
  unsigned x = curand(state), y = curand(state), z = curand(state);
  return make_uint4(x, y, z, curand(state));
}
template <class S> __device__ inline float4 curand_uniform4(S *state) {
  float x = curand_uniform(state), y = curand_uniform(state), z = curand_uniform(state);
  return make_float4(x, y, z, curand_uniform(state));
}
template <class S> __device__ inline float4 curand_normal4(S *state) {
  float2 first = curand_normal2(state), second = curand_normal2(state);
  return make_float4(first.x, first.y, second.x, second.y);
}
template <class S> __device__ inline float curand_log_normal(S *state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class S> __device__ inline double curand_log_normal_double(S *state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
template <class S> __device__ inline unsigned curand_poisson(S *state, double mean) {
  double drawn = floor(mean + sqrt(mean) * curand_normal_double(state) + 0.5);
  return drawn > 0 ? (unsigned)drawn : 0u;
}
#endif
