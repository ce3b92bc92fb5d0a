// Thrust.
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
struct Saxpy {
  float a;
  __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};
__global__ void scale(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
__global__ void complexes(thrust::complex<float> *z) { z[threadIdx.x] = z[threadIdx.x] + thrust::complex<float>(1, 2) * z[0]; }
int main() {
  thrust::host_vector<float> h(100, 1.0f);
  thrust::device_vector<float> d = h, e(100);
  thrust::device_vector<int> keys(100);
  thrust::sequence(keys.begin(), keys.end());
  thrust::sequence(thrust::device, keys.begin(), keys.end(), 1);
  thrust::fill(e.begin(), e.end(), 0.0f);
  thrust::transform(d.begin(), d.end(), e.begin(), e.begin(), Saxpy{2.0f});
  thrust::transform(thrust::cuda::par.on(0), d.begin(), d.end(), e.begin(), [] __device__(float x) { return x * x; });
  float sum = thrust::reduce(d.begin(), d.end(), 0.0f, thrust::plus<float>()) + thrust::reduce(d.begin(), d.end());
  sum += thrust::transform_reduce(d.begin(), d.end(), thrust::square<float>(), 0.0f, thrust::plus<float>()) + thrust::inner_product(d.begin(), d.end(), e.begin(), 0.0f);
  thrust::sort(d.begin(), d.end(), thrust::greater<float>());
  thrust::sort_by_key(keys.begin(), keys.end(), d.begin());
  thrust::exclusive_scan(d.begin(), d.end(), e.begin());
  thrust::inclusive_scan(thrust::device, d.begin(), d.end(), e.begin(), thrust::maximum<float>());
  int most = thrust::max_element(d.begin(), d.end()) - d.begin();
  auto last = thrust::unique(keys.begin(), keys.end());
  keys.resize(last - keys.begin());
  thrust::copy(d.begin(), d.end(), h.begin());
  h = d;
  thrust::for_each(thrust::make_counting_iterator(0), thrust::make_counting_iterator(10), [] __device__(int i) {});
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(d.begin(), e.begin()));
  thrust::for_each(zipped, zipped + 100, [] __host__ __device__(thrust::tuple<float &, float &> t) { thrust::get<0>(t) = thrust::get<1>(t); });
  int positive = thrust::count_if(d.begin(), d.end(), [] __device__(float x) { return x > 0; });
  scale<<<1, 128>>>(thrust::raw_pointer_cast(d.data()), d.size());
  scale<<<1, 128>>>(thrust::raw_pointer_cast(&d[0]), (int)d.size());
  thrust::device_ptr<float> p(thrust::raw_pointer_cast(d.data())), q = thrust::device_pointer_cast(p.get());
  thrust::fill(p, p + 10, 1.0f);
  thrust::default_random_engine engine(7);
  thrust::uniform_real_distribution<float> uniform(0, 1);
  d[0] = uniform(engine) + sum + most + positive + q[0];
  auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), d.begin(), keys.begin(), e.begin());
  return ends.first - keys.begin();
}
