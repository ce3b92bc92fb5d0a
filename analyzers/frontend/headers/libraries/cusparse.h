// cuSPARSE: handles, enumerations; the routines take anything after their handle.
#pragma once
#include <cuda_lsp/hide_macros.h>
#define CUSPARSEAPI
#define CUSPARSE_VERSION 12300
#include <cuComplex.h>
#include <cuda_lsp/runtime_api.h>
typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef struct csrgemm2Info *csrgemm2Info_t;
typedef struct csrsv2Info *csrsv2Info_t;
typedef enum { CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INVALID_VALUE, CUSPARSE_STATUS_ARCH_MISMATCH, CUSPARSE_STATUS_MAPPING_ERROR, CUSPARSE_STATUS_EXECUTION_FAILED, CUSPARSE_STATUS_INTERNAL_ERROR, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED } cusparseStatus_t;
typedef enum { CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2 } cusparseOperation_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1 } cusparseMatrixType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;
typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_SPMV_ALG_DEFAULT = 0, CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_SPMV_CSR_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2 = 3, CUSPARSE_SPMV_COO_ALG1 = 1 } cusparseSpMVAlg_t;
typedef enum { CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 5, CUSPARSE_SPMM_COO_ALG1 = 1 } cusparseSpMMAlg_t;
typedef enum { CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_ALG1 = 4 } cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 } cusparseCsr2CscAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
const char *cusparseGetErrorString(cusparseStatus_t status);
const char *cusparseGetErrorName(cusparseStatus_t status);
#define CUDA_LSP_SPARSE(name) template <class... A> cusparseStatus_t name(A &&...arguments);
CUDA_LSP_SPARSE(cusparseCreateMatDescr) CUDA_LSP_SPARSE(cusparseDestroyMatDescr) CUDA_LSP_SPARSE(cusparseSetMatType) CUDA_LSP_SPARSE(cusparseSetMatIndexBase)
CUDA_LSP_SPARSE(cusparseCreateCsr) CUDA_LSP_SPARSE(cusparseCreateCoo) CUDA_LSP_SPARSE(cusparseCreateCsc) CUDA_LSP_SPARSE(cusparseCreateDnMat) CUDA_LSP_SPARSE(cusparseCreateDnVec)
CUDA_LSP_SPARSE(cusparseDestroySpMat) CUDA_LSP_SPARSE(cusparseDestroyDnMat) CUDA_LSP_SPARSE(cusparseDestroyDnVec) CUDA_LSP_SPARSE(cusparseSpMV) CUDA_LSP_SPARSE(cusparseSpMV_bufferSize)
CUDA_LSP_SPARSE(cusparseSpMM) CUDA_LSP_SPARSE(cusparseSpMM_bufferSize) CUDA_LSP_SPARSE(cusparseSDDMM) CUDA_LSP_SPARSE(cusparseSDDMM_bufferSize) CUDA_LSP_SPARSE(cusparseSDDMM_preprocess)
CUDA_LSP_SPARSE(cusparseSpGEMM_workEstimation) CUDA_LSP_SPARSE(cusparseSpGEMM_compute) CUDA_LSP_SPARSE(cusparseSpGEMM_copy) CUDA_LSP_SPARSE(cusparseSpGEMM_createDescr)
CUDA_LSP_SPARSE(cusparseSpGEMM_destroyDescr) CUDA_LSP_SPARSE(cusparseSpMatGetSize) CUDA_LSP_SPARSE(cusparseCsrSetPointers) CUDA_LSP_SPARSE(cusparseCsr2cscEx2)
CUDA_LSP_SPARSE(cusparseCsr2cscEx2_bufferSize) CUDA_LSP_SPARSE(cusparseXcoo2csr) CUDA_LSP_SPARSE(cusparseXcsr2coo) CUDA_LSP_SPARSE(cusparseSpSV_solve) CUDA_LSP_SPARSE(cusparseSpSV_analysis)
CUDA_LSP_SPARSE(cusparseSpSV_bufferSize) CUDA_LSP_SPARSE(cusparseSpSV_createDescr) CUDA_LSP_SPARSE(cusparseSpSV_destroyDescr) CUDA_LSP_SPARSE(cusparseSpMatSetAttribute)
CUDA_LSP_SPARSE(cusparseSetPointerMode) CUDA_LSP_SPARSE(cusparseDenseToSparse_bufferSize) CUDA_LSP_SPARSE(cusparseDenseToSparse_analysis) CUDA_LSP_SPARSE(cusparseDenseToSparse_convert)
CUDA_LSP_SPARSE(cusparseDnMatSetStridedBatch) CUDA_LSP_SPARSE(cusparseCsrSetStridedBatch) CUDA_LSP_SPARSE(cusparseCreateSpVec) CUDA_LSP_SPARSE(cusparseDestroySpVec)
CUDA_LSP_SPARSE(cusparseAxpby) CUDA_LSP_SPARSE(cusparseGather) CUDA_LSP_SPARSE(cusparseScatter) CUDA_LSP_SPARSE(cusparseSparseToDense) CUDA_LSP_SPARSE(cusparseSparseToDense_bufferSize)
CUDA_LSP_SPARSE(cusparseXcsrsort) CUDA_LSP_SPARSE(cusparseXcsrsort_bufferSizeExt) CUDA_LSP_SPARSE(cusparseCreateIdentityPermutation) CUDA_LSP_SPARSE(cusparseSnnz) CUDA_LSP_SPARSE(cusparseDnnz)
CUDA_LSP_SPARSE(cusparseSpSM_createDescr) CUDA_LSP_SPARSE(cusparseSpSM_bufferSize) CUDA_LSP_SPARSE(cusparseSpSM_analysis) CUDA_LSP_SPARSE(cusparseSpSM_solve) CUDA_LSP_SPARSE(cusparseSpSM_destroyDescr)
#undef CUDA_LSP_SPARSE
#include <cuda_lsp/show_macros.h>
