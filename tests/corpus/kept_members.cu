// A call leaves private members of an object alone where nothing in sight that it can run writes them: also not through
// what runs without being named.
#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <vector>

void trace(const char *text, int value);

__global__ void mirror_pointer(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Pointer {
 public:
  void Break() { step_pointer = side_pointer / 2; }
  void Mirror();

 private:
  float *cells;
  int side_pointer, step_pointer;
};
extern Pointer *shared_pointer;

void (*on_start_pointer)();
void start_pointer() { trace("starts", 1); on_start_pointer(); }
void break_pointer() { shared_pointer->Break(); }
void install_pointer() { on_start_pointer = break_pointer; }

void Pointer::Mirror() {
  assert(side_pointer > 0 && step_pointer >= side_pointer);
  start_pointer();
  dim3 grid((side_pointer + 15) / 16, (side_pointer + 15) / 16);
  mirror_pointer<<<grid, dim3(16, 16)>>>(cells, side_pointer, step_pointer);
}

__global__ void mirror_pointer_typedef(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class PointerTypedef {
 public:
  void Break() { step_pointer_typedef = side_pointer_typedef / 2; }
  void Mirror();

 private:
  float *cells;
  int side_pointer_typedef, step_pointer_typedef;
};
extern PointerTypedef *shared_pointer_typedef;

typedef void (*hook_type)(int);
struct Hooks { hook_type first; };
extern Hooks hooks;
void start_pointer_typedef() { hooks.first(3); }
void break_pointer_typedef(int) { shared_pointer_typedef->Break(); }
void install_pointer_typedef() { hooks.first = &break_pointer_typedef; }

void PointerTypedef::Mirror() {
  assert(side_pointer_typedef > 0 && step_pointer_typedef >= side_pointer_typedef);
  start_pointer_typedef();
  dim3 grid((side_pointer_typedef + 15) / 16, (side_pointer_typedef + 15) / 16);
  mirror_pointer_typedef<<<grid, dim3(16, 16)>>>(cells, side_pointer_typedef, step_pointer_typedef);
}

__global__ void mirror_std_function(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class StdFunction {
 public:
  void Break() { step_std_function = side_std_function / 2; }
  void Mirror();

 private:
  float *cells;
  int side_std_function, step_std_function;
};
extern StdFunction *shared_std_function;

std::function<void()> on_start;
void start_std_function() { trace("starts", 1); on_start(); }
void install_std_function() { on_start = [] { shared_std_function->Break(); }; }

void StdFunction::Mirror() {
  assert(side_std_function > 0 && step_std_function >= side_std_function);
  start_std_function();
  dim3 grid((side_std_function + 15) / 16, (side_std_function + 15) / 16);
  mirror_std_function<<<grid, dim3(16, 16)>>>(cells, side_std_function, step_std_function);
}

__global__ void mirror_member_pointer(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class MemberPointer {
 public:
  void Break() { step_member_pointer = side_member_pointer / 2; }
  void Mirror();

 private:
  float *cells;
  int side_member_pointer, step_member_pointer;
};
extern MemberPointer *shared_member_pointer;

void start_member_pointer(void (MemberPointer::*what)()) { trace("starts", 1); (shared_member_pointer->*what)(); }

void MemberPointer::Mirror() {
  assert(side_member_pointer > 0 && step_member_pointer >= side_member_pointer);
  start_member_pointer(&MemberPointer::Break);
  dim3 grid((side_member_pointer + 15) / 16, (side_member_pointer + 15) / 16);
  mirror_member_pointer<<<grid, dim3(16, 16)>>>(cells, side_member_pointer, step_member_pointer);
}

__global__ void mirror_temporary(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Temporary {
 public:
  void Break() { step_temporary = side_temporary / 2; }
  void Mirror();

 private:
  float *cells;
  int side_temporary, step_temporary;
};
extern Temporary *shared_temporary;

struct TemporaryGuard { TemporaryGuard(int) {} ~TemporaryGuard() { shared_temporary->Break(); } };
TemporaryGuard guarded_temporary();
void start_temporary() { trace("starts", 1); guarded_temporary(); }

void Temporary::Mirror() {
  assert(side_temporary > 0 && step_temporary >= side_temporary);
  start_temporary();
  dim3 grid((side_temporary + 15) / 16, (side_temporary + 15) / 16);
  mirror_temporary<<<grid, dim3(16, 16)>>>(cells, side_temporary, step_temporary);
}

__global__ void mirror_scope_end(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class ScopeEnd {
 public:
  void Break() { step_scope_end = side_scope_end / 2; }
  void Mirror();

 private:
  float *cells;
  int side_scope_end, step_scope_end;
};
extern ScopeEnd *shared_scope_end;

struct ScopeGuard { ~ScopeGuard() { shared_scope_end->Break(); } };
struct ScopeHolder { ScopeGuard guard; int value; };
void start_scope_end() { ScopeHolder here; trace("starts", here.value); }

void ScopeEnd::Mirror() {
  assert(side_scope_end > 0 && step_scope_end >= side_scope_end);
  start_scope_end();
  dim3 grid((side_scope_end + 15) / 16, (side_scope_end + 15) / 16);
  mirror_scope_end<<<grid, dim3(16, 16)>>>(cells, side_scope_end, step_scope_end);
}

__global__ void mirror_global_operator(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class GlobalOperator {
 public:
  void Break() { step_global_operator = side_global_operator / 2; }
  void Mirror();

 private:
  float *cells;
  int side_global_operator, step_global_operator;
};
extern GlobalOperator *shared_global_operator;

struct Counter { Counter &operator+=(int) { shared_global_operator->Break(); return *this; } };
Counter counter;
void start_global_operator() { trace("starts", 1); counter += 1; }

void GlobalOperator::Mirror() {
  assert(side_global_operator > 0 && step_global_operator >= side_global_operator);
  start_global_operator();
  dim3 grid((side_global_operator + 15) / 16, (side_global_operator + 15) / 16);
  mirror_global_operator<<<grid, dim3(16, 16)>>>(cells, side_global_operator, step_global_operator);
}

__global__ void mirror_conversion(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Conversion {
 public:
  void Break() { step_conversion = side_conversion / 2; }
  void Mirror();

 private:
  float *cells;
  int side_conversion, step_conversion;
};
extern Conversion *shared_conversion;

struct Ready { operator bool() const { shared_conversion->Break(); return true; } };
Ready ready;
void start_conversion() { trace("starts", 1); if (ready) trace("is ready", 2); }

void Conversion::Mirror() {
  assert(side_conversion > 0 && step_conversion >= side_conversion);
  start_conversion();
  dim3 grid((side_conversion + 15) / 16, (side_conversion + 15) / 16);
  mirror_conversion<<<grid, dim3(16, 16)>>>(cells, side_conversion, step_conversion);
}

__global__ void mirror_friend_function(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class FriendFunction {
 public:
  void Break() { step_friend_function = side_friend_function / 2; }
  void Mirror();

 private:
  float *cells;
  int side_friend_function, step_friend_function;
  friend void poke(FriendFunction &f, int) { f.step_friend_function = 1; }
};
extern FriendFunction *shared_friend_function;

void start_friend_function() { trace("starts", 1); poke(*shared_friend_function, 2); }

void FriendFunction::Mirror() {
  assert(side_friend_function > 0 && step_friend_function >= side_friend_function);
  start_friend_function();
  dim3 grid((side_friend_function + 15) / 16, (side_friend_function + 15) / 16);
  mirror_friend_function<<<grid, dim3(16, 16)>>>(cells, side_friend_function, step_friend_function);
}

__global__ void mirror_callback(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Callback {
 public:
  void Break() { step_callback = side_callback / 2; }
  void Mirror();

 private:
  float *cells;
  int side_callback, step_callback;
};
extern Callback *shared_callback;

void at_event(void (*what)());
void break_callback() { shared_callback->Break(); }
void install_callback() { at_event(break_callback); }
void start_callback() { trace("starts", 1); }

void Callback::Mirror() {
  assert(side_callback > 0 && step_callback >= side_callback);
  start_callback();
  dim3 grid((side_callback + 15) / 16, (side_callback + 15) / 16);
  mirror_callback<<<grid, dim3(16, 16)>>>(cells, side_callback, step_callback);
}

__global__ void mirror_stored_lambda(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class StoredLambda {
 public:
  void Break() { step_stored_lambda = side_stored_lambda / 2; }
  void Mirror();

 private:
  float *cells;
  int side_stored_lambda, step_stored_lambda;
};
extern StoredLambda *shared_stored_lambda;

auto stored = [](int) { shared_stored_lambda->Break(); };
void start_stored_lambda() { trace("starts", 1); stored(1); }

void StoredLambda::Mirror() {
  assert(side_stored_lambda > 0 && step_stored_lambda >= side_stored_lambda);
  start_stored_lambda();
  dim3 grid((side_stored_lambda + 15) / 16, (side_stored_lambda + 15) / 16);
  mirror_stored_lambda<<<grid, dim3(16, 16)>>>(cells, side_stored_lambda, step_stored_lambda);
}

__global__ void mirror_lambda_writes(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class LambdaWrites {
 public:
  void Break() { step_lambda_writes = side_lambda_writes / 2; }
  void Mirror();

 private:
  float *cells;
  int side_lambda_writes, step_lambda_writes;
  friend struct LambdaPoker;
};
extern LambdaWrites *shared_lambda_writes;

struct LambdaPoker { static std::function<void()> made(); };
std::function<void()> LambdaPoker::made() { return [] { shared_lambda_writes->step_lambda_writes = 1; }; }
std::function<void()> kept_lambda = LambdaPoker::made();
struct Runner { std::function<void()> what; void run() { what(); } };
void start_lambda_writes(Runner *runner) { trace("starts", 1); runner->run(); }

void LambdaWrites::Mirror() {
  assert(side_lambda_writes > 0 && step_lambda_writes >= side_lambda_writes);
  start_lambda_writes(nullptr);
  dim3 grid((side_lambda_writes + 15) / 16, (side_lambda_writes + 15) / 16);
  mirror_lambda_writes<<<grid, dim3(16, 16)>>>(cells, side_lambda_writes, step_lambda_writes);
}

__global__ void mirror_virtual_call(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class VirtualCall {
 public:
  void Break() { step_virtual_call = side_virtual_call / 2; }
  void Mirror();

 private:
  float *cells;
  int side_virtual_call, step_virtual_call;
};
extern VirtualCall *shared_virtual_call;

struct Listener { virtual void heard() {} void hear() { heard(); } };
struct BreakingListener : Listener { void heard() override { shared_virtual_call->Break(); } };
extern Listener *listener;
void start_virtual_call() { trace("starts", 1); listener->hear(); }

void VirtualCall::Mirror() {
  assert(side_virtual_call > 0 && step_virtual_call >= side_virtual_call);
  start_virtual_call();
  dim3 grid((side_virtual_call + 15) / 16, (side_virtual_call + 15) / 16);
  mirror_virtual_call<<<grid, dim3(16, 16)>>>(cells, side_virtual_call, step_virtual_call);
}

__global__ void mirror_static_initialiser(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class StaticInitialiser {
 public:
  void Break() { step_static_initialiser = side_static_initialiser / 2; }
  void Mirror();

 private:
  float *cells;
  int side_static_initialiser, step_static_initialiser;
};
extern StaticInitialiser *shared_static_initialiser;

struct Once { Once() { shared_static_initialiser->Break(); } };
struct OnceOuter { Once inner; };
int start_static_initialiser() { trace("starts", 1); static OnceOuter once; return 1; }

void StaticInitialiser::Mirror() {
  assert(side_static_initialiser > 0 && step_static_initialiser >= side_static_initialiser);
  start_static_initialiser();
  dim3 grid((side_static_initialiser + 15) / 16, (side_static_initialiser + 15) / 16);
  mirror_static_initialiser<<<grid, dim3(16, 16)>>>(cells, side_static_initialiser, step_static_initialiser);
}

__global__ void mirror_thread_local_one(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class ThreadLocalOne {
 public:
  void Break() { step_thread_local_one = side_thread_local_one / 2; }
  void Mirror();

 private:
  float *cells;
  int side_thread_local_one, step_thread_local_one;
};
extern ThreadLocalOne *shared_thread_local_one;

int broken_thread_local_one() { shared_thread_local_one->Break(); return 1; }
thread_local int first_use = broken_thread_local_one();
void start_thread_local_one() { trace("starts", first_use); }

void ThreadLocalOne::Mirror() {
  assert(side_thread_local_one > 0 && step_thread_local_one >= side_thread_local_one);
  start_thread_local_one();
  dim3 grid((side_thread_local_one + 15) / 16, (side_thread_local_one + 15) / 16);
  mirror_thread_local_one<<<grid, dim3(16, 16)>>>(cells, side_thread_local_one, step_thread_local_one);
}

__global__ void mirror_getter(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Getter {
 public:
  void Break() { step_getter = side_getter / 2; }
  void Mirror();

 private:
  float *cells;
  int side_getter, step_getter;
  public: int &StepOf() { return step_getter; }
};
extern Getter *shared_getter;

int *held_step;
void hold_step() { held_step = &shared_getter->StepOf(); }
void start_getter() { trace("starts", 1); *held_step = 1; }

void Getter::Mirror() {
  assert(side_getter > 0 && step_getter >= side_getter);
  start_getter();
  dim3 grid((side_getter + 15) / 16, (side_getter + 15) / 16);
  mirror_getter<<<grid, dim3(16, 16)>>>(cells, side_getter, step_getter);
}

__global__ void mirror_default_argument(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class DefaultArgument {
 public:
  void Break() { step_default_argument = side_default_argument / 2; }
  void Mirror();

 private:
  float *cells;
  int side_default_argument, step_default_argument;
};
extern DefaultArgument *shared_default_argument;

int broken_default_argument() { shared_default_argument->Break(); return 1; }
void inform(const char *text, int code = broken_default_argument());
void start_default_argument() { inform("starts"); }

void DefaultArgument::Mirror() {
  assert(side_default_argument > 0 && step_default_argument >= side_default_argument);
  start_default_argument();
  dim3 grid((side_default_argument + 15) / 16, (side_default_argument + 15) / 16);
  mirror_default_argument<<<grid, dim3(16, 16)>>>(cells, side_default_argument, step_default_argument);
}

__global__ void mirror_member_default(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class MemberDefault {
 public:
  void Break() { step_member_default = side_member_default / 2; }
  void Mirror();

 private:
  float *cells;
  int side_member_default, step_member_default;
};
extern MemberDefault *shared_member_default;

int broken_member_default() { shared_member_default->Break(); return 1; }
struct Setting { int value = broken_member_default(); Setting() {} };
Setting *made_setting() { return new Setting; }
void start_member_default() { trace("starts", 1); made_setting(); }

void MemberDefault::Mirror() {
  assert(side_member_default > 0 && step_member_default >= side_member_default);
  start_member_default();
  dim3 grid((side_member_default + 15) / 16, (side_member_default + 15) / 16);
  mirror_member_default<<<grid, dim3(16, 16)>>>(cells, side_member_default, step_member_default);
}

__global__ void mirror_holder_assigned(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class HolderAssigned {
 public:
  void Break() { step_holder_assigned = side_holder_assigned / 2; }
  void Mirror();

 private:
  float *cells;
  int side_holder_assigned, step_holder_assigned;
};
extern HolderAssigned *shared_holder_assigned;

struct Pair { HolderAssigned first, second; };
extern Pair *pair_in_use, *pair_spare;
void start_holder_assigned() { trace("starts", 1); *pair_in_use = *pair_spare; }

void HolderAssigned::Mirror() {
  assert(side_holder_assigned > 0 && step_holder_assigned >= side_holder_assigned);
  start_holder_assigned();
  dim3 grid((side_holder_assigned + 15) / 16, (side_holder_assigned + 15) / 16);
  mirror_holder_assigned<<<grid, dim3(16, 16)>>>(cells, side_holder_assigned, step_holder_assigned);
}

__global__ void mirror_overwritten(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Overwritten {
 public:
  void Break() { step_overwritten = side_overwritten / 2; }
  void Mirror();

 private:
  float *cells;
  int side_overwritten, step_overwritten;
};
extern Overwritten *shared_overwritten;

void start_overwritten() { trace("starts", 1); memset(static_cast<void *>(shared_overwritten), 0, sizeof(Overwritten)); }

void Overwritten::Mirror() {
  assert(side_overwritten > 0 && step_overwritten >= side_overwritten);
  start_overwritten();
  dim3 grid((side_overwritten + 15) / 16, (side_overwritten + 15) / 16);
  mirror_overwritten<<<grid, dim3(16, 16)>>>(cells, side_overwritten, step_overwritten);
}

__global__ void mirror_made_anew(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class MadeAnew {
 public:
  void Break() { step_made_anew = side_made_anew / 2; }
  void Mirror();

 private:
  float *cells;
  int side_made_anew, step_made_anew;
  public: explicit MadeAnew(int step) : step_made_anew(step) {}
  MadeAnew() = default;
};
extern MadeAnew *shared_made_anew;

void start_made_anew() { trace("starts", 1); new (shared_made_anew) MadeAnew(1); }

void MadeAnew::Mirror() {
  assert(side_made_anew > 0 && step_made_anew >= side_made_anew);
  start_made_anew();
  dim3 grid((side_made_anew + 15) / 16, (side_made_anew + 15) / 16);
  mirror_made_anew<<<grid, dim3(16, 16)>>>(cells, side_made_anew, step_made_anew);
}

__global__ void mirror_container_cleared(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class ContainerCleared {
 public:
  void Break() { step_container_cleared = side_container_cleared / 2; }
  void Mirror();

 private:
  float *cells;
  int side_container_cleared, step_container_cleared;
};
extern ContainerCleared *shared_container_cleared;

struct Element { ~Element() { shared_container_cleared->Break(); } };
std::vector<Element> elements;
void start_container_cleared() { trace("starts", 1); elements.clear(); }

void ContainerCleared::Mirror() {
  assert(side_container_cleared > 0 && step_container_cleared >= side_container_cleared);
  start_container_cleared();
  dim3 grid((side_container_cleared + 15) / 16, (side_container_cleared + 15) / 16);
  mirror_container_cleared<<<grid, dim3(16, 16)>>>(cells, side_container_cleared, step_container_cleared);
}

__global__ void mirror_range_loop(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class RangeLoop {
 public:
  void Break() { step_range_loop = side_range_loop / 2; }
  void Mirror();

 private:
  float *cells;
  int side_range_loop, step_range_loop;
};
extern RangeLoop *shared_range_loop;

struct Steps { int *begin() { shared_range_loop->Break(); return nullptr; } int *end() { return nullptr; } };
Steps steps_to_take;
void start_range_loop() { for (int step : steps_to_take) trace("starts", step); }

void RangeLoop::Mirror() {
  assert(side_range_loop > 0 && step_range_loop >= side_range_loop);
  start_range_loop();
  dim3 grid((side_range_loop + 15) / 16, (side_range_loop + 15) / 16);
  mirror_range_loop<<<grid, dim3(16, 16)>>>(cells, side_range_loop, step_range_loop);
}

__global__ void mirror_deleted(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Deleted {
 public:
  void Break() { step_deleted = side_deleted / 2; }
  void Mirror();

 private:
  float *cells;
  int side_deleted, step_deleted;
};
extern Deleted *shared_deleted;

struct Node { Node *next; ~Node() { shared_deleted->Break(); } };
Node *first_node;
void start_deleted() { trace("starts", 1); delete first_node; }

void Deleted::Mirror() {
  assert(side_deleted > 0 && step_deleted >= side_deleted);
  start_deleted();
  dim3 grid((side_deleted + 15) / 16, (side_deleted + 15) / 16);
  mirror_deleted<<<grid, dim3(16, 16)>>>(cells, side_deleted, step_deleted);
}

__global__ void mirror_function_object(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class FunctionObject {
 public:
  void Break() { step_function_object = side_function_object / 2; }
  void Mirror();

 private:
  float *cells;
  int side_function_object, step_function_object;
};
extern FunctionObject *shared_function_object;

struct Breaker { void operator()(int) const { shared_function_object->Break(); } };
Breaker breaker;
void start_function_object() { trace("starts", 1); breaker(1); }

void FunctionObject::Mirror() {
  assert(side_function_object > 0 && step_function_object >= side_function_object);
  start_function_object();
  dim3 grid((side_function_object + 15) / 16, (side_function_object + 15) / 16);
  mirror_function_object<<<grid, dim3(16, 16)>>>(cells, side_function_object, step_function_object);
}

__global__ void mirror_template_operator(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class TemplateOperator {
 public:
  void Break() { step_template_operator = side_template_operator / 2; }
  void Mirror();

 private:
  float *cells;
  int side_template_operator, step_template_operator;
};
extern TemplateOperator *shared_template_operator;

struct Total { void operator<<(int) { shared_template_operator->Break(); } };
Total total;
template <class T> void added(T &to) { trace("adds", 1); to << 1; }
void start_template_operator() { added(total); }

void TemplateOperator::Mirror() {
  assert(side_template_operator > 0 && step_template_operator >= side_template_operator);
  start_template_operator();
  dim3 grid((side_template_operator + 15) / 16, (side_template_operator + 15) / 16);
  mirror_template_operator<<<grid, dim3(16, 16)>>>(cells, side_template_operator, step_template_operator);
}

__global__ void mirror_comparison(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Comparison {
 public:
  void Break() { step_comparison = side_comparison / 2; }
  void Mirror();

 private:
  float *cells;
  int side_comparison, step_comparison;
};
extern Comparison *shared_comparison;

struct Key { int value; };
bool operator<(const Key &a, const Key &b) { shared_comparison->Break(); return a.value < b.value; }
std::vector<Key> keys;
void start_comparison() { trace("starts", 1); std::sort(keys.begin(), keys.end()); }

void Comparison::Mirror() {
  assert(side_comparison > 0 && step_comparison >= side_comparison);
  start_comparison();
  dim3 grid((side_comparison + 15) / 16, (side_comparison + 15) / 16);
  mirror_comparison<<<grid, dim3(16, 16)>>>(cells, side_comparison, step_comparison);
}

__global__ void mirror_pasted(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Pasted {
 public:
  void Break() { step_pasted = side_pasted / 2; }
  void Mirror();

 private:
  float *cells;
  int side_pasted, step_pasted;
};
extern Pasted *shared_pasted;

#define CALLS(what) break_##what()
void break_pasted() { shared_pasted->Break(); }
void start_pasted() { trace("starts", 1); CALLS(pasted); }

void Pasted::Mirror() {
  assert(side_pasted > 0 && step_pasted >= side_pasted);
  start_pasted();
  dim3 grid((side_pasted + 15) / 16, (side_pasted + 15) / 16);
  mirror_pasted<<<grid, dim3(16, 16)>>>(cells, side_pasted, step_pasted);
}

__global__ void mirror_waits(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

class Waits {
 public:
  void Break() { step_waits = side_waits / 2; }
  void Mirror();

 private:
  float *cells;
  int side_waits, step_waits;
};
extern Waits *shared_waits;

extern std::thread worker;
void work() { shared_waits->Break(); }
void begin_work() { worker = std::thread(work); }
void start_waits() { trace("starts", 1); worker.join(); }

void Waits::Mirror() {
  assert(side_waits > 0 && step_waits >= side_waits);
  start_waits();
  dim3 grid((side_waits + 15) / 16, (side_waits + 15) / 16);
  mirror_waits<<<grid, dim3(16, 16)>>>(cells, side_waits, step_waits);
}

__global__ void mirror_good_plain(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodPlain {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_plain, step_good_plain;
};
extern GoodPlain *shared_good_plain;

void start_good_plain() { trace("starts", 1); }

void GoodPlain::Mirror() {
  assert(side_good_plain > 0 && step_good_plain >= side_good_plain);
  start_good_plain();
  dim3 grid((side_good_plain + 15) / 16, (side_good_plain + 15) / 16);
  mirror_good_plain<<<grid, dim3(16, 16)>>>(cells, side_good_plain, step_good_plain);
}

__global__ void mirror_good_guard(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodGuard {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_guard, step_good_guard;
};
extern GoodGuard *shared_good_guard;

struct QuietGuard { int value; explicit QuietGuard(int v) : value(v) {} ~QuietGuard() { trace("ends", value); } };
void start_good_guard() { QuietGuard guard(3); trace("starts", 1); }

void GoodGuard::Mirror() {
  assert(side_good_guard > 0 && step_good_guard >= side_good_guard);
  start_good_guard();
  dim3 grid((side_good_guard + 15) / 16, (side_good_guard + 15) / 16);
  mirror_good_guard<<<grid, dim3(16, 16)>>>(cells, side_good_guard, step_good_guard);
}

__global__ void mirror_good_operator(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodOperator {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_operator, step_good_operator;
};
extern GoodOperator *shared_good_operator;

struct Tally { int count; Tally &operator+=(int by) { count += by; return *this; } explicit operator bool() const { return count > 0; } };
Tally tally;
void start_good_operator() { trace("starts", 1); tally += 2; if (tally) trace("counted", 3); }

void GoodOperator::Mirror() {
  assert(side_good_operator > 0 && step_good_operator >= side_good_operator);
  start_good_operator();
  dim3 grid((side_good_operator + 15) / 16, (side_good_operator + 15) / 16);
  mirror_good_operator<<<grid, dim3(16, 16)>>>(cells, side_good_operator, step_good_operator);
}

__global__ void mirror_good_pointer(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodPointer {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_pointer, step_good_pointer;
};
extern GoodPointer *shared_good_pointer;

void say_hello(int code) { trace("hello", code); }
void (*greeting)(int) = say_hello;
void start_good_pointer() { greeting(3); }

void GoodPointer::Mirror() {
  assert(side_good_pointer > 0 && step_good_pointer >= side_good_pointer);
  start_good_pointer();
  dim3 grid((side_good_pointer + 15) / 16, (side_good_pointer + 15) / 16);
  mirror_good_pointer<<<grid, dim3(16, 16)>>>(cells, side_good_pointer, step_good_pointer);
}

__global__ void mirror_good_virtual(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodVirtual {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_virtual, step_good_virtual;
};
extern GoodVirtual *shared_good_virtual;

struct Speaker { virtual ~Speaker() {} virtual void speak() {} void twice() { speak(); speak(); } };
struct LoudSpeaker : Speaker { void speak() override { trace("hello", 5); } };
extern Speaker *speaker;
void start_good_virtual() { speaker->twice(); }

void GoodVirtual::Mirror() {
  assert(side_good_virtual > 0 && step_good_virtual >= side_good_virtual);
  start_good_virtual();
  dim3 grid((side_good_virtual + 15) / 16, (side_good_virtual + 15) / 16);
  mirror_good_virtual<<<grid, dim3(16, 16)>>>(cells, side_good_virtual, step_good_virtual);
}

__global__ void mirror_good_conversion(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodConversion {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_conversion, step_good_conversion;
};
extern GoodConversion *shared_good_conversion;

struct Checked { int code; operator bool() const { trace("asked", code); return code == 0; } };
Checked checked;
void start_good_conversion() { if (checked) trace("is fine", 1); }

void GoodConversion::Mirror() {
  assert(side_good_conversion > 0 && step_good_conversion >= side_good_conversion);
  start_good_conversion();
  dim3 grid((side_good_conversion + 15) / 16, (side_good_conversion + 15) / 16);
  mirror_good_conversion<<<grid, dim3(16, 16)>>>(cells, side_good_conversion, step_good_conversion);
}

__global__ void mirror_good_callback(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodCallback {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_callback, step_good_callback;
};
extern GoodCallback *shared_good_callback;

void hear(void (*what)(int));
void say_code(int code) { trace("code", code); }
void listen() { hear(say_code); }
void start_good_callback() { trace("starts", 1); }

void GoodCallback::Mirror() {
  assert(side_good_callback > 0 && step_good_callback >= side_good_callback);
  start_good_callback();
  dim3 grid((side_good_callback + 15) / 16, (side_good_callback + 15) / 16);
  mirror_good_callback<<<grid, dim3(16, 16)>>>(cells, side_good_callback, step_good_callback);
}

__global__ void mirror_good_lambda(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodLambda {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_lambda, step_good_lambda;
};
extern GoodLambda *shared_good_lambda;

auto shout = [](int code) { trace("shouts", code); };
void start_good_lambda() { shout(3); }

void GoodLambda::Mirror() {
  assert(side_good_lambda > 0 && step_good_lambda >= side_good_lambda);
  start_good_lambda();
  dim3 grid((side_good_lambda + 15) / 16, (side_good_lambda + 15) / 16);
  mirror_good_lambda<<<grid, dim3(16, 16)>>>(cells, side_good_lambda, step_good_lambda);
}

__global__ void mirror_good_getter(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodGetter {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_getter, step_good_getter;
  public: int StepOf() const { return step_good_getter; }
};
extern GoodGetter *shared_good_getter;

int seen_step;
void start_good_getter() { trace("starts", 1); seen_step = shared_good_getter->StepOf(); }

void GoodGetter::Mirror() {
  assert(side_good_getter > 0 && step_good_getter >= side_good_getter);
  start_good_getter();
  dim3 grid((side_good_getter + 15) / 16, (side_good_getter + 15) / 16);
  mirror_good_getter<<<grid, dim3(16, 16)>>>(cells, side_good_getter, step_good_getter);
}

__global__ void mirror_good_static(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodStatic {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_static, step_good_static;
};
extern GoodStatic *shared_good_static;

struct Registry { int entries; Registry() : entries(0) { trace("made", entries); } };
int start_good_static() { static Registry registry; return ++registry.entries; }

void GoodStatic::Mirror() {
  assert(side_good_static > 0 && step_good_static >= side_good_static);
  start_good_static();
  dim3 grid((side_good_static + 15) / 16, (side_good_static + 15) / 16);
  mirror_good_static<<<grid, dim3(16, 16)>>>(cells, side_good_static, step_good_static);
}

__global__ void mirror_good_default(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodDefault {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_default, step_good_default;
};
extern GoodDefault *shared_good_default;

int usual_code() { trace("asked", 1); return 1; }
void tell(const char *text, int code = usual_code());
void start_good_default() { tell("starts"); }

void GoodDefault::Mirror() {
  assert(side_good_default > 0 && step_good_default >= side_good_default);
  start_good_default();
  dim3 grid((side_good_default + 15) / 16, (side_good_default + 15) / 16);
  mirror_good_default<<<grid, dim3(16, 16)>>>(cells, side_good_default, step_good_default);
}

__global__ void mirror_good_overwritten(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodOverwritten {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_overwritten, step_good_overwritten;
};
extern GoodOverwritten *shared_good_overwritten;

struct Buffer { int bytes[16]; };
extern Buffer *scratch;
void start_good_overwritten() { trace("starts", 1); memset(scratch, 0, sizeof(Buffer)); *scratch = Buffer{}; }

void GoodOverwritten::Mirror() {
  assert(side_good_overwritten > 0 && step_good_overwritten >= side_good_overwritten);
  start_good_overwritten();
  dim3 grid((side_good_overwritten + 15) / 16, (side_good_overwritten + 15) / 16);
  mirror_good_overwritten<<<grid, dim3(16, 16)>>>(cells, side_good_overwritten, step_good_overwritten);
}

__global__ void mirror_good_container(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodContainer {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_container, step_good_container;
};
extern GoodContainer *shared_good_container;

struct Token { int id; ~Token() { trace("gone", id); } };
std::vector<Token> tokens;
void start_good_container() { tokens.clear(); }

void GoodContainer::Mirror() {
  assert(side_good_container > 0 && step_good_container >= side_good_container);
  start_good_container();
  dim3 grid((side_good_container + 15) / 16, (side_good_container + 15) / 16);
  mirror_good_container<<<grid, dim3(16, 16)>>>(cells, side_good_container, step_good_container);
}

__global__ void mirror_good_range(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodRange {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_range, step_good_range;
};
extern GoodRange *shared_good_range;

struct Span { int first, last; const int *begin() const { return &first; } const int *end() const { return &last; } };
Span span_in_use;
void start_good_range() { for (int step : span_in_use) trace("starts", step); }

void GoodRange::Mirror() {
  assert(side_good_range > 0 && step_good_range >= side_good_range);
  start_good_range();
  dim3 grid((side_good_range + 15) / 16, (side_good_range + 15) / 16);
  mirror_good_range<<<grid, dim3(16, 16)>>>(cells, side_good_range, step_good_range);
}

__global__ void mirror_good_template(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodTemplate {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_template, step_good_template;
};
extern GoodTemplate *shared_good_template;

struct Writer { int count; void operator<<(int by) { count += by; trace("wrote", count); } };
Writer writer;
template <class T> void wrote(T &to) { to << 1; }
void start_good_template() { wrote(writer); }

void GoodTemplate::Mirror() {
  assert(side_good_template > 0 && step_good_template >= side_good_template);
  start_good_template();
  dim3 grid((side_good_template + 15) / 16, (side_good_template + 15) / 16);
  mirror_good_template<<<grid, dim3(16, 16)>>>(cells, side_good_template, step_good_template);
}

__global__ void mirror_good_deleted(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

class GoodDeleted {
 public:
  void Mirror();

 private:
  float *cells;
  int side_good_deleted, step_good_deleted;
};
extern GoodDeleted *shared_good_deleted;

struct Leaf { Leaf *next; ~Leaf() { trace("gone", 1); } };
Leaf *first_leaf;
void start_good_deleted() { delete first_leaf; }

void GoodDeleted::Mirror() {
  assert(side_good_deleted > 0 && step_good_deleted >= side_good_deleted);
  start_good_deleted();
  dim3 grid((side_good_deleted + 15) / 16, (side_good_deleted + 15) / 16);
  mirror_good_deleted<<<grid, dim3(16, 16)>>>(cells, side_good_deleted, step_good_deleted);
}
