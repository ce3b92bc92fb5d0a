__global__ void one(int *a) {
  int i = threadIdx.x;
  a[i] = a[i + 1];
}
void run_one(int *a) { one<<<1, 64>>>(a); }
