// Greedy answers of checkpoints to held-out tasks, as a judge found them: what a run keeps of them.
// The caller answers and judges (SftRun::answer).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::trainer {

// A share of tasks with its 95 % interval.
struct AnswerShare {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct AnswerScore {
  std::string set;  // name of the task set
  int64_t num_tasks = 0;
  AnswerShare correct;
  AnswerShare fast_1;  // correct and significantly faster than the baseline
};

// Answers the task sets with the model in a folder. Cancelled: asked to stop; it is done at the
// next start.
using AnswerTasks =
    std::function<Result<std::vector<AnswerScore>>(const std::filesystem::path& model)>;

// FOLDER/step-N.json.
Status WriteAnswers(const std::filesystem::path& folder, int64_t step,
                    const std::vector<AnswerScore>& scores);
bool HasAnswers(const std::filesystem::path& folder, int64_t step);
// The best step up to `last` that has answers: the highest mean of fast_1 over the sets decides,
// then the highest mean of correct, then the later step. Nothing where no step has answers.
std::optional<int64_t> BestAnswers(const std::filesystem::path& folder, int64_t last);

}  // namespace davinci::trainer
