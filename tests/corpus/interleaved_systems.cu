// Many small systems, the elements of one as far apart as there are systems: a thread goes up and down its own.

__global__ void sweep(double *x, const double *a, int length, int systems) {  // expect: race-free
  int own = threadIdx.x + blockDim.x * blockIdx.x;
  if (own >= systems) return;
  int last = systems * (length - 1) + own;
  x[own] /= a[own];
  for (int i = own + systems; i < last; i += systems) x[i] = (x[i] - x[i - systems]) / a[i];
  x[last] -= x[last - systems];
  for (int i = last - systems; i >= own; i -= systems) x[i] -= a[i] * x[i + systems];
}

// One thread too many: it goes over the elements of the first one.
__global__ void one_system_too_many(double *x, const double *a, int length, int systems) {
  int own = threadIdx.x + blockDim.x * blockIdx.x;
  if (own > systems) return;
  int last = systems * (length - 1) + own;
  for (int i = last; i >= own; i -= systems) x[i] -= own;  // expect: data-race with self
}

void launch(double *x, const double *a, int length, int systems) {
  sweep<<<systems / 128 + 1, 128>>>(x, a, length, systems);
  one_system_too_many<<<systems / 128 + 1, 128>>>(x, a, length, systems);
}
