#include "davinci/judge/request/baselines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace davinci::judge {
namespace {

using nlohmann::json;

}  // namespace

const std::vector<std::string>& BaselineNames() {
  static const std::vector<std::string> names = {"eager", "compile", "compile-max-autotune"};
  return names;
}

Result<std::vector<std::string>> ParseBaselines(std::string_view text) {
  const std::vector<std::string>& known = BaselineNames();
  std::vector<std::string> found;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name(text.substr(begin, end - begin));
    begin = end + 1;
    if (std::find(known.begin(), known.end(), name) == known.end())
      return InvalidArgument(
          fmt::format("\"{}\" is no baseline; known: {}; several are joined by "
                      "commas (eager,compile)",
                      name, fmt::join(known, ", ")));
    if (std::find(found.begin(), found.end(), name) != found.end())
      return InvalidArgument(fmt::format("baseline \"{}\" is given twice", name));
    found.push_back(name);
  }
  return found;
}

void BeginSpeedups(Evaluation* evaluation) {
  evaluation->evidence["speedups"] = json::array({ToJson(evaluation->speedup.value())});
}

void AddBaseline(const std::string& baseline, const Result<Evaluation>& judged,
                 Evaluation* evaluation) {
  json& speedups = evaluation->evidence["speedups"];
  if (judged.ok() && judged->speedup) {
    speedups.push_back(ToJson(*judged->speedup));
    return;
  }
  // The same candidate passed every check once: what it did now counts.
  if (judged.ok() && judged->outcome != Outcome::kOk && judged->outcome != Outcome::kJudgeError) {
    *evaluation = *judged;
    return;
  }
  const std::string why = judged.ok() ? judged->message : judged.status().message();
  speedups.push_back({{"baseline", baseline}, {"error", why}});
  evaluation->AddLabel(Label::kNotTimedAgainst, {baseline});
}

}  // namespace davinci::judge
