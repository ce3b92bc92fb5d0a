extern "C" {
void run_separated(int *out, int step);
void run_separated_apart(int *out, int step);
void run_behind_raw(int *out, int step);
void run_spliced(int *out, int step);
void run_pasted(int *out, int step);
void run_from_c(int *out, int step);
void run_from_part(int *out, int step);
}
