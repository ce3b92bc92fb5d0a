// The libraries that stand next to kernels: cuBLAS, cuFFT, cuSPARSE, the driver API, NCCL, NVTX, MPI, OpenMP, glog, POSIX.
#include <cuComplex.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <cusparse.h>
#include <getopt.h>
#include <glog/logging.h>
#include <mpi.h>
#include <nccl.h>
#include <nvToolsExt.h>
#include <omp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
__global__ void products(cuFloatComplex *z, cuDoubleComplex *w) {
  z[threadIdx.x] = cuCmulf(z[threadIdx.x], make_cuFloatComplex(1.f, 0.f));
  w[threadIdx.x] = cuCadd(w[0], cuConj(w[1]));
}
void *worker(void *argument) { return argument; }
void all(int argc, char **argv, float *a, float *b, float *c, int n, cudaStream_t stream) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, stream);
  const float one = 1.0f, zero = 0.0f;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, n, b, n, &zero, c, n);
  cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_16F, n, b, CUDA_R_16F, n, &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);
  cufftExecC2C(plan, (cufftComplex *)a, (cufftComplex *)b, CUFFT_FORWARD);
  cusparseHandle_t sparse;
  cusparseCreate(&sparse);
  cusparseSpMatDescr_t matrix;
  cusparseCreateCsr(&matrix, n, n, n, a, b, c, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  CUmodule module;
  CUfunction function;
  cuModuleLoad(&module, "x.ptx");
  cuModuleGetFunction(&function, module, "f");
  void *parameters[] = {&a};
  cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr);
  ncclComm_t comm;
  ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream);
  nvtxRangePushA("range");
  nvtxRangePop();
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
#pragma omp parallel for
  for (int i = 0; i < n; ++i) c[i] = omp_get_thread_num();
  CHECK(n > 0) << "n is " << n;
  CHECK_EQ(n % 4, 0);
  LOG(INFO) << "done";
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
  timeval now;
  gettimeofday(&now, NULL);
  for (int option; (option = getopt(argc, argv, "n:")) != -1;) n = atoi(optarg);
  usleep(10);
  products<<<1, n>>>((cuFloatComplex *)a, (cuDoubleComplex *)b);
}
