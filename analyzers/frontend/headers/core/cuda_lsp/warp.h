// Warp-level primitives: votes, matches, shuffles and reductions. All are known to the analysis by name.
#pragma once
#include <cuda_lsp/builtins.h>

#pragma clang force_cuda_host_device begin

int __all_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __uni_sync(unsigned mask, int predicate);
unsigned __ballot_sync(unsigned mask, int predicate);
unsigned __activemask();
unsigned __fns(unsigned mask, unsigned base, int offset);
unsigned __lanemask_lt();
unsigned __lanemask_le();
unsigned __lanemask_gt();
unsigned __lanemask_ge();
unsigned __lanemask_eq();
// Before Volta; no barrier comes with them.
int __all(int predicate);
int __any(int predicate);
unsigned __ballot(int predicate);

#define CUDA_LSP_FOR_WORDS(X) \
  X(int) X(unsigned) X(long) X(unsigned long) X(long long) X(unsigned long long) X(float) X(double)
#define CUDA_LSP_SHUFFLES(T)                                                                    \
  T __shfl_sync(unsigned mask, T value, int lane, int width = 32);                              \
  T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);                     \
  T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);                   \
  T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);                         \
  T __shfl(T value, int lane, int width = 32);                                                  \
  T __shfl_up(T value, unsigned delta, int width = 32);                                         \
  T __shfl_down(T value, unsigned delta, int width = 32);                                       \
  T __shfl_xor(T value, int lanes, int width = 32);
#define CUDA_LSP_MATCHES(T)                                   \
  unsigned __match_any_sync(unsigned mask, T value);          \
  unsigned __match_all_sync(unsigned mask, T value, int *all);
CUDA_LSP_FOR_WORDS(CUDA_LSP_SHUFFLES)
CUDA_LSP_FOR_WORDS(CUDA_LSP_MATCHES)
#undef CUDA_LSP_MATCHES

#define CUDA_LSP_REDUCTIONS(T)                    \
  T __reduce_add_sync(unsigned mask, T value);    \
  T __reduce_min_sync(unsigned mask, T value);    \
  T __reduce_max_sync(unsigned mask, T value);
CUDA_LSP_REDUCTIONS(int)
CUDA_LSP_REDUCTIONS(unsigned)
#undef CUDA_LSP_REDUCTIONS
unsigned __reduce_and_sync(unsigned mask, unsigned value);
unsigned __reduce_or_sync(unsigned mask, unsigned value);
unsigned __reduce_xor_sync(unsigned mask, unsigned value);

#pragma clang force_cuda_host_device end
