// Calls of launching functions that do not stand in the text as calls by name, and what another definition may replace.
#include <cuda_runtime.h>

// By name only.
__global__ void called_by_name(int *a, int s) {  // expect: race-free
  a[threadIdx.x * s] = threadIdx.x;
}
static void launch_called_by_name(int *p, int s) { called_by_name<<<1, 64>>>(p, s); }
void run_called_by_name(int *p) {
  launch_called_by_name(p, 1);
  launch_called_by_name(p, 2);
}

// As an argument of a template.
__global__ void called_by_a_template(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
static void launch_called_by_a_template(int *p, int s) { called_by_a_template<<<1, 64>>>(p, s); }
template <void F(int *, int)> void apply(int *p, int s) { F(p, s); }
void run_called_by_a_template(int *p) {
  launch_called_by_a_template(p, 1);
  apply<launch_called_by_a_template>(p, 0);
}

// Through a pointer to a member function that is handed on.
__global__ void called_through_a_member(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
struct Launcher {
  void launch(int *p, int s) { called_through_a_member<<<1, 64>>>(p, s); }
};
static void pass_on(Launcher &l, void (Launcher::*f)(int *, int), int *p) { (l.*f)(p, 0); }
void run_called_through_a_member(int *p) {
  Launcher l;
  l.launch(p, 1);
  pass_on(l, &Launcher::launch, p);
}

// In an instance of a class template that only its table of virtual functions leads to.
__global__ void called_by_a_virtual(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
static void launch_called_by_a_virtual(int *p, int s) { called_by_a_virtual<<<1, 64>>>(p, s); }
struct Task {
  virtual void go(int *p) = 0;
};
template <class T> struct Nothing : Task {
  void go(int *p) override { launch_called_by_a_virtual(p, T(0)); }
};
void run_called_by_a_virtual(int *p) {
  launch_called_by_a_virtual(p, 1);
  Task *task = new Nothing<short>;
  task->go(p);
}

// Kept by an initialiser.
__global__ void kept_by_an_initialiser(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
static void launch_kept_by_an_initialiser(int *p, int s) { kept_by_an_initialiser<<<1, 64>>>(p, s); }
struct Kept {
  void (*f)(int *, int);
  Kept(void (*given)(int *, int)) : f(given) {}
  void go(int *p) { f(p, 0); }
};
static Kept *kept;
void run_kept_by_an_initialiser(int *p) {
  launch_kept_by_an_initialiser(p, 1);
  kept = new Kept(launch_kept_by_an_initialiser);
  kept->go(p);
}

// Under another symbol.
__global__ void called_under_an_alias(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
extern "C" void launch_with(int *p, int s) { called_under_an_alias<<<1, 64>>>(p, s); }
extern "C" void launch_again(int *p, int s) __attribute__((alias("launch_with")));
int main() {
  int *p;
  cudaMalloc(&p, 4096);
  launch_with(p, 1);
  launch_again(p, 0);
}

// Another definition may be linked.
__global__ void size_of_a_weak_function(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
#define REPLACEABLE __attribute__((weak))
REPLACEABLE int usual_size() { return 1; }
void run_size_of_a_weak_function(int *p) { size_of_a_weak_function<<<1, 64>>>(p, usual_size()); }

__global__ void size_of_a_function(int *a, int s) {  // expect: race-free
  a[threadIdx.x * s] = threadIdx.x;
}
int fixed_size() { return 1; }
void run_size_of_a_function(int *p) { size_of_a_function<<<1, 64>>>(p, fixed_size()); }

__global__ void size_of_a_weak_variable(int *a, int s) {
  a[threadIdx.x * s] = threadIdx.x;  // expect: data-race with self
}
extern const int weak_size __attribute__((weak));
const int weak_size = 1;
void run_size_of_a_weak_variable(int *p) { size_of_a_weak_variable<<<1, 64>>>(p, weak_size); }
