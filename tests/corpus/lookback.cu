// Scans that look back at the tiles before: tickets in the order of their arrival, aggregates and prefixes behind flags.

// cuda-lsp: launch grid=(4) block=(64)
__global__ void look_back(const int *in, int *out, volatile int *state, volatile int *aggregate, volatile int *prefix, int *order) {  // expect: race-free
  __shared__ int s[64];
  __shared__ int ticket, base;
  if (threadIdx.x == 0) ticket = atomicAdd(order, 1);
  __syncthreads();
  int tile = ticket, i = tile * 64 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int y = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += y;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int sum = 0;
    if (tile == 0) {
      prefix[0] = s[63];
      __threadfence();
      state[0] = 2;
    } else {
      aggregate[tile] = s[63];
      __threadfence();
      state[tile] = 1;
      int j = tile - 1;
      while (j >= 0) {
        int seen = state[j];
        if (seen == 0) continue;
        __threadfence();
        if (seen == 2) {
          sum += prefix[j];
          break;
        }
        sum += aggregate[j];
        --j;
      }
      prefix[tile] = sum + s[63];
      __threadfence();
      state[tile] = 2;
    }
    base = sum;
  }
  __syncthreads();
  out[i] = s[threadIdx.x] + base;
}

// The aggregate may come after its flag.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void no_fence_behind_the_aggregate(const int *in, int *out, volatile int *state, volatile int *aggregate, volatile int *prefix, int *order) {
  __shared__ int s[64];
  __shared__ int ticket, base;
  if (threadIdx.x == 0) ticket = atomicAdd(order, 1);
  __syncthreads();
  int tile = ticket, i = tile * 64 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int y = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += y;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int sum = 0;
    if (tile == 0) {
      prefix[0] = s[63];
      __threadfence();
      state[0] = 2;
    } else {
      aggregate[tile] = s[63];  // expect: possible-data-race inter-block with +11
      state[tile] = 1;
      int j = tile - 1;
      while (j >= 0) {
        int seen = state[j];
        if (seen == 0) continue;
        __threadfence();
        if (seen == 2) {
          sum += prefix[j];
          break;
        }
        sum += aggregate[j];
        --j;
      }
      prefix[tile] = sum + s[63];
      __threadfence();
      state[tile] = 2;
    }
    base = sum;
  }
  __syncthreads();
  out[i] = s[threadIdx.x] + base;
}

// The flag says that the prefix is there before it is.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void flag_before_the_prefix(const int *in, int *out, volatile int *state, volatile int *aggregate, volatile int *prefix, int *order) {
  __shared__ int ticket, base;
  if (threadIdx.x == 0) ticket = atomicAdd(order, 1);
  __syncthreads();
  int tile = ticket, i = tile * 64 + threadIdx.x;
  if (threadIdx.x == 0) {
    int sum = 0;
    if (tile == 0) {
      prefix[0] = in[0];
      __threadfence();
      state[0] = 2;
    } else {
      aggregate[tile] = in[tile];
      __threadfence();
      state[tile] = 1;
      int j = tile - 1;
      while (j >= 0) {
        int seen = state[j];
        if (seen == 0) continue;
        __threadfence();
        if (seen == 2) {
          sum += prefix[j];  // expect: possible-data-race inter-block with +7
          break;
        }
        sum += aggregate[j];
        --j;
      }
      state[tile] = 2;
      prefix[tile] = sum + in[tile];
      __threadfence();
    }
    base = sum;
  }
  __syncthreads();
  out[i] = base;
}
