// Structs, methods, references, constructors, members of arrays.

struct Particle {
  float x, y, z;
  int cell;
};

// Different members of one struct are different bytes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void different_members(Particle *p) {  // expect: race-free
  int t = threadIdx.x;
  p[t].x = 1;
  if (t > 0) p[t - 1].y = 2;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void same_member(Particle *p) {
  int t = threadIdx.x;
  p[t].x = 1;  // expect: data-race with +1
  if (t > 0) p[t - 1].x = 2;
}

// Copying the whole struct touches every member.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void whole_struct_and_member(Particle *p, Particle *q) {
  int t = threadIdx.x;
  q[t] = p[t];  // expect: data-race with +1
  if (t > 0) p[t - 1].cell = t;
}

// Adjacent members overlap through a wider access.
struct Pair {
  int first, second;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_members_at_once(Pair *p) {
  int t = threadIdx.x;
  *(long long *)&p[t] = 0;  // expect: data-race with +1
  if (t > 0) p[t - 1].second = t;
}

// A queue with its storage in shared memory, used through methods.
struct Buffer {
  int *cells;
  int size;
  __device__ Buffer(int *c, int n) : cells(c), size(n) {}
  __device__ void put(int i, int v) { cells[i] = v; }
  __device__ int get(int i) const { return cells[i]; }
  __device__ int &at(int i) { return cells[i]; }
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_methods(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  Buffer b(s, 64);
  b.put(t, t);
  __syncthreads();
  out[t] = b.get(b.size - 1 - t);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_methods_unordered(int *out) {  // expect: data-race intra-block at -16 with -15
  __shared__ int s[64];
  int t = threadIdx.x;
  Buffer b(s, 64);
  b.put(t, t);
  out[t] = b.get(b.size - 1 - t);
}

// A method that returns a reference: the store happens where the reference is used.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_returned_reference(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  Buffer b(s, 64);
  b.at(t) = t;  // expect: data-race intra-block with +1
  out[t] = b.at(63 - t);
}

// Local references are other names of a cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void local_references(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  int &mine = s[t];
  const int &theirs = s[63 - t];
  mine = t;
  __syncthreads();
  out[t] = theirs;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void local_references_unordered(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int &mine = s[t];
  const int &theirs = s[63 - t];
  mine = t;  // expect: data-race intra-block with +1
  out[t] = theirs;
}

// A function writes through its reference parameters.
__device__ void exchange_values(int &a, int &b) {
  int v = a;
  a = b;
  b = v;
}

// Even threads exchange with their right neighbour.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void exchange_by_even_threads(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 2 == 0) exchange_values(a[t], a[t + 1]);
}

// A struct passed by value to the kernel carries the pointer and the pitch.
struct View {
  float *data;
  int pitch;
  __device__ float &operator()(int row, int column) const { return data[row * pitch + column]; }
};

__global__ void fill_view(View v) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < v.pitch) v(y, x) = x;
}

void launch_fill_view(float *data, int w) {
  View v{data, w};
  fill_view<<<dim3((w + 15) / 16, 4), dim3(16, 16)>>>(v);
}

// The guard compares with another number than the pitch.
struct Region {
  float *data;
  int width, pitch;
};

__global__ void fill_region(Region r) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < r.width) r.data[y * r.pitch + x] = x;  // expect: data-race with self
}

void launch_fill_region(float *data, int w, int p) {
  Region r{data, w, p};
  fill_region<<<dim3((w + 15) / 16, 4), dim3(16, 16)>>>(r);
}

// Shared memory laid out as a struct: the members are separate arrays.
struct Scratch {
  int counts[32];
  int sums[32];
};

// cuda-lsp: launch grid=(1) block=(32)
__global__ void struct_in_shared_memory(const int *in, int *out) {  // expect: race-free
  __shared__ Scratch s;
  int t = threadIdx.x;
  s.counts[t] = 1;
  s.sums[31 - t] = in[t];
  __syncthreads();
  out[t] = s.counts[31 - t] + s.sums[t];
}

// An array of small arrays inside a struct; rows of three.
struct Row {
  int cell[3];
};

// cuda-lsp: launch grid=(1) block=(32)
__global__ void rows_of_three(Row *r) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) r[t].cell[k] = k;
}

// Inheritance: base members come first.
struct Base {
  int key;
};
struct Derived : Base {
  int value;
};

// cuda-lsp: launch grid=(1) block=(32)
__global__ void inherited_members(Derived *d) {  // expect: race-free
  int t = threadIdx.x;
  d[t].key = t;
  d[31 - t].value = t;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void inherited_member_shared_out(Derived *d) {
  int t = threadIdx.x;
  d[t].key = t;  // expect: data-race intra-warp with +1
  d[31 - t].key += 1;
}

// Static members and enumerators are constants.
struct Shape {
  static constexpr int rows = 4;
  enum { columns = 16 };
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void constants_of_a_type(int *out) {  // expect: race-free
  __shared__ int s[Shape::rows][Shape::columns];
  int t = threadIdx.x;
  s[t / Shape::columns][t % Shape::columns] = t;
  __syncthreads();
  out[t] = s[t % Shape::rows][t / Shape::rows];
}

// A parameter with members of which one is moved.
struct Rows {
  float *first;
  int width;
};

__global__ void row_by_row(Rows rows) {  // expect: race-free
  rows.first += blockIdx.x * rows.width;
  if (threadIdx.x < rows.width) rows.first[threadIdx.x] = 0;
}

__global__ void rows_that_meet(Rows rows) {
  rows.first += blockIdx.x * rows.width;
  if (threadIdx.x <= rows.width) rows.first[threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

void launch_rows(float *p, int n) {
  Rows rows{p, n};
  row_by_row<<<n, 128>>>(rows);
  rows_that_meet<<<n, 128>>>(rows);
}
