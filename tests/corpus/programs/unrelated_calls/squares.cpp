#include "squares.h"

bool Driver::Start() {
  trace("looking for a device", number_);
  if (number_ < 0) {
    trace("there is none, so everything runs on the host; this is slow, and only meant for tests", number_);
    return false;
  }
  for (int attempt = 0; attempt < 16 && !running_; attempt++) {
    int chosen = -1;
    cudaGetDevice(&chosen);
    if (chosen != number_) cudaSetDevice(number_);
    running_ = cudaFree(nullptr) == cudaSuccess;
    trace("asked the device whether it is ready, and it answered", running_ ? 1 : 0);
  }
  if (!running_) trace("gave up on the device after many attempts; look at the driver's log for the reason", number_);
  trace("the device that is used from here on", number_);
  trace("whether it runs", running_ ? 1 : 0);
  return running_;
}

bool Driver::StartAndResize() {
  bool started = Start();
  trace("after the start the shared square is made smaller, so that it fits the device", number_);
  if (shared_square != nullptr) {
    trace("there is one", number_);
    shared_square->Shrink();
    trace("it is smaller now; whoever holds sizes that were read before has to read them again", number_);
  } else {
    trace("there is none, and nothing has to be done about it; the next one will be made as it should be", number_);
  }
  trace("done with the start of the device, and with everything that follows from it", started ? 1 : 0);
  return started;
}

void adopt(Handed &square, const char *why) {
  trace("a square is handed over to be filled with what a file holds, whatever its sizes are then", 0);
  trace(why, 1);
  int side = 0, step = 0;
  for (int attempt = 0; attempt < 4; attempt++) {
    trace("reading the head of the file, in which the sizes stand one after the other", attempt);
    side = side * 10 + attempt;
    step = step * 10 + attempt;
    trace("the side of the square so far", side);
    trace("the distance of its rows so far", step);
  }
  trace("done", side + step);
}

void Hidden::Mirror() {
  assert(hidden_side_ > 0 && hidden_step_ >= hidden_side_);
  if (!Driver::Current().Start()) return;
  mirror_hidden((hidden_side_ + 15) / 16, cells_, hidden_side_, hidden_step_);
}

void Open::Mirror() {
  assert(open_side > 0 && open_step >= open_side);
  if (!Driver::Current().Start()) return;
  mirror_open((open_side + 15) / 16, cells, open_side, open_step);
}

void Resized::Shrink() { resized_step_ = resized_side_ / 2; }

void Resized::Mirror() {
  assert(resized_side_ > 0 && resized_step_ >= resized_side_);
  if (!Driver::Current().StartAndResize()) return;
  mirror_resized((resized_side_ + 15) / 16, cells_, resized_side_, resized_step_);
}

void Handed::Mirror() {
  assert(handed_side_ > 0 && handed_step_ >= handed_side_);
  adopt(*this, "because it is empty");
  mirror_handed((handed_side_ + 15) / 16, cells_, handed_side_, handed_step_);
}

bool exchange_copies() {
  trace("the spare one is used from now on", 0);
  *current_copy = *spare_copy;
  return true;
}

void Copied::Mirror() {
  assert(copied_side_ > 0 && copied_step_ >= copied_side_);
  if (!exchange_copies()) return;
  mirror_copied((copied_side_ + 15) / 16, cells_, copied_side_, copied_step_);
}
