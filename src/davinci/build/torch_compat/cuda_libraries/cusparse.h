// Stand-in for a header of a CUDA library that this machine lacks: types that the headers of
// LibTorch need, and nothing to call.
#pragma once

typedef struct cusparseContext* cusparseHandle_t;
typedef enum { CUSPARSE_STATUS_SUCCESS = 0 } cusparseStatus_t;
