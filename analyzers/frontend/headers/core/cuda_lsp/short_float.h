// A floating-point type of 16 bits and the pair of it: storage is a real member, arithmetic is declared only, because its
// values are opaque to the analysis. Included once per type, with these macros set, which it undefines:
//   CUDA_LSP_FLOAT, CUDA_LSP_FLOAT2   the type and the pair
//   CUDA_LSP_RAW, CUDA_LSP_RAW2       their raw forms
//   CUDA_LSP_NAME                     how functions call it (`half` in `__float2half`)
//   CUDA_LSP_FROM_HALF                if it can be made of a half
#define CUDA_LSP_JOINED(before, name, between, after) before##name##between##after
#define CUDA_LSP_EXPANDED(before, name, between, after) CUDA_LSP_JOINED(before, name, between, after)
#define CUDA_LSP_NAMED(before, after) CUDA_LSP_EXPANDED(before, CUDA_LSP_NAME, after, )
#define CUDA_LSP_TWICE(before, name, between, after) before##name##between##name##after
#define CUDA_LSP_TWICE_EXPANDED(before, name, between, after) CUDA_LSP_TWICE(before, name, between, after)
#define CUDA_LSP_NAMED2(before, between, after) CUDA_LSP_TWICE_EXPANDED(before, CUDA_LSP_NAME, between, after)

