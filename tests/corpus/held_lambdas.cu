// Lambdas in objects: whoever has the object may call them, and they change what they refer to, or launch with it.
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace in_guarded_a {
__global__ void guarded_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The destructor calls the lambda that the object was made with.
template <class F> struct Guard {
  F f;
  explicit Guard(F f) : f(f) {}
  ~Guard() { f(); }
};
void launch(int *out) {
  int n = 64;
  {
    auto shrink = [&] { n = 3; };
    Guard<decltype(shrink)> guard(shrink);
  }
  guarded_a<<<1, 64>>>(out, n);
}
}

namespace in_guarded_b {
__global__ void guarded_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// It only gives memory back.
template <class F> struct Guard {
  F f;
  explicit Guard(F f) : f(f) {}
  ~Guard() { f(); }
};
void launch() {
  int n = 64;
  int *out;
  cudaMalloc(&out, n * sizeof(int));
  auto release = [&] { cudaFree(out); };
  Guard<decltype(release)> guard(release);
  guarded_b<<<1, 64>>>(out, n);
}
}

namespace in_deferred_a {
__global__ void deferred_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

struct Deferred {
  std::function<void()> f;
  ~Deferred() { f(); }
};
void launch(int *out) {
  int n = 64;
  { Deferred deferred{[&] { n = 3; }}; }
  deferred_a<<<1, 64>>>(out, n);
}
}

namespace in_deferred_b {
__global__ void deferred_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// It counts something else.
struct Deferred {
  std::function<void()> f;
  ~Deferred() { f(); }
};
void launch(int *out) {
  int n = 64, calls = 0;
  { Deferred deferred{[&] { ++calls; }}; }
  deferred_b<<<1, 64>>>(out, n);
}
}

namespace in_overridden {
__global__ void overridden(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A virtual function of a template calls it, through a pointer to the base.
struct Job {
  virtual void run() = 0;
};
template <class F> struct Task : Job {
  F f;
  Task(F f) : f(f) {}
  void run() override { f(); }
};
void launch(int *out) {
  int n = 64;
  auto shrink = [&n] { n = 3; };
  Task<decltype(shrink)> task(shrink);
  Job *job = &task;
  job->run();
  overridden<<<1, 64>>>(out, n);
}
}

namespace in_in_an_array_a {
__global__ void in_an_array_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out) {
  int n = 64;
  std::function<void()> steps[2] = {[&] { n = 3; }, [] {}};
  for (int i = 0; i < 2; ++i) steps[i]();
  in_an_array_a<<<1, 64>>>(out, n);
}
}

namespace in_in_an_array_b {
__global__ void in_an_array_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

void launch(int *out) {
  int n = 64, calls = 0;
  std::function<void()> steps[2] = {[&] { ++calls; }, [] {}};
  for (int i = 0; i < 2; ++i) steps[i]();
  in_an_array_b<<<1, 64>>>(out, n);
}
}

namespace in_queued_a {
__global__ void queued_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The lambda launches later, when what it refers to has another value.
struct Queue {
  std::vector<std::function<void()>> jobs;
  void submit(std::function<void()> job) { jobs.push_back(job); }
  void drain() { for (auto &job : jobs) job(); }
};
void launch(int *out) {
  int n = 64;
  Queue queue;
  queue.submit([&] { queued_a<<<1, 64>>>(out, n); });
  n = 3;
  queue.drain();
}
}

namespace in_queued_b {
__global__ void queued_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// It has a copy.
struct Queue {
  std::vector<std::function<void()>> jobs;
  void submit(std::function<void()> job) { jobs.push_back(job); }
  void drain() { for (auto &job : jobs) job(); }
};
void launch(int *out) {
  int n = 64;
  Queue queue;
  queue.submit([=] { queued_b<<<1, 64>>>(out, n); });
  n = 3;
  queue.drain();
}
}

namespace in_queued_c {
__global__ void queued_c(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Nothing changes what it refers to.
struct Queue {
  std::vector<std::function<void()>> jobs;
  void submit(std::function<void()> job) { jobs.push_back(job); }
  void drain() { for (auto &job : jobs) job(); }
};
void launch(int *out) {
  int n = 64, m = 64;
  Queue queue;
  queue.submit([&] { queued_c<<<1, 64>>>(out, n); });
  m = 3;
  queue.drain();
}
}

namespace in_queued_this {
__global__ void queued_this(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// What the object holds that it refers to.
struct Queue {
  std::vector<std::function<void()>> jobs;
  void submit(std::function<void()> job) { jobs.push_back(job); }
  void drain() { for (auto &job : jobs) job(); }
};
struct Runner {
  int n = 64;
  int *out;
  void arm(Queue &queue) { queue.submit([this] { queued_this<<<1, 64>>>(out, n); }); }
};
void launch(int *out) {
  Queue queue;
  Runner runner;
  runner.out = out;
  runner.arm(queue);
  runner.n = 3;
  queue.drain();
}
}

namespace in_calls_itself {
__global__ void calls_itself(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch(int *out) {
  int n = 64;
  std::function<void(int)> step = [&](int left) {
    if (left) step(left - 1);
    else n = 3;
  };
  step(3);
  calls_itself<<<1, 64>>>(out, n);
}
}

namespace in_in_a_loop_a {
__global__ void in_a_loop_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The thread of one round changes what the next one launches with.
void launch(int *out, int rounds) {
  int n = 64;
  auto shrink = [&] { n = 3; };
  for (int i = 0; i < rounds; ++i) {
    in_a_loop_a<<<1, 64>>>(out, n);
    std::thread thread(shrink);
    thread.join();
  }
}
}

namespace in_in_a_loop_b {
__global__ void in_a_loop_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

void launch(int *out, int rounds) {
  int n = 64, calls = 0;
  auto count = [&] { ++calls; };
  for (int i = 0; i < rounds; ++i) {
    in_a_loop_b<<<1, 64>>>(out, n);
    std::thread thread(count);
    thread.join();
  }
}
}

namespace in_in_a_table {
__global__ void in_a_table(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A lambda in what initialises a variable launches, too.
static void (*const table[])(int *, int) = {[](int *out, int n) { in_a_table<<<1, 64>>>(out, n); }};
void right(int *out) { in_a_table<<<1, 64>>>(out, 64); }
void launch(int *out, int i) { table[i](out, 3); }
}

// Lambdas that macros write name anew what they refer to: in the macro's arguments, and in the macro alone.
#define NAMED_ANEW(name, variable, body) [&name = variable] { body; }
#define NAMES_SIZE_ANEW(value) [&named = size] { named = value; }
#define NAMES_NOTHING_ANEW(value) [&size] { size = value; }

namespace in_named_anew_a {
__global__ void named_anew_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}
void launch(int *out) {
  int n = 64, other = 64;
  auto shrink = NAMED_ANEW(n, other, n = 3);
  shrink();
  named_anew_a<<<1, 64>>>(out, other);
}
}

namespace in_named_anew_b {
__global__ void named_anew_b(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}
void launch(int *out) {
  int size = 64;
  auto shrink = NAMES_SIZE_ANEW(3);
  shrink();
  named_anew_b<<<1, 64>>>(out, size);
}
}

namespace in_named_anew_c {
__global__ void named_anew_c(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}
void launch(int *out) {
  int size = 3;
  auto grow = NAMES_NOTHING_ANEW(64);
  grow();
  named_anew_c<<<1, 64>>>(out, size);
}
}
