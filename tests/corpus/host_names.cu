// What a name of host code means: the object that a reference refers to, a copy of it, or another one of its name.
#include <algorithm>
#include <iostream>
#include <new>
#include <utility>
#include <vector>

// An rvalue reference names the object that is moved from.
__global__ void cleared_through_a_move(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
static void clear(int &&r) { r = 0; }
void run_cleared_through_a_move(int *p) {
  int n = 1;
  clear(std::move(n));
  cleared_through_a_move<<<1, 64>>>(p, n);
}

// A temporary is another object.
__global__ void clears_a_copy(int *a, int s) {  // expect: race-free
  a[threadIdx.x * s] = threadIdx.x;
}
void run_clears_a_copy(int *p) {
  int n = 1;
  clear(int(n));
  clears_a_copy<<<1, 64>>>(p, n);
}

// `r` is the lesser of the two, whatever it holds.
__global__ void least_of_two_changes(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_least_of_two_changes(int *p) {
  int n = 1, m = 5;
  const int &r = std::min(n, m);
  n = 0;
  least_of_two_changes<<<1, 64>>>(p, r);
}

__global__ void least_of_two_kept(int *a, int s) {  // expect: race-free
  a[threadIdx.x * s] = threadIdx.x;
}
void run_least_of_two_kept(int *p) {
  int n = 1, m = 5;
  const int r = std::min(n, m);
  n = 0;
  least_of_two_kept<<<1, 64>>>(p, r);
}

// Two parameters are one object.
__global__ void parameters_of_one_object(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
static void clear_first(int &x, const int &y, int *p) {
  x = 0;
  parameters_of_one_object<<<1, 64>>>(p, y);
}
void run_parameters_of_one_object(int *p) {
  int n = 1, m = 5;
  clear_first(n, std::min(n, m), p);
}

__global__ void one_of_two_moved(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_one_of_two_moved(int *p, bool which) {
  int n = 1, m = 5;
  int &&r = which ? std::move(n) : std::move(m);
  r = 0;
  one_of_two_moved<<<1, 64>>>(p, n);
}

// A reference to another type is bound to a converted copy, though the bytes would be the same.
__global__ void converted_copy_is_set(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_converted_copy_is_set(int *p) {
  long n = 0;
  long long &&r = n;
  r = 1;
  converted_copy_is_set<<<1, 64>>>(p, static_cast<int>(n));
}

__global__ void converted_copy_stays(int *a, int s) {  // expect: race-free
  a[threadIdx.x * s] = threadIdx.x;
}
void run_converted_copy_stays(int *p) {
  int n = 1;
  const long &r = n;
  n = 0;
  converted_copy_stays<<<1, 64>>>(p, static_cast<int>(r));
}

// Four bits of 16 are none.
__global__ void bits_cut_off(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
struct Bits {
  int low : 4;
  int high : 4;
};
void run_bits_cut_off(int *p) {
  Bits b{1, 1};
  b.low = 16;
  bits_cut_off<<<1, 64>>>(p, b.low);
}

// A lambda keeps a copy of what the reference referred to.
__global__ void copy_of_a_reference(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_copy_of_a_reference(int *p) {
  int n = 0;
  int &r = n;
  auto get = [r] { return r; };
  n = 1;
  copy_of_a_reference<<<1, 64>>>(p, get());
}

// A lambda with a copy of the object around changes that copy.
__global__ void copy_of_the_object(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
struct Sizes {
  int n;
  void run(int *p) {
    auto change = [*this]() mutable { n = 1; };
    change();
    copy_of_the_object<<<1, 64>>>(p, n);
  }
};
void run_copy_of_the_object(int *p) {
  Sizes sizes{0};
  sizes.run(p);
}

// Two data members of one name.
__global__ void member_of_the_base(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
struct Base {
  int n;
};
struct Derived : Base {
  int n;
};
void run_member_of_the_base(int *p) {
  Derived d;
  d.n = 0;
  Base &b = d;
  b.n = 1;
  member_of_the_base<<<1, 64>>>(p, d.n);
}

// A pointer to a member.
__global__ void through_a_member_pointer(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_through_a_member_pointer(int *p) {
  Sizes sizes{1};
  int Sizes::*which = &Sizes::n;
  sizes.*which = 0;
  through_a_member_pointer<<<1, 64>>>(p, sizes.n);
}

// A pair of references.
__global__ void pair_of_references(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_pair_of_references(int *p) {
  int n = 1, m = 2;
  std::pair<int &, int &> both(n, m);
  auto [x, y] = both;
  x = 0;
  pair_of_references<<<1, 64>>>(p, n);
}

__global__ void moved_in_a_loop(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
// Cleared in an iteration before.
void run_moved_in_a_loop(int *p, int rounds) {
  int n = 1;
  for (int i = 0; i < rounds; ++i) {
    moved_in_a_loop<<<1, 64>>>(p, n);
    clear(std::move(n));
  }
}

__global__ void cast_in_a_loop(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
void run_cast_in_a_loop(int *p, int rounds) {
  int n = 1;
  for (int i = 0; i < rounds; ++i) {
    cast_in_a_loop<<<1, 64>>>(p, n);
    unsigned &r = reinterpret_cast<unsigned &>(n);
    r = 0;
  }
}

__global__ void made_in_its_place(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
// A number is made where another one lies.
void run_made_in_its_place(int *p) {
  int n = 1;
  new (&n) int(0);
  made_in_its_place<<<1, 64>>>(p, n);
}

struct Forgetful {
  int n;
  Forgetful(int k) : n(k) {}
  Forgetful(const Forgetful &) : n(0) {}
  Forgetful &operator=(const Forgetful &) {
    n = 0;
    return *this;
  }
};
struct HasForgetful {
  Forgetful inner;
};
struct CopiedElsewhere {
  int n;
  CopiedElsewhere(int k) : n(k) {}
  CopiedElsewhere(const CopiedElsewhere &);
};

__global__ void copied_part(int *p, int n) {
  p[threadIdx.x * n] = threadIdx.x;  // expect: data-race with self
}
__global__ void assigned_part(int *p, int n) {
  p[threadIdx.x * n] = threadIdx.x;  // expect: data-race with self
}
__global__ void copied_elsewhere(int *p, int n) {
  p[threadIdx.x * n] = threadIdx.x;  // expect: data-race with self
}

void copies_by_code(int *p) {
  HasForgetful one{Forgetful(1)};
  HasForgetful copy = one;
  copied_part<<<1, 64>>>(p, copy.inner.n);
  HasForgetful other{Forgetful(1)};
  other = one;
  assigned_part<<<1, 64>>>(p, other.inner.n);
  CopiedElsewhere given(1);
  CopiedElsewhere there = given;
  copied_elsewhere<<<1, 64>>>(p, there.n);
}

// What `>>` returns is the stream: nothing that is called later can set `n` through it.
__global__ void read_from_a_stream(int *p, int n) {  // expect: race-free
  p[threadIdx.x * n] = threadIdx.x;
}

void anything();
void reads_a_stream(int *p) {
  int n, m;
  std::cin >> n >> m;
  if (n < 1 || n > 1000) return;
  anything();
  read_from_a_stream<<<1, 64>>>(p, n);
}
