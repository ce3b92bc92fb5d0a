// The vector types of CUDA and dim3, with the alignments of the CUDA C++ Programming Guide ("Built-in Vector Types").
#pragma once
#include <cuda_lsp/cpp_core.h>

#pragma clang force_cuda_host_device begin

#define CUDA_LSP_VECTORS(name, T, align2, align4)                                                                    \
  struct name##1 { T x; };                                                                                           \
  struct __align__(align2) name##2 { T x, y; };                                                                      \
  struct name##3 { T x, y, z; };                                                                                     \
  struct __align__(align4) name##4 { T x, y, z, w; };                                                                \
  constexpr name##1 make_##name##1(T x) { return name##1{x}; }                                                       \
  constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                                               \
  constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                                       \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
CUDA_LSP_VECTORS(char, signed char, 2, 4)
CUDA_LSP_VECTORS(uchar, unsigned char, 2, 4)
CUDA_LSP_VECTORS(short, short, 4, 8)
CUDA_LSP_VECTORS(ushort, unsigned short, 4, 8)
CUDA_LSP_VECTORS(int, int, 8, 16)
CUDA_LSP_VECTORS(uint, unsigned int, 8, 16)
CUDA_LSP_VECTORS(long, long, 16, 16)
CUDA_LSP_VECTORS(ulong, unsigned long, 16, 16)
CUDA_LSP_VECTORS(longlong, long long, 16, 16)
CUDA_LSP_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDA_LSP_VECTORS(float, float, 8, 16)
CUDA_LSP_VECTORS(double, double, 16, 16)
#undef CUDA_LSP_VECTORS

struct __align__(32) double4_32a { double x, y, z, w; };
struct __align__(16) double4_16a { double x, y, z, w; };
struct __align__(32) longlong4_32a { long long x, y, z, w; };
struct __align__(32) ulonglong4_32a { unsigned long long x, y, z, w; };

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#pragma clang force_cuda_host_device end
