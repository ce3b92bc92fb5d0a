void run_from_c(int *out, int step);
int main(void) { run_from_c(0, 0); }
