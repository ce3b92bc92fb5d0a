// Pointer arithmetic, casts between element sizes, vector accesses, pointers into pointers.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void walking_pointer(int *out) {  // expect: race-free
  int *p = out + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    *p = k;
    p += 64;
  }
}

// The pointer advances by one cell instead of a row.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void walking_pointer_short_steps(int *out) {
  int *p = out + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    *p = k;  // expect: data-race with self
    ++p;
  }
}

// Post-increment: two cells per thread, two apart.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void post_increment(int *out) {  // expect: race-free
  int *p = out + 2 * threadIdx.x;
  *p++ = 1;
  *p = 2;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void post_increment_one_apart(int *out) {
  int *p = out + threadIdx.x;
  *p++ = 1;  // expect: data-race with +1
  *p = 2;
}

// A pointer difference is a number of elements.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void pointer_difference(int *out) {  // expect: race-free
  __shared__ int s[128];
  int *p = s + threadIdx.x, *q = s + 2 * threadIdx.x;
  out[q - p] = threadIdx.x;
}

// The end pointer bounds the loop.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void until_end_pointer(int *out) {  // expect: race-free
  int *end = out + 4 * threadIdx.x + 4;
  for (int *p = out + 4 * threadIdx.x; p != end; ++p) *p = threadIdx.x;
}

// Bytes of one array of ints: four threads share an int, each has its byte.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bytes_of_ints(int *out) {  // expect: race-free
  unsigned char *bytes = (unsigned char *)out;
  bytes[threadIdx.x] = threadIdx.x;
}

// One thread writes the int, another one of its bytes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void int_and_its_bytes(int *out) {
  unsigned char *bytes = (unsigned char *)out;
  int t = threadIdx.x;
  if (t < 8)
    out[t] = 0;  // expect: data-race intra-block with +2
  else if (t >= 32)
    bytes[t - 32] = t;
}

// Halves of a 64-bit cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_of_a_cell(long long *out) {  // expect: race-free
  int *halves = reinterpret_cast<int *>(out);
  int t = threadIdx.x;
  halves[2 * t] = t;
  halves[2 * t + 1] = -t;
}

// Two cells at a distance of one: the second is the neighbour's first.
struct Two {
  int a, b;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void overlapping_wide_stores(int *out) {
  int t = threadIdx.x;
  *(Two *)(out + t) = Two{t, t};  // expect: data-race with self
}

// Four floats at once.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void vector_copy(const float4 *in, float4 *out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

// The vector store covers what the neighbours write one by one.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void vector_and_scalar(float *out) {
  int t = threadIdx.x;
  if (t % 4 == 0) *(float4 *)(out + t) = make_float4(0, 0, 0, 0);  // expect: data-race intra-warp with +1
  if (t % 4 == 3) out[t] = t;
}

// Members of a vector in shared memory.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void vector_members(float *out) {  // expect: race-free
  __shared__ float2 s[64];
  int t = threadIdx.x;
  s[t].x = t;
  s[63 - t].y = t;
  __syncthreads();
  out[t] = s[t].y + s[63 - t].x;
}

// A pointer chosen by a condition that all threads share.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void uniform_choice_of_buffer(int *a, int *b, int which) {  // expect: race-free
  int *p = which ? a : b;
  int *q = which ? b : a;
  int t = threadIdx.x;
  p[t] = q[63 - t];
}

// Chosen by the thread: odd threads write `a` and read `b`, even ones the other way round.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void thread_choice_of_buffer(int *a, int *b) {
  int t = threadIdx.x;
  int *p = t % 2 ? a : b;
  int *q = t % 2 ? b : a;
  p[t] = q[63 - t];  // expect: data-race with self
}

// Two-dimensional array through a pointer to its rows.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void pointer_to_rows(int *out) {  // expect: race-free
  __shared__ int s[32][4];
  int(*row)[4] = s;
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) row[t][k] = k;
  __syncthreads();
  out[t] = row[31 - t][t % 4];
}

// A table of pointers: distinct entries are taken to be distinct buffers.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void table_of_pointers(int *const *rows) {  // expect: race-free
  rows[blockIdx.x][threadIdx.x] = blockIdx.x;
}

