// The program has an `operator new` and an `operator delete` of its own: they run wherever memory is asked for or given back.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
#include <new>

static int size = 64;
void *operator new(size_t bytes) {
  size = 3;
  return malloc(bytes);
}
void operator delete(void *p) noexcept {
  size = 5;
  free(p);
}

namespace in_by_new {
__global__ void by_new(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out) {
  size = 64;
  int *p = new int;
  by_new<<<1, 64>>>(out, size);
}
}

namespace in_by_delete {
__global__ void by_delete(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out, int *p) {
  size = 64;
  delete p;
  by_delete<<<1, 64>>>(out, size);
}
}

namespace in_by_vector {
__global__ void by_vector(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out) {
  size = 64;
  std::vector<int> v(100);
  by_vector<<<1, 64>>>(out, size);
}
}

namespace in_by_owner {
__global__ void by_owner(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out) {
  size = 64;
  auto p = std::make_unique<int>(3);
  by_owner<<<1, 64>>>(out, size);
}
}

namespace in_of_another {
__global__ void of_another(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// They leave other variables as they are.
static int other = 64;
void launch(int *out, int *p) {
  other = 64;
  std::vector<int> v(100);
  delete p;
  of_another<<<1, 64>>>(out, other);
}
}

namespace in_by_malloc {
__global__ void by_malloc(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

void launch(int *out) {
  size = 64;
  void *p = malloc(4);
  free(p);
  by_malloc<<<1, 64>>>(out, size);
}
}
