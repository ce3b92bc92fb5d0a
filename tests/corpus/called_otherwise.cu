// Functions that run without being called by their names: through pointers to members, for the names of a structured
// binding, when the last owner goes.
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

namespace in_by_member_pointer_a {
__global__ void by_member_pointer_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

struct Sizes { int n = 64; void shrink() { n = 3; } };
void launch(int *out) {
  Sizes sizes;
  void (Sizes::*change)() = &Sizes::shrink;
  (sizes.*change)();
  by_member_pointer_a<<<1, 64>>>(out, sizes.n);
}
}

namespace in_by_member_pointer_b {
__global__ void by_member_pointer_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Of another object.
struct Sizes { int n = 64; void shrink() { n = 3; } };
void launch(int *out) {
  Sizes sizes, others;
  void (Sizes::*change)() = &Sizes::shrink;
  (others.*change)();
  by_member_pointer_b<<<1, 64>>>(out, sizes.n);
}
}

namespace in_held_pointer {
__global__ void held_pointer(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A destructor calls what a member points to.
static int size = 64;
static void shrink() { size = 3; }
struct Hook { void (*f)(); ~Hook() { f(); } };
void launch(int *out) {
  size = 64;
  { Hook hook{shrink}; }
  held_pointer<<<1, 64>>>(out, size);
}
}

namespace in_referred_to_a {
__global__ void referred_to_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A list of references.
void launch(int *out, int rounds) {
  int n = 64;
  for (int i = 0; i < rounds; ++i) {
    referred_to_a<<<1, 64>>>(out, n);
    std::vector<std::reference_wrapper<int>> sizes{n};
    sizes[0].get() = 3;
  }
}
}

namespace in_referred_to_b {
__global__ void referred_to_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// A list of copies.
void launch(int *out, int rounds) {
  int n = 64;
  for (int i = 0; i < rounds; ++i) {
    referred_to_b<<<1, 64>>>(out, n);
    std::vector<int> sizes{n};
    sizes[0] = 3;
  }
}
}

namespace in_thrown {
__global__ void thrown(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// What is thrown refers to a variable.
struct Failure { int &n; };
void launch(int *out, int m) {
  int n = 64;
  try {
    if (m) throw Failure{n};
  } catch (Failure &failure) {
    n = 64;
    failure.n = 3;
  }
  thrown<<<1, 64>>>(out, n);
}
}

namespace in_any_pointer_a {
__global__ void any_pointer_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The pointer remembers what it destroys.
static int size = 64;
struct Noisy { ~Noisy() { size = 3; } };
void launch(int *out) {
  std::shared_ptr<void> owner = std::make_shared<Noisy>();
  size = 64;
  owner.reset();
  any_pointer_a<<<1, 64>>>(out, size);
}
}

namespace in_any_pointer_b {
__global__ void any_pointer_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

static int size = 64;
void launch(int *out) {
  std::shared_ptr<int> owner = std::make_shared<int>(3);
  size = 64;
  owner.reset();
  any_pointer_b<<<1, 64>>>(out, size);
}
}

namespace in_base_pointer {
__global__ void base_pointer(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// Though the destructor is not virtual.
static int size = 64;
struct Base { int m = 0; };
struct Noisy : Base { ~Noisy() { size = 3; } };
void launch(int *out) {
  std::shared_ptr<Base> owner = std::make_shared<Noisy>();
  size = 64;
  owner.reset();
  base_pointer<<<1, 64>>>(out, size);
}
}

namespace in_bound_names_b {
__global__ void bound_names_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// The members themselves.
struct Shape { int rows, columns; };
void launch(int *out) {
  Shape shape{64, 3};
  auto [rows, columns] = shape;
  bound_names_b<<<1, 64>>>(out, rows);
}
}

namespace in_applied {
__global__ void applied(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// A function that changes nothing.
static int size = 64;
static int add(int a, int b) { return a + b; }
void launch(int *out) {
  size = 64;
  int sum = std::apply(add, std::make_tuple(1, 2));
  applied<<<1, 64>>>(out, size);
}
}

namespace in_captured_anew {
__global__ void captured_anew(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// What initialises a capture changes nothing.
static int size = 64;
static int twice(int x) { return 2 * x; }
void launch(int *out, int *unused) {
  size = 64;
  auto f = [x = twice(3), freed = cudaFree(unused)] { return x; };
  f();
  captured_anew<<<1, 64>>>(out, size);
}
}

struct Measured { int rows, columns; };
template <> struct std::tuple_size<Measured> { static constexpr size_t value = 2; };
template <size_t I> struct std::tuple_element<I, Measured> { using type = int; };
static int measurings;
template <size_t I> int get(const Measured &) { return measurings = 3; }

namespace in_bound_names_a {
__global__ void bound_names_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A function of the program gives the parts.
void launch(int *out) {
  Measured shape{64, 64};
  auto [rows, columns] = shape;
  bound_names_a<<<1, 64>>>(out, rows);
}
}

namespace in_bound_names_c {
__global__ void bound_names_c(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// And changes what it likes.
void launch(int *out) {
  measurings = 64;
  Measured shape{64, 64};
  auto [rows, columns] = shape;
  bound_names_c<<<1, 64>>>(out, measurings);
}
}

#define JOINED(first, second) first##second
#define JOINED_AGAIN(first, second) JOINED(first, second)

namespace in_joined_by_a_macro {
__global__ void joined_by_a_macro(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The name of what launches stands nowhere else than in parts.
static void launch_joined(int *out, int n) { joined_by_a_macro<<<1, 64>>>(out, n); }
void launch(int *out) { launch_joined(out, 64); }
void hidden(int *out) { JOINED_AGAIN(launch_, joined)(out, 3); }
}

namespace in_not_joined_by_a_macro {
__global__ void not_joined_by_a_macro(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

static void launch_not_joined(int *out, int n) { not_joined_by_a_macro<<<1, 64>>>(out, n); }
static void launch_other(int *out, int n) { out[n] = 0; }
void launch(int *out) { launch_not_joined(out, 64); }
void hidden(int *out) { JOINED_AGAIN(launch_, other)(out, 3); }
}
