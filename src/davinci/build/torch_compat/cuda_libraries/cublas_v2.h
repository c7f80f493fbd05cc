// Stand-in for a header of a CUDA library that this machine lacks: types that the headers of
// LibTorch need, and nothing to call.
#pragma once

typedef struct cublasContext* cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
