// Critical sections: who takes a lock, holds it over the accesses and releases it, with fences on both sides, is ordered
// with everybody who takes the same lock.

#include <cuda/atomic>

__device__ int mutex;
__device__ int other_mutex;

__device__ void lock(int *m) {
  while (atomicCAS(m, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void unlock(int *m) {
  __threadfence();
  atomicExch(m, 0);
}

// cuda-lsp: launch grid=(3) block=(2)
__global__ void guarded_sum(int *sum) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    *sum += blockIdx.x;
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// The value may still be in one block's cache when the next takes the lock.
// cuda-lsp: launch grid=(3) block=(2)
__global__ void no_fence_before_the_release(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    *sum += blockIdx.x;  // expect: data-race inter-block with self
    atomicExch(&mutex, 0);
  }
}

// cuda-lsp: launch grid=(3) block=(2)
__global__ void no_fence_behind_the_lock(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    *sum += blockIdx.x;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// cuda-lsp: launch grid=(3) block=(2)
__global__ void fence_of_a_block_only(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    *sum += blockIdx.x;  // expect: possible-data-race inter-block with self
    __threadfence_block();
    atomicExch(&mutex, 0);
  }
}

// Within one block such fences are enough, and so are the atomics of a block.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void lock_of_a_block(int *locks, int *sum) {  // expect: race-free
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS_block(&locks[blockIdx.x], 0, 1) != 0) {
    }
    __threadfence_block();
    sum[blockIdx.x] += threadIdx.x;
    __threadfence_block();
    atomicExch_block(&locks[blockIdx.x], 0);
  }
}

// The same for all blocks: neither the lock nor what it protects is.
// cuda-lsp: launch grid=(3) block=(2)
__global__ void lock_of_a_block_for_all(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS_block(&mutex, 0, 1) != 0) {  // expect: possible-data-race inter-block with self; possible-data-race inter-block with +5
    }
    __threadfence();
    *sum += blockIdx.x;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch_block(&mutex, 0);  // expect: data-race inter-block with self
  }
}

// Device functions, with a loop that is left by `return`.
__device__ void lock_by_return(int *m) {
  for (;;) {
    if (atomicCAS(m, 0, 1) == 0) {
      __threadfence();
      return;
    }
  }
}

// cuda-lsp: launch grid=(2) block=(8)
__global__ void guarded_by_functions(int *sum) {  // expect: race-free
  lock_by_return(&mutex);
  *sum += 1;
  unlock(&mutex);
}

// An array of locks: the address decides, and the solver with it.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void lock_per_bucket(const int *bucket, int *locks, int *count) {  // expect: race-free
  int b = bucket[blockIdx.x * 8 + threadIdx.x];
  lock(&locks[b]);
  count[b] += 1;
  unlock(&locks[b]);
}

// The neighbour of a bucket, whichever it is, has the lock of the bucket.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void lock_of_the_neighbour(const int *bucket, int *locks, int *count) {  // expect: race-free
  int b = bucket[blockIdx.x * 8 + threadIdx.x];
  lock(&locks[b]);
  count[b + 1] += 1;
  unlock(&locks[b]);
}

// Two buckets share a counter, and have different locks.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void lock_address_mismatch(const int *bucket, int *locks, int *count) {
  int b = bucket[blockIdx.x * 8 + threadIdx.x] & 255;
  lock(&locks[b]);
  count[b / 2] += 1;  // expect: possible-data-race with self
  unlock(&locks[b]);
}

// One lock for two counters.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void coarse_locks(const int *bucket, int *locks, int *count) {  // expect: race-free
  int b = bucket[blockIdx.x * 8 + threadIdx.x] & 255;
  lock(&locks[b / 2]);
  count[b] += 1;
  unlock(&locks[b / 2]);
}

// Each thread has a lock of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_lock_each(int *locks, int *sum) {
  lock(&locks[threadIdx.x]);
  *sum += 1;  // expect: possible-data-race with self
  unlock(&locks[threadIdx.x]);
}

// One side takes one lock, the other another.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void two_locks_one_cell(int *sum) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    lock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with +5
    unlock(&mutex);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    lock(&other_mutex);
    *sum += 2;
    unlock(&other_mutex);
  }
}

// Only the taken branch holds the lock.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void locked_in_one_branch(int *sum) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) lock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with self
    if (blockIdx.x == 0) unlock(&mutex);
  }
}

// Released too early.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void released_before_the_access(int *sum) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    int now = *sum;  // expect: possible-data-race inter-block with +2
    unlock(&mutex);
    *sum = now + 1;  // expect: data-race inter-block with self
  }
}

// The section does not reach to the second access.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void written_outside(int *sum, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    lock(&mutex);
    out[0] = *sum;  // expect: possible-data-race inter-block with +6
    unlock(&mutex);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    lock(&mutex);
    unlock(&mutex);
    *sum = 5;
  }
}

// Nobody but the first block takes the lock.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void one_side_without_lock(int *sum) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    lock(&mutex);
    *sum = 1;  // expect: possible-data-race inter-block with +3
    unlock(&mutex);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) *sum = 2;
}

