// Lambdas that the host makes and a kernel gets: copies of what they capture, with the values the host gave them.

#include <cuda_runtime.h>

#define LAMBDA [=] __device__
#define AT(a, i) (a)[i]

template <typename F>
__global__ void for_each_index(int n, F f) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

template <typename F>
__global__ void for_each_pair(int n, F f);

template <typename F>
__global__ void for_each_near(int n, F f);

int blocks(int n) { return n / 128 + 1; }

void disjoint(float *p, int n) {
  float *q = p + n;
  for_each_index<<<blocks(n), 128>>>(n, [=] __device__(int i) { p[i] = q[i]; });
  for_each_index<<<blocks(n), 128>>>(n, [p, r = p + n] __device__(int i) { AT(p, i) = AT(r, i); });
  for_each_index<<<blocks(n), 128>>>(n, LAMBDA(auto i) { p[i] += 1; });
  for_each_index<<<blocks(n), 128>>>(n, [=] __device__(int i) mutable {
    p += i;
    *p = 3;
  });
  auto half = [=] __device__(int i) { return 2 * i; };
  for_each_index<<<blocks(n), 128>>>(n, [=] __device__(int i) { p[half(i)] = p[half(i) + 1]; });
}

// What is captured is what the variable held where the lambda stands.
void captured_early(float *p, int n) {
  int stride = 1;
  auto early = [=] __device__(int i) { p[i * stride] = i; };
  stride = 0;
  for_each_index<<<blocks(n), 128>>>(n, early);
  for_each_pair<<<blocks(n), 128>>>(n, [=] __device__(int i) {
    p[i * stride] = i;  // expect: data-race intra-block with self
  });
  for_each_pair<<<blocks(n), 128>>>(n, [=] __device__(int i) mutable {
    p += i / 2;
    *p = i;  // expect: data-race intra-block with self
  });
}

template <typename F>
__global__ void for_each_pair(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

// Two names of one allocation.
void captured_twice(float *p, int n) {
  float *q = p;
  for_each_near<<<blocks(n), 128>>>(n - 1, [p, q] __device__(int i) {
    p[i] = q[i + 1];  // expect: data-race intra-block with self
  });
  for_each_near<<<blocks(n), 128>>>(n - 1, [p, q = p + 1] __device__(int i) {
    p[i] = q[i];  // expect: data-race intra-block with self
  });
}

template <typename T>
void captured_in_a_template(T *p, int n) {
  for_each_near<<<blocks(n), 128>>>(n - 1, LAMBDA(int i) {
    AT(p, i) = AT(p, i + 1);  // expect: data-race intra-block with self
  });
}

void instances(float *p, int *q, int n) {
  captured_in_a_template(p, n);
  captured_in_a_template(q, n);
}

// The object around is captured by its address, or copied.
struct Field {
  float *u, *v;
  int width;

  void copy() {
    for_each_index<<<8, 128>>>(width, [=] __device__(int i) { u[i] = v[i]; });
  }
  void shift() {
    for_each_near<<<8, 128>>>(width, [this] __device__(int i) {
      u[i] = u[i + 1];  // expect: data-race intra-block with self
    });
  }
  void halve() {
    for_each_near<<<8, 128>>>(width, [*this] __device__(int i) {
      u[i / 2] = i;  // expect: data-race intra-block with self
    });
  }
};

template <typename F>
__global__ void for_each_near(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
