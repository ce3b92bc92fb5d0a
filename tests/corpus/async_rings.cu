// Rings of stages filled by asynchronous copies: what is open at a barrier was issued one or more iterations before.

#include <cuda_pipeline.h>

// Two stages are on their way while the third is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void three_stages(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Three of four are on their way.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void four_stages(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[4][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += s[k % 4][63 - t];
    if (k + 3 < n)
      __pipeline_memcpy_async(&s[(k + 3) % 4][t], &in[(k + 3) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Four of five are on their way.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void five_stages(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[5][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 4; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(3);
    __syncthreads();
    sum += s[k % 5][63 - t];
    if (k + 4 < n)
      __pipeline_memcpy_async(&s[(k + 4) % 5][t], &in[(k + 4) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Waiting for more than is needed costs time only.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void waits_for_all(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += s[k % 3][63 - t];
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// The stage that is used may still be on its way.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void waits_for_too_few(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));  // expect: data-race with +6
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += s[k % 3][63 - t];  // expect: data-race with +2
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// The same with four stages.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void waits_for_too_few_of_four(const int *in, int *out, int n) {
  __shared__ int s[4][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));  // expect: data-race with +6
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(3);
    __syncthreads();
    sum += s[k % 4][63 - t];  // expect: data-race with +2
    if (k + 3 < n)
      __pipeline_memcpy_async(&s[(k + 3) % 4][t], &in[(k + 3) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// One group is committed before the loop, and one may be left open.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void starts_too_late(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 1; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));  // expect: data-race with +6
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];  // expect: data-race with +2
    if (k + 1 < n)
      __pipeline_memcpy_async(&s[(k + 1) % 3][t], &in[(k + 1) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// The stage that is filled is the one that is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void ring_too_small(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 2][63 - t];  // expect: data-race with +2
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 2][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Another ring is filled than the one that is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void wrong_modulus(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];  // expect: data-race with +2
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 2][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Each thread waits for its own copies only.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void no_barrier(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));  // expect: data-race with +5
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    sum += s[k % 3][63 - t];  // expect: data-race with +2
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// ... which is enough for what it copied itself.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void own_cells(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    sum += s[k % 3][t];
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// Its own cell may still be on its way.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void own_cells_too_early(const int *in, int *out, int n) {  // expect: unknown(async-copy)
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(2);
    sum += s[k % 3][t];
    if (k + 2 < n)
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// The last groups are not committed, so that waiting for all but one leaves a stage open that is used.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void commits_sometimes(const int *in, int *out, int n) {  // expect: unknown(async-copy)
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];
    if (k + 2 < n) {
      __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
      __pipeline_commit();
    }
  }
  out[t] = sum;
}

// The last iteration waits for everything.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void waits_by_iteration(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    sum += s[k % 3][63 - t];
    if (k + 2 < n) __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  out[t] = sum;
}

// After the loop the ring is used for something else, while nothing is on its way any more.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void ring_reused(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];
    __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  s[0][t] = sum;
  __syncthreads();
  out[t] = s[0][63 - t];
}

// ... and here two stages are.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void ring_reused_too_early(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - t];
    __pipeline_memcpy_async(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t], sizeof(int));  // expect: data-race with +5
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  for (int k = 0; k < 3; ++k) s[k][63 - t] = sum;
}

// Copies that a loop makes one after the other are one copy for all that follows.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void many_open_from_a_loop(const int *in, int *out) {  // expect: race-free
  __shared__ int s[512];
  int t = threadIdx.x;
  for (int j = 0; j < 8; ++j) __pipeline_memcpy_async(&s[j * 64 + t], &in[j * 64 + t], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[t] = s[t];
}

// More groups than are told apart.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void many_groups_from_a_loop(const int *in, int *out) {  // expect: unknown(async-copy)
  __shared__ int s[512];
  int t = threadIdx.x;
  for (int j = 0; j < 8; ++j) {
    __pipeline_memcpy_async(&s[j * 64 + t], &in[j * 64 + t], sizeof(int));
    __pipeline_commit();
  }
  __syncthreads();
  __pipeline_wait_prior(0);
  out[t] = s[t];
}

// Waiting for everything ends what is not committed, too, and nothing that is issued later.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void read_before_the_wait_for_all(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    out[k * 64 + t] = s[63 - t];  // expect: data-race with +3
    asm volatile("cp.async.wait_all;\n" ::: "memory");
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
}