// Given up after a hundred attempts, and gone on all the same.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void gives_up(int *sum) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < 100 && atomicCAS(&mutex, 0, 1) != 0; ++i) {
    }
    __threadfence();
    *sum += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// Given up, and noticed.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void attempts_once(int *sum, int *missed) {  // expect: race-free
  if (atomicCAS(&mutex, 0, 1) == 0) {
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(&mutex, 0);
  } else {
    atomicAdd(missed, 1);
  }
}

// The lock of one warp's lanes that works on every architecture: whoever has it goes through first.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void lock_in_divergent_code(int *sum) {  // expect: race-free
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      __threadfence();
      *sum += 1;
      __threadfence();
      atomicExch(&mutex, 0);
      done = true;
    }
  }
}

// The accesses are behind the section.
// cuda-lsp: launch grid=(2) block=(8)
__global__ void lock_in_divergent_code_left(int *sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      __threadfence();
      atomicExch(&mutex, 0);
      done = true;
    }
  }
  *sum += 1;  // expect: data-race with self
}

// Taken by an exchange.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void lock_by_exchange(int *sum) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicExch(&mutex, 1) != 0) {
    }
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(&mutex, 0);
  }
}

// Released by a volatile store, and between the fences of all.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void released_by_a_volatile_store(int *sum) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    *sum += 1;
    __threadfence();
    *(volatile int *)&mutex = 0;
  }
}

// Somebody who does not hold the lock opens it.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void opened_by_others(int *sum) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with self
    unlock(&mutex);
  }
  if (threadIdx.x == 33) atomicExch(&mutex, 0);
}

// A lock in shared memory is one for each block; the cell too.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void lock_in_shared_memory(int *out) {  // expect: race-free
  __shared__ int door, sum;
  if (threadIdx.x == 0) {
    door = 0;
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&door, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += threadIdx.x;
    __threadfence_block();
    atomicExch(&door, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// It does not keep other blocks away.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void lock_in_shared_memory_for_all(int *sum) {
  __shared__ int door;
  if (threadIdx.x == 0) door = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    lock(&door);
    *sum += 1;  // expect: possible-data-race inter-block with self
    unlock(&door);
  }
}

// Hand over hand along a row of locks.
// cuda-lsp: launch grid=(2) block=(32) n=10
__global__ void lock_after_lock(int *locks, int *cells, int n) {  // expect: race-free
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      lock(&locks[i]);
      cells[i] += 1;
      unlock(&locks[i]);
    }
  }
}

// The lock of the cell before.
// cuda-lsp: launch grid=(2) block=(32) n=10
__global__ void lock_one_late(int *locks, int *cells, int n) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      lock(&locks[i]);
      cells[i] += 1;  // expect: possible-data-race inter-block with +1
      cells[i + 1] += 1;
      unlock(&locks[i]);
    }
  }
}

// Orders of the accesses themselves in the place of fences.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void lock_of_cpp(int *door, int *sum) {  // expect: race-free
  cuda::atomic_ref<int, cuda::thread_scope_device> m(*door);
  if (threadIdx.x == 0) {
    while (m.exchange(1, cuda::memory_order_acquire) != 0) {
    }
    *sum += 1;
    m.store(0, cuda::memory_order_release);
  }
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void lock_of_cpp_relaxed(int *door, int *sum) {
  cuda::atomic_ref<int, cuda::thread_scope_device> m(*door);
  if (threadIdx.x == 0) {
    while (m.exchange(1, cuda::memory_order_relaxed) != 0) {
    }
    *sum += 1;  // expect: possible-data-race inter-block with self
    m.store(0, cuda::memory_order_release);
  }
}

// Both orders at the scope of a block.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void lock_of_cpp_too_small(int *door, int *sum) {
  cuda::atomic_ref<int, cuda::thread_scope_block> m(*door);
  if (threadIdx.x == 0) {
    while (m.exchange(1, cuda::memory_order_acquire) != 0) {  // expect: possible-data-race inter-block with self; possible-data-race inter-block with +3
    }
    *sum += 1;  // expect: possible-data-race inter-block with self
    m.store(0, cuda::memory_order_release);  // expect: data-race inter-block with self
  }
}

struct SpinLock {
  cuda::std::atomic_flag taken;
  __device__ void lock() {
    while (taken.test_and_set(cuda::std::memory_order_acquire)) {
    }
  }
  __device__ void unlock() { taken.clear(cuda::std::memory_order_release); }
};

__device__ SpinLock spin;

// cuda-lsp: launch grid=(4) block=(32)
__global__ void lock_of_a_class(int *sum) {  // expect: race-free
  if (threadIdx.x == 0) {
    spin.lock();
    *sum += 1;
    spin.unlock();
  }
}

// Volatile data is no reason to leave the fences out.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void volatile_is_no_fence(volatile int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    *sum = blockIdx.x;  // expect: possible-data-race inter-block with self
    atomicExch(&mutex, 0);
  }
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void volatile_in_a_section(volatile int *sum) {  // expect: race-free
  if (threadIdx.x == 0) {
    lock(&mutex);
    *sum = blockIdx.x;
    unlock(&mutex);
  }
}

