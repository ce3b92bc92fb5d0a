// One thread hands data over to another: flags, with fences of each scope, in the right and in the wrong places.

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void fences_on_both_sides(volatile int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void no_fence_of_the_writer(volatile int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;     // racy
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;  // racy
  }
}

// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void no_fence_of_the_reader(volatile int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;     // racy
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = *data;  // racy
  }
}

// A fence for the threads of one block says nothing to another block.
// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void fence_of_the_block_between_blocks(int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;     // racy
    __threadfence_block();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;  // racy
  }
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void fence_of_the_block_inside_of_it(int *flag, int *data, int *out) {
  if (threadIdx.x == 0) {
    *data = 7;
    __threadfence_block();
    atomicExch(flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence_block();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void fence_of_the_system(volatile int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence_system();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence_system();
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void release_and_acquire(int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  } else {
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen == 0);
    *out = *data;
  }
}

// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void release_for_the_block_only(int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;     // racy
    asm volatile("st.release.cta.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");  // racy
  } else {
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // racy
    while (seen == 0);
    *out = *data;  // racy
  }
}

// The flag itself is an ordinary variable.
// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void flag_is_plain(int *flag, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;            // racy
    __threadfence();
    *flag = 1;            // racy
  } else {
    while (*flag == 0) {  // racy
    }
    __threadfence();
    *out = *data;         // racy
  }
}

// Block 1 waits for block 0, block 2 for block 1: what block 0 wrote has come along.
// cuda-lsp: launch grid=(3) block=(32)
// run: clean
__global__ void handed_on(int *flags, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *data = 7;
  if (blockIdx.x > 0) {
    while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
    }
  }
  __threadfence();
  if (blockIdx.x == 2)
    *out = *data;
  else
    atomicExch(&flags[blockIdx.x], 1);
}

// The one in the middle has no fence.
// cuda-lsp: launch grid=(3) block=(32)
// run: race inter-block
__global__ void handed_on_without_fence(int *flags, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;     // racy
    __threadfence();
    atomicExch(&flags[0], 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    atomicExch(&flags[1], 1);
  } else {
    while (atomicAdd(&flags[1], 0) == 0) {
    }
    __threadfence();
    *out = *data;  // racy
  }
}
