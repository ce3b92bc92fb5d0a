#pragma once
#include <cuda_runtime.h>

#include <cassert>

extern "C" {
void mirror_hidden(int blocks, float *cells, int side, int step);
void mirror_open(int blocks, float *cells, int side, int step);
void mirror_resized(int blocks, float *cells, int side, int step);
void mirror_copied(int blocks, float *cells, int side, int step);
void mirror_handed(int blocks, float *cells, int side, int step);
}

void trace(const char *text, int value);

// Its functions call what is not in sight.
class Driver {
 public:
  static Driver &Current() {
    static Driver only;
    return only;
  }
  bool Start();
  bool StartAndResize();
  int number_;
  bool running_;
};

// Nobody but its own members can change a hidden one.
class Hidden {
 public:
  void Set(int side, int step) {
    hidden_side_ = side;
    hidden_step_ = step;
  }
  void Mirror();

 private:
  float *cells_;
  int hidden_side_, hidden_step_;
};

struct Open {
  float *cells;
  int open_side, open_step;
  void Mirror();
};

class Resized {
 public:
  void Set(int side, int step) {
    resized_side_ = side;
    resized_step_ = step;
  }
  void Shrink();
  void Mirror();

 private:
  float *cells_;
  int resized_side_, resized_step_;
};

extern Resized *shared_square;

class Handed {
 public:
  void Set(int side, int step) {
    handed_side_ = side;
    handed_step_ = step;
  }
  void Mirror();

 private:
  float *cells_;
  int handed_side_, handed_step_;
};

class Copied {
 public:
  void Mirror();

 private:
  float *cells_;
  int copied_side_, copied_step_;
};

extern Copied *current_copy, *spare_copy;
bool exchange_copies();

void adopt(Handed &square, const char *why);
