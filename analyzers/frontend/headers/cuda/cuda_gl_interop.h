// OpenGL objects as CUDA resources.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/runtime_api.h>
struct cudaGraphicsResource;
extern "C" {
cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **resource, unsigned buffer, unsigned flags);
cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource, unsigned image, unsigned target, unsigned flags);
cudaError_t cudaGLSetGLDevice(int device);
cudaError_t cudaGLRegisterBufferObject(unsigned buffer);
cudaError_t cudaGLUnregisterBufferObject(unsigned buffer);
cudaError_t cudaGLMapBufferObject(void **pointer, unsigned buffer);
cudaError_t cudaGLUnmapBufferObject(unsigned buffer);
}
#include <cuda_lsp/show_macros.h>
