// The runtime API as host code uses it.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#define CHECK(call)                                                                            \
  do {                                                                                         \
    cudaError_t e = call;                                                                      \
    if (e != cudaSuccess) {                                                                    \
      fprintf(stderr, "%s:%d %s %s\n", __FILE__, __LINE__, cudaGetErrorName(e), cudaGetErrorString(e)); \
      exit(EXIT_FAILURE);                                                                      \
    }                                                                                          \
  } while (0)
__constant__ float coefficients[16];
__device__ int total;
__global__ void touch(float *p, size_t pitch) { ((float *)((char *)p + threadIdx.y * pitch))[threadIdx.x] = coefficients[0] + total; }
int main(int argc, char **argv) {
  int device = 0, devices, value;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(device));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  printf("%s %d.%d %zu %d\n", properties.name, properties.major, properties.minor, properties.sharedMemPerBlock, properties.maxThreadsPerBlock);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  float *host, *pinned, *managed, *data, *pitched;
  size_t pitch, bytes = 64 * 64 * sizeof(float);
  host = (float *)malloc(bytes);
  CHECK(cudaMalloc((void **)&data, bytes));
  CHECK(cudaMalloc(&pitched, bytes));
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaHostAlloc((void **)&pinned, bytes, cudaHostAllocMapped));
  CHECK(cudaMallocManaged(&managed, bytes));
  CHECK(cudaMallocPitch(&pitched, &pitch, 64 * sizeof(float), 64));
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  CHECK(cudaMallocAsync(&data, bytes, streams[0]));
  CHECK(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, streams[0]));
  CHECK(cudaMemcpy2D(pitched, pitch, host, 256, 256, 64, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(data, 0, bytes));
  CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof(coefficients)));
  CHECK(cudaMemcpyFromSymbol(&value, total, sizeof(int)));
  void *address;
  CHECK(cudaGetSymbolAddress(&address, total));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventDisableTiming));
  CHECK(cudaEventRecord(start, streams[0]));
  int grid, block, active;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, touch, 0, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, touch, 256, 0));
  CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  touch<<<dim3(1, 2), dim3(16, 16), 0, streams[0]>>>(pitched, pitch);
  CHECK(cudaGetLastError());
  CHECK(cudaPeekAtLastError());
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  touch<<<1, 32, 0, streams[0]>>>(data, 4);
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphLaunch(executable, streams[0]));
  CHECK(cudaMemPrefetchAsync(managed, bytes, device, 0));
  CHECK(cudaMemAdvise(managed, bytes, cudaMemAdviseSetReadMostly, device));
  CHECK(cudaStreamSynchronize(streams[0]));
  cudaProfilerStop();
  CHECK(cudaFree(data));
  CHECK(cudaFreeHost(pinned));
  return cudaDeviceReset();
}
