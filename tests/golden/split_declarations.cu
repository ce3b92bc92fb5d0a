// What one half of a conditional declares and the other uses: arrays, references, values in braces.
struct Pair {
    int first, second;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void array(int *out, const int *in, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        int v[4];
        for (int i = 0; i < 4; ++i)
            v[i] = in[4 * t + i];
        s[t] = v[0] + v[1];
        out[t] = s[n - 1 - t] + v[2];
    }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void elements(int *out, const int *in, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        int v[2][2] = {{in[t], t}, {2}};
        s[t] = v[0][0] + v[1][0];
        out[t] = s[n - 1 - t] + v[0][1] + v[1][1];
    }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void table(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        const int weights[3] = {1, 2, t};
        s[t] = weights[2];
        out[t] = s[n - 1 - t] * weights[0] + weights[1];
    }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void references(int *out, const int *in, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        int i = n - 1 - t;
        const int &r = in[i];
        int &mine = out[t];
        s[t] = r;
        mine = s[i] + r;
    }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void braces(int *out, const int *in, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        Pair p{in[t], 2};
        int twice(p.first * 2);
        s[t] = twice;
        out[t] = s[n - 1 - t] + p.second + twice;
    }
}
