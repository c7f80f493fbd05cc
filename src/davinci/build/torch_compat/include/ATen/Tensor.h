#pragma once
#include <davinci_torch/tensor.h>
