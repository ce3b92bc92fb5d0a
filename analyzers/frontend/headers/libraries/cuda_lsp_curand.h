// cuRAND: the host API as declarations; a device generator reads and writes the whole of its state.
#pragma once
#include <cuda_lsp/hide_macros.h>
#define CURAND_H_
#define CURAND_KERNEL_H_
#define CURANDAPI
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/runtime_api.h>

#pragma clang force_cuda_host_device begin
unsigned __cuda_lsp_random();
#define CUDA_LSP_GENERATOR(name, words) struct name { unsigned v[words]; int boxmuller_flag; int boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
CUDA_LSP_GENERATOR(curandStateXORWOW, 6)
CUDA_LSP_GENERATOR(curandStateMRG32k3a, 12)
CUDA_LSP_GENERATOR(curandStatePhilox4_32_10, 12)
CUDA_LSP_GENERATOR(curandStateSobol32, 34)
CUDA_LSP_GENERATOR(curandStateScrambledSobol32, 34)
CUDA_LSP_GENERATOR(curandStateSobol64, 68)
CUDA_LSP_GENERATOR(curandStateMtgp32, 1028)
#undef CUDA_LSP_GENERATOR
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
struct mtgp32_params_fast_t { unsigned v[4]; };
typedef struct mtgp32_kernel_params { unsigned v[4]; } mtgp32_kernel_params_t;

template <class S> void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S *state) {
  S fresh;
  fresh.v[0] = __cuda_lsp_random();
  *state = fresh;
}
template <class V, class S> void curand_init(V *vectors, unsigned offset, S *state) { S fresh; fresh.v[0] = __cuda_lsp_random(); *state = fresh; }
template <class S> unsigned __cuda_lsp_advance(S *state) {
  S next = *state;
  next.v[0] = __cuda_lsp_random();
  *state = next;
  return next.v[0];
}
#define CUDA_LSP_DRAW(R, name) template <class S> R name(S *state) { return static_cast<R>(__cuda_lsp_advance(state)); }
#define CUDA_LSP_DRAW2(R, name, value, scale) \
  template <class S> R name(S *state) { value bits = static_cast<value>(__cuda_lsp_advance(state)); return R{bits, bits}; }
#define CUDA_LSP_DRAW4(R, name, value) \
  template <class S> R name(S *state) { value bits = static_cast<value>(__cuda_lsp_advance(state)); return R{bits, bits, bits, bits}; }
template <class V, class S> void curand_init(V *vectors, unsigned scramble, unsigned offset, S *state) { S fresh; fresh.v[0] = __cuda_lsp_random(); *state = fresh; }
CUDA_LSP_DRAW(unsigned, curand)
CUDA_LSP_DRAW(float, curand_uniform)
CUDA_LSP_DRAW(double, curand_uniform_double)
CUDA_LSP_DRAW(float, curand_normal)
CUDA_LSP_DRAW(double, curand_normal_double)
CUDA_LSP_DRAW2(float2, curand_normal2, float, )
CUDA_LSP_DRAW2(double2, curand_normal2_double, double, )
CUDA_LSP_DRAW2(double2, curand_uniform2_double, double, )
CUDA_LSP_DRAW4(uint4, curand4, unsigned)
CUDA_LSP_DRAW4(float4, curand_uniform4, float)
CUDA_LSP_DRAW4(float4, curand_normal4, float)
CUDA_LSP_DRAW4(double4, curand_uniform4_double, double)
CUDA_LSP_DRAW4(double4, curand_normal4_double, double)
#undef CUDA_LSP_DRAW
#undef CUDA_LSP_DRAW2
#undef CUDA_LSP_DRAW4
template <class S> float curand_log_normal(S *state, float, float) { return static_cast<float>(__cuda_lsp_advance(state)); }
template <class S> double curand_log_normal_double(S *state, double, double) { return static_cast<double>(__cuda_lsp_advance(state)); }
template <class S> unsigned curand_poisson(S *state, double) { return __cuda_lsp_advance(state); }
template <class S> unsigned curand_discrete(S *state, const void *) { return __cuda_lsp_advance(state); }
template <class S> void skipahead(unsigned long long, S *state) { __cuda_lsp_advance(state); }
template <class S> void skipahead_sequence(unsigned long long, S *state) { __cuda_lsp_advance(state); }
#pragma clang force_cuda_host_device end

typedef enum curandStatus { CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED, CURAND_STATUS_ALLOCATION_FAILED, CURAND_STATUS_TYPE_ERROR, CURAND_STATUS_OUT_OF_RANGE, CURAND_STATUS_LENGTH_NOT_MULTIPLE, CURAND_STATUS_DOUBLE_PRECISION_REQUIRED, CURAND_STATUS_LAUNCH_FAILURE = 201, CURAND_STATUS_PREEXISTING_FAILURE, CURAND_STATUS_INITIALIZATION_FAILED, CURAND_STATUS_ARCH_MISMATCH, CURAND_STATUS_INTERNAL_ERROR = 999 } curandStatus_t;
typedef enum curandRngType { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 } curandRngType_t;
typedef enum curandOrdering { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT, CURAND_ORDERING_PSEUDO_SEEDED, CURAND_ORDERING_PSEUDO_LEGACY, CURAND_ORDERING_QUASI_DEFAULT = 201 } curandOrdering_t;
typedef enum curandDirectionVectorSet { CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 } curandDirectionVectorSet_t;
typedef struct curandGenerator_st *curandGenerator_t;
typedef struct curandDiscreteDistribution_st *curandDiscreteDistribution_t;
extern "C" {
curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *to, size_t n);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t n);
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t n, float mean, float deviation);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t n, double mean, double deviation);
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t n, float mean, float deviation);
curandStatus_t curandGenerateSeeds(curandGenerator_t generator);
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set);
curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t parameters[], mtgp32_kernel_params_t *to);
curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t *states, mtgp32_params_fast_t parameters[], mtgp32_kernel_params_t *constants, int n, unsigned long long seed);
}
extern mtgp32_params_fast_t mtgp32dc_params_fast_11213[];
#include <cuda_lsp/show_macros.h>
