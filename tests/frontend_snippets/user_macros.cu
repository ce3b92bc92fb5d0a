// Macros that a file defines before its includes may have the names of the headers' parameters.
#define N 256
#define T float
#define A 3
#define C 4
#define F(x) x
#define n 5
#define min(a,b) ((a)<(b)?(a):(b))
#define max(a,b) ((a)>(b)?(a):(b))
#define stride 4
#include <iostream>
#include <vector>
#include <algorithm>
#include <cuda_fp16.h>
#include <thread>
#include <torch/extension.h>
#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <mma.h>
#include <curand_kernel.h>
__global__ void k(T *p) { p[threadIdx.x] = min(N, n) + A + C + stride; }