// ... and read behind it.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void read_behind_the_wait_for_all(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    asm volatile("cp.async.wait_all;\n" ::: "memory");
    __syncthreads();
    out[k * 64 + t] = s[63 - t];
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
  }
}

// Without groups: what one iteration issues, the next one waits for.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void never_committed(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    out[k * 64 + t] = s[(k + 1) % 2][63 - t];  // expect: data-race with +3
    asm volatile("cp.async.wait_all;\n" ::: "memory");
    __syncthreads();
    __pipeline_memcpy_async(&s[k % 2][t], &in[k * 64 + t], sizeof(int));
  }
}

// In the words of the assembler, shared memory by its 32-bit addresses.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void in_assembly(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    asm volatile("cp.async.wait_group 1;\n" ::: "memory");
    __syncthreads();
    out[k * 64 + t] = s[k % 3][63 - t];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[(k + 2) % 3][t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(to), "l"(in + k * 64 + t));
    asm volatile("cp.async.commit_group;\n" ::);
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void in_assembly_too_few(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int t = threadIdx.x;
  unsigned ring = (unsigned)__cvta_generic_to_shared(&s[0][t]);
  for (int k = 0; k < n; ++k) {
    asm volatile("cp.async.wait_group 2;\n" ::: "memory");
    __syncthreads();
    out[k * 64 + t] = s[k % 3][63 - t];  // expect: data-race with +1
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(ring + (k + 2) % 3 * 256), "l"(in + k * 64 + t));
    asm volatile("cp.async.commit_group;\n" ::);
  }
}

// A stage is a tile: each thread makes several copies of it.
// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void tiles(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 2; ++j)
      __pipeline_memcpy_async(&s[k][j * 32 + t], &in[k * 64 + j * 32 + t], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k + 2 < n)
      for (int j = 0; j < 2; ++j)
        __pipeline_memcpy_async(&s[(k + 2) % 3][j * 32 + t], &in[(k + 2) * 64 + j * 32 + t], sizeof(int));
    __pipeline_commit();
    out[k * 32 + t] = s[k % 3][63 - t];
  }
}

// ... of which some threads make more than others.
// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void tiles_by_strides(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][72];
  int t = threadIdx.x;
  for (int k = 0; k <= n; ++k) {
    if (k < n)
      for (int j = t; j < 72; j += blockDim.x) __pipeline_memcpy_async(&s[k % 2][j], &in[k * 72 + j], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k > 0) out[k * 32 + t] = s[(k + 1) % 2][71 - t];
    __syncthreads();
  }
}

// Here the tile that is read is the one on its way.
// cuda-lsp: launch grid=(1) block=(32) n=3
__global__ void tiles_read_too_early(const int *in, int *out, int n) {
  __shared__ int s[2][72];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    for (int j = t; j < 72; j += blockDim.x)
      __pipeline_memcpy_async(&s[k % 2][j], &in[k * 72 + j], sizeof(int));  // expect: data-race with +4
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * 32 + t] = s[k % 2][71 - t];
    __syncthreads();
  }
}

// The loop's variables begin far from it and are used behind it.
// cuda-lsp: launch grid=(1) block=(32) n=3
__global__ void moving_along(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x, j;
  const int *from = in + t;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    for (j = 0; j < 2; ++j, from += 32) __pipeline_memcpy_async(&s[k % 2][j * 32 + t], from, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * 64 + j * 16 + t] = s[(k + 1) % 2][63 - t];
  }
}

// The source of the last tile is overwritten before it is waited for.
// cuda-lsp: launch grid=(1) block=(32) n=3
__global__ void overwrites_the_source(int *in, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x;
  int *from = in + t;
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < 2; ++j, from += 32)
      __pipeline_memcpy_async(&s[k % 2][j * 32 + t], from, sizeof(int));  // expect: data-race with +4
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k > 0) in[k * 64 + 63 - t] = k;
  }
}

// A thread's own cells: those of the last iteration are there, ...
// cuda-lsp: launch grid=(1) block=(32) n=3
__global__ void own_tiles(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < 2; ++j)
      __pipeline_memcpy_async(&s[k % 2][j * 32 + t], &in[k * 64 + j * 32 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (k > 0) out[k * 32 + t] = s[(k + 1) % 2][32 + t];
  }
}

