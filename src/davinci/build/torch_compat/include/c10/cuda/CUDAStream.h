#pragma once
#include <davinci_torch/cuda.h>
