#pragma once
#include <cuda_lsp_thrust.h>
