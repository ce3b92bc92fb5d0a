// Kernels whose address goes where launches are not seen: the launches at hand are not all. With twins where it stays in
// sight.
#include <functional>

namespace in_registered {
__global__ void registered(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

void enlist(void (*kernel)(int *, int));
void launch(int *out) {
  enlist(registered);
  registered<<<1, 64>>>(out, 64);
}
}

namespace in_asked {
__global__ void asked(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Asked for something.
void launch(int *out) {
  int grid, block;
  cudaFuncSetAttribute(asked, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, asked, 0, 0);
  asked<<<1, 64>>>(out, 64);
}
}

namespace in_by_template_a {
__global__ void by_template_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

template <void (*KERNEL)(int *, int)> void start(int *out, int n);
void launch(int *out) {
  start<by_template_a>(out, 3);
  by_template_a<<<1, 64>>>(out, 64);
}
}

namespace in_by_template_b {
__global__ void by_template_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

template <void (*KERNEL)(int *, int)> void start_here(int *out, int n) { KERNEL<<<1, 64>>>(out, n); }
void launch(int *out) { start_here<by_template_b>(out, 64); }
}

namespace in_any_arguments {
__global__ void any_arguments(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

void start(const void *kernel, dim3 grid, dim3 block, void **arguments);
void launch(int *out) {
  int n = 3;
  void *arguments[] = {&out, &n};
  start((const void *)any_arguments, dim3(1), dim3(64), arguments);
  any_arguments<<<1, 64>>>(out, 64);
}
}

namespace in_in_an_object_a {
__global__ void in_an_object_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

struct Plan { void (*kernel)(int *, int); int n; };
void submit(const Plan &plan);
void launch(int *out) {
  Plan plan{in_an_object_a, 3};
  submit(plan);
  in_an_object_a<<<1, 64>>>(out, 64);
}
}

namespace in_in_an_object_b {
__global__ void in_an_object_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

struct Plan { void (*kernel)(int *, int); int n; };
static void submit(int *out, const Plan &plan) { plan.kernel<<<1, 64>>>(out, plan.n); }
void launch(int *out) {
  Plan plan{in_an_object_b, 64};
  submit(out, plan);
}
}

namespace in_of_a_registrar {
__global__ void of_a_registrar(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

// The constructor of a global object is given it.
struct Registrar { Registrar(const char *name, void (*kernel)(int *, int)); };
static Registrar registrar("kernel", of_a_registrar);
void launch(int *out) { of_a_registrar<<<1, 64>>>(out, 64); }
}

namespace in_in_a_graph {
__global__ void in_a_graph(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

void launch(int *out, cudaGraph_t graph) {
  cudaKernelNodeParams node = {};
  int n = 3;
  void *arguments[] = {&out, &n};
  node.func = (void *)in_a_graph;
  node.gridDim = dim3(1);
  node.blockDim = dim3(64);
  node.kernelParams = arguments;
  cudaGraphNode_t added;
  cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node);
  in_a_graph<<<1, 64>>>(out, 64);
}
}

namespace in_in_a_table {
__global__ void in_a_table(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// A table that is read in sight.
static void (*const table[])(int *, int) = {in_a_table};
void launch(int *out, int i) { table[i]<<<1, 64>>>(out, 64); }
}

namespace in_of_a_virtual_function {
__global__ void of_a_virtual_function(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

// The function of a template that a base's function means.
struct Job { virtual void run(int *out, int n) = 0; };
template <int N> struct Task : Job { void run(int *out, int n) override { of_a_virtual_function<<<1, N>>>(out, n); } };
void start_job(Job *job, int *out) { job->run(out, 3); }
void launch(int *out) {
  Task<64> task;
  start_job(&task, out);
  of_a_virtual_function<<<1, 64>>>(out, 64);
}
}

namespace in_in_a_lambda_that_names_anew {
__global__ void in_a_lambda_that_names_anew(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: possible-data-race with self
}

void launch(int *out) {
  in_a_lambda_that_names_anew<<<1, 64>>>(out, 64);
  auto again = [&p = out] { in_a_lambda_that_names_anew<<<1, 64>>>(p, 3); };
  again();
}
}

namespace in_in_a_lambda {
__global__ void in_a_lambda(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

void launch(int *out) {
  auto once = [&] { in_a_lambda<<<1, 64>>>(out, 64); };
  once();
}
}
