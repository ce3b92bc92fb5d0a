extern "C" void launch_tiles(int *out, int width);
extern "C" void launch_tiles_called(int *out, int width);

using Launcher = void (*)(int *, int);
Launcher table[] = {launch_tiles};

void direct(int *out) {
  launch_tiles(out, 64);
  launch_tiles_called(out, 64);
}
