// The pipeline primitives of C.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/collectives.h>

#pragma clang force_cuda_host_device begin
typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
inline void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t = 0) { __cuda_lsp_copy_async(to, from, size); }
inline void __pipeline_commit() { __cuda_lsp_copy_async_commit(); }
inline void __pipeline_wait_prior(size_t newest) { __cuda_lsp_copy_async_wait(unsigned(newest)); }
inline void __pipeline_arrive_on(__mbarrier_t *barrier) { __cuda_lsp_barrier_copies(barrier); }
inline void __mbarrier_init(__mbarrier_t *barrier, unsigned expected) { __cuda_lsp_barrier_init(barrier, expected); }
inline void __mbarrier_inval(__mbarrier_t *barrier) { __cuda_lsp_barrier_inval(barrier); }
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) { return __cuda_lsp_barrier_arrive(barrier, 1); }
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) { __cuda_lsp_barrier_drop(barrier); return 0; }
inline bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) { return __cuda_lsp_barrier_test(barrier, token); }
inline bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, unsigned) { return __cuda_lsp_barrier_test(barrier, token); }
unsigned __mbarrier_token_pending_count(__mbarrier_token_t token);
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
