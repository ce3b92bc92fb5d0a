// Updates of one cell by many threads: no barrier orders them, an atomic function does the same.

__global__ void histogram(int *bins, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[in[i] & 15] += 1;  // count
}
void host_histogram(int *bins, const int *in, int n) { histogram<<<(n + 255) / 256, 256>>>(bins, in, n); }

__global__ void sum(float *total, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    *total += in[i] * 2;
    total[1] -= in[i] - 1;
  }
}
void host_sum(float *total, const float *in, int n) { sum<<<(n + 255) / 256, 256>>>(total, in, n); }

__global__ void counters(unsigned *c, unsigned long long *wide) {
  c[0]++;
  --c[1];
  c[2] |= 1u << threadIdx.x % 32;
  *wide += threadIdx.x;
}
void host_counters(unsigned *c, unsigned long long *wide) { counters<<<4, 64>>>(c, wide); }

__global__ void shared_counter(int *out) {
  __shared__ int hits;
  if (threadIdx.x == 0) hits = 0;
  __syncthreads();
  if (threadIdx.x % 3) hits++;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = hits;
}
void host_shared_counter(int *out) { shared_counter<<<4, 64>>>(out); }
