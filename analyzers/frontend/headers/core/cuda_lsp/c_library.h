// The C library: types, and the functions of <stdio.h>, <stdlib.h>, <string.h>, <math.h>, <time.h>, <ctype.h>.
#pragma once
#include <cuda_lsp/language.h>

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long ssize_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef long int_fast16_t;
typedef long int_fast32_t;
typedef long int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef unsigned long uint_fast16_t;
typedef unsigned long uint_fast32_t;
typedef unsigned long uint_fast64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef struct { long long first __attribute__((aligned(8))); long double second __attribute__((aligned(16))); } max_align_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef unsigned char u_char;
typedef unsigned int u_int;
typedef long time_t;
typedef long clock_t;
typedef long off_t;
typedef __builtin_va_list va_list;
typedef double double_t;
typedef float float_t;

#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)

// Visible on both sides whatever NDEBUG says: what an author asserts is a fact about the code around it.
#define assert(...) __cuda_lsp_assert(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)

#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32767 - 1)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807L - 1)
#define INT64_MAX 9223372036854775807L
#define UINT64_MAX 18446744073709551615UL
#define INTPTR_MAX INT64_MAX
#define INTPTR_MIN INT64_MIN
#define UINTPTR_MAX UINT64_MAX
#define SIZE_MAX UINT64_MAX
#define PTRDIFF_MAX INT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##L
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##UL

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN INT16_MIN
#define SHRT_MAX INT16_MAX
#define USHRT_MAX UINT16_MAX
#define INT_MIN INT32_MIN
#define INT_MAX INT32_MAX
#define UINT_MAX UINT32_MAX
#define LONG_MIN INT64_MIN
#define LONG_MAX INT64_MAX
#define ULONG_MAX UINT64_MAX
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define PATH_MAX 4096

#define FLT_RADIX 2
#define FLT_DIG 6
#define DBL_DIG 15
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define FLT_MAX_10_EXP 38
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
#define DBL_MAX_EXP 1024
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_10_EXP 308
#define LDBL_MAX 1.18973149535723176502e+4932L
#define LDBL_MIN 3.36210314311209350626e-4932L
#define LDBL_EPSILON 1.08420217248550443401e-19L

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define CLOCKS_PER_SEC 1000000L
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define errno (*__errno_location())
#define EINTR 4
#define ENOMEM 12
#define EINVAL 22
#define ERANGE 34

#define PRId8 "d"
#define PRId16 "d"
#define PRId32 "d"
#define PRId64 "ld"
#define PRIi32 "i"
#define PRIi64 "li"
#define PRIu8 "u"
#define PRIu16 "u"
#define PRIu32 "u"
#define PRIu64 "lu"
#define PRIx8 "x"
#define PRIx16 "x"
#define PRIx32 "x"
#define PRIx64 "lx"
#define PRIX32 "X"
#define PRIX64 "lX"
#define PRIo64 "lo"
#define PRIuPTR "lu"
#define PRIdPTR "ld"
#define PRIxPTR "lx"
#define SCNd32 "d"
#define SCNu32 "u"
#define SCNd64 "ld"
#define SCNu64 "lu"
#define SCNx64 "lx"

typedef struct _IO_FILE FILE;
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; long tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };

extern "C" {
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
__host__ __device__ int printf(const char *format, ...);
__host__ __device__ int vprintf(const char *format, va_list arguments);
__host__ __device__ void *malloc(size_t size);
__host__ __device__ void free(void *pointer);
__host__ __device__ void *memcpy(void *to, const void *from, size_t size);
__host__ __device__ void *memmove(void *to, const void *from, size_t size);
__host__ __device__ void *memset(void *to, int value, size_t size);
__host__ __device__ int memcmp(const void *a, const void *b, size_t size);
__host__ __device__ size_t strlen(const char *text);
__host__ __device__ int strcmp(const char *a, const char *b);
__host__ __device__ int strncmp(const char *a, const char *b, size_t size);
__host__ __device__ char *strcpy(char *to, const char *from);
__host__ __device__ char *strncpy(char *to, const char *from, size_t size);
__host__ __device__ clock_t clock();
__host__ __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);
__host__ __device__ void __assert_fail(const char *message, const char *file, unsigned line, const char *function);
__host__ __device__ void abort() __attribute__((noreturn));

