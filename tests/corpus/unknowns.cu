// What the analysis cannot take in: it must say so, and never call the kernel race-free.

__device__ int depth(int n) { return n <= 0 ? 0 : 1 + depth(n / 2); }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void recursive(int *out) {  // expect: unknown(recursion)
  out[threadIdx.x] = depth(threadIdx.x);
}

// Defined in another file.
__device__ void elsewhere(int *cells, int i);

// cuda-lsp: launch grid=(1) block=(64)
__global__ void calls_elsewhere(int *out) {  // expect: unknown(call-to-unknown-function)
  elsewhere(out, threadIdx.x);
}

// Assembly that stores: every thread to one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void assembly_store(int *out) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(threadIdx.x) : "memory");  // expect: data-race with self
}

// Assembly that writes memory in a way nobody here knows.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void assembly_unknown(int *out) {  // expect: unknown(asm)
  asm volatile("frobnicate.global.u32 [%0], %1;" ::"l"(out), "r"(threadIdx.x) : "memory");
}

// Assembly that only reads a register changes no memory.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void assembly_lane(int *out) {  // expect: race-free
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[threadIdx.x] = lane;
}

// A call through a pointer that comes from memory.
typedef void (*Action)(int *, int);

// cuda-lsp: launch grid=(1) block=(64)
__global__ void call_through_pointer(const Action *actions, int *out) {  // expect: unknown(indirect-call)
  actions[0](out, threadIdx.x);
}

// Calls to functions that are never reached do no harm.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void unreachable_call(int *out) {  // expect: race-free
  if (threadIdx.x > 1000) elsewhere(out, 0);
  out[threadIdx.x] = 1;
}