// ... those of this one may not be.
// cuda-lsp: launch grid=(1) block=(32) n=3
__global__ void own_tiles_too_early(const int *in, int *out, int n) {  // expect: unknown(async-copy)
  __shared__ int s[2][64];
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < 2; ++j)
      __pipeline_memcpy_async(&s[k % 2][j * 32 + t], &in[k * 64 + j * 32 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (k > 0) out[k * 32 + t] = s[k % 2][32 + t];
  }
}

// A thread that returns waits for nothing, and the barrier does not wait for it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void returns_too_early(const int *in, int *out) {  // expect: unknown(async-copy)
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
    return;
  }
  __syncthreads();  // expect: barrier-after-exit
  out[t] = s[t - 32];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void returns_with_nothing_open(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    return;
  }
  __syncthreads();  // expect: barrier-after-exit
  out[t] = s[t - 32];
}

// Behind the last barrier nobody minds what is open.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void returns_at_the_end(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    __pipeline_memcpy_async(&s[k % 2][t], &in[k * 64 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k > 0) sum += s[(k + 1) % 2][63 - t];
    __syncthreads();
  }
  if (t > 40) return;
  out[t] = sum;
}

// The first stages are filled by statements of their own.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void filled_in_front(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int v = 0, t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], in + t, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][t], in + 64 + t, 4);
  __pipeline_commit();
  for (int i = 2; i < n; ++i) {
    __pipeline_memcpy_async(&s[i % 3][t], in + i * 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    v += s[(i - 2) % 3][63 - t];
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = v;
}

// One group too many is left open: the second stage is read while it is filled.
// cuda-lsp: launch grid=(2) block=(64) n=9
__global__ void filled_in_front_waits_short(const int *in, int *out, int n) {
  __shared__ int s[3][64];
  int v = 0, t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], in + t, 4);  // expect: data-race with +9
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][t], in + 64 + t, 4);  // expect: data-race with +7
  __pipeline_commit();
  for (int i = 2; i < n; ++i) {
    __pipeline_memcpy_async(&s[i % 3][t], in + i * 64 + t, 4);  // expect: data-race with +4
    __pipeline_commit();
    __pipeline_wait_prior(3);
    __syncthreads();
    v += s[(i - 2) % 3][63 - t];
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = v;
}

// A loop in front fills the first stages; its counters go on from where it ended.
// cuda-lsp: launch grid=(4) block=(128) tiles=9
__global__ void counted_on(const float4 *in, float *out, int tiles) {  // expect: race-free
  __shared__ float4 s[4][128];
  int t = threadIdx.x, filled = 0, used = 0, fetch = 0;
  for (; fetch < 3; ++fetch) {
    if (fetch < tiles) __pipeline_memcpy_async(&s[filled][t], &in[(fetch * gridDim.x + blockIdx.x) * 128 + t], 16);
    __pipeline_commit();
    ++filled;
  }
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile, ++fetch) {
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += s[used][127 - t].x;
    if (fetch < tiles) __pipeline_memcpy_async(&s[filled][t], &in[(fetch * gridDim.x + blockIdx.x) * 128 + t], 16);
    __pipeline_commit();
    filled = filled == 3 ? 0 : filled + 1;
    used = used == 3 ? 0 : used + 1;
  }
  out[blockIdx.x * 128 + t] = sum;
}

// Three stages for as many that are open: the one that is filled is still read by others.
// cuda-lsp: launch grid=(4) block=(128) tiles=9
__global__ void counted_on_too_far(const float4 *in, float *out, int tiles) {
  __shared__ float4 s[3][128];
  int t = threadIdx.x, filled = 0, used = 0, fetch = 0;
  for (; fetch < 3; ++fetch) {
    if (fetch < tiles) __pipeline_memcpy_async(&s[filled][t], &in[(fetch * gridDim.x + blockIdx.x) * 128 + t], 16);
    __pipeline_commit();
    ++filled;
  }
  filled = 0;
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile, ++fetch) {
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += s[used][127 - t].x;  // expect: data-race intra-block with +1
    if (fetch < tiles) __pipeline_memcpy_async(&s[filled][t], &in[(fetch * gridDim.x + blockIdx.x) * 128 + t], 16);
    __pipeline_commit();
    filled = filled == 2 ? 0 : filled + 1;
    used = used == 2 ? 0 : used + 1;
  }
  out[blockIdx.x * 128 + t] = sum;
}
