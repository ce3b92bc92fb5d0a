// Digits of an index by sizes that the compiler knows, in every order of division; and by sizes that nobody knows, one
// after the other.

template <int B, int C, int H, int W>
__global__ void smallest_first(float *out, const float *in) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C * H * W) return;
  int w = i % W, h = i / W % H, c = i / (W * H) % C, b = i / (W * H * C);
  out[((b * H + h) * W + w) * C + c] = in[i];
}

template <int B, int C, int H, int W>
__global__ void largest_first(float *out, const float *in) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C * H * W) return;
  int b = i / (C * H * W), c = i / (H * W) % C, h = i / W % H, w = i % W;
  out[((c * B + b) * W + w) * H + h] = in[i];
}

template <int B, int C, int H, int W>
__global__ void by_remainders(float *out, const float *in) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C * H * W) return;
  int b = i / (C * H * W), r = i % (C * H * W), c = r / (H * W), s = r % (H * W), h = s / W, w = s % W;
  out[((w * H + h) * C + c) * B + b] = in[i];
}

template <int B, int C, int H, int W>
__global__ void counted_in_the_wrong_size(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C * H * W) return;
  int b = i / (C * H * W), c = i / (H * W) % C, h = i / W % H, w = i % W;
  out[((c * B + b) * W + w) * C + h] = in[i];  // expect: data-race with self
}

__global__ void one_after_the_other(float *out, const float *in, int m, int s, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * s * n) return;
  int x = i / s / n, y = i / n % s, z = i % n;
  out[x * (s * n) + y * n + z] = in[i];
}

__global__ void another_one_after_it(float *out, const float *in, int m, int s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * s * n) return;
  int x = i / s / n, y = i / n % s, z = i % n;
  out[x * (m * n) + y * n + z] = in[i];  // expect: data-race with self
}

void launch(float *out, const float *in, int m, int s, int n) {
  smallest_first<128, 3, 480, 640><<<460800, 256>>>(out, in);
  largest_first<128, 3, 480, 640><<<460800, 256>>>(out, in);
  by_remainders<128, 3, 480, 640><<<460800, 256>>>(out, in);
  counted_in_the_wrong_size<8, 3, 7, 11><<<8, 256>>>(out, in);
  one_after_the_other<<<(m * s * n + 255) / 256, 256>>>(out, in, m, s, n);
  another_one_after_it<<<(m * s * n + 255) / 256, 256>>>(out, in, m, s, n);
}
