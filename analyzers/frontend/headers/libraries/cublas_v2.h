// cuBLAS: handles, enumerations and the calls that appear next to kernels.
#pragma once
#include <cuda_lsp/hide_macros.h>
#define CUBLAS_API_H_
#define CUBLAS_V2_H_
#define CUBLASAPI
#define CUBLASWINAPI
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_lsp/runtime_api.h>
typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16 } cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 } cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1 = 1, CUBLAS_GEMM_ALGO23 = 23, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO15_TENSOR_OP = 115 } cublasGemmAlgo_t;
typedef enum { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 } cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t size);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasInit();
cublasStatus_t cublasShutdown();
const char *cublasGetStatusString(cublasStatus_t status);
const char *cublasGetStatusName(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int size, const void *from, int step, void *to, int to_step);
cublasStatus_t cublasGetVector(int n, int size, const void *from, int step, void *to, int to_step);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *from, int lead, void *to, int to_lead);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *from, int lead, void *to, int to_lead);
// Every numeric routine takes the handle first; the four precisions differ in nothing that matters here.
#define CUDA_LSP_BLAS(name) template <class... A> cublasStatus_t name(cublasHandle_t handle, A &&...arguments);
#define CUDA_LSP_BLAS4(name) CUDA_LSP_BLAS(cublasS##name) CUDA_LSP_BLAS(cublasD##name) CUDA_LSP_BLAS(cublasC##name) CUDA_LSP_BLAS(cublasZ##name)
CUDA_LSP_BLAS4(gemm) CUDA_LSP_BLAS4(gemv) CUDA_LSP_BLAS4(axpy) CUDA_LSP_BLAS4(scal) CUDA_LSP_BLAS4(copy) CUDA_LSP_BLAS4(swap) CUDA_LSP_BLAS4(geam) CUDA_LSP_BLAS4(ger)
CUDA_LSP_BLAS4(dot) CUDA_LSP_BLAS4(trsm) CUDA_LSP_BLAS4(trmm) CUDA_LSP_BLAS4(symm) CUDA_LSP_BLAS4(syrk) CUDA_LSP_BLAS4(trsv) CUDA_LSP_BLAS4(symv) CUDA_LSP_BLAS4(dgmm)
CUDA_LSP_BLAS4(gemmBatched) CUDA_LSP_BLAS4(gemmStridedBatched) CUDA_LSP_BLAS4(getrfBatched) CUDA_LSP_BLAS4(getriBatched) CUDA_LSP_BLAS4(matinvBatched) CUDA_LSP_BLAS4(dotc) CUDA_LSP_BLAS4(dotu)
CUDA_LSP_BLAS(cublasHgemm) CUDA_LSP_BLAS(cublasHgemmStridedBatched) CUDA_LSP_BLAS(cublasHgemmBatched) CUDA_LSP_BLAS(cublasGemmEx) CUDA_LSP_BLAS(cublasSgemmEx)
CUDA_LSP_BLAS(cublasGemmBatchedEx) CUDA_LSP_BLAS(cublasGemmStridedBatchedEx) CUDA_LSP_BLAS(cublasSnrm2) CUDA_LSP_BLAS(cublasDnrm2) CUDA_LSP_BLAS(cublasSasum)
CUDA_LSP_BLAS(cublasDasum) CUDA_LSP_BLAS(cublasIsamax) CUDA_LSP_BLAS(cublasIdamax) CUDA_LSP_BLAS(cublasIsamin) CUDA_LSP_BLAS(cublasNrm2Ex) CUDA_LSP_BLAS(cublasDotEx)
CUDA_LSP_BLAS(cublasAxpyEx) CUDA_LSP_BLAS(cublasScalEx) CUDA_LSP_BLAS(cublasSrot) CUDA_LSP_BLAS(cublasDrot)
#undef CUDA_LSP_BLAS
#undef CUDA_LSP_BLAS4
#include <cuda_lsp/show_macros.h>
