// glog: its checks are facts about the code behind them.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_streams.h>
struct __cuda_lsp_message { template <class T> __cuda_lsp_message &operator<<(const T &part); __cuda_lsp_message &operator<<(std::ostream &(*manipulator)(std::ostream &)); };
#define LOG(severity) __cuda_lsp_message()
#define VLOG(level) __cuda_lsp_message()
#define DLOG(severity) __cuda_lsp_message()
#define LOG_IF(severity, condition) __cuda_lsp_message()
#define LOG_EVERY_N(severity, n) __cuda_lsp_message()
#define CHECK(condition) (__cuda_lsp_check(static_cast<bool>(condition), #condition), __cuda_lsp_message())
#define CHECK_EQ(a, b) (__cuda_lsp_check((a) == (b), #a " == " #b), __cuda_lsp_message())
#define CHECK_NE(a, b) (__cuda_lsp_check((a) != (b), #a " != " #b), __cuda_lsp_message())
#define CHECK_LT(a, b) (__cuda_lsp_check((a) < (b), #a " < " #b), __cuda_lsp_message())
#define CHECK_LE(a, b) (__cuda_lsp_check((a) <= (b), #a " <= " #b), __cuda_lsp_message())
#define CHECK_GT(a, b) (__cuda_lsp_check((a) > (b), #a " > " #b), __cuda_lsp_message())
#define CHECK_GE(a, b) (__cuda_lsp_check((a) >= (b), #a " >= " #b), __cuda_lsp_message())
#define CHECK_NOTNULL(p) (__cuda_lsp_check((p) != nullptr, #p " != nullptr"), (p))
#define DCHECK(condition) CHECK(condition)
#define DCHECK_EQ(a, b) CHECK_EQ(a, b)
#define DCHECK_NE(a, b) CHECK_NE(a, b)
#define DCHECK_LT(a, b) CHECK_LT(a, b)
#define DCHECK_LE(a, b) CHECK_LE(a, b)
#define DCHECK_GT(a, b) CHECK_GT(a, b)
#define DCHECK_GE(a, b) CHECK_GE(a, b)
#include <cuda_lsp/show_macros.h>
