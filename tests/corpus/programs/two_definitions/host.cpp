void run(int *out, int width, int height);
int width();
int height();
void host(int *out) { run(out, width(), height()); }
