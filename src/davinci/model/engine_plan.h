// What an engine will be, from its options and the model's configuration, before anything is
// allocated. No torch.
#pragma once

#include "davinci/base/status.h"
#include "davinci/model/engine.h"
#include "davinci/weights/model_config.h"

namespace davinci::model {

// Facts of an engine on `device` ("cpu", "cuda:0"); `kernels` stays empty. kInvalidArgument: a
// context beyond the model's.
Result<EngineFacts> PlanEngine(const EngineOptions& options, const weights::ModelConfig& config,
                               const std::string& device);

}  // namespace davinci::model
