// Atomic functions. The bare name has device scope; _block and _system are the other scopes. Known by name.
#pragma once
#include <cuda_lsp/builtins.h>

#pragma clang force_cuda_host_device begin

#define CUDA_LSP_SCOPES(R, name, ...)  \
  R name(__VA_ARGS__);                 \
  R name##_block(__VA_ARGS__);         \
  R name##_system(__VA_ARGS__);
#define CUDA_LSP_ATOMIC(name, T) CUDA_LSP_SCOPES(T, name, T *address, T value)
#define CUDA_LSP_ATOMIC_INTEGERS(name)         \
  CUDA_LSP_ATOMIC(name, int)                   \
  CUDA_LSP_ATOMIC(name, unsigned)              \
  CUDA_LSP_ATOMIC(name, unsigned long long)
CUDA_LSP_ATOMIC_INTEGERS(atomicAdd)
CUDA_LSP_ATOMIC(atomicAdd, float)
CUDA_LSP_ATOMIC(atomicAdd, double)
CUDA_LSP_ATOMIC(atomicAdd, float2)
CUDA_LSP_ATOMIC(atomicAdd, float4)
CUDA_LSP_ATOMIC(atomicSub, int)
CUDA_LSP_ATOMIC(atomicSub, unsigned)
CUDA_LSP_ATOMIC_INTEGERS(atomicExch)
CUDA_LSP_ATOMIC(atomicExch, float)
CUDA_LSP_ATOMIC_INTEGERS(atomicMin)
CUDA_LSP_ATOMIC(atomicMin, long long)
CUDA_LSP_ATOMIC_INTEGERS(atomicMax)
CUDA_LSP_ATOMIC(atomicMax, long long)
CUDA_LSP_ATOMIC(atomicInc, unsigned)
CUDA_LSP_ATOMIC(atomicDec, unsigned)
CUDA_LSP_ATOMIC_INTEGERS(atomicAnd)
CUDA_LSP_ATOMIC_INTEGERS(atomicOr)
CUDA_LSP_ATOMIC_INTEGERS(atomicXor)
CUDA_LSP_SCOPES(int, atomicCAS, int *address, int expected, int value)
CUDA_LSP_SCOPES(unsigned, atomicCAS, unsigned *address, unsigned expected, unsigned value)
CUDA_LSP_SCOPES(unsigned long long, atomicCAS, unsigned long long *address, unsigned long long expected, unsigned long long value)
CUDA_LSP_SCOPES(unsigned short, atomicCAS, unsigned short *address, unsigned short expected, unsigned short value)
#undef CUDA_LSP_ATOMIC_INTEGERS

// What the C++ atomics and the __nv_atomic functions come down to. `order` is std::memory_order's number, `scope` one
// of 0 thread, 1 block, 2 cluster, 3 device, 4 system; both are constants.
template <class T> T __cuda_lsp_atomic_load(const volatile T *address, int order, int scope);
template <class T> void __cuda_lsp_atomic_store(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_exchange(volatile T *address, T value, int order, int scope);
template <class T> bool __cuda_lsp_atomic_compare_exchange(volatile T *address, T *expected, T value, int order, int scope, int failure = -1);
template <class T> T __cuda_lsp_atomic_fetch_add(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_sub(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_and(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_or(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_xor(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_min(volatile T *address, T value, int order, int scope);
template <class T> T __cuda_lsp_atomic_fetch_max(volatile T *address, T value, int order, int scope);
void __cuda_lsp_atomic_fence(int order, int scope);

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
template <class T> T __nv_atomic_load_n(T *address, int order, int scope = 4) { return __cuda_lsp_atomic_load(address, order, scope); }
template <class T> void __nv_atomic_load(T *address, T *result, int order, int scope = 4) { *result = __cuda_lsp_atomic_load(address, order, scope); }
template <class T> void __nv_atomic_store_n(T *address, typename __cuda_lsp_same<T>::type value, int order, int scope = 4) {
  __cuda_lsp_atomic_store<T>(address, value, order, scope);
}
template <class T> void __nv_atomic_store(T *address, T *value, int order, int scope = 4) { __cuda_lsp_atomic_store<T>(address, *value, order, scope); }
template <class T> T __nv_atomic_exchange_n(T *address, typename __cuda_lsp_same<T>::type value, int order, int scope = 4) {
  return __cuda_lsp_atomic_exchange<T>(address, value, order, scope);
}
template <class T> bool __nv_atomic_compare_exchange_n(T *address, T *expected, typename __cuda_lsp_same<T>::type value, bool, int success, int failure, int scope = 4) {
  return __cuda_lsp_atomic_compare_exchange<T>(address, expected, value, success, scope, failure);
}
#define CUDA_LSP_NV_ATOMIC(op)                                                                                     \
  template <class T> T __nv_atomic_fetch_##op(T *address, typename __cuda_lsp_same<T>::type value, int order, int scope = 4) { \
    return __cuda_lsp_atomic_fetch_##op<T>(address, value, order, scope);                                          \
  }                                                                                                                \
  template <class T> void __nv_atomic_##op(T *address, typename __cuda_lsp_same<T>::type value, int order, int scope = 4) { \
    __cuda_lsp_atomic_fetch_##op<T>(address, value, order, scope);                                                 \
  }
CUDA_LSP_NV_ATOMIC(add)
CUDA_LSP_NV_ATOMIC(sub)
CUDA_LSP_NV_ATOMIC(and)
CUDA_LSP_NV_ATOMIC(or)
CUDA_LSP_NV_ATOMIC(xor)
CUDA_LSP_NV_ATOMIC(min)
CUDA_LSP_NV_ATOMIC(max)
#undef CUDA_LSP_NV_ATOMIC
inline void __nv_atomic_thread_fence(int order, int scope = 4) { __cuda_lsp_atomic_fence(order, scope); }

#pragma clang force_cuda_host_device end
