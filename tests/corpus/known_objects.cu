// Objects whose address others have from their constructors on, and may change what they hold.
#include <vector>

namespace in_out_of_sight_a {
__global__ void out_of_sight_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

struct Sizes { int n; Sizes(); };
void shrink();
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  out_of_sight_a<<<1, 64>>>(out, sizes.n);
}
}

namespace in_out_of_sight_b {
__global__ void out_of_sight_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Read in front of the call.
struct Sizes { int n; Sizes(); };
void shrink();
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  int n = sizes.n;
  shrink();
  out_of_sight_b<<<1, 64>>>(out, n);
}
}

namespace in_no_constructor {
__global__ void no_constructor(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Nobody knows where the object is.
struct Sizes { int n; };
void shrink();
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  no_constructor<<<1, 64>>>(out, sizes.n);
}
}

namespace in_out_of_line_a {
__global__ void out_of_line_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

struct Sizes { int n; Sizes(); };
extern std::vector<Sizes *> all;
Sizes::Sizes() : n(64) { all.push_back(this); }
void shrink();
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  out_of_line_a<<<1, 64>>>(out, sizes.n);
}
}

namespace in_out_of_line_b {
__global__ void out_of_line_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// The constructor tells nobody.
struct Sizes { int n; Sizes(); };
extern std::vector<int> all;
Sizes::Sizes() : n(64) { all.push_back(n); }
void shrink();
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  out_of_line_b<<<1, 64>>>(out, sizes.n);
}
}

namespace in_member {
__global__ void member(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The constructor of a member.
struct Sizes;
static Sizes *last;
struct Sizes { int n; Sizes() : n(64) { last = this; } };
struct Outer { int x; Sizes sizes; };
static void shrink() { last->n = 3; }
void launch(int *out) {
  Outer outer;
  outer.sizes.n = 64;
  shrink();
  member<<<1, 64>>>(out, outer.sizes.n);
}
}

namespace in_elements_a {
__global__ void elements_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// That of the elements of an array.
struct Sizes;
static Sizes *last;
struct Sizes { int n; Sizes() : n(64) { last = this; } };
static void shrink() { last->n = 3; }
void launch(int *out) {
  Sizes sizes[2];
  sizes[1].n = 64;
  shrink();
  elements_a<<<1, 64>>>(out, sizes[1].n);
}
}

namespace in_elements_b {
__global__ void elements_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

struct Sizes { int n; Sizes() : n(64) {} };
static int last;
static void shrink() { last = 3; }
void launch(int *out) {
  Sizes sizes[2];
  sizes[1].n = 64;
  shrink();
  elements_b<<<1, 64>>>(out, sizes[1].n);
}
}

namespace in_base {
__global__ void base(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// That of a base.
struct Base;
static Base *last;
struct Base { int n; Base() { last = this; } };
struct Sizes : Base { int m; };
static void shrink() { last->n = 3; }
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  base<<<1, 64>>>(out, sizes.n);
}
}

namespace in_initialiser {
__global__ void initialiser(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// What initialises a member.
struct Sizes;
static Sizes *last;
static int note(Sizes *sizes) { last = sizes; return 64; }
struct Sizes { int m = note(this); int n = 64; };
static void shrink() { last->n = 3; }
void launch(int *out) {
  Sizes sizes;
  sizes.n = 64;
  shrink();
  initialiser<<<1, 64>>>(out, sizes.n);
}
}

namespace in_returned {
__global__ void returned(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The object of a function is the variable that it becomes.
struct Sizes { int n; Sizes(); };
void shrink();
static Sizes make() { Sizes sizes; sizes.n = 64; return sizes; }
void launch(int *out) {
  Sizes sizes = make();
  sizes.n = 64;
  shrink();
  returned<<<1, 64>>>(out, sizes.n);
}
}
