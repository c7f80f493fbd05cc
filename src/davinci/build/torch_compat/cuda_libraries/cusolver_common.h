// Stand-in for a header of a CUDA library that this machine lacks: types that the headers of
// LibTorch need, and nothing to call.
#pragma once

typedef enum { CUSOLVER_STATUS_SUCCESS = 0 } cusolverStatus_t;