// What is not taken need not be free: with another value in the cell at first everybody enters.
__device__ int preset_mutex = 5;

// cuda-lsp: launch grid=(4) block=(32)
__global__ void tested_as_not_taken(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&preset_mutex, 0, 1) == 1) {
    }
    __threadfence();
    *sum += 1;  // expect: possible-data-race with self
    __threadfence();
    atomicExch(&preset_mutex, 0);
  }
}

// One thread sets the lock back between two barriers, while another holds it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_back_while_held(int *sum, int mode, int first, int second) {
  __shared__ int door;
  if (threadIdx.x == 0) door = 0;
  __syncthreads();
  if (mode) {
    if (threadIdx.x % 32 == 0) {
      while (atomicCAS(&door, 0, 1) != 0) {
      }
      __threadfence_block();
      sum[1] += 1;  // expect: possible-data-race with self
      __threadfence_block();
      atomicExch(&door, 0);
    }
  } else {
    bool mine = threadIdx.x == first && atomicCAS(&door, 0, 1) == 0;
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 5) door = 0;
    __syncthreads();
    bool other = threadIdx.x == second && atomicCAS(&door, 0, 1) == 0;
    __threadfence_block();
    if (mine || other) *sum += 1;  // expect: possible-data-race with self
  }
}

// The loop goes on while the swap succeeds: nobody is kept out.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void swapped_until_it_fails(int *cell, int *sum) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*cell);
  if (threadIdx.x == 0) {
    bool again;
    do {
      int expected = 0;
      again = flag.compare_exchange_strong(expected, 1, cuda::memory_order_relaxed);
    } while (again);
    *sum += 1;  // expect: data-race with self
  }
}

// A swap that fails has the second order: it acquires nothing.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void failed_swap_acquires_nothing(int *data, int *cell) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*cell);
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      *data = 1;  // expect: possible-data-race with +8
      flag.store(1, cuda::memory_order_release);
    } else {
      int seen;
      do {
        seen = 8;
        flag.compare_exchange_strong(seen, 8, cuda::memory_order_acquire, cuda::memory_order_relaxed);
      } while (seen != 1);
      cell[1] = *data;
    }
  }
}

// --- found not taken, in place of found free

// cuda-lsp: launch grid=(4) block=(64)
__global__ void found_not_taken(int *lock, int *data) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) == 1) {}
    __threadfence();
    data[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void exchanged_until_not_taken(int *lock, int *data) {  // expect: race-free
  if (threadIdx.x == 0) {
    while (atomicExch(lock, 1) == 1) {}
    __threadfence();
    data[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Somebody puts a third value there: who finds that does not hold the lock.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void not_taken_but_something_else(int *lock, int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) == 1) {}
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch(lock, 0);
  } else if (threadIdx.x == 1)
    atomicExch(lock, 2);
}

__device__ int begins_at_five = 5;

// cuda-lsp: launch grid=(4) block=(64)
__global__ void not_taken_at_first_either(int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&begins_at_five, 0, 1) == 1) {}
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch(&begins_at_five, 0);
  }
}

// The loop ends where the lock is taken by another thread.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void ends_where_it_is_taken(int *lock, int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) == 0) {}
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Another lock keeps the clearing apart from the atomics, not from the sections.
// cuda-lsp: launch grid=(64) block=(32)
__global__ void cleared_under_another_lock(int *outer, int *lock, int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(outer, 0, 1) != 0) {}
    __threadfence();
    *lock = 0;
    __threadfence();
    atomicExch(outer, 0);
    while (atomicCAS(outer, 0, 1) != 0) {}
    __threadfence();
    int found = atomicCAS(lock, 0, 1);
    __threadfence();
    atomicExch(outer, 0);
    if (found == 0) {
      __threadfence();
      *data += 1;  // expect: possible-data-race inter-block with self
      __threadfence();
      while (atomicCAS(outer, 0, 1) != 0) {}
      __threadfence();
      atomicExch(lock, 0);
      __threadfence();
      atomicExch(outer, 0);
    }
  }
}

// What the threads of a block read under the lock is not one value: each has changed it for the next.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void another_value_for_each(int *lock, int *value, int *out) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  int found = *value;
  *value = found + 1;
  __threadfence();
  atomicExch(lock, 0);
  out[found + threadIdx.x] = threadIdx.x;  // expect: possible-data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_by_such_a_value(int *data) {
  __shared__ int lock, value;
  if (threadIdx.x == 0) {
    lock = 0;
    value = 0;
  }
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {}
  __threadfence_block();
  int found = value;
  if (threadIdx.x == 0) value = 1;
  __threadfence_block();
  atomicExch(&lock, 0);
  if (found) __syncthreads();  // expect: barrier-divergence
  data[threadIdx.x] = found;
}

// Behind a barrier it is one value again.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_value_behind_a_barrier(int *lock, int *value, int *out) {  // expect: race-free
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *value += 1;
  __threadfence();
  atomicExch(lock, 0);
  __syncthreads();
  out[*value + threadIdx.x] = threadIdx.x;
}
