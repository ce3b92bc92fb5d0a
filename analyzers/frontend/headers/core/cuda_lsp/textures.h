// Texture and surface objects and the legacy references. What they fetch is read-only memory of its own; surface writes
// are known to the analysis by name.
#pragma once
#include <cuda_lsp/runtime_api.h>

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureAddressMode { cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaResourceViewFormat { cudaResViewFormatNone = 0 };
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int sRGB; float borderColor[4];
  int normalizedCoords; unsigned maxAnisotropy; cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp; int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc { cudaResourceViewFormat format; size_t width, height, depth; unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer; };
struct textureReference {
  int normalized; cudaTextureFilterMode filterMode; cudaTextureAddressMode addressMode[3]; cudaChannelFormatDesc channelDesc; int sRGB;
};
struct surfaceReference { cudaChannelFormatDesc channelDesc; };
template <class T, int Type = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType> struct __attribute__((device_builtin_texture_type)) texture : textureReference {
  __host__ __device__ texture(int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint, cudaTextureAddressMode address = cudaAddressModeClamp) {}
};
template <class T, int Type = cudaSurfaceType1D> struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {};

extern "C" {
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *description, const cudaResourceViewDesc *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array);
}
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &reference, const void *pointer, const cudaChannelFormatDesc &format, size_t size = UINT_MAX);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &reference, const void *pointer, size_t size = UINT_MAX);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &reference, const void *pointer, const cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &reference, const void *pointer, size_t width, size_t height, size_t pitch);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTextureToArray(const texture<T, D, M> &reference, cudaArray_const_t array, const cudaChannelFormatDesc &format);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaBindTextureToArray(const texture<T, D, M> &reference, cudaArray_const_t array);
template <class T, int D, cudaTextureReadMode M> cudaError_t cudaUnbindTexture(const texture<T, D, M> &reference);
template <class T, int D> cudaError_t cudaBindSurfaceToArray(const surface<T, D> &reference, cudaArray_const_t array);

#pragma clang force_cuda_host_device begin
template <class T, cudaTextureReadMode M> struct __cuda_lsp_fetched { using type = T; };
#define CUDA_LSP_NORMALIZED(name)                                                                              \
  template <> struct __cuda_lsp_fetched<name##1, cudaReadModeNormalizedFloat> { using type = float1; };        \
  template <> struct __cuda_lsp_fetched<name##2, cudaReadModeNormalizedFloat> { using type = float2; };        \
  template <> struct __cuda_lsp_fetched<name##4, cudaReadModeNormalizedFloat> { using type = float4; };
CUDA_LSP_NORMALIZED(char)
CUDA_LSP_NORMALIZED(uchar)
CUDA_LSP_NORMALIZED(short)
CUDA_LSP_NORMALIZED(ushort)
#undef CUDA_LSP_NORMALIZED
template <> struct __cuda_lsp_fetched<char, cudaReadModeNormalizedFloat> { using type = float; };
template <> struct __cuda_lsp_fetched<signed char, cudaReadModeNormalizedFloat> { using type = float; };
template <> struct __cuda_lsp_fetched<unsigned char, cudaReadModeNormalizedFloat> { using type = float; };
template <> struct __cuda_lsp_fetched<short, cudaReadModeNormalizedFloat> { using type = float; };
template <> struct __cuda_lsp_fetched<unsigned short, cudaReadModeNormalizedFloat> { using type = float; };
#define CUDA_LSP_FETCH(name, ...)                                                                                      \
  template <class T> T name(cudaTextureObject_t texture, __VA_ARGS__);                                                 \
  template <class T> void name(T *result, cudaTextureObject_t texture, __VA_ARGS__);                                   \
  template <class T, int D, cudaTextureReadMode M>                                                                     \
  typename __cuda_lsp_fetched<T, M>::type name(texture<T, D, M> reference, __VA_ARGS__);
CUDA_LSP_FETCH(tex1Dfetch, int x)
CUDA_LSP_FETCH(tex1D, float x)
CUDA_LSP_FETCH(tex2D, float x, float y)
CUDA_LSP_FETCH(tex3D, float x, float y, float z)
CUDA_LSP_FETCH(tex1DLayered, float x, int layer)
CUDA_LSP_FETCH(tex2DLayered, float x, float y, int layer)
CUDA_LSP_FETCH(texCubemap, float x, float y, float z)
CUDA_LSP_FETCH(texCubemapLayered, float x, float y, float z, int layer)
CUDA_LSP_FETCH(tex1DLod, float x, float level)
CUDA_LSP_FETCH(tex2DLod, float x, float y, float level)
CUDA_LSP_FETCH(tex3DLod, float x, float y, float z, float level)
CUDA_LSP_FETCH(texCubemapLod, float x, float y, float z, float level)
CUDA_LSP_FETCH(tex2DLayeredLod, float x, float y, int layer, float level)
CUDA_LSP_FETCH(tex1DGrad, float x, float dx, float dy)
CUDA_LSP_FETCH(tex2DGrad, float x, float y, float2 dx, float2 dy)
CUDA_LSP_FETCH(tex3DGrad, float x, float y, float z, float4 dx, float4 dy)
CUDA_LSP_FETCH(tex2Dgather, float x, float y, int component = 0)
#undef CUDA_LSP_FETCH
#define CUDA_LSP_SURFACE(dim, ...)                                                                                        \
  template <class T> T surf##dim##read(cudaSurfaceObject_t surface, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap); \
  template <class T> void surf##dim##read(T *result, cudaSurfaceObject_t surface, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap); \
  template <class T> void surf##dim##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap); \
  template <class T, class S, int D> T surf##dim##read(surface<S, D> reference, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap); \
  template <class T, class S, int D> void surf##dim##read(T *result, surface<S, D> reference, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap); \
  template <class T, class S, int D> void surf##dim##write(T value, surface<S, D> reference, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap);
CUDA_LSP_SURFACE(1D, int x)
CUDA_LSP_SURFACE(2D, int x, int y)
CUDA_LSP_SURFACE(3D, int x, int y, int z)
CUDA_LSP_SURFACE(1DLayered, int x, int layer)
CUDA_LSP_SURFACE(2DLayered, int x, int y, int layer)
CUDA_LSP_SURFACE(Cubemap, int x, int y, int face)
CUDA_LSP_SURFACE(CubemapLayered, int x, int y, int layer_and_face)
#undef CUDA_LSP_SURFACE
#pragma clang force_cuda_host_device end
