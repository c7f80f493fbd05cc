// Stand-in for a header of a CUDA library that this machine lacks: what the headers of LibTorch need of
// it to be parsed, and nothing to call.
#pragma once

#include <cusolver_common.h>

typedef struct cusolverDnContext* cusolverDnHandle_t;
