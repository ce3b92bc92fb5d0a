// MPI: handles and calls as C programs use them.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
typedef struct cuda_lsp_mpi_comm *MPI_Comm;
typedef struct cuda_lsp_mpi_type *MPI_Datatype;
typedef struct cuda_lsp_mpi_op *MPI_Op;
typedef struct cuda_lsp_mpi_request *MPI_Request;
typedef struct cuda_lsp_mpi_info *MPI_Info;
typedef struct cuda_lsp_mpi_window *MPI_Win;
typedef struct cuda_lsp_mpi_group *MPI_Group;
typedef long MPI_Aint;
typedef long MPI_Offset;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR; } MPI_Status;
extern MPI_Comm MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL;
extern MPI_Datatype MPI_CHAR, MPI_BYTE, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_UINT64_T, MPI_INT64_T, MPI_UINT32_T,
    MPI_INT32_T, MPI_C_BOOL, MPI_DOUBLE_INT, MPI_UNSIGNED_CHAR, MPI_DATATYPE_NULL;
extern MPI_Op MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR, MPI_MAXLOC, MPI_MINLOC;
extern MPI_Request MPI_REQUEST_NULL;
extern MPI_Info MPI_INFO_NULL;
#define MPI_SUCCESS 0
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_COMM_TYPE_SHARED 0
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_MULTIPLE 3
#define CUDA_LSP_MPI(name) template <class... A> int name(A &&...arguments);
CUDA_LSP_MPI(MPI_Init) CUDA_LSP_MPI(MPI_Init_thread) CUDA_LSP_MPI(MPI_Comm_rank) CUDA_LSP_MPI(MPI_Comm_size) CUDA_LSP_MPI(MPI_Comm_split) CUDA_LSP_MPI(MPI_Comm_split_type)
CUDA_LSP_MPI(MPI_Comm_dup) CUDA_LSP_MPI(MPI_Comm_free) CUDA_LSP_MPI(MPI_Abort) CUDA_LSP_MPI(MPI_Send) CUDA_LSP_MPI(MPI_Recv) CUDA_LSP_MPI(MPI_Isend) CUDA_LSP_MPI(MPI_Irecv)
CUDA_LSP_MPI(MPI_Sendrecv) CUDA_LSP_MPI(MPI_Wait) CUDA_LSP_MPI(MPI_Waitall) CUDA_LSP_MPI(MPI_Test) CUDA_LSP_MPI(MPI_Bcast) CUDA_LSP_MPI(MPI_Reduce) CUDA_LSP_MPI(MPI_Allreduce)
CUDA_LSP_MPI(MPI_Gather) CUDA_LSP_MPI(MPI_Gatherv) CUDA_LSP_MPI(MPI_Allgather) CUDA_LSP_MPI(MPI_Scatter) CUDA_LSP_MPI(MPI_Scatterv) CUDA_LSP_MPI(MPI_Alltoall)
CUDA_LSP_MPI(MPI_Alltoallv) CUDA_LSP_MPI(MPI_Get_processor_name) CUDA_LSP_MPI(MPI_Type_contiguous) CUDA_LSP_MPI(MPI_Type_commit) CUDA_LSP_MPI(MPI_Get_count)
CUDA_LSP_MPI(MPI_Cart_create) CUDA_LSP_MPI(MPI_Dims_create) CUDA_LSP_MPI(MPI_Error_string)
#undef CUDA_LSP_MPI
extern "C" int MPI_Finalize();
extern "C" double MPI_Wtime();
inline int MPI_Barrier(MPI_Comm) { return 0; }
#include <cuda_lsp/show_macros.h>
