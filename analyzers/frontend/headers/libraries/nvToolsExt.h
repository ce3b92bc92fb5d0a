// NVTX: ranges and marks.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
typedef unsigned long long nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxEventAttributes_v2 { uint16_t version, size; uint32_t category; int32_t colorType; uint32_t color; int32_t payloadType, reserved0; union { uint64_t ullValue; double dValue; } payload; int32_t messageType; union { const char *ascii; } message; } nvtxEventAttributes_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
extern "C" {
void nvtxMarkA(const char *text);
void nvtxMark(const char *text);
int nvtxRangePushA(const char *text);
int nvtxRangePush(const char *text);
int nvtxRangePushEx(const nvtxEventAttributes_t *attributes);
int nvtxRangePop();
nvtxRangeId_t nvtxRangeStartA(const char *text);
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes);
void nvtxRangeEnd(nvtxRangeId_t range);
void nvtxNameOsThreadA(uint32_t thread, const char *name);
nvtxDomainHandle_t nvtxDomainCreateA(const char *name);
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);
}
#include <cuda_lsp/show_macros.h>
