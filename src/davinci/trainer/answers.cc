#include "davinci/trainer/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

namespace davinci::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

fs::path AnswersPath(const fs::path& folder, int64_t step) {
  return folder / fmt::format("step-{:08}.json", step);
}

}  // namespace

Status WriteAnswers(const fs::path& folder, int64_t step, const std::vector<AnswerScore>& scores) {
  ordered_json file = {{"step", step}, {"sets", ordered_json::array()}};
  const auto share = [](const AnswerShare& of) {
    return ordered_json{{"value", of.value}, {"low", of.low}, {"high", of.high}};
  };
  for (const AnswerScore& score : scores)
    file["sets"].push_back({{"set", score.set},
                            {"tasks", score.num_tasks},
                            {"correct", share(score.correct)},
                            {"fast_1", share(score.fast_1)}});
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  return WriteFileAtomic(AnswersPath(folder, step), JsonText(file, 1) + "\n");
}

bool HasAnswers(const fs::path& folder, int64_t step) {
  std::error_code error;
  return fs::exists(AnswersPath(folder, step), error);
}

std::optional<int64_t> BestAnswers(const fs::path& folder, int64_t last) {
  std::optional<std::tuple<double, double, int64_t>> best;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    const auto text = ReadFile(entry.path());
    const auto file = ordered_json::parse(text.ok() ? *text : "", nullptr, false);
    if (!file.is_object() || !file.contains("sets") || file["sets"].empty()) continue;
    const auto step = file.value("step", int64_t{0});
    if (step > last) continue;
    double fast = 0, correct = 0;
    for (const auto& set : file["sets"]) {
      fast += set.at("fast_1").value("value", 0.0);
      correct += set.at("correct").value("value", 0.0);
    }
    const auto sets = static_cast<double>(file["sets"].size());
    best = std::max(best.value_or(std::tuple(-1.0, -1.0, int64_t{0})),
                    std::tuple(fast / sets, correct / sets, step));
  }
  return best ? std::optional(std::get<2>(*best)) : std::nullopt;
}

}  // namespace davinci::trainer
