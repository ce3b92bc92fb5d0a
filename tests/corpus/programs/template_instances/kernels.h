template <class T>
void fill(T *out, int step);
template <class T>
void fill_here(T *out, int step);
