// What a barrier orders shows in other ways than through memory: in output, in what a clock says, to other grids.
#include <cstdio>

// cuda-lsp: launch grid=(2) block=(64)
__global__ void timed(long long *took, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long begin = clock64();
  out[i] = i;
  __syncthreads();
  took[i] = clock64() - begin;
  // expect: race-free
}

// The clock of a barrier that comes behind it says the same without it.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void timed_before(long long *at, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  at[i] = clock64();
  __syncthreads();  // expect: redundant-barrier, fix: yes
  out[i] = i;
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void timed_by_ptx(unsigned long long *at, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long now;
  out[i] = i;
  __syncthreads();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  at[i] = now;
  // expect: race-free
}

__device__ void say(const char *what) { printf("%s %d\n", what, threadIdx.x); }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void headline(int *out) {
  if (threadIdx.x == 0) say("results");
  __syncthreads();
  out[threadIdx.x] = 1;
  say("line");
  // expect: race-free
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rounds(int *out) {
  for (int round = 0; round < 4; round++) {
    out[threadIdx.x] = round;
    __syncthreads();
    say("round");
  }
  // expect: race-free
}

// Nothing is said in front of the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_line(int *out) {
  out[threadIdx.x] = 1;
  __syncthreads();  // expect: redundant-barrier, fix: yes
  say("done");
}

// The next grid may start when all threads of this one have come here.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lets_the_next_begin(int *out) {
  out[threadIdx.x] = 1;
  __syncthreads();
  asm volatile("griddepcontrol.launch_dependents;");
  // expect: race-free
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void gives_back(const int *list, int *out) {
  out[threadIdx.x] = list[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) delete[] list;
  // expect: race-free
}

// What the grid before has written may be read behind the barrier only.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void waits_for_the_grid_before(int *out, const int *in) {
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
  // expect: race-free
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void cycles(unsigned long long *took, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
  __syncthreads();
  took[i] = __builtin_readcyclecounter();
  // expect: race-free
}

// What all threads have written shows in memory of the host when the program ends here.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void ends_the_program(int *mapped, int failed) {
  mapped[threadIdx.x] = failed;
  __syncthreads();
  if (failed) __trap();
  // expect: race-free
}

// Fetched each time: it may be what the host writes meanwhile.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void fetched_again(const int *mapped, int *out) {
  out[threadIdx.x] = __ldcv(mapped);
  __syncthreads();
  out[threadIdx.x + 64] = __ldcv(mapped);
  // expect: race-free
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void written_through(int *mapped, int *out) {
  out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) __stwt(mapped, 1);
  // expect: race-free
}

// A hint for the cache says nothing of others.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void cached(const int *in, int *out) {
  out[threadIdx.x] = __ldcg(in);
  __syncthreads();  // expect: redundant-barrier, fix: yes
  __stcg(out + threadIdx.x + 64, __ldcs(in));
}
