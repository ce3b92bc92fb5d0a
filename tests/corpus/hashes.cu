// Values that take hundreds of bit operations: nobody solves for them, and nothing else waits for that.

__device__ unsigned mixed(unsigned a, unsigned b) {
  unsigned c = 0x9e3779b9u;
  for (int round = 0; round < 24; ++round) {
    a += (b << 4) ^ (c >> 5) ^ (a & ~c);
    b ^= (c << 7) + (a >> 3) + (b | a);
    c = (a ^ (c << 11)) + (b & c) + 0x7ed55d16u * round;
  }
  return a ^ b ^ c;
}

__device__ __forceinline__ unsigned stirred(unsigned a, unsigned b) {
  unsigned c = 0x9e3779b9u;
#define STIR(k)                                 \
  a += (b << 4) ^ (c >> 5) ^ (a & ~c);          \
  b ^= (c << 7) + (a >> 3) + (b | a);           \
  c = (a ^ (c << 11)) + (b & c) + 0x7ed55d16u * k;
  STIR(1) STIR(2) STIR(3) STIR(4) STIR(5) STIR(6) STIR(7) STIR(8) STIR(9) STIR(10) STIR(11) STIR(12)
  STIR(13) STIR(14) STIR(15) STIR(16) STIR(17) STIR(18) STIR(19) STIR(20) STIR(21) STIR(22) STIR(23) STIR(24)
#undef STIR
  return a ^ b ^ c;
}

// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_every_index(unsigned *out, unsigned seed) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = stirred(i, seed) + mixed(seed, i);
}

// Who writes depends on hashes, and two numbers may have the same one.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_search(unsigned *found, unsigned seed, unsigned wanted) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (stirred(i, seed) == wanted) *found = i;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void hash_noted(unsigned *found, unsigned seed, unsigned wanted) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((stirred(i, seed) & 3) != wanted) *found = 1;  // expect: benign-race with self
}

// What all threads compute from the same numbers is the same.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void hash_shared(unsigned *found, unsigned seed) {
  unsigned h = stirred(seed, 17);
  found[h & 1023] = h;  // expect: benign-race with self
}

// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_scattered(unsigned *found, unsigned seed) {
  unsigned h = stirred(threadIdx.x, seed);
  found[h & 1023] = h;  // expect: possible-data-race with self
}

// Each thread has its own row, whatever the column.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_in_row(unsigned *table, unsigned seed) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i * 64 + (stirred(i, seed) & 63)] = i;
}

// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_in_wide_row(unsigned *table, unsigned seed) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i * 64 + (stirred(i, seed) & 127)] = i;  // expect: possible-data-race with self
}

// All threads of the block turn by the same amount.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_turned(float *data, unsigned seed) {  // expect: race-free
  __shared__ float s[256];
  s[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  unsigned h = stirred(blockIdx.x, seed) & 255;
  data[blockIdx.x * 256 + ((threadIdx.x + h) & 255)] = s[threadIdx.x];
}

// cuda-lsp: launch grid=(64) block=(256)
__global__ void hash_turned_by_thread(float *data, unsigned seed) {
  __shared__ float s[256];
  s[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  unsigned h = stirred(threadIdx.x, seed) & 255;
  data[blockIdx.x * 256 + ((threadIdx.x + h) & 255)] = s[threadIdx.x];  // expect: possible-data-race with self
}
