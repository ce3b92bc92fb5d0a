// cuRAND on device and host.
#include <curand.h>
#include <curand_kernel.h>
__global__ void setup(curandState *states, unsigned long seed) { curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void draw(curandState *states, curandStatePhilox4_32_10_t *philox, float *out) {
  curandState local = states[threadIdx.x];
  out[0] = curand_uniform(&local) + curand_normal(&local) + curand(&local) + curand_log_normal(&local, 0.f, 1.f) + curand_uniform_double(&local);
  states[threadIdx.x] = local;
  float4 four = curand_uniform4(&philox[0]);
  float2 two = curand_normal2(&local);
  out[1] = four.x + two.y + curand_poisson(&local, 3.0);
  skipahead(4ull, &local);
}
void host(float *device) {
  curandGenerator_t generator;
  if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS) return;
  curandSetPseudoRandomGeneratorSeed(generator, 1234ULL);
  curandGenerateUniform(generator, device, 100);
  curandDestroyGenerator(generator);
}
