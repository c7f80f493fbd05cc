#pragma once
#include <davinci_torch/tensor.h>
#ifdef DAVINCI_NEED_PYTHON
#include <davinci_torch/python.h>
#endif
