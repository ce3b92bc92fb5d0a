"""Kernels and what they compute: `out` after one thread ran, given `in` (64-bit numbers) and n = 5.

The numbers were checked with a C++ compiler: the text of each case also compiles as host code.
"""

# ruff: noqa: E501 (CUDA text and printed programs keep their lines)

from typing import NamedTuple


class Case(NamedTuple):
    name: str
    prelude: str
    body: str
    given: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"{self.prelude}\n__global__ void k(long long *out, const long long *in, int n) {{\n{self.body}\n}}\n"


LABELS = """
        int s = 0, i = 0, j = 0;
        {
          if (in[0] > 3) goto tail;
          s += 1;
          if (in[1] > 0) goto outl;
        }
        tail: s += 10;
        outl: s += 100;
        first: s += 1000; j = 0;
        second: s += 10000;
        if (++j < 2) goto second;
        if (i == 1 && in[1] > 5) goto first_end;
        if (++i < 3) goto first;
        first_end:
        s += 100000;
        again:
        if (in[2] == i) goto done;
        s += 1000000;
        ++i;
        if (i == 5) goto again;
        if (i < 7) { if (i & 1) goto again; s += 7; goto again; }
        s = -s;
        done:
        out[0] = s; out[1] = i; out[2] = j;
        """


