// Threads, locks, futures and random numbers of the host.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <atomic>
#include <cuda_lsp/cpp_chrono.h>

namespace std {
class mutex { public: void lock(); void unlock(); bool try_lock(); };
class recursive_mutex { public: void lock(); void unlock(); bool try_lock(); };
class shared_mutex { public: void lock(); void unlock(); bool try_lock(); void lock_shared(); void unlock_shared(); };
class timed_mutex : public mutex {};
struct defer_lock_t {};
struct adopt_lock_t {};
struct try_to_lock_t {};
inline constexpr defer_lock_t defer_lock{};
inline constexpr adopt_lock_t adopt_lock{};
inline constexpr try_to_lock_t try_to_lock{};
template <class M> class lock_guard { public: explicit lock_guard(M &m); lock_guard(M &m, adopt_lock_t); ~lock_guard(); };
template <class... M> class scoped_lock { public: explicit scoped_lock(M &...m); ~scoped_lock(); };
template <class... M> scoped_lock(M &...) -> scoped_lock<M...>;
template <class M> class unique_lock {
public:
  unique_lock();
  template <class... A> explicit unique_lock(M &m, A... how);
  ~unique_lock();
  void lock();
  void unlock();
  bool try_lock();
  bool owns_lock() const;
};
template <class M> unique_lock(M &) -> unique_lock<M>;
template <class M> lock_guard(M &) -> lock_guard<M>;
template <class M> class shared_lock { public: explicit shared_lock(M &m); ~shared_lock(); void lock(); void unlock(); };
struct once_flag {};
template <class F, class... A> void call_once(once_flag &flag, F &&f, A &&...arguments);
enum class cv_status { no_timeout, timeout };
class condition_variable {
public:
  void notify_one();
  void notify_all();
  void wait(unique_lock<mutex> &lock);
  template <class F> void wait(unique_lock<mutex> &lock, F f);
  template <class D> cv_status wait_for(unique_lock<mutex> &lock, const D &duration);
  template <class D, class F> bool wait_for(unique_lock<mutex> &lock, const D &duration, F f);
};
class thread {
public:
  class id { public: bool operator==(id other) const; bool operator<(id other) const; };
  thread() noexcept;
  template <class F, class... A, class = enable_if_t<!is_same_v<remove_cvref_t<F>, thread>>> explicit thread(F &&f, A &&...arguments);
  thread(thread &&other) noexcept;
  thread &operator=(thread &&other) noexcept;
  ~thread();
  void join();
  void detach();
  bool joinable() const;
  id get_id() const;
  static unsigned hardware_concurrency();
};
namespace this_thread {
thread::id get_id();
void yield();
template <class D> void sleep_for(const D &duration);
template <class T> void sleep_until(const T &time);
}  // namespace this_thread
enum class launch { async = 1, deferred = 2 };
template <class T> class future {
public:
  T get();
  void wait() const;
  bool valid() const;
};
template <class T> class shared_future : public future<T> {};
template <class T> class promise { public: future<T> get_future(); template <class U> void set_value(U &&value); void set_value(); };
template <class F, class... A> auto async(F &&f, A &&...arguments) -> future<int>;
template <class> class packaged_task;

template <class T, class... P> class cuda_lsp_engine {
public:
  using result_type = T;
  static constexpr T min() { return 0; }
  static constexpr T max() { return T(-1); }
  cuda_lsp_engine();
  template <class S> explicit cuda_lsp_engine(S &&seed);
  template <class S> void seed(S &&value);
  void seed();
  void discard(unsigned long long n);
  T operator()();
};
using mt19937 = cuda_lsp_engine<unsigned>;
using mt19937_64 = cuda_lsp_engine<unsigned long>;
using minstd_rand = cuda_lsp_engine<unsigned>;
using minstd_rand0 = cuda_lsp_engine<unsigned>;
using default_random_engine = cuda_lsp_engine<unsigned>;
using ranlux24 = cuda_lsp_engine<unsigned>;
using knuth_b = cuda_lsp_engine<unsigned>;
class random_device { public: using result_type = unsigned; random_device(); unsigned operator()(); double entropy() const; static constexpr unsigned min() { return 0; } static constexpr unsigned max() { return ~0u; } };
class seed_seq { public: template <class... A> seed_seq(A &&...values); };
#define CUDA_LSP_DISTRIBUTION(name, Default)                                       \
  template <class T = Default> class name {                                        \
  public:                                                                          \
    using result_type = T;                                                         \
    struct param_type {};                                                          \
    name();                                                                        \
    explicit name(double a);                                                       \
    name(double a, double b);                                                      \
    template <class It> name(It first, It last, int);                              \
    template <class G> T operator()(G &&generator);                                \
    template <class G, class P> T operator()(G &&generator, const P &parameters);  \
    void reset();                                                                  \
    T min() const;                                                                 \
    T max() const;                                                                 \
  };
CUDA_LSP_DISTRIBUTION(uniform_int_distribution, int)
CUDA_LSP_DISTRIBUTION(uniform_real_distribution, double)
CUDA_LSP_DISTRIBUTION(normal_distribution, double)
CUDA_LSP_DISTRIBUTION(lognormal_distribution, double)
CUDA_LSP_DISTRIBUTION(exponential_distribution, double)
CUDA_LSP_DISTRIBUTION(gamma_distribution, double)
CUDA_LSP_DISTRIBUTION(cauchy_distribution, double)
CUDA_LSP_DISTRIBUTION(poisson_distribution, int)
CUDA_LSP_DISTRIBUTION(geometric_distribution, int)
CUDA_LSP_DISTRIBUTION(binomial_distribution, int)
CUDA_LSP_DISTRIBUTION(discrete_distribution, int)
#undef CUDA_LSP_DISTRIBUTION
class bernoulli_distribution { public: explicit bernoulli_distribution(double p = 0.5); template <class G> bool operator()(G &&generator); };
template <class T, size_t Bits, class G> T generate_canonical(G &generator);
}  // namespace std
#include <cuda_lsp/show_macros.h>
