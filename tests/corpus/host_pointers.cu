// Which pointers a launch passes together. The kernels read `from` mirrored and write `to`: they race exactly if both
// point into the same memory.

#include <utility>
#include <vector>

#include <thrust/device_vector.h>

__global__ void swapped(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_swapped(float *a, float *b) {
  for (int i = 0; i < 5; ++i) {
    swapped<<<1, 64>>>(a, b);
    float *c = a;
    a = b;
    b = c;
  }
}

__global__ void half_swapped(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// The swap loses one of the two.
void launch_half_swapped(float *a, float *b) {
  for (int i = 0; i < 5; ++i) {
    half_swapped<<<1, 64>>>(a, b);
    float *c = b;
    a = c;
    b = a;
  }
}

__global__ void flipped_index(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_flipped_index() {
  float *buffers[2];
  cudaMalloc(&buffers[0], 256);
  cudaMalloc(&buffers[1], 256);
  int now = 0;
  for (int i = 0; i < 5; ++i) {
    flipped_index<<<1, 64>>>(buffers[now], buffers[1 - now]);
    now = 1 - now;
  }
}

__global__ void stuck_index(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// The other index is not flipped.
void launch_stuck_index() {
  float *buffers[2];
  cudaMalloc(&buffers[0], 256);
  cudaMalloc(&buffers[1], 256);
  int now = 0, next = 1;
  for (int i = 0; i < 5; ++i) {
    stuck_index<<<1, 64>>>(buffers[now], buffers[next]);
    now = 1 - now;
  }
}

__global__ void swapped_indices(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_swapped_indices() {
  float *buffers[2];
  for (int i = 0; i < 2; ++i) cudaMalloc(&buffers[i], 256);
  int source = 0, target = 1;
  for (int i = 0; i < 5; ++i) {
    swapped_indices<<<1, 64>>>(buffers[target], buffers[source]);
    std::swap(source, target);
  }
}

__global__ void chosen_alike(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_chosen_alike(float *a, float *b) {
  for (int i = 0; i < 5; ++i) {
    float *to = i % 2 ? a : b;
    float *from = i % 2 ? b : a;
    chosen_alike<<<1, 64>>>(to, from);
  }
}

__global__ void chosen_otherwise(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// Two conditions that are not each other's opposite.
void launch_chosen_otherwise(float *a, float *b) {
  for (int i = 0; i < 5; ++i) {
    float *to = i % 2 ? a : b;
    float *from = i % 3 ? b : a;
    chosen_otherwise<<<1, 64>>>(to, from);
  }
}

__global__ void by_parity(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_by_parity(std::vector<float *> &buffers) {
  for (int i = 0; i < 5; ++i) by_parity<<<1, 64>>>(buffers[i % 2], buffers[(i + 1) % 2]);
}

__global__ void by_same_parity(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_by_same_parity(std::vector<float *> &buffers) {
  for (int i = 0; i < 5; ++i) by_same_parity<<<1, 64>>>(buffers[i % 2], buffers[(i + 4) % 2]);
}

__global__ void mirrored_pointers(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// In the middle both are one.
void launch_mirrored_pointers(float **rows) {
  for (int i = 0; i < 5; ++i) mirrored_pointers<<<1, 64>>>(rows[i], rows[4 - i]);
}

__global__ void mirrored_halves(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_mirrored_halves(float **rows) {
  for (int i = 0; i < 2; ++i) mirrored_halves<<<1, 64>>>(rows[i], rows[4 - i]);
}

__global__ void maybe_first(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

// Only if somebody asks for the first.
void launch_maybe_first(float **rows, int which) {
  maybe_first<<<1, 64>>>(rows[which], rows[0]);
}

__global__ void never_first(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_never_first(float **rows, int which) {
  if (which > 0) never_first<<<1, 64>>>(rows[which], rows[0]);
}

float *aligned_up(float *p);
float *allocated_for(int n);

__global__ void derived(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

// What the function makes of the pointer is not in sight.
void launch_derived(float *a) {
  derived<<<1, 64>>>(a, aligned_up(a));
}

__global__ void not_derived(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_not_derived(float *a) {
  not_derived<<<1, 64>>>(a, allocated_for(64));
}

__global__ void through_number(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

void launch_through_number(float *a) {
  size_t at = ((size_t)a + 255) / 256 * 256;
  through_number<<<1, 64>>>(a, (const float *)at);
}

__global__ void element_address(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_element_address(float *a) {
  element_address<<<1, 64>>>(a, &a[32]);
}

__global__ void far_element_address(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_far_element_address(float *a) {
  far_element_address<<<1, 64>>>(a, &a[64]);
}

struct Solver {
  float *now, *next;
  void step();
  void lose();
  void run() {
    for (int i = 0; i < 5; ++i) step();
  }
  void run_badly() {
    for (int i = 0; i < 5; ++i) lose();
  }
};

__global__ void step_forth(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void Solver::step() {
  step_forth<<<1, 64>>>(next, now);
  std::swap(now, next);
}

__global__ void step_in_place(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void Solver::lose() {
  step_in_place<<<1, 64>>>(next, now);
  now = next;
}

__managed__ float managed[128];
__device__ float table[128];

__global__ void by_name_too(float *to) {
  to[threadIdx.x] = managed[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_by_name_too() { by_name_too<<<1, 64>>>(managed); }

__global__ void other_half_by_name(float *to) {  // expect: race-free
  to[threadIdx.x] = managed[63 - threadIdx.x];
}

void launch_other_half_by_name() { other_half_by_name<<<1, 64>>>(managed + 64); }

__global__ void by_symbol_address(float *to) {
  to[threadIdx.x] = table[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_by_symbol_address() {
  float *p;
  cudaGetSymbolAddress((void **)&p, table);
  by_symbol_address<<<1, 64>>>(p);
}

__global__ void by_other_symbol(float *to) {  // expect: race-free
  to[threadIdx.x] = table[63 - threadIdx.x];
}

void launch_by_other_symbol() {
  float *p;
  cudaGetSymbolAddress((void **)&p, managed);
  by_other_symbol<<<1, 64>>>(p);
}

__device__ const float *stored_source;

__global__ void through_stored(float *to) {  // expect: unknown(pointer)
  to[threadIdx.x] = stored_source[63 - threadIdx.x];
}

void launch_through_stored(float *a) {
  cudaMemcpyToSymbol(stored_source, &a, sizeof(a));
  through_stored<<<1, 64>>>(a);
}

__device__ const float *other_source;

__global__ void through_other_stored(float *to) {  // expect: race-free
  to[threadIdx.x] = other_source[63 - threadIdx.x];
}

void launch_through_other_stored(float *a, float *b) {
  cudaMemcpyToSymbol(other_source, &b, sizeof(b));
  through_other_stored<<<1, 64>>>(a);
}

struct Pair {
  float *to;
  const float *from;
};

__global__ void by_fields(Pair p) {  // expect: race-free
  p.to[threadIdx.x] = p.from[63 - threadIdx.x];
}

void launch_by_fields(float *a, float *b, int rounds) {
  Pair p{a, b};
  for (int i = 0; i < rounds; ++i) by_fields<<<1, 64>>>(p);
}

__global__ void by_fields_later_alike(Pair p) {
  p.to[threadIdx.x] = p.from[63 - threadIdx.x];  // expect: data-race with +0
}

// From the second round on both fields are one pointer.
void launch_by_fields_later_alike(float *a, float *b, int rounds) {
  Pair p{a, b};
  for (int i = 0; i < rounds; ++i) {
    by_fields_later_alike<<<1, 64>>>(p);
    p.from = p.to;
  }
}

float *first_global, *second_global;

__global__ void by_globals(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_by_globals(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    by_globals<<<1, 64>>>(first_global, second_global);
    std::swap(first_global, second_global);
  }
}

__global__ void by_lost_global(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_by_lost_global(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    by_lost_global<<<1, 64>>>(first_global, second_global);
    first_global = second_global;
  }
}

__global__ void rotated(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_rotated(float *a, float *b, float *c, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < 2; ++k) {
      rotated<<<1, 64>>>(a, b);
      float *d = a;
      a = b;
      b = c;
      c = d;
    }
    std::swap(b, c);
  }
}

__global__ void lost_outside(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// The inner loop is right, the outer one gives it the same pointer twice.
void launch_lost_outside(float *a, float *b, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < 2; ++k) {
      lost_outside<<<1, 64>>>(a, b);
      std::swap(a, b);
    }
    b = a;
  }
}

__global__ void by_jump(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

void launch_by_jump(float *a, float *b) {
again:
  by_jump<<<1, 64>>>(a, b);
  a = b;
  if (allocated_for(1)) goto again;
}

struct Link {
  float *data;
  Link *next;
};

__global__ void along_list(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

// Both are the first link to begin with.
void launch_along_list(Link *list) {
  Link *before = list;
  for (Link *now = list; now; now = now->next) {
    along_list<<<1, 64>>>(now->data, before->data);
    before = now;
  }
}

__global__ void in_rows(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_in_rows(int rounds) {
  float *rows[2][2];
  for (int i = 0; i < 4; ++i) cudaMalloc(&rows[i / 2][i % 2], 256);
  for (int i = 0; i < rounds; ++i) in_rows<<<1, 64>>>(rows[0][i & 1], rows[1][i & 1]);
}

__global__ void across_rows(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_across_rows(int rounds) {
  float *rows[2][2];
  for (int i = 0; i < 4; ++i) cudaMalloc(&rows[i / 2][i % 2], 256);
  for (int i = 0; i < rounds; ++i) across_rows<<<1, 64>>>(rows[i & 1][1], rows[0][1]);
}

__global__ void twice_one_vector(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_twice_one_vector(thrust::device_vector<float> &v) {
  twice_one_vector<<<1, 64>>>(thrust::raw_pointer_cast(&v[0]), thrust::raw_pointer_cast(v.data()));
}

__global__ void of_two_vectors(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_of_two_vectors(thrust::device_vector<float> &v, thrust::device_vector<float> &w) {
  of_two_vectors<<<1, 64>>>(thrust::raw_pointer_cast(&v[0]), thrust::raw_pointer_cast(w.data()));
}

__global__ void of_one_record(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_of_one_record(Link *links, int i) {
  of_one_record<<<1, 64>>>(links[i].data, links[i].data);
}

__global__ void of_neighbours(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_of_neighbours(Link *links) {
  for (int i = 0; i < 4; ++i) of_neighbours<<<1, 64>>>(links[i].data, links[i + 1].data);
}

__global__ void of_some_record(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

// The first round passes the same twice.
void launch_of_some_record(std::vector<Link> &links) {
  for (int i = 0; i < 4; ++i) of_some_record<<<1, 64>>>(links[i].data, links[0].data);
}

__global__ void over_a_list(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with +0
}

void launch_over_a_list(float *a, float *b) {
  for (float *p : {a, b}) over_a_list<<<1, 64>>>(p, b);
}

__global__ void over_another_list(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_over_another_list(float *a, float *b, float *c) {
  for (float *p : {a, b}) over_another_list<<<1, 64>>>(p, c);
}

__global__ void pushed_twice(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

void launch_pushed_twice(float *a) {
  std::vector<float *> list;
  list.push_back(a);
  list.push_back(a);
  pushed_twice<<<1, 64>>>(list[0], list[1]);
}

__global__ void pushed_once_each(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_pushed_once_each(float *a, float *b) {
  std::vector<float *> list;
  list.push_back(a);
  list.push_back(b);
  pushed_once_each<<<1, 64>>>(list[0], list[1]);
}

struct Holder {
  float *data() const;
  float *reserve(int n);
};

__global__ void asked_twice(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: possible-data-race with +0
}

void launch_asked_twice(Holder &h) { asked_twice<<<1, 64>>>(h.data(), h.data()); }

__global__ void reserved_twice(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void launch_reserved_twice(Holder &h) {
  float *a = h.reserve(64), *b = h.reserve(64);
  reserved_twice<<<1, 64>>>(a, b);
}

// What inherited constructors keep is what those of the base keep.
struct Kept {
  float *data;
  Kept(float *given) : data(given) {}
};
struct Lent : Kept {
  using Kept::Kept;
};

__global__ void lent_twice(float *to, const float *from) {
  to[threadIdx.x] = from[63 - threadIdx.x];  // expect: data-race with self
}

__global__ void lent_apart(float *to, const float *from) {  // expect: race-free
  to[threadIdx.x] = from[63 - threadIdx.x];
}

void lend(float *one, float *other) {
  Lent first(one), second(one), third(other);
  lent_twice<<<1, 64>>>(first.data, second.data);
  lent_apart<<<1, 64>>>(first.data, third.data);
}