struct CUDA_LSP_RAW { unsigned short x; };
struct CUDA_LSP_RAW2;
struct CUDA_LSP_FLOAT {
  unsigned short __x;
  CUDA_LSP_FLOAT() = default;
  constexpr CUDA_LSP_FLOAT(const CUDA_LSP_RAW &raw) : __x(raw.x) {}
  CUDA_LSP_FLOAT(float value);
  CUDA_LSP_FLOAT(double value);
  CUDA_LSP_FLOAT(long double value);
  CUDA_LSP_FLOAT(short value);
  CUDA_LSP_FLOAT(unsigned short value);
  CUDA_LSP_FLOAT(int value);
  CUDA_LSP_FLOAT(unsigned value);
  CUDA_LSP_FLOAT(long value);
  CUDA_LSP_FLOAT(unsigned long value);
  CUDA_LSP_FLOAT(long long value);
  CUDA_LSP_FLOAT(unsigned long long value);
#ifdef CUDA_LSP_FROM_HALF
  CUDA_LSP_FLOAT(__half value);
#else
  explicit CUDA_LSP_FLOAT(__nv_bfloat16 value);
#endif
  operator float() const;
  operator CUDA_LSP_RAW() const;
  explicit operator bool() const;
  operator char() const;
  operator signed char() const;
  operator unsigned char() const;
  operator short() const;
  operator unsigned short() const;
  operator int() const;
  operator unsigned() const;
  operator long() const;
  operator unsigned long() const;
  operator long long() const;
  operator unsigned long long() const;
  CUDA_LSP_FLOAT &operator=(const CUDA_LSP_RAW &raw) { __x = raw.x; return *this; }
  CUDA_LSP_FLOAT &operator=(float value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(double value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(short value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(unsigned short value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(int value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(unsigned value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(long long value) { *this = CUDA_LSP_FLOAT(value); return *this; }
  CUDA_LSP_FLOAT &operator=(unsigned long long value) { *this = CUDA_LSP_FLOAT(value); return *this; }
};
struct __align__(4) CUDA_LSP_RAW2 { unsigned short x, y; };
struct __align__(4) CUDA_LSP_FLOAT2 {
  CUDA_LSP_FLOAT x, y;
  CUDA_LSP_FLOAT2() = default;
  constexpr CUDA_LSP_FLOAT2(const CUDA_LSP_FLOAT &a, const CUDA_LSP_FLOAT &b) : x(a), y(b) {}
  CUDA_LSP_FLOAT2(const CUDA_LSP_RAW2 &raw);
  template <class R, class = std::enable_if_t<std::is_same_v<R, CUDA_LSP_RAW2>>> CUDA_LSP_FLOAT2 &operator=(const R &raw) { *this = CUDA_LSP_FLOAT2(raw); return *this; }
  operator CUDA_LSP_RAW2() const;
};

#define CUDA_LSP_OPERATORS(T) \
  T operator+(const T &a); \
  T operator-(const T &a); \
  T operator+(const T &a, const T &b); \
  T operator-(const T &a, const T &b); \
  T operator*(const T &a, const T &b); \
  T operator/(const T &a, const T &b); \
  inline T &operator+=(T &a, const T &b) { a = a + b; return a; } \
  inline T &operator-=(T &a, const T &b) { a = a - b; return a; } \
  inline T &operator*=(T &a, const T &b) { a = a * b; return a; } \
  inline T &operator/=(T &a, const T &b) { a = a / b; return a; } \
  inline T &operator++(T &a) { a = a + a; return a; } \
  inline T &operator--(T &a) { a = a - a; return a; } \
  inline T operator++(T &a, int) { T old = a; a = a + a; return old; } \
  inline T operator--(T &a, int) { T old = a; a = a - a; return old; } \
  bool operator==(const T &a, const T &b); \
  bool operator!=(const T &a, const T &b); \
  bool operator<(const T &a, const T &b); \
  bool operator>(const T &a, const T &b); \
  bool operator<=(const T &a, const T &b); \
  bool operator>=(const T &a, const T &b);
CUDA_LSP_OPERATORS(CUDA_LSP_FLOAT)
CUDA_LSP_OPERATORS(CUDA_LSP_FLOAT2)
#undef CUDA_LSP_OPERATORS

#define CUDA_LSP_ARITHMETIC(T, n) \
  T __hadd##n(T a, T b); T __hsub##n(T a, T b); T __hmul##n(T a, T b); \
  T __hadd##n##_sat(T a, T b); T __hsub##n##_sat(T a, T b); T __hmul##n##_sat(T a, T b); \
  T __hadd##n##_rn(T a, T b); T __hsub##n##_rn(T a, T b); T __hmul##n##_rn(T a, T b); \
  T __hfma##n(T a, T b, T c); T __hfma##n##_sat(T a, T b, T c); T __hfma##n##_relu(T a, T b, T c); \
  T __hneg##n(T a); T __habs##n(T a); T __hmax##n(T a, T b); T __hmin##n(T a, T b); \
  T __hmax##n##_nan(T a, T b); T __hmin##n##_nan(T a, T b);
CUDA_LSP_ARITHMETIC(CUDA_LSP_FLOAT, )
CUDA_LSP_ARITHMETIC(CUDA_LSP_FLOAT2, 2)
#undef CUDA_LSP_ARITHMETIC
CUDA_LSP_FLOAT __hdiv(CUDA_LSP_FLOAT a, CUDA_LSP_FLOAT b);
CUDA_LSP_FLOAT2 __h2div(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b);
CUDA_LSP_FLOAT2 __hcmadd(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b, CUDA_LSP_FLOAT2 c);
#define CUDA_LSP_COMPARISON(name) \
  bool __h##name(CUDA_LSP_FLOAT a, CUDA_LSP_FLOAT b); bool __h##name##u(CUDA_LSP_FLOAT a, CUDA_LSP_FLOAT b); \
  CUDA_LSP_FLOAT2 __h##name##2(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b); CUDA_LSP_FLOAT2 __h##name##u2(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b); \
  unsigned __h##name##2_mask(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b); bool __hb##name##2(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b); bool __hb##name##u2(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b);
CUDA_LSP_COMPARISON(eq) CUDA_LSP_COMPARISON(ne) CUDA_LSP_COMPARISON(lt) CUDA_LSP_COMPARISON(le) CUDA_LSP_COMPARISON(gt) CUDA_LSP_COMPARISON(ge)
#undef CUDA_LSP_COMPARISON
bool __hisnan(CUDA_LSP_FLOAT a);
int __hisinf(CUDA_LSP_FLOAT a);
CUDA_LSP_FLOAT2 __hisnan2(CUDA_LSP_FLOAT2 a);
#define CUDA_LSP_FUNCTION(name) CUDA_LSP_FLOAT h##name(CUDA_LSP_FLOAT a); CUDA_LSP_FLOAT2 h2##name(CUDA_LSP_FLOAT2 a);
CUDA_LSP_FUNCTION(ceil) CUDA_LSP_FUNCTION(cos) CUDA_LSP_FUNCTION(exp) CUDA_LSP_FUNCTION(exp10) CUDA_LSP_FUNCTION(exp2) CUDA_LSP_FUNCTION(floor)
CUDA_LSP_FUNCTION(log) CUDA_LSP_FUNCTION(log10) CUDA_LSP_FUNCTION(log2) CUDA_LSP_FUNCTION(rcp) CUDA_LSP_FUNCTION(rint) CUDA_LSP_FUNCTION(rsqrt)
CUDA_LSP_FUNCTION(sin) CUDA_LSP_FUNCTION(sqrt) CUDA_LSP_FUNCTION(trunc) CUDA_LSP_FUNCTION(tanh)
#undef CUDA_LSP_FUNCTION
#define CUDA_LSP_MEMORY(T) \
  T __shfl_sync(unsigned mask, T value, int lane, int width = 32); \
  T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32); \
  T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32); \
  T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32); \
  CUDA_LSP_SCOPES(T, atomicAdd, T *address, T value)
CUDA_LSP_MEMORY(CUDA_LSP_FLOAT)
CUDA_LSP_MEMORY(CUDA_LSP_FLOAT2)
#undef CUDA_LSP_MEMORY

CUDA_LSP_FLOAT CUDA_LSP_NAMED(__float2, )(float a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__float2, _rn)(float a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__float2, _rz)(float a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__float2, _rd)(float a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__float2, _ru)(float a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__double2, )(double a);
float CUDA_LSP_NAMED(__, 2float)(CUDA_LSP_FLOAT a);
CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__float2, 2_rn)(float a);
CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__floats2, 2_rn)(float a, float b);
CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__float22, 2_rn)(float2 a);
float2 CUDA_LSP_NAMED(__, 22float2)(CUDA_LSP_FLOAT2 a);
float __low2float(CUDA_LSP_FLOAT2 a);
float __high2float(CUDA_LSP_FLOAT2 a);
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED2(__, 2, 2)(CUDA_LSP_FLOAT a) { return CUDA_LSP_FLOAT2(a, a); }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__halves2, 2)(CUDA_LSP_FLOAT a, CUDA_LSP_FLOAT b) { return CUDA_LSP_FLOAT2(a, b); }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(make_, 2)(CUDA_LSP_FLOAT a, CUDA_LSP_FLOAT b) { return CUDA_LSP_FLOAT2(a, b); }
inline CUDA_LSP_FLOAT CUDA_LSP_NAMED(__low2, )(CUDA_LSP_FLOAT2 a) { return a.x; }
inline CUDA_LSP_FLOAT CUDA_LSP_NAMED(__high2, )(CUDA_LSP_FLOAT2 a) { return a.y; }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__low2, 2)(CUDA_LSP_FLOAT2 a) { return CUDA_LSP_FLOAT2(a.x, a.x); }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__high2, 2)(CUDA_LSP_FLOAT2 a) { return CUDA_LSP_FLOAT2(a.y, a.y); }
inline CUDA_LSP_FLOAT2 __lowhigh2highlow(CUDA_LSP_FLOAT2 a) { return CUDA_LSP_FLOAT2(a.y, a.x); }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__lows2, 2)(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b) { return CUDA_LSP_FLOAT2(a.x, b.x); }
inline CUDA_LSP_FLOAT2 CUDA_LSP_NAMED(__highs2, 2)(CUDA_LSP_FLOAT2 a, CUDA_LSP_FLOAT2 b) { return CUDA_LSP_FLOAT2(a.y, b.y); }
short CUDA_LSP_NAMED(__, _as_short)(CUDA_LSP_FLOAT a);
unsigned short CUDA_LSP_NAMED(__, _as_ushort)(CUDA_LSP_FLOAT a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__short_as_, )(short a);
CUDA_LSP_FLOAT CUDA_LSP_NAMED(__ushort_as_, )(unsigned short a);
#define CUDA_LSP_CONVERSIONS(r) \
  int CUDA_LSP_NAMED(__, 2int_##r)(CUDA_LSP_FLOAT a); unsigned CUDA_LSP_NAMED(__, 2uint_##r)(CUDA_LSP_FLOAT a); \
  short CUDA_LSP_NAMED(__, 2short_##r)(CUDA_LSP_FLOAT a); unsigned short CUDA_LSP_NAMED(__, 2ushort_##r)(CUDA_LSP_FLOAT a); \
  long long CUDA_LSP_NAMED(__, 2ll_##r)(CUDA_LSP_FLOAT a); unsigned long long CUDA_LSP_NAMED(__, 2ull_##r)(CUDA_LSP_FLOAT a); \
  CUDA_LSP_FLOAT CUDA_LSP_NAMED(__int2, _##r)(int a); CUDA_LSP_FLOAT CUDA_LSP_NAMED(__uint2, _##r)(unsigned a); \
  CUDA_LSP_FLOAT CUDA_LSP_NAMED(__short2, _##r)(short a); CUDA_LSP_FLOAT CUDA_LSP_NAMED(__ushort2, _##r)(unsigned short a); \
  CUDA_LSP_FLOAT CUDA_LSP_NAMED(__ll2, _##r)(long long a); CUDA_LSP_FLOAT CUDA_LSP_NAMED(__ull2, _##r)(unsigned long long a);
CUDA_LSP_ROUNDINGS(CUDA_LSP_CONVERSIONS)
#undef CUDA_LSP_CONVERSIONS
signed char CUDA_LSP_NAMED(__, 2char_rz)(CUDA_LSP_FLOAT a);
unsigned char CUDA_LSP_NAMED(__, 2uchar_rz)(CUDA_LSP_FLOAT a);

#undef CUDA_LSP_JOINED
#undef CUDA_LSP_EXPANDED
#undef CUDA_LSP_NAMED
#undef CUDA_LSP_NAMED2
#undef CUDA_LSP_TWICE
#undef CUDA_LSP_TWICE_EXPANDED
#undef CUDA_LSP_FLOAT
#undef CUDA_LSP_FLOAT2
#undef CUDA_LSP_RAW
#undef CUDA_LSP_RAW2
#undef CUDA_LSP_NAME
#undef CUDA_LSP_FROM_HALF
