// Stand-in for a header of a CUDA library that this machine lacks: types that the headers of
// LibTorch need, and nothing to call.
#pragma once

#include <cublas_v2.h>

typedef struct cublasLtContext* cublasLtHandle_t;
