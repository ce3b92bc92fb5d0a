// Copies, assignments and destructors that nobody calls by name, and members of bases with one name.

struct Marking {
  int *place;
  __device__ Marking(int *p) : place(p) {}
  __device__ Marking(const Marking &other) : place(other.place) { *place = threadIdx.x; }
};
struct Around {
  Marking marking;
  int number;
};
struct Derived : Marking {
  __device__ Derived(int *p) : Marking(p) {}
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void copies_a_member(int *p) {  // expect: unknown(constructor)
  Around one{Marking(p), 1};
  Around other = one;
  p[threadIdx.x + 1] = other.number;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void copies_a_base(int *p) {  // expect: unknown(constructor)
  Derived one(p);
  Derived other = one;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void captures_a_copy(int *p) {  // expect: unknown(constructor)
  Marking one(p);
  auto f = [one]() { return 1; };
  p[threadIdx.x + 1] = f();
}

struct Forgetting {
  int v;
  __device__ Forgetting &operator=(const Forgetting &other) {
    v = 0;
    return *this;
  }
};
struct Forgets {
  Forgetting inner;
  int k;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void assigns_a_member(int *p) {  // expect: unknown(constructor)
  Forgets x{{(int)threadIdx.x}, 1}, y{{(int)threadIdx.x}, 2};
  x = y;
  p[x.inner.v] = threadIdx.x;
}

struct Plain {
  int v;
  __device__ Plain(int k) : v(k) {}
  __device__ Plain(const Plain &other) : v(other.v) {}
};
struct Around2 {
  Plain plain;
  int k;
};

// A constructor that does what one of the compiler's would do.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void copies_plainly(int *p) {  // expect: race-free
  Around2 one{Plain(threadIdx.x), 1};
  Around2 other = one;
  p[other.plain.v] = other.k;
}

struct Swapping {
  int v, w;
  __device__ Swapping(int k) : v(k), w(0) {}
  __device__ Swapping(const Swapping &other) : v(other.w), w(other.v) {}
};
struct Around3 {
  Swapping swapping;
  int k;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void copies_other_members(int *p) {  // expect: unknown(constructor)
  Around3 one{Swapping(threadIdx.x), 1};
  Around3 other = one;
  p[other.swapping.v] = threadIdx.x;
}

struct Leaving {
  int *place;
  __device__ Leaving(int *p) : place(p) {}
  __device__ ~Leaving() { *place = threadIdx.x; }
};
struct Leaves {
  Leaving last;
  int k;
};
__device__ int taken(Leaving last) { return 1; }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void member_is_destroyed(int *p) {  // expect: unknown(destructor)
  Leaves both{Leaving(p), 1};
  p[threadIdx.x + 1] = both.k;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void elements_are_destroyed(int *p) {  // expect: unknown(destructor)
  Leaving both[2] = {Leaving(p), Leaving(p)};
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void temporary_is_destroyed(int *p) {  // expect: unknown(destructor)
  p[threadIdx.x + 1] = taken(Leaving(p));
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void what_a_reference_keeps_is_destroyed(int *p) {  // expect: unknown(destructor)
  const Leaving &kept = Leaving(p);
  p[threadIdx.x + 1] = 1;
}

struct One {
  int x;
};
struct Two {
  int x;
};
struct OneAndTwo : One, Two {
  int w;
};
struct Hiding : One {
  int x;
};

// Two members of one name in a parameter are two numbers.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_bases(int *p, OneAndTwo given) {
  OneAndTwo copy = given;
  if (copy.One::x != copy.Two::x) p[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void hidden_member(int *p, Hiding given) {
  if (given.x != given.One::x) p[0] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_member_of_a_copy(int *p, OneAndTwo given) {  // expect: race-free
  OneAndTwo copy = given;
  if (copy.Two::x != given.Two::x) p[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void elements_are_copied(int *p) {  // expect: unknown(constructor)
  Marking both[2] = {Marking(p + threadIdx.x), Marking(p + threadIdx.x)};
  for (Marking one : both) p[threadIdx.x] = 1;
}
