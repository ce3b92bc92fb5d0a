#include "kernels.h"

namespace m {
template <typename Real>
struct Vector {
  Real *data;
};

template <typename Real>
class Matrix {
 public:
  void Set(int width);
  void Set(const Vector<Real> &v);
  template <typename Other>
  void Move(const Vector<Other> &v);

 private:
  Real *data_;
  int rows_;
};

template <typename Real>
void Matrix<Real>::Set(int width) {
  if (width < 64) return;
  set_rows(rows_, data_, width, rows_);
}

template <typename Real>
void Matrix<Real>::Set(const Vector<Real> &) {
  set_rows_narrow(rows_, data_, 63, rows_);
}

template <typename Real>
template <typename Other>
void Matrix<Real>::Move(const Vector<Other> &v) {
  cuda_move(data_, v.data, 64);
  cuda_move_over(data_, data_, 32);
}

template class Matrix<float>;
template void Matrix<float>::Move(const Vector<float> &v);
}  // namespace m
