#pragma once
#include <cuda_lsp_cub.h>
