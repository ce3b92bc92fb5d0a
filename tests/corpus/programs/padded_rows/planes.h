#pragma once
#include <cuda_runtime.h>

#include <cassert>

struct Shape {
  int rows, columns, step;
};

extern "C" {
void fill_plane(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_squeezed(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_window(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_folded(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_halved(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_turned(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_bytes(dim3 grid, dim3 block, char *cells, int rows, int columns, int pitch);
void fill_grown(dim3 grid, dim3 block, float *cells, Shape shape);
void fill_lent(dim3 grid, dim3 block, float *cells, Shape shape);
}

class Store {
 public:
  void *RowsOf(size_t row_bytes, size_t rows, size_t *pitch) {
    if (plain_) {
      void *made;
      cudaMallocPitch(&made, pitch, row_bytes, rows);
      return made;
    }
    row_bytes = (row_bytes + 127) & ~size_t(127);
    *pitch = row_bytes;
    return Take(row_bytes * rows);
  }
  void *HalfRowsOf(size_t row_bytes, size_t rows, size_t *pitch) {
    *pitch = row_bytes / 2;
    return Take(row_bytes * rows);
  }
  void *Take(size_t bytes);

 private:
  bool plain_;
};

Store &store();

// The rows of a plane are as far apart as the store says; a window keeps the distance of the plane that it lies in.
template <typename T>
class Plane {
 public:
  Plane() : cells_(nullptr), height_(0), width_(0), step_(0) {}
  void Reserve(int height, int width);
  void Exchange(Plane<T> *other);
  Shape Extent() const { return {height_, width_, step_}; }
  void Fill();

 protected:
  Plane(T *cells, int height, int width, int step) : cells_(cells), height_(height), width_(width), step_(step) {}
  T *cells_;
  int height_, width_, step_;
  template <typename U>
  friend class PlaneWindow;
};

template <typename T>
class PlaneWindow : public Plane<T> {
 public:
  PlaneWindow(const Plane<T> &whole, int top, int height, int left, int width) {
    assert(left >= 0 && width >= 0 && left + width <= whole.width_);
    this->cells_ = whole.cells_ + left + top * whole.step_;
    this->height_ = height;
    this->width_ = width;
    this->step_ = whole.step_;
  }
  PlaneWindow(T *cells, int height, int width, int step) : Plane<T>(cells, height, width, step) {}
};

// The same, but one of the functions sets the distance alone.
class Squeezed {
 public:
  void Reserve(int tall, int wide);
  void Pack(int apart) { apart_ = apart; }
  void Fill();

 private:
  float *start_;
  int tall_, wide_, apart_;
};

// A window that nobody checks.
class Framed {
 public:
  void Reserve(int lines, int cells);
  void Cut(const Framed &whole, int cells) {
    first_ = whole.first_;
    line_count_ = whole.line_count_;
    cell_count_ = cells;
    line_step_ = whole.line_step_;
  }
  void Fill();

 private:
  float *first_;
  int line_count_, cell_count_, line_step_;
};

// Somebody in sight gives a distance that is too short.
class Folded {
 public:
  Folded(float *data, int deep, int broad, int leap) : data_(data), deep_(deep), broad_(broad), leap_(leap) {}
  void Reserve(int deep, int broad);
  void Fill();

 private:
  float *data_;
  int deep_, broad_, leap_;
};

// The allocating function gives too little.
class Halved {
 public:
  void Reserve(int m, int n);
  void Fill();

 private:
  float *x_;
  int m_, n_, ld_;
};

// The bytes of a column, taken for those of a row.
class Turned {
 public:
  void Reserve(int across, int down);
  void Fill();

 private:
  float *base_;
  int across_, down_, skip_;
};

// The distance in bytes, straight from the runtime.
struct ByteRows {
  char *bytes;
  size_t row_pitch;
  int row_length, row_count;
  void Reserve(int length, int count) {
    row_length = length;
    row_count = count;
    cudaMallocPitch((void **)&bytes, &row_pitch, row_length * sizeof(float), row_count);
  }
  void Fill();
};

// The length of the rows changes later.
class Grown {
 public:
  void Reserve(int count, int length);
  void Grow() { row_len_++; }
  void Fill();

 private:
  float *rows_at_;
  int row_cnt_, row_len_, row_gap_;
};

// A reference to the distance is given away.
class Lent {
 public:
  void Reserve(int high, int far);
  int &Gap() { return lent_gap_; }
  void Fill();

 private:
  float *lent_;
  int lent_high_, lent_far_, lent_gap_;
};
