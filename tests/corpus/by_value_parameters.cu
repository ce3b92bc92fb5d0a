// Arrays, unions and classes in parameters: each thread that writes them changes a copy of its own, which begins with
// the value that the launch gives to all.

struct Four {
  int a[4];
};
struct Named {
  int x, y;
  int a[4];
  int *p;
};
struct Nested {
  Named in;
};
union Word {
  int i;
  float f;
};
struct Pointers {
  int *p[4];
};
struct Matrix {
  float m[16];
  __device__ float &at(int i) { return m[i]; }
};
struct Large {
  int a[200];
};
template <class T, int N>
struct Array {
  T v[N];
  __device__ T &operator[](int i) { return v[i]; }
};

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void written_with_own_number(int *out, Four s, int n) {
  s.a[1] = threadIdx.x;
  int v = s.a[1];
  if (threadIdx.x == v) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void written_with_one_number(int *out, Four s, int n) {  // expect: race-free
  s.a[1] = n;
  int v = s.a[1];
  if (threadIdx.x == v) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void read_at_an_unwritten_place(int *out, Four s, int n) {  // expect: race-free
  s.a[1] = threadIdx.x;
  int v = s.a[2];
  if (threadIdx.x == v) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void read_at_a_computed_place(int *out, Four s, int n) {
  s.a[1] = threadIdx.x;
  int v = s.a[n];
  if (threadIdx.x == v) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void numbers_of_its_own(int *out, Named s, int n) {  // expect: race-free
  s.a[1] = threadIdx.x * 2;
  out[s.a[1]] = 1;
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void numbers_that_two_have(int *out, Named s, int n) {
  s.a[1] = threadIdx.x / 2;
  out[s.a[1]] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void through_one_of_two_pointers(int *out, Four s, Four t, int n) {
  s.a[1] = threadIdx.x;
  int *p = n ? &s.a[1] : &t.a[1];
  int v = *p;
  if (threadIdx.x == v) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=0
__global__ void through_the_other_pointer(int *out, Four s, Four t, int n) {  // expect: race-free
  s.a[1] = threadIdx.x;
  int *p = n ? &s.a[1] : &t.a[1];
  int v = *p;
  if (threadIdx.x == v) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void written_through_a_pointer(int *out, Four s, int n) {
  int *p = n ? &s.a[1] : &s.a[2];
  *p = threadIdx.x;
  int v = s.a[1];
  if (threadIdx.x == v) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void pointer_to_the_parameter_or_to_shared_memory(int *out, Four s, int n) {
  __shared__ int cell;
  s.a[1] = threadIdx.x;
  if (threadIdx.x == 0) cell = 3;
  __syncthreads();
  int *p = n ? &s.a[1] : &cell;
  int v = *p;
  if (threadIdx.x == v) out[0] = threadIdx.x;  // expect: data-race with self
}

// What the cell of shared memory holds in the end says nothing of the parameter.
// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void read_twice_through_a_pointer(int *out, Array<int, 4> a, int n) {
  __shared__ int cell;
  a[0] = threadIdx.x;
  if (threadIdx.x == 0) cell = 3;
  __syncthreads();
  int *p = n ? &a[0] : &cell;
  int v = *p;
  __syncthreads();
  int w = *p;
  if (v == (int)threadIdx.x && w == (int)threadIdx.x) out[0] = v;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=0
__global__ void read_twice_in_shared_memory(int *out, Array<int, 4> a, int n) {
  __shared__ int cell;
  a[0] = threadIdx.x;
  if (threadIdx.x == 0) cell = 3;
  __syncthreads();
  int *p = n ? &a[0] : &cell;
  int v = *p;
  __syncthreads();  // expect: redundant-barrier
  int w = *p;
  if (v == (int)threadIdx.x && w == (int)threadIdx.x) out[0] = v;
}

// cuda-lsp: launch grid=(1) block=(64) n=0
__global__ void pointer_to_shared_memory_after_all(int *out, Four s, int n) {  // expect: race-free
  __shared__ int cell;
  s.a[1] = threadIdx.x;
  if (threadIdx.x == 0) cell = 3;
  __syncthreads();
  int *p = n ? &s.a[1] : &cell;
  int v = *p;
  if (threadIdx.x == v) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested_and_copied(int *out, Nested s) {
  s.in.a[2] = threadIdx.x;
  Nested t = s;
  if (t.in.a[2] == (int)threadIdx.x) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested_and_copied_before(int *out, Nested s) {  // expect: race-free
  Nested t = s;
  s.in.a[2] = threadIdx.x;
  if (t.in.a[2] == (int)threadIdx.x) out[0] = s.in.a[2];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void union_written(int *out, Word s) {
  s.i = threadIdx.x;
  if (s.i == (int)threadIdx.x) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void union_as_given(int *out, Word s) {  // expect: race-free
  if (s.i == (int)threadIdx.x) out[0] = threadIdx.x;
  s.i = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void of_floats(Matrix w, int *out) {
  w.m[2] = threadIdx.x;
  int i = (int)w.m[2];
  if (i == (int)threadIdx.x) out[0] = i;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void of_floats_in_a_loop(Matrix w, float *out) {  // expect: race-free
  for (int i = 0; i < 16; ++i) w.at(i) += threadIdx.x;
  out[threadIdx.x] = w.at(3);
}

// Pointers in the parameter are put into other places of it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void pointers_moved(Pointers s) {
  s.p[0] = s.p[1];
  s.p[1][threadIdx.x] = 1;  // expect: data-race with +1
  s.p[0][threadIdx.x ^ 1] = 2;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void pointers_moved_to_the_same_cells(Pointers s) {  // expect: race-free
  s.p[0] = s.p[1];
  s.p[1][threadIdx.x] = 1;
  s.p[0][threadIdx.x] = 2;
}

// More than are copied one by one elsewhere.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void large_and_written_elsewhere(int *out, Large s) {  // expect: race-free
  s.a[7] = threadIdx.x;
  if (s.a[3] == (int)threadIdx.x) out[0] = threadIdx.x;
  out[s.a[7] + 1] = 1;
}

// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void large_and_written_there(int *out, Large s, int n) {
  s.a[n] = threadIdx.x;
  if (s.a[n] >= 0) out[0] = threadIdx.x;  // expect: data-race with self
}

// --- barriers

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void barrier_by_own_number(int *out, Four s, int n) {
  s.a[n] = threadIdx.x & 1;
  if (s.a[n]) {
    out[threadIdx.x] = 1;
    __syncthreads();  // expect: barrier-divergence
    out[threadIdx.x ^ 2] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void barrier_by_number_of_all(int *out, Four s, int n) {  // expect: race-free
  s.a[n] = n;
  if (s.a[n]) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x ^ 2] += 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rounds_by_own_number(Array<int, 4> a, int *out) {
  a[1] += threadIdx.x;
  while (a[1] > 0) {
    a[1] -= 10;
    __syncthreads();  // expect: barrier-divergence
  }
}

// --- device functions, lambdas

__device__ void set(int *p, int v) { *p = v; }
__device__ int own_first(Array<int, 4> a) {
  a[0] = threadIdx.x;
  return a[0];
}
__device__ int own_member(Named s) {
  s.x = threadIdx.x;
  return s.x;
}
__device__ int constant_first(Four s) {
  s.a[0] = 5;
  return s.a[0];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_by_a_function(int *out, Four s) {
  set(s.a, threadIdx.x);
  if (s.a[0] == (int)threadIdx.x) out[0] = threadIdx.x;  // expect: data-race with self
}

// What a function changes of its own parameter, its caller does not see.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void result_of_a_function(Array<int, 4> a, int *out) {
  int v = own_first(a);
  if (v == (int)threadIdx.x) out[0] = v;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void argument_after_a_function(Array<int, 4> a, int *out) {  // expect: race-free
  own_first(a);
  if (a[0] == (int)threadIdx.x) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void member_after_a_function(Named s, int *out) {  // expect: race-free
  own_member(s);
  if (s.x == (int)threadIdx.x) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_number_after_a_function(Four s, int *out) {  // expect: race-free
  s.a[0] = threadIdx.x;
  constant_first(s);
  out[s.a[0]] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void number_that_a_function_gives(Four s, int *out) {
  s.a[0] = threadIdx.x;
  out[constant_first(s)] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void captured_and_changed(Four s, int *out) {
  auto count = [s]() mutable {
    s.a[0] = threadIdx.x;
    return s.a[0];
  };
  if (count() == (int)threadIdx.x) out[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void captured_and_changed_beside(Four s, int *out) {  // expect: race-free
  auto count = [s]() mutable {
    s.a[0] = threadIdx.x;
    return s.a[0];
  };
  count();
  if (s.a[0] == (int)threadIdx.x) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void changed_by_an_atomic(Four s, int *out) {
  atomicAdd(&s.a[0], threadIdx.x);
  if (s.a[0] > 5) out[0] = threadIdx.x;  // expect: possible-data-race with self
}
