#pragma once
#include <cuda_lsp_torch.h>
