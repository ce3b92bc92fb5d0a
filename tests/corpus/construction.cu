// Objects made in device code: constructed at a given address, or in memory from the device heap.

#include <new>

struct Mark {
  int owner;
  __device__ explicit Mark(int thread) : owner(thread) {}
};

struct Announcing {
  __device__ explicit Announcing(int *where) { *where = threadIdx.x; }
};

template <class T>
struct Slot {
  T held;
  template <class A>
  __device__ void fill(A a) {
    new (&held) T(a);
  }
};

// Every thread constructs its object at the same address.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_place(void *storage) {
  new (storage) Mark(threadIdx.x);  // expect: data-race at 7 with 7
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void place_of_its_own(Mark *storage) {  // expect: race-free
  new (storage + threadIdx.x) Mark(threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void number_in_one_place(int *storage) {
  new (storage) int(threadIdx.x);  // expect: data-race with self
}

// An object for whose construction nothing is written.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_as_it_is(int *storage) {  // expect: race-free
  new (storage) int;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void raw_shared_storage(Mark *out) {
  __shared__ alignas(Mark) char raw[64 * sizeof(Mark)];
  Mark *mark = new (raw + threadIdx.x / 2 * sizeof(Mark)) Mark(threadIdx.x);  // expect: data-race at 7 with 7; data-race at 7 with +1
  out[threadIdx.x] = *mark;
}

// Two threads for one slot.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void slots_in_pairs(Slot<Mark> *slots) {
  slots[threadIdx.x / 2].fill((int)threadIdx.x);  // expect: data-race at 7 with 7
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void slot_each(Slot<Mark> *slots) {  // expect: race-free
  slots[threadIdx.x].fill((int)threadIdx.x);
}

// What a constructor does counts wherever the object is.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void constructor_writes(int *out) {
  delete new Announcing(out);  // expect: data-race at 11 with 11
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void from_the_heap(Mark *out) {  // expect: race-free
  Mark *mark = new Mark(threadIdx.x);
  out[threadIdx.x] = *mark;
  delete mark;
}

// Each thread gets other memory: the values written differ.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void last_allocation_wins(int **out) {
  out[0] = new int[4];  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void address_of_a_local(int **out) {
  int own;
  out[0] = &own;  // expect: data-race with self
}

// The same pointer from all threads.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void address_of_a_parameter(int **out, int *in) {
  out[0] = in;  // expect: benign-race with self
}

#define MAKE(where) new (where) Mark(1)
// cuda-lsp: launch grid=(1) block=(64)
__global__ void hidden_in_a_macro(void *storage) {  // expect: unknown(placement-new)
  MAKE(storage);
}

// Constructors that a class inherits are those of its base, however far up; its own members get their defaults.
struct Cursor {
  int *to;
  int at;
  __device__ Cursor(int *given, int place) : to(given), at(place) {}
};
struct Writer : Cursor {
  using Cursor::Cursor;
  int step = 3;
  __device__ void put(int value) { to[at] = value; }
};
struct Counted {
  int width = 5;
};
struct Wide : Counted, Writer {
  using Writer::Writer;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void inherited_in_pairs(int *out) {
  Writer writer(out, threadIdx.x / 2);
  writer.put(threadIdx.x);  // expect: data-race at 109 with 109
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void inherited_each(int *out) {  // expect: race-free
  Writer writer(out, threadIdx.x);
  writer.put(threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void inherited_over_two(int *out) {
  Wide writer(out, threadIdx.x % 8);
  writer.put(threadIdx.x);  // expect: data-race at 109 with 109
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void inherited_with_defaults(int *out) {  // expect: race-free
  Wide writer(out, 7);
  out[threadIdx.x * (writer.width - writer.step) + writer.at] = 1;
}

// In a list, an array stands for its address, and nothing of it is read.
template <class T>
struct Tile {
  T *cells;
  int size;
  __device__ T &operator[](int i) { return cells[i]; }
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void listed(int *out) {  // expect: race-free
  __shared__ int s[64], r[8][8];
  s[threadIdx.x] = threadIdx.x;
  Tile<int> tile{s, 64};
  int *both[2] = {s, r[0]};
  int(*rows)[8] = {r};
  tile[threadIdx.x] += 1;
  both[1][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = both[0][63 - threadIdx.x] + rows[threadIdx.x % 8][threadIdx.x / 8];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void listed_racing(int *out) {
  __shared__ int s[64];
  Tile<int> tile = {.cells = s, .size = 64};
  tile[threadIdx.x] = 1;  // expect: data-race with +1
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
