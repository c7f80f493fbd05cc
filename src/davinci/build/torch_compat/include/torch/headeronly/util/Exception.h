#pragma once
#include <davinci_torch/types.h>
