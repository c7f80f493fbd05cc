// Stand-in for a header of a CUDA library that this machine lacks: what the headers of LibTorch need of
// it to be parsed, and nothing to call.
#pragma once

#include <cublas_v2.h>

typedef struct cublasLtContext* cublasLtHandle_t;
