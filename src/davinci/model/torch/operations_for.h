// OperationsFor: the set of operations that fits a pass.
#pragma once

#include <memory>

#include "davinci/model/torch/operations.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {

// Of a pass under the calling thread's gradient mode. Both arguments must outlive it.
std::unique_ptr<const Operations> OperationsFor(const Weights& weights, const PassOptions& options);

}  // namespace davinci::model
