// Class templates: objects of their instances, made in kernels and by the host.

#include <cuda_runtime.h>

template <int K>
struct Step {
  int scale, offset;
  __host__ __device__ Step(int s, int o = 0) : scale(s), offset(o) {}
  __host__ __device__ int at(int i) const { return i * scale + offset; }
};

// The template argument that is written before the constructor's arguments is none of them.
template <int N>
__device__ Step<N - 1> step(int scale) {
  return Step<N - 1>(scale, 1);
}

template <int N>
__global__ void scaled_by_one(int *p) {  // expect: race-free
  p[step<N>(1).at(threadIdx.x)] = threadIdx.x;
}

template <int N>
__global__ void scaled_by_zero(int *p) {
  p[step<N>(0).at(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void passed_one(int *p, Step<2> s) {  // expect: race-free
  p[s.at(threadIdx.x)] = threadIdx.x;
}

__global__ void passed_zero(int *p, Step<2> s) {
  p[s.at(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-block with self
}

template <int N>
void launch_steps(int *p) {
  scaled_by_one<N><<<1, 64>>>(p);
  scaled_by_zero<N><<<1, 64>>>(p);
  passed_one<<<1, 64>>>(p, Step<N - 1>(1, 3));
  passed_zero<<<1, 64>>>(p, Step<N - 1>(0, 3));
  Step<N - 1> kept(1);
  passed_one<<<1, 64>>>(p, kept);
}

void launch_all_steps(int *p) { launch_steps<3>(p); }

// What the members of two views point to is known as it is of parameters.
template <typename T>
struct View {
  T *data;
  int size;
  __device__ T &operator[](int i) const { return data[i]; }
};

__global__ void views_of_one_array(View<float> to, View<float> from) {
  to[threadIdx.x] = from[threadIdx.x + 1];  // expect: data-race intra-block with self
}

__global__ void views_apart(View<float> to, View<float> from) {  // expect: race-free
  to[threadIdx.x] = from[threadIdx.x + 1];
}

void launch_views(float *f, int n) {
  if (n < 64) return;
  View<float> a{f, n}, b{f, n};
  views_of_one_array<<<1, 64>>>(a, b);
  views_apart<<<1, 64>>>(a, View<float>{f + n, n});
}

// Destructors of instances run too.
template <typename T>
struct Restore {
  T *place, value;
  Restore(T *p, T v) : place(p), value(v) {}
  ~Restore() { *place = value; }
};

template <typename T>
struct Guard {
  Restore<T> inner;
};

__global__ void before_the_end(int *p, int stride) {  // expect: race-free
  p[stride * threadIdx.x] = threadIdx.x;
}

__global__ void after_the_end(int *p, int stride) {
  p[stride * threadIdx.x] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void after_the_end_of_a_member(int *p, int stride) {
  p[stride * threadIdx.x] = threadIdx.x;  // expect: data-race intra-block with self
}

void launch_guarded(int *p) {
  int stride = 1;
  {
    Restore<int> restore(&stride, 0);
    before_the_end<<<1, 64>>>(p, stride);
  }
  after_the_end<<<1, 64>>>(p, stride);
  stride = 1;
  {
    Guard<int> guard{{&stride, 0}};
  }
  after_the_end_of_a_member<<<1, 64>>>(p, stride);
}

// Members with initialisers of their own have those values unless something else is said.
struct Options {
  int stride = 1;
  bool on = true;
  int shift;
};

template <int K>
struct Chosen {
  int stride = 1;
  int other;
};

__global__ void by_default(int *p, Options o) {  // expect: race-free
  p[o.on ? o.stride * threadIdx.x : 0] = threadIdx.x;
}

__global__ void by_choice(int *p, Options o) {
  p[o.stride * threadIdx.x] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void by_default_of_an_instance(int *p, Chosen<2> o) {  // expect: race-free
  p[o.stride * threadIdx.x] = threadIdx.x;
}

void launch_options(int *p) {
  Options plain;
  by_default<<<1, 64>>>(p, plain);
  by_default<<<1, 64>>>(p, Options{});
  by_default<<<1, 64>>>(p, Options{3});
  by_choice<<<1, 64>>>(p, Options{0});
  plain.stride = 0;
  by_choice<<<1, 64>>>(p, plain);
  Chosen<2> chosen;
  by_default_of_an_instance<<<1, 64>>>(p, chosen);
  by_default_of_an_instance<<<1, 64>>>(p, Chosen<2>{2});
}

// A class of the user's with the name of a number class.
template <int K>
struct Half {
  __device__ void operator()(int *p, int i) const { p[i / K] = i; }  // expect: data-race intra-block with self
};

__global__ void through_a_functor(int *p) {
  Half<2> put;
  put(p, threadIdx.x);
}

void launch_functor(int *p) { through_a_functor<<<1, 64>>>(p); }
