__global__ void two(int *a) {
  int i = threadIdx.x;
  a[i] = a[i + 1];
}
void run_two(int *a) { two<<<1, 64>>>(a); }
