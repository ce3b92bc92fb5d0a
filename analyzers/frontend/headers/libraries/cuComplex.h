// cuComplex.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/vectors.h>
#pragma clang force_cuda_host_device begin
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
inline cuFloatComplex make_cuFloatComplex(float re, float im) { return cuFloatComplex{re, im}; }
inline cuDoubleComplex make_cuDoubleComplex(double re, double im) { return cuDoubleComplex{re, im}; }
inline cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
#define CUDA_LSP_COMPLEX(C, R, f)                                                                                            \
  inline R cuCreal##f(C z) { return z.x; }                                                                                   \
  inline R cuCimag##f(C z) { return z.y; }                                                                                   \
  inline C cuConj##f(C z) { return C{z.x, -z.y}; }                                                                           \
  inline C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                                           \
  inline C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                                           \
  inline C cuCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                                   \
  C cuCdiv##f(C a, C b);                                                                                                     \
  R cuCabs##f(C z);                                                                                                          \
  inline C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
CUDA_LSP_COMPLEX(cuFloatComplex, float, f)
CUDA_LSP_COMPLEX(cuDoubleComplex, double, )
#undef CUDA_LSP_COMPLEX
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex{float(z.x), float(z.y)}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex{z.x, z.y}; }
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
