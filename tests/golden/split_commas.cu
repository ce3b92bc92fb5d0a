// Several assignments in one statement: each becomes one of its own.
__global__ void commas(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t, out[t] = s[127 - t];
    out[t] = 3,
        s[t] = s[(t + 1) & 127],   // shifted
        out[t] += 1;
    for (int i = 0; i < 4; i++)
        s[t] += i, /* then */ out[t] += s[(t + i) & 127];
}
void host(int *x) { commas<<<1, 128>>>(x); }
