#pragma once
#include <davinci_torch/slim.h>
