// cuSOLVER: handles; the routines take anything.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cublas_v2.h>
#include <cusparse.h>
#define CUSOLVER_COMMON_H_
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverSpContext *cusolverSpHandle_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef enum { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_ALLOC_FAILED, CUSOLVER_STATUS_INVALID_VALUE, CUSOLVER_STATUS_ARCH_MISMATCH, CUSOLVER_STATUS_MAPPING_ERROR, CUSOLVER_STATUS_EXECUTION_FAILED, CUSOLVER_STATUS_INTERNAL_ERROR, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSOLVER_STATUS_NOT_SUPPORTED, CUSOLVER_STATUS_ZERO_PIVOT, CUSOLVER_STATUS_INVALID_LICENSE } cusolverStatus_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 } cusolverEigMode_t;
typedef enum { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 = 2, CUSOLVER_EIG_TYPE_3 = 3 } cusolverEigType_t;
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
#define CUDA_LSP_SOLVER(name) template <class... A> cusolverStatus_t name(A &&...arguments);
#define CUDA_LSP_SOLVER2(name) CUDA_LSP_SOLVER(cusolverDnS##name) CUDA_LSP_SOLVER(cusolverDnD##name) CUDA_LSP_SOLVER(cusolverDnS##name##_bufferSize) CUDA_LSP_SOLVER(cusolverDnD##name##_bufferSize)
CUDA_LSP_SOLVER2(getrf) CUDA_LSP_SOLVER2(getrs) CUDA_LSP_SOLVER2(potrf) CUDA_LSP_SOLVER2(potrs) CUDA_LSP_SOLVER2(geqrf) CUDA_LSP_SOLVER2(ormqr) CUDA_LSP_SOLVER2(gesvd) CUDA_LSP_SOLVER2(gesvdj)
CUDA_LSP_SOLVER2(syevd) CUDA_LSP_SOLVER2(syevj) CUDA_LSP_SOLVER2(sygvd) CUDA_LSP_SOLVER2(orgqr)
CUDA_LSP_SOLVER(cusolverDnCreateSyevjInfo) CUDA_LSP_SOLVER(cusolverDnCreateGesvdjInfo) CUDA_LSP_SOLVER(cusolverSpCreate) CUDA_LSP_SOLVER(cusolverSpDestroy)
#undef CUDA_LSP_SOLVER
#undef CUDA_LSP_SOLVER2
#include <cuda_lsp/show_macros.h>
