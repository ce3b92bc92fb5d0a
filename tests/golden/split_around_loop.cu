// Only some threads get to a loop in which a barrier is missing, and barriers there are missed by the others.

// cuda-lsp: launch grid=(2) block=(8,8)
__global__ void nearest(unsigned *best, const float *distances, unsigned features, unsigned candidates) {
  __shared__ float s_dist[64];
  unsigned f = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sid = threadIdx.x * blockDim.y + threadIdx.y;
  if (f < features) {
    s_dist[sid] = 1e9f;
    for (unsigned i = threadIdx.y; i < candidates; i += blockDim.y) {
      float dist = distances[f * candidates + i];
      if (dist < s_dist[sid]) s_dist[sid] = dist;
      __syncthreads();
    }

    // The smallest of all.
    for (unsigned i = blockDim.y / 2; i > 0; i >>= 1) {
      if (threadIdx.y < i) {
        float dist = s_dist[sid + i];
        if (dist < s_dist[sid]) s_dist[sid] = dist;
        __syncthreads();
      }
    }

    if (threadIdx.y == 0) best[f] = s_dist[threadIdx.x * blockDim.y] < 1.0f;
  }
}
