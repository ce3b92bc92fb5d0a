// Atomics, fences and volatile accesses with a scope: who is in it, and who is not.

#include <cuda/atomic>

// cuda-lsp: launch grid=(2) block=(64)
__global__ void device_atomics(int *cell) {  // expect: race-free
  if (threadIdx.x == 0) atomicExch(cell, blockIdx.x);
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void block_atomics_of_two_blocks(int *cell) {
  if (threadIdx.x == 0) atomicExch_block(cell, blockIdx.x);  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void block_atomics_of_one_block(int *cell) {  // expect: race-free
  if (threadIdx.x % 32 == 0) atomicExch_block(cell, threadIdx.x);
}

// One of the two has the scope that both need.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void one_side_too_small(int *cell) {
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(cell, 1);  // expect: data-race inter-block with +1
  if (blockIdx.x == 1 && threadIdx.x == 0) atomicAdd_block(cell, 1);
}

// In one block, both scopes contain both threads.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mixed_scopes_in_a_block(int *cell) {  // expect: race-free
  if (threadIdx.x == 0) atomicAdd(cell, 1);
  if (threadIdx.x == 32) atomicAdd_block(cell, 1);
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void system_and_device(int *cell) {  // expect: race-free
  if (blockIdx.x == 0) atomicAdd_system(cell, 1);
  if (blockIdx.x == 1) atomicAdd(cell, 1);
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void scope_of_a_reference(int *cell) {  // expect: race-free
  cuda::atomic_ref<int, cuda::thread_scope_device> c(*cell);
  c.fetch_add(1, cuda::memory_order_relaxed);
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void scope_of_a_reference_too_small(int *cell) {
  cuda::atomic_ref<int, cuda::thread_scope_block> c(*cell);
  c.fetch_add(1, cuda::memory_order_relaxed);  // expect: data-race inter-block with self
}

// The scope of one thread excludes everybody else, even in its warp.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void scope_of_a_thread(int *cell) {
  cuda::atomic_ref<int, cuda::thread_scope_thread> c(*cell);
  c.fetch_add(1, cuda::memory_order_relaxed);  // expect: data-race intra-warp with self
}

// A flag has the scope that it is declared with.
__device__ cuda::atomic_flag<cuda::thread_scope_block> block_flag;

// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_of_a_block(int *out) {
  if (threadIdx.x == 0 && !block_flag.test_and_set()) *out = blockIdx.x;  // expect: data-race inter-block with self
}

// An atomic object has system scope unless it says otherwise.
__device__ cuda::atomic<int> everywhere;

// cuda-lsp: launch grid=(2) block=(32)
__global__ void atomic_object() {  // expect: race-free
  everywhere.fetch_add(1);
}

// An atomic does not protect a volatile store: one of them may undo the other.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void atomic_and_volatile_store(volatile int *cell) {
  if (threadIdx.x == 0 && blockIdx.x == 0) atomicExch((int *)cell, 1);  // expect: possible-data-race inter-block with +1
  if (threadIdx.x == 0 && blockIdx.x == 1) *cell = 2;
}

// A volatile load sees the cell before or after.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void atomic_and_volatile_load(volatile int *cell, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) atomicExch((int *)cell, 1);
  if (threadIdx.x == 0 && blockIdx.x == 1) *out = *cell;
}

// Cells that threads wait for are there to be written at any time.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void volatile_store_to_a_flag(volatile int *flag) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) *flag = 1;
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicCAS((int *)flag, 1, 2) != 1) {
    }
  }
}

// Fences alone order nothing between threads.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fences_without_a_signal(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;  // expect: data-race inter-block with +5
    __threadfence();
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    __threadfence();
    *out = *data;
  }
}

// One thread of the block passes a block's fence on to the others, with a fence of its own.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void through_both_scopes(int *flag, int *data, int *out) {  // expect: race-free
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 1;
    __threadfence_block();
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 0 && threadIdx.x == 32) {
    while (atomicAdd(flag, 0) != 1) {
    }
    __threadfence();
    atomicExch(flag, 2);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) != 2) {
    }
    __threadfence();
    *out = *data;
  }
}

// The fence of the one in between is for its own block only.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void through_one_scope(int *flag, int *data, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 1;  // expect: possible-data-race inter-block with +14
    __threadfence_block();
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 0 && threadIdx.x == 32) {
    while (atomicAdd(flag, 0) != 1) {
    }
    __threadfence_block();
    atomicExch(flag, 2);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) != 2) {
    }
    __threadfence();
    *out = *data;
  }
}
