// The folder of a training run (davinci sft, davinci train) as a report shows it: log.jsonl and
// recipe.toml. Reads nothing else, so a run can be shown while it trains.
#pragma once

#include <filesystem>

#include "davinci/base/status.h"
#include "davinci/report/training_view.h"

namespace davinci::training {

// Whether `folder` holds such a run.
bool IsTrainingRun(const std::filesystem::path& folder);

// NotFound without such a run. A torn or damaged line of the log is left out.
Result<report::TrainingView> ReadTrainingRun(const std::filesystem::path& folder);

}  // namespace davinci::training
