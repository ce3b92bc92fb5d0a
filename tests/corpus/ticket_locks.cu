// Ticket locks: a thread takes a number and waits until it is served. The twins lack one piece each.

struct TicketLock {
  int next;
  int serving;
};

// cuda-lsp: launch grid=(3) block=(4)
__global__ void served_by_volatile(int *next, volatile int *serving, int *data) {  // expect: race-free
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (*serving != mine) {
    }
    __threadfence();
    data[0] += 1;
    __threadfence();
    *serving = mine + 1;
  }
}

// Members of one object, in a function, by every thread.
__device__ void take(TicketLock *lock) {
  int mine = atomicAdd(&lock->next, 1);
  while (atomicAdd(&lock->serving, 0) != mine) {
  }
  __threadfence();
}

__device__ void give(TicketLock *lock) {
  __threadfence();
  atomicAdd(&lock->serving, 1);
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void members_of_one_object(TicketLock *lock, int *data) {  // expect: race-free
  take(lock);
  data[0] += 1;
  give(lock);
}

// One lock for each cell, several rounds.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void a_lock_for_each_cell(int *next, int *serving, int *data) {  // expect: race-free
  for (int round = 0; round < 3; ++round) {
    int cell = (threadIdx.x + round) % 2;
    int mine = atomicAdd(&next[cell], 1);
    while (atomicAdd(&serving[cell], 0) != mine) {
    }
    __threadfence();
    data[cell] += round;
    __threadfence();
    atomicExch(&serving[cell], mine + 1);
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_fence_in_front_of_the_release(int *next, volatile int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (*serving != mine) {
    }
    __threadfence();
    data[0] += 1;  // expect: data-race inter-block with self
    *serving = mine + 1;
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void no_fence_behind_the_wait(int *next, volatile int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (*serving != mine) {
    }
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    *serving = mine + 1;
  }
}

// Two numbers are served at a time.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void the_number_before_will_do(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) < mine - 1) {
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd(serving, 1);
  }
}

// Who goes away without having waited serves a number all the same.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void served_by_who_does_not_hold_it(int *next, int *serving, int *data, int n) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    if (atomicAdd(serving, 0) == mine) {
      __threadfence();
      data[0] += 1;  // expect: possible-data-race inter-block with self
      __threadfence();
    }
    atomicAdd(serving, 1);
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void released_twice(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd(serving, 1);
    if (mine == 1) atomicAdd(serving, 1);
  }
}

// The number that is served is that of another lock.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void another_lock_is_served(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int lock = blockIdx.x % 2;
    int mine = atomicAdd(&next[lock], 1);
    while (atomicAdd(&serving[0], 0) != mine) {
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd(&serving[0], 1);
  }
}

// Two locks, one cell.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void one_cell_under_two_locks(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int lock = blockIdx.x % 2;
    int mine = atomicAdd(&next[lock], 1);
    while (atomicAdd(&serving[lock], 0) != mine) {
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd(&serving[lock], 1);
  }
}

// Numbers are given back: one is given twice.
// cuda-lsp: launch grid=(3) block=(4)
__global__ void numbers_given_back(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd(serving, 1);
    atomicSub(next, 1);
  }
}

// cuda-lsp: launch grid=(3) block=(4)
__global__ void scope_of_a_block(int *next, int *serving, int *data) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd_block(serving, 0) != mine) {  // expect: possible-data-race inter-block with self; possible-data-race inter-block with +5
    }
    __threadfence();
    data[0] += 1;  // expect: possible-data-race inter-block with self
    __threadfence();
    atomicAdd_block(serving, 1);  // expect: possible-data-race inter-block with self
  }
}
