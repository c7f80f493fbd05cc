// Stand-in for a header of a CUDA library that this machine lacks: types that the headers of
// LibTorch need, and nothing to call.
#pragma once

#include <cusolver_common.h>

typedef struct cusolverDnContext* cusolverDnHandle_t;