void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **pointer, size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *alloca(size_t size);
void exit(int status) __attribute__((noreturn));
void _exit(int status) __attribute__((noreturn));
void quick_exit(int status) __attribute__((noreturn));
int atexit(void (*function)());
int system(const char *command);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
double strtod(const char *text, char **end);
float strtof(const char *text, char **end);
long double strtold(const char *text, char **end);
int rand();
void srand(unsigned seed);
int rand_r(unsigned *seed);
long random();
void srandom(unsigned seed);
double drand48();
long lrand48();
long mrand48();
double erand48(unsigned short state[3]);
void srand48(long seed);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);
char *realpath(const char *path, char *resolved);

void *memchr(const void *memory, int value, size_t size);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t size);
char *strchr(const char *text, int value);
char *strrchr(const char *text, int value);
char *strstr(const char *text, const char *part);
char *strtok(char *text, const char *separators);
char *strtok_r(char *text, const char *separators, char **state);
char *strdup(const char *text);
char *strndup(const char *text, size_t size);
char *strerror(int error);
char *strsep(char **text, const char *separators);
size_t strspn(const char *text, const char *set);
size_t strcspn(const char *text, const char *set);
char *strpbrk(const char *text, const char *set);
int strcoll(const char *a, const char *b);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t size);
size_t strnlen(const char *text, size_t size);
void bzero(void *memory, size_t size);
void bcopy(const void *from, void *to, size_t size);

int fprintf(FILE *file, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int vfprintf(FILE *file, const char *format, va_list arguments);
int vsprintf(char *to, const char *format, va_list arguments);
int vsnprintf(char *to, size_t size, const char *format, va_list arguments);
int scanf(const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
FILE *fopen(const char *path, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *file);
FILE *fdopen(int descriptor, const char *mode);
FILE *popen(const char *command, const char *mode);
FILE *tmpfile();
int pclose(FILE *file);
int fclose(FILE *file);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int fseek(FILE *file, long offset, int origin);
long ftell(FILE *file);
void rewind(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void clearerr(FILE *file);
int fflush(FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar();
int ungetc(int character, FILE *file);
char *fgets(char *to, int size, FILE *file);
int fputs(const char *text, FILE *file);
int fputc(int character, FILE *file);
int putc(int character, FILE *file);
int putchar(int character);
int puts(const char *text);
void perror(const char *text);
int remove(const char *path);
int rename(const char *from, const char *to);
int fileno(FILE *file);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);
void setbuf(FILE *file, char *buffer);
ssize_t getline(char **line, size_t *size, FILE *file);
int *__errno_location();

time_t time(time_t *result);
double difftime(time_t end, time_t start);
struct tm *localtime(const time_t *time);
struct tm *gmtime(const time_t *time);
struct tm *localtime_r(const time_t *time, struct tm *result);
time_t mktime(struct tm *time);
char *ctime(const time_t *time);
char *asctime(const struct tm *time);
size_t strftime(char *to, size_t size, const char *format, const struct tm *time);
int clock_gettime(int clock, struct timespec *result);
int gettimeofday(struct timeval *result, void *zone);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int usleep(unsigned microseconds);
unsigned sleep(unsigned seconds);

int isalpha(int character);
int isdigit(int character);
int isalnum(int character);
int isspace(int character);
int isupper(int character);
int islower(int character);
int isprint(int character);
int ispunct(int character);
int isxdigit(int character);
int iscntrl(int character);
int isgraph(int character);
int isblank(int character);
int toupper(int character);
int tolower(int character);
}
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_MONOTONIC_RAW 4
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
