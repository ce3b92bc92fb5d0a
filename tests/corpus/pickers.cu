// Kernels that a function picks out of many: each is launched with what picked it.
#include <cuda_runtime.h>

typedef void (*shown_kernel)(float *, int);

// Tiles of WIDTH columns, each thread its own: right where a block has WIDTH threads, whatever it does with them.
template <int STEP, int WIDTH>
__global__ void shown(float *a, int n) {  // expect: race-free
  a[blockIdx.x * WIDTH + threadIdx.x] = STEP + n + threadIdx.x;
}

template <int STEP, int WIDTH>
__global__ void wider(float *a, int n) {
  a[blockIdx.x * WIDTH + threadIdx.x] = STEP + n + threadIdx.x;  // expect: data-race inter-block with self
}

// The text of this function is longer than that of functions which are looked into for their values only.
shown_kernel pick_shown(int step, int width) {
  if (width == 32) {
    switch (step) {
      case 0: return shown<0, 32>;  // the step that is copied in a row of 32
      case 1: return shown<1, 32>;  // the step that is negated in a row of 32
      case 2: return shown<2, 32>;  // the step that is doubled in a row of 32
      case 3: return shown<3, 32>;  // the step that is halved in a row of 32
      case 4: return shown<4, 32>;  // the step that is shifted in a row of 32
      case 5: return shown<5, 32>;  // the step that is squared in a row of 32
      case 6: return shown<6, 32>;  // the step that is clamped in a row of 32
      case 7: return shown<7, 32>;  // the step that is rounded in a row of 32
      case 8: return shown<8, 32>;  // the step that is inverted in a row of 32
      case 9: return shown<9, 32>;  // the step that is scaled in a row of 32
      case 10: return shown<10, 32>;  // the step that is blended in a row of 32
      case 11: return shown<11, 32>;  // the step that is masked in a row of 32
      default: return nullptr;
    }
  }
  if (width == 64) {
    switch (step) {
      case 0: return shown<0, 64>;  // the step that is copied in a row of 64
      case 1: return shown<1, 64>;  // the step that is negated in a row of 64
      case 2: return shown<2, 64>;  // the step that is doubled in a row of 64
      case 3: return shown<3, 64>;  // the step that is halved in a row of 64
      case 4: return shown<4, 64>;  // the step that is shifted in a row of 64
      case 5: return shown<5, 64>;  // the step that is squared in a row of 64
      case 6: return shown<6, 64>;  // the step that is clamped in a row of 64
      case 7: return shown<7, 64>;  // the step that is rounded in a row of 64
      case 8: return shown<8, 64>;  // the step that is inverted in a row of 64
      case 9: return shown<9, 64>;  // the step that is scaled in a row of 64
      case 10: return shown<10, 64>;  // the step that is blended in a row of 64
      case 11: return shown<11, 64>;  // the step that is masked in a row of 64
      default: return nullptr;
    }
  }
  return nullptr;
}

void show(float *a, int step, int n, bool wide) {
  int width = wide ? 64 : 32;
  shown_kernel kernel = pick_shown(step, width);
  if (!kernel) return;
  kernel<<<(n + 63) / 64, width>>>(a, n);
}

shown_kernel pick_wider(int step, int width) {
  if (width == 32) {
    switch (step) {
      case 0: return wider<0, 32>;  // the step that is copied in a row of 32
      case 1: return wider<1, 32>;  // the step that is negated in a row of 32
      case 2: return wider<2, 32>;  // the step that is doubled in a row of 32
      case 3: return wider<3, 32>;  // the step that is halved in a row of 32
      case 4: return wider<4, 32>;  // the step that is shifted in a row of 32
      case 5: return wider<5, 32>;  // the step that is squared in a row of 32
      case 6: return wider<6, 32>;  // the step that is clamped in a row of 32
      case 7: return wider<7, 32>;  // the step that is rounded in a row of 32
      case 8: return wider<8, 32>;  // the step that is inverted in a row of 32
      case 9: return wider<9, 32>;  // the step that is scaled in a row of 32
      case 10: return wider<10, 32>;  // the step that is blended in a row of 32
      case 11: return wider<11, 32>;  // the step that is masked in a row of 32
      default: return nullptr;
    }
  }
  if (width == 64) {
    switch (step) {
      case 0: return wider<0, 64>;  // the step that is copied in a row of 64
      case 1: return wider<1, 64>;  // the step that is negated in a row of 64
      case 2: return wider<2, 64>;  // the step that is doubled in a row of 64
      case 3: return wider<3, 64>;  // the step that is halved in a row of 64
      case 4: return wider<4, 64>;  // the step that is shifted in a row of 64
      case 5: return wider<5, 64>;  // the step that is squared in a row of 64
      case 6: return wider<6, 64>;  // the step that is clamped in a row of 64
      case 7: return wider<7, 64>;  // the step that is rounded in a row of 64
      case 8: return wider<8, 64>;  // the step that is inverted in a row of 64
      case 9: return wider<9, 64>;  // the step that is scaled in a row of 64
      case 10: return wider<10, 64>;  // the step that is blended in a row of 64
      case 11: return wider<11, 64>;  // the step that is masked in a row of 64
      default: return nullptr;
    }
  }
  return nullptr;
}

// Twice as many threads as columns.
void show_wider(float *a, int step, int n, bool wide) {
  int width = wide ? 64 : 32;
  shown_kernel kernel = pick_wider(step, width);
  if (!kernel) return;
  kernel<<<(n + 63) / 64, 2 * width>>>(a, n);
}