CASES = [
    Case(
        "usual arithmetic conversions",
        "",
        """
        int i = in[0]; unsigned u = 1; short s = -3; unsigned char c = 250; char m = -1; bool b = in[1];
        out[0] = i + u;                 // unsigned
        out[1] = i < u;                 // -1 is large
        out[2] = s * u;
        out[3] = (unsigned char)(c + 10);
        out[4] = c + 10;                // promoted
        out[5] = m < c; out[6] = b + b; out[7] = -u > 0;
        out[8] = (short)70000; out[9] = (unsigned short)-1; out[10] = (long long)(int)0x1ffffffffll;
        out[11] = u - 2; out[12] = u - 2ll; out[13] = ~c; out[14] = !c; out[15] = 'a' + 1;
        """,
        (-1, 7),
        (0, 0, 4294967293, 4, 260, 1, 2, 1, 4464, 65535, -1, 4294967295, -1, -251, 0, 98),
    ),
    Case(
        "division, remainder and shifts",
        "",
        """
        int a = in[0], b = in[1]; unsigned u = in[0]; long long w = in[0];
        out[0] = a / b; out[1] = a % b; out[2] = a >> 1; out[3] = u >> 1; out[4] = w << 3; out[5] = u % 10;
        out[6] = (a - 1) / 2; out[7] = 1 << 31; out[8] = 1u << 31; out[9] = (unsigned char)0x80 << 1;
        out[10] = (signed char)-128 / -1; out[11] = -7 % -3;
        """,
        (-7, 2),
        (-3, -1, -4, 2147483644, -56, 9, -4, -2147483648, 2147483648, 256, 128, -1),
    ),
    Case(
        "assignments are expressions",
        "",
        """
        int a = 1, b = 2, c = 3;
        a = b = c + 1; out[0] = a + b * 10;
        int d = (a += 2) * 2; out[1] = d + a;
        out[2] = a++ + ++b; out[3] = a * 10 + b;
        int e = (a = 5, b = a + 1, a * b); out[4] = e;
        (a = 7) += 3; out[5] = a; ++(--a); out[6] = a;
        unsigned char u = 250; u += 10; out[7] = u; u <<= 7; out[8] = u; u -= 1; out[9] = u--; out[10] = u;
        short s = 32767; s++; out[11] = s; long long w = 1; w <<= 40; out[12] = w;
        """,
        (),
        (44, 18, 11, 75, 30, 10, 10, 4, 0, 255, 254, -32768, 1099511627776),
    ),
    Case(
        "short circuits and choices guard their side effects",
        "__device__ int bump(int &x) { return ++x; }\n",
        """
        int x = 0, y = 0;
        if (in[0] && bump(x)) y += 1;
        if (in[0] || bump(x)) y += 2;
        if (in[1] && bump(x) && bump(x) > 5) y += 4;
        out[0] = x; out[1] = y;
        out[2] = in[1] ? bump(x) : bump(y); out[3] = x; out[4] = y;
        bool c = bump(x) > 3 || bump(y) > 3; out[5] = c; out[6] = x * 100 + y;
        out[7] = (in[0] ? x : y) + (in[1] ? x++ : y++); out[8] = x; out[9] = y;
        """,
        (0, 9),
        (3, 2, 4, 4, 2, 1, 502, 7, 6, 2),
    ),
    Case(
        "loops",
        "",
        """
        int s = 0;
        for (int i = 0, j = 10; i < j; ++i, j -= 2) { if (i == 1) continue; s += i * 100 + j; if (i > 2) break; }
        out[0] = s;
        int k = 3; while (k--) s += k; out[1] = s; out[2] = k;
        do { s -= 5; if (s % 2) continue; s -= 1; } while (s > 0); out[3] = s;
        for (;;) { if (++s > 3) break; } out[4] = s;
        int count = 0;
        for (int a = 0; a < 4; ++a) for (int b = a; b < 4; ++b) { if (b == 2) break; if (a == 1) continue; ++count; }
        out[5] = count;
        while (int t = s--) { if (t < 0) break; count += t; } out[6] = count;
        do { count = 1; } while (0); out[7] = count;
        for (unsigned u = 3; u < 4; --u) ++count; out[8] = count;
        """,
        (),
        (520, 523, -1, -5, 4, 3, 13, 1, 5),
    ),
    Case(
        "switch",
        "__device__ int pick(int v) { switch (v) { case 1: return 10; case 2: case 3: v += 5; break; default: v = 0; } return v; }\n",
        """
        int log = 0;
        for (int i = 0; i < 7; ++i) {
          switch (i) {
            case 0: log += 1;
            case 1: log += 10; break;
            case 4: { if (log > 100) break; log += 100; }
            default: log += 1000;
            case 5: log += 10000; break;
            case 6: continue;
          }
          log += 100000;
        }
        out[0] = log;
        for (int i = 0; i < 5; ++i) out[1 + i] = pick(i);
        switch (unsigned char c = 200; c) { case 200: out[6] = 1; break; case -56: out[6] = 2; }
        switch (2) { default: out[7] = 9; }
        switch (n) { case 1 ... 4: out[8] = 1; break; case 5 ... 9: out[8] = 2; }
        """,
        (),
        (632021, 0, 10, 7, 8, 0, 1, 9, 2),
    ),
    Case(
        "forward and backward goto",
        "",
        """
        int i = 0, s = 0;
        if (in[0] > 3) goto skip;
        s += 1;
        skip:
        s += 10;
        again:
        s += 100;
        if (++i < 3) goto again;
        for (int a = 0; a < 5; ++a) for (int b = 0; b < 5; ++b) { s += 1000; if (a * b == 2) goto done; }
        s = -1;
        done:
        out[0] = s; out[1] = i;
        """,
        (4,),
        (8310, 3),
    ),
    Case("labels: around, into a tail, nested and overlapping loops, 0", "", LABELS, (4, 0, 9), (-4163124, 7, 2)),
    Case("labels: around, into a tail, nested and overlapping loops, 1", "", LABELS, (1, 0, 9), (-4163125, 7, 2)),
    Case("labels: around, into a tail, nested and overlapping loops, 2", "", LABELS, (1, 1, 4), (1163108, 4, 2)),
    Case("labels: around, into a tail, nested and overlapping loops, 3", "", LABELS, (4, 6, 5), (4142124, 5, 2)),
    Case(
        "functions: references, pointers, defaults, overloads, early returns",
        """
        __device__ void swap_(long long &a, long long &b) { long long t = a; a = b; b = t; }
        __device__ void add(long long *p, int by = 7) { *p += by; }
        __device__ int kind(int) { return 1; }
        __device__ int kind(float) { return 2; }
        __device__ int kind(unsigned char) { return 3; }
        __device__ int steps(int v) { int c = 0; for (;;) { if (v == 1) return c; if (v & 1) v = 3 * v + 1; else v /= 2; ++c; } }
        __device__ int sign(int v) { if (v < 0) return -1; if (v > 0) return 1; return 0; }
        __device__ int &larger(int &a, int &b) { if (a > b) return a; return b; }
        template <int N> __device__ int power(int b) { if constexpr (N == 0) return 1; else return b * power<N - 1>(b); }
        template <class T> __device__ T total(T first) { return first; }
        template <class T, class... R> __device__ T total(T first, R... rest) { return first + total(rest...); }
        """,
        """
        long long a = 1, b = 2; swap_(a, b); out[0] = a * 10 + b;
        add(&a); add(&b, 3); add(out + 1); out[2] = a; out[3] = b;
        out[4] = kind(1) + kind(1.f) * 10 + kind((unsigned char)1) * 100;
        out[5] = steps(27); out[6] = sign(-5) * 100 + sign(0) * 10 + sign(9);
        int x = 3, y = 4; larger(x, y) = 10; larger(x, y) += 1; out[7] = x * 100 + y;
        out[8] = power<5>(3); out[9] = total(1, 2, 3, 4);
        """,
        (),
        (21, 7, 9, 4, 321, 111, -99, 311, 243, 10),
    ),
    Case(
        "classes: constructors, methods, operators, inheritance, default members",
        """
        struct Base { int b; __device__ Base(int v) : b(v * 2) {} __device__ int twice() const { return b * 2; } };
        struct Point : Base {
          int x, y = 7; static constexpr int K = 3;
          __device__ Point(int v) : Base(v), x(v) {}
          __device__ Point(int v, int w) : Point(v) { y = w; }
          __device__ Point operator+(const Point &o) const { return Point(x + o.x, y + o.y); }
          __device__ Point &operator+=(int k) { x += k; return *this; }
          __device__ int operator[](int i) const { return i ? y : x; }
          __device__ explicit operator bool() const { return x > 0; }
          __device__ int sum() const { return x + y + b + K + twice(); }
          __device__ void set(int x) { this->x = x; }
        };
        template <class T, int N> struct Vec {
          T d[N];
          __device__ T &operator()(int i) { return d[i]; }
          __device__ const T &operator()(int i) const { return d[i]; }
          __device__ int size() const { return N; }
        };
        struct Adder { int k; __device__ int operator()(int v) const { return v + k; } };
        template <class F> __device__ int twice(F f, int v) { return f(f(v)); }
        enum Color { red = 4, green }; enum class Small : unsigned char { big = 255 };
        """,
        """
        Point p(3), q(1, 2); out[0] = p.sum(); Point r = p + q; out[1] = r.sum(); (r += 5) += 6; out[2] = r[0] * 100 + r[1];
        out[3] = r ? 1 : 2; r.set(-4); out[4] = r ? 1 : 2; Point c = r; c.y = 100; out[5] = r.y; out[6] = c.y;
        Vec<int, 3> v{{1, 2}}; v(2) = 9; const Vec<int, 3> &w = v; out[7] = w(0) + w(1) * 10 + w(2) * 100 + v.size();
        for (int i = 0; i < 3; ++i) v(i) += i; out[8] = v.d[0] * 100 + v.d[1] * 10 + v.d[2];
        Adder add{10}; out[9] = twice(add, 1); out[10] = green; out[11] = (int)Small::big + 1;
        Point *z = &p; z->x = 50; (*z).y = 60; out[12] = p.x + p.y; Base &base = p; base.b = 1; out[13] = p.b;
        """,
        (),
        (31, 40, 1509, 1, 2, 9, 100, 924, 141, 21, 5, 256, 110, 1),
    ),
    Case(
        "lambdas",
        "template <class F> __device__ int apply(F f, int v) { return f(v); }\n"
        "template <class F> __device__ void each(int n, F &&f) { for (int i = 0; i < n; ++i) f(i); }\n",
        """
        int a = 1, b = 2;
        auto by_value = [=](int v) { return a + v; };
        auto by_reference = [&](int v) { return a + v; };
        auto mixed = [&b, c = a + 100](int v) { b += v; return c; };
        auto counter = [k = 0]() mutable { return ++k; };
        a = 50;
        out[0] = by_value(1); out[1] = by_reference(1); out[2] = mixed(5); out[3] = b;
        counter(); out[4] = counter();
        out[5] = apply(by_value, 3) + apply([&](auto v) { a = 7; return v * 2; }, 4); out[6] = a;
        int sum = 0; each(5, [&](int i) { if (i == 3) return; sum += i; }); out[7] = sum;
        out[8] = [](int x) -> long long { if (x > 2) return 1; return 2; }(n);
        auto outer = [&] { auto inner = [&] { return ++a; }; return inner() + inner(); }; out[9] = outer(); out[10] = a;
        """,
        (),
        (2, 51, 101, 7, 2, 12, 7, 7, 1, 17, 9),
    ),
    Case(
        "arrays, pointers and casts",
        "__constant__ const int table[5] = {5, 4, 3, 2, 1};\nconstexpr int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
        "struct Pair { int lo, hi; };\nunion Bits { long long w; int i[2]; unsigned char c[8]; };\n",
        """
        int m[3][4] = {{1, 2}, {5}}; m[2][3] = 9; int s = 0;
        for (int i = 0; i < 3; ++i) for (int j = 0; j < 4; ++j) s = s * 3 + m[i][j];
        out[0] = s;
        int *p = &m[1][0]; *p++ = 7; p[-1] += 1; out[1] = m[1][0]; out[2] = p - &m[0][0]; out[3] = (p > m[0]) + 2 * (p == &m[1][1]);
        out[4] = grid[1][2] + grid[n & 1][n - 4]; out[5] = table[n - 2];
        Bits u; u.w = 0x0000000500000007ll; out[6] = u.i[1] * 10 + u.i[0]; u.c[0] = 1; out[7] = u.i[0];
        long long w = 0; Pair *q = reinterpret_cast<Pair *>(&w); q->hi = 3; q->lo = -1; out[8] = w;
        int *r = (int *)&in[0]; out[9] = r[1];
        int a[4] = {1, 2, 3, 4}; int total = 0; for (int e : a) total += e; for (int &e : a) e *= 2; for (auto &row : m) total += row[0];
        out[10] = total; out[11] = a[3]; out[12] = sizeof(a) / sizeof(a[0]) + sizeof(Pair);
        auto [x, y] = Pair{3, 4}; auto &[f, g] = *q; f = 2; out[13] = x * 10 + y; out[14] = q->lo;
        const char *text = "ab"; (void)text; int *null = nullptr; out[15] = null == 0;
        """,
        (0x0000001100000002,),
        (306189, 8, 5, 3, 11, 2, 57, 1, 17179869183, 17, 19, 8, 12, 34, 2, 1),
    ),
    Case(
        "values of types without arguments",
        "enum class Side { left = 3, right }; enum Color { red, green };",
        "out[0] = int(Side()) + 5; out[1] = Color() == red; out[2] = int() + 2; const Side &s = Side(); out[3] = int(s);",
        (),
        (5, 1, 2, 0),
    ),
    Case(
        "bit-fields, nested classes, copies, unions without a name",
        """
        struct Flags { unsigned a : 3; int b : 5; unsigned c : 8; };
        struct Inner { int v[2]; short s; };
        struct Outer { Inner in; union { int i; float f; }; struct { int x, y; }; Flags flags; };
        __device__ Outer make(int k) { Outer o{}; o.in.v[1] = k; o.x = k + 1; o.i = 77; return o; }
        __device__ int use(Outer o) { o.in.v[1] += 5; return o.in.v[1]; }
        """,
        """
        Flags f{}; f.a = 9; f.b = -3; f.c = 300; out[0] = f.a; out[1] = f.b; out[2] = f.c; f.a += 7; f.b--; out[3] = f.a * 100 + f.b;
        Outer o = make(4); Outer p = o; out[4] = use(o); out[5] = o.in.v[1] + p.x; p.in.v[0] = 3; p.y = 8; o = p; p.y = 1;
        out[6] = o.in.v[0] * 100 + o.y; out[7] = o.i; o.flags.b = 15; Outer *q = &o; q->flags.b += 1; out[8] = q->flags.b;
        Inner list[2] = {{{1, 2}, 3}, {{4, 5}, 6}}; list[0] = list[1]; list[1].s = 9; out[9] = list[0].v[0] * 10 + list[0].s + list[1].s * 1000;
        Outer d = {.in = {{1, 2}, 3}, .x = 5}; out[10] = d.in.v[0] + d.in.s * 10 + d.x * 100 + d.y;
        """,
        (),
        (1, -3, 44, -4, 9, 9, 308, 77, -16, 9046, 531),
    ),
]
