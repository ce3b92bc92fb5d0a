// References and what they refer to: one object under several names, or a copy of it.
#include <algorithm>
#include <tuple>
#include <utility>

__device__ void clear(int &&r) { r = 0; }

// An rvalue reference names the object that is moved from.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void cleared_through_a_move(int *p) {
  int a = 1;
  clear(std::move(a));
  p[threadIdx.x * a] = threadIdx.x;  // expect: data-race with self
}

// A temporary is another object.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void clears_a_copy(int *p) {  // expect: race-free
  int a = 1;
  clear(int(a));
  p[threadIdx.x * a] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void least_of_two_changes(int *p) {
  int a = 1, b = 5;
  const int &r = std::min(a, b);
  a = 0;
  p[threadIdx.x * r] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void least_of_two_kept(int *p) {  // expect: race-free
  int a = 1, b = 5;
  const int r = std::min(a, b);
  a = 0;
  p[threadIdx.x * r] = threadIdx.x;
}

__device__ const int &lesser(const int &a, const int &b) { return b < a ? b : a; }
__device__ void cleared_first(int &x, const int &y, int *p) {
  x = 0;
  p[threadIdx.x * y] = threadIdx.x;  // expect: data-race with self
}

// The parameters x and y are one object.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void parameters_of_one_object(int *p) {
  int a = 1, b = 5, c = 7;
  cleared_first(a, lesser(lesser(a, b), c), p);
}

__device__ void cleared_other(int &x, const int &y, int *p) {
  x = 0;
  p[threadIdx.x * y] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void parameters_of_two_objects(int *p) {  // expect: race-free
  int a = 1, b = 5, c = 7;
  cleared_other(c, lesser(lesser(a, b), c), p);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void clamped_object(int *p, int n) {
  int a = 1;
  const int &r = std::clamp(a, 0, 5);
  a = 0;
  p[threadIdx.x * r] = threadIdx.x;  // expect: data-race with self
}

// Either of the two is cleared.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_two_moved(int *p, int n) {
  int a = 1, b = 1;
  int &&r = n > 2 ? std::move(a) : std::move(b);
  r = 0;
  p[threadIdx.x * (a * b)] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_two_is_set(int *p, int n) {  // expect: race-free
  int a = 1, b = 1;
  int &r = n > 2 ? a : b;
  r = 2;
  p[threadIdx.x * (a * b)] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_two_constants(int *p, int n) {
  int a = 1;
  const int b = 1;
  const int &r = n > 2 ? a : b;
  a = 0;
  p[threadIdx.x * r] = threadIdx.x;  // expect: data-race with self
}

// A reference to another type is bound to a converted copy, though the bytes would be the same.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void converted_copy_is_set(int *p) {
  long a = 0;
  long long &&r = a;
  r = 1;
  p[threadIdx.x * a] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void converted_copy_stays(int *p) {  // expect: race-free
  signed char a = 1;
  const char &r = a;
  a = 0;
  p[threadIdx.x * r] = threadIdx.x;
}

struct Flags {
  int low : 4;
  int high : 4;
};

// So is one to a bit-field.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void copy_of_a_bit_field(int *p) {  // expect: race-free
  Flags f{1, 1};
  const int &r = f.low;
  f.low = 0;
  p[threadIdx.x * r] = threadIdx.x;
}

// Bits above a field are shifted out; that is no overflow.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void low_bits_of_a_field(int *p) {
  Flags f;
  f.low = 0;
  f.high = 1;
  p[threadIdx.x * f.low] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void high_bits_of_a_field(int *p) {  // expect: race-free
  Flags f;
  f.low = 0;
  f.high = 1;
  p[threadIdx.x * f.high] = threadIdx.x;
}

struct Reader {
  const int &seen;
  __device__ Reader(const int &x, const int &y) : seen(std::min(x, y)) {}
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void member_refers(int *p) {
  int a = 1, b = 5;
  Reader reader(a, b);
  a = 0;
  p[threadIdx.x * reader.seen] = threadIdx.x;  // expect: data-race with self
}

struct Counter {
  int n;
  __device__ int copied() {
    auto change = [*this]() mutable { n = 0; };
    change();
    return n;
  }
  __device__ int shared() {
    auto change = [this] { n = 0; };
    change();
    return n;
  }
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void lambda_with_a_copy(int *p) {  // expect: race-free
  Counter c{1};
  p[threadIdx.x * c.copied()] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void lambda_with_the_object(int *p) {
  Counter c{1};
  p[threadIdx.x * c.shared()] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void assigned_through_a_tie(int *p) {
  int a = 1, b;
  std::tie(a, b) = std::make_tuple(0, 1);
  p[threadIdx.x * a] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void other_element_of_a_tuple(int *p) {  // expect: race-free
  std::tuple<int, int> t(0, 1);
  p[threadIdx.x * std::get<1>(t)] = threadIdx.x;
}

struct Left { int left; };
struct Right { int right; };
struct Both : Left, Right { int own; };

// cuda-lsp: launch grid=(1) block=(64)
__global__ void whole_of_a_base(int *p) {
  Both both;
  both.own = 1;
  Right *right = &both;
  static_cast<Both *>(right)->own = 0;
  p[threadIdx.x * both.own] = threadIdx.x;  // expect: data-race with self
}

template <class T> struct Named { int value; };
template <class T> struct Kept { int value; };
template <class T> struct Pair : Named<T>, Kept<T> {};

// Where several bases lie that depend on a template's parameter is not told.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void second_base_of_a_template(int *p) {  // expect: unknown(base-class)
  Pair<int> pair;
  static_cast<Named<int> &>(pair).value = 0;
  static_cast<Kept<int> &>(pair).value = 1;
  p[threadIdx.x * static_cast<Named<int> &>(pair).value] = threadIdx.x;
}

__device__ int elsewhere(int i);

// What is defined in another file may do anything.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void number_from_elsewhere(int *p) {  // expect: unknown(call-to-unknown-function)
  p[threadIdx.x] = elsewhere(1);
}

struct Opaque {
  int v;
  __device__ Opaque(int x) : v(x) {}
  __device__ Opaque(const Opaque &other);
  __device__ Opaque &operator=(const Opaque &other);
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void copied_elsewhere(int *p) {  // expect: unknown(call-to-unknown-function)
  Opaque a{1};
  Opaque b = a;
  p[threadIdx.x * b.v] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void assigned_elsewhere(int *p) {  // expect: unknown(call-to-unknown-function)
  Opaque a{1}, b{1};
  b = a;
  p[threadIdx.x * b.v] = threadIdx.x;
}

typedef int (*Choice)(int);
__device__ int one(int) { return 1; }
__device__ int none(int) { return 0; }

// The bytes of a pointer to a function, which is not kept in memory.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bytes_of_a_function(int *p) {  // expect: unknown(untracked-pointer)
  Choice f = one, g = none;
  memcpy(&f, &g, sizeof f);
  p[threadIdx.x * f(1)] = threadIdx.x;
}