// All blocks take the same entry.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void first_of_the_table(int *const *rows) {
  rows[0][threadIdx.x] = blockIdx.x;  // expect: data-race inter-block with self
}

// The same buffer under two parameter names.
__global__ void add_next(int *to, const int *from) {
  int t = threadIdx.x;
  to[t] = from[t + 1];  // expect: data-race with self
}

void launch_add_next(int *a) { add_next<<<1, 64>>>(a, a); }

// Two parts of one allocation that do not overlap.
__global__ void add_far(int *to, const int *from) {  // expect: race-free
  int t = threadIdx.x;
  to[t] = from[t + 1];
}

void launch_add_far(int *a) { add_far<<<1, 64>>>(a, a + 128); }

// Two parts that do.
__global__ void add_near(int *to, const int *from) {
  int t = threadIdx.x;
  to[t] = from[t];  // expect: data-race with self
}

void launch_add_near(int *a) { add_near<<<1, 64>>>(a, a + 1); }

// An array of a thread's own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void local_array(const int *in, int *out) {  // expect: race-free
  int own[8];
  for (int k = 0; k < 8; ++k) own[k] = in[threadIdx.x + k];
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += own[(k + threadIdx.x) % 8];
  out[threadIdx.x] = sum;
}

// A union: the members share their bytes.
union Word {
  int whole;
  unsigned char part[4];
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void union_members(Word *w) {
  int t = threadIdx.x;
  w[t / 4].part[t % 4] = t;  // expect: data-race intra-warp with +1
  if (t % 4 == 0) w[t / 4].whole = 0;
}

// A device variable at file scope.
__device__ int counters[64];

// cuda-lsp: launch grid=(1) block=(64)
__global__ void device_variable(int *out) {
  int t = threadIdx.x;
  counters[t] = t;  // expect: data-race intra-block with +1, fix: yes
  out[t] = counters[63 - t];
}

// Constant memory is only read.
__constant__ int table[64];

// cuda-lsp: launch grid=(4) block=(64)
__global__ void constant_memory(int *out) {  // expect: race-free
  out[blockIdx.x * 64 + threadIdx.x] = table[63 - threadIdx.x] + table[0];
}

// Pointers that the kernel itself stores: what they point to is not followed.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void published_pointers(int *out) {  // expect: unknown(untracked-pointer)
  __shared__ int *where[64];
  __shared__ int cells[64];
  int t = threadIdx.x;
  where[t] = &cells[t];
  __syncthreads();
  *where[63 - t] = t;
  out[t] = cells[t];
}

// One number of each record is written; the pointers beside it stay.
struct Row {
  float *data;
  int length;
};
// cuda-lsp: launch grid=(4) block=(64)
__global__ void rows_and_lengths(Row *rows) {  // expect: race-free
  if (threadIdx.x == 0) rows[blockIdx.x].length = 64;
  rows[blockIdx.x].data[threadIdx.x] = 1;
}

// Whole records are copied, the pointers with them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void copied_rows(Row *rows, Row *copies) {  // expect: unknown(untracked-pointer)
  copies[threadIdx.x] = rows[threadIdx.x];
  copies[threadIdx.x].data[0] = 1;
}

// The next element of a list may be any element of the array that the list lives in.
struct Element {
  Element *next;
  int value;
};
// cuda-lsp: launch grid=(1) block=(64)
__global__ void list_neighbours(Element *all) {
  all[threadIdx.x].value = all[threadIdx.x].next->value;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void list_pushed(Element *all) {
  all[threadIdx.x].next->value = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void list_read(const Element *all, int *out) {  // expect: race-free
  out[threadIdx.x] = all[threadIdx.x].next->value;
}

// Records brought into shared memory word by word.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void record_in_words(const Row *rows, float *out) {  // expect: unknown(untracked-pointer)
  __shared__ Row row;
  if (threadIdx.x < sizeof(Row) / 4) ((int *)&row)[threadIdx.x] = ((const int *)&rows[blockIdx.x])[threadIdx.x];
  __syncthreads();
  row.data[threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void record_in_registers(const Row *rows) {  // expect: race-free
  Row row = rows[blockIdx.x];
  row.data[threadIdx.x] = row.length;
}
