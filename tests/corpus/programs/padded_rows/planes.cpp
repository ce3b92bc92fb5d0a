#include "planes.h"

static dim3 blocks(int rows, int columns) { return dim3((columns + 15) / 16, (rows + 15) / 16); }

template <typename T>
void Plane<T>::Reserve(int height, int width) {
  int row_bytes = width * sizeof(T);
  size_t pitch;
  cells_ = static_cast<T *>(store().RowsOf(row_bytes, height, &pitch));
  height_ = height;
  width_ = width;
  step_ = pitch / sizeof(T);
}

template <typename T>
void Plane<T>::Exchange(Plane<T> *other) {
  T *kept = cells_;
  cells_ = other->cells_;
  other->cells_ = kept;
  std::swap(other->height_, this->height_);
  std::swap(other->width_, this->width_);
  std::swap(other->step_, this->step_);
}

template <typename T>
void Plane<T>::Fill() {
  fill_plane(blocks(height_, width_), dim3(16, 16), cells_, Extent());
}

template class Plane<float>;

void Squeezed::Reserve(int tall, int wide) {
  size_t pitch;
  start_ = static_cast<float *>(store().RowsOf(wide * sizeof(float), tall, &pitch));
  tall_ = tall;
  wide_ = wide;
  apart_ = pitch / sizeof(float);
}

void Squeezed::Fill() { fill_squeezed(blocks(tall_, wide_), dim3(16, 16), start_, {tall_, wide_, apart_}); }

void Framed::Reserve(int lines, int cells) {
  size_t pitch;
  first_ = static_cast<float *>(store().RowsOf(cells * sizeof(float), lines, &pitch));
  line_count_ = lines;
  cell_count_ = cells;
  line_step_ = pitch / sizeof(float);
}

void Framed::Fill() {
  fill_window(blocks(line_count_, cell_count_), dim3(16, 16), first_, {line_count_, cell_count_, line_step_});
}

void Folded::Reserve(int deep, int broad) {
  size_t pitch;
  data_ = static_cast<float *>(store().RowsOf(broad * sizeof(float), deep, &pitch));
  deep_ = deep;
  broad_ = broad;
  leap_ = pitch / sizeof(float);
}

void Folded::Fill() { fill_folded(blocks(deep_, broad_), dim3(16, 16), data_, {deep_, broad_, leap_}); }

void fold(float *data) {
  Folded narrow(data, 64, 32, 16);
  narrow.Fill();
}

void Halved::Reserve(int m, int n) {
  size_t pitch;
  x_ = static_cast<float *>(store().HalfRowsOf(n * sizeof(float), m, &pitch));
  m_ = m;
  n_ = n;
  ld_ = pitch / sizeof(float);
}

void Halved::Fill() { fill_halved(blocks(m_, n_), dim3(16, 16), x_, {m_, n_, ld_}); }

void Turned::Reserve(int across, int down) {
  size_t pitch;
  base_ = static_cast<float *>(store().RowsOf(down * sizeof(float), across, &pitch));
  across_ = across;
  down_ = down;
  skip_ = pitch / sizeof(float);
}

void Turned::Fill() { fill_turned(blocks(down_, across_), dim3(16, 16), base_, {down_, across_, skip_}); }

void ByteRows::Fill() {
  fill_bytes(blocks(row_count, row_length), dim3(16, 16), bytes, row_count, row_length, row_pitch);
}

void Grown::Reserve(int count, int length) {
  size_t pitch;
  rows_at_ = static_cast<float *>(store().RowsOf(length * sizeof(float), count, &pitch));
  row_cnt_ = count;
  row_len_ = length;
  row_gap_ = pitch / sizeof(float);
}

void Grown::Fill() { fill_grown(blocks(row_cnt_, row_len_), dim3(16, 16), rows_at_, {row_cnt_, row_len_, row_gap_}); }

void Lent::Reserve(int high, int far) {
  size_t pitch;
  lent_ = static_cast<float *>(store().RowsOf(far * sizeof(float), high, &pitch));
  lent_high_ = high;
  lent_far_ = far;
  lent_gap_ = pitch / sizeof(float);
}

void Lent::Fill() { fill_lent(blocks(lent_high_, lent_far_), dim3(16, 16), lent_, {lent_high_, lent_far_, lent_gap_}); }
