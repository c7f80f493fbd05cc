// Stand-in for a header of a CUDA library that this machine lacks: what the headers of LibTorch need of
// it to be parsed, and nothing to call.
#pragma once

typedef struct cublasContext* cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
