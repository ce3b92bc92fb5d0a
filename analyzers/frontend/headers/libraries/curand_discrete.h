#pragma once
#include <cuda_lsp_curand.h>
