#pragma once
#include <davinci_torch/slim.h>
#ifdef DAVINCI_NEED_PYTHON
#include <davinci_torch/python.h>
#endif
