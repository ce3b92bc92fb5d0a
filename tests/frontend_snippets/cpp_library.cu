#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <cassert>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
using namespace std;
struct P { int a; float b; bool operator<(const P&o) const { return a<o.a; } };
std::ostream& operator<<(std::ostream& os, const P& p) { return os << p.a << ' ' << p.b; }
template<class T> std::ostream& operator<<(std::ostream& os, const std::vector<T>& v) { for (auto& x : v) os << x; return os; }
__global__ void k(int *p, std::array<int,4> a, int n) { p[threadIdx.x] = a[1] + std::min(n, 3) + std::max<int>(1, 2); std::swap(p[0], p[1]); static_assert(std::numeric_limits<int>::max() == INT_MAX); float f = std::sqrt(1.0f) + std::abs(-1.f) + fabsf(2) + powf(2,3) + std::pow(2,3) + std::numeric_limits<float>::infinity(); p[2]=f; }
int main(int argc, char **argv) {
  std::vector<int> v(10, 3), w{1,2,3}; std::vector<std::vector<float>> vv(3, std::vector<float>(4)); vv[0][1] = v[2];
  std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; }); std::sort(v.begin(), v.end(), std::greater<int>());
  std::map<std::string, int> m{{"a", 1}}; m["b"] = 2; for (auto &kv : m) std::cout << kv.first << ": " << kv.second << std::endl; for (const auto& [key, val] : m) std::cout << key << val << "\n";
  auto it = m.find("a"); if (it != m.end()) it->second++;
  std::cout << std::setw(10) << std::fixed << std::setprecision(3) << 1.5 << std::hex << 5 << v << P{1,2} << endl;
  std::string s = "x" + std::to_string(3) + std::string("y"); s += "z"; s.find("x"); if (s == "a") exit(1); if (argc > 1 && std::string(argv[1]) == "--n") { int n = std::stoi(argv[2]); (void)n; }
  auto t0 = std::chrono::high_resolution_clock::now(); auto t1 = std::chrono::high_resolution_clock::now(); double ms = std::chrono::duration<double, std::milli>(t1 - t0).count(); auto us = std::chrono::duration_cast<std::chrono::microseconds>(t1 - t0).count(); printf("%f %ld", ms, us);
  std::mt19937 gen(42); std::uniform_real_distribution<float> dist(0.f, 1.f); float r = dist(gen); std::random_device rd; std::mt19937 g2(rd()); std::generate(v.begin(), v.end(), [&]() { return gen() % 10; }); std::default_random_engine eng; std::normal_distribution<> nd{5,2}; nd(eng);
  std::unique_ptr<float[]> up(new float[10]); up[0] = r; auto sp = std::make_shared<P>(); sp->a = 1; auto u2 = std::make_unique<int>(3); *u2 = 4; std::shared_ptr<float> sf((float*)malloc(4), free);
  std::function<void(int)> fn = [&](int x) { v[x] = 1; }; fn(3); if (fn) fn(1);
  std::tuple<int, float> tp(1, 2.f); std::get<0>(tp) = 2; auto [x, y] = tp; int aa; float bb; std::tie(aa, bb) = tp; auto mt = std::make_tuple(1, "a", 2.0);
  std::optional<int> o; if (o) std::cout << *o; o = 3; o.value_or(1); std::ifstream in("f", std::ios::binary); if (!in) throw std::runtime_error("no " + s); in.read((char*)v.data(), v.size() * sizeof(int)); std::string line; while (std::getline(in, line)) { std::istringstream is(line); int q; is >> q; }
  std::thread th([&]{ v[0]=1; }); th.join(); std::mutex mu; { std::lock_guard<std::mutex> lk(mu); } std::unique_lock<std::mutex> ul(mu);
  std::set<int> st; st.insert(3); st.count(3); std::unordered_map<int, std::vector<int>> um; um[3].push_back(1); std::queue<int> qq; qq.push(1); qq.front(); std::priority_queue<int, std::vector<int>, std::greater<int>> pq; pq.push(1);
  std::complex<float> c(1, 2); c = c * c + std::complex<float>(1); std::abs(c); float acc = std::accumulate(v.begin(), v.end(), 0.0f); std::iota(v.begin(), v.end(), 0); std::transform(v.begin(), v.end(), v.begin(), [](int z) { return z; });
  auto mx = *std::max_element(v.begin(), v.end()); std::copy(v.begin(), v.end(), std::back_inserter(w)); std::fill(v.begin(), v.end(), 0); std::array<int, 4> ar = {1, 2, 3, 4}; k<<<(v.size() + 255) / 256, 256>>>(v.data(), ar, mx);
  int *d; cudaMalloc(&d, sizeof(int) * v.size()); cudaMalloc((void **)&d, 4); cudaMemcpy(d, v.data(), 4, cudaMemcpyHostToDevice); cudaFree(d); cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); cudaEventRecord(e, 0); float el; cudaEventElapsedTime(&el, e, e); cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0); prop.name; prop.multiProcessorCount;
  assert(v.size() > 0 && "no"); try { throw std::invalid_argument("x"); } catch (const std::exception &ex) { std::cerr << ex.what(); } catch (...) {} for (auto i = v.rbegin(); i != v.rend(); ++i) cout << *i; fprintf(stderr, "x %s\n", cudaGetErrorString(cudaGetLastError())); std::list<int> li; for (auto i = li.begin(); i != li.end(); ++i) {} std::string_view sv = "abc"; double dd = std::floor(3.2) + ceil(2.1f) + round(3.3) + log2(8) + pow(2, 3) + std::pow(2.f, 3) + fmax(1, 2.f) + max(1, 2) + min(1.0f, 2.0f) + abs(-3) + std::fmod(1.f, 2.f) + sqrt(4) + exp(1) + isnan(1.f) + std::isnan(1.0); sprintf(argv[0], "%d", (int)dd); std::variant<int,float> va = 3; memset(d, 0, 4); std::hash<std::string>{}("x"); acc++; return EXIT_SUCCESS;
}
