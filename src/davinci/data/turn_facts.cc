#include "davinci/data/turn_facts.h"

#include <algorithm>

namespace davinci {
namespace {

using nlohmann::json;

const json* Profile(const Evaluation& evaluation) {
  const auto profile = evaluation.evidence.find("profile");
  return profile != evaluation.evidence.end() && profile->is_object() ? &*profile : nullptr;
}

const json* DeviceProfile(const Evaluation& evaluation) {
  const json* profile = Profile(evaluation);
  if (profile == nullptr) return nullptr;
  const auto device = profile->find("device");
  return device != profile->end() && device->is_object() ? &*device : nullptr;
}

std::optional<double> Number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

double CoverageTerm(std::optional<double> coverage) {
  return std::clamp(coverage.value_or(0), 0.0, 1.0);
}

}  // namespace

bool IsAccepted(const Evaluation& evaluation) {
  return evaluation.outcome == Outcome::kOk ||
         (evaluation.outcome == Outcome::kCompileOnly && evaluation.correct == true);
}

std::optional<double> Coverage(const Evaluation& evaluation) {
  if (const json* device = DeviceProfile(evaluation)) {
    const auto share = Number(*device, "custom_time_share");
    return share ? std::optional(std::clamp(*share, 0.0, 1.0)) : std::nullopt;
  }
  const json* profile = Profile(evaluation);
  const auto library = profile == nullptr ? std::nullopt : Number(*profile, "library_share");
  return library ? std::optional(std::clamp(1 - *library, 0.0, 1.0)) : std::nullopt;
}

bool OnlyPyTorch(Language language, const Evaluation& evaluation) {
  if (language == Language::kPython ||
      evaluation.provenance.value("language", json()) == LanguageName(Language::kPython))
    return true;
  const json* device = DeviceProfile(evaluation);
  if (device == nullptr) return false;
  return Number(*device, "kernels").value_or(0) > 0 && Number(*device, "custom_kernels") == 0.0;
}

bool EarnsReward(Language language, const Evaluation& evaluation) {
  return IsAccepted(evaluation) && !OnlyPyTorch(language, evaluation);
}

double PublishedReward(bool correct, double speedup, std::optional<double> coverage, double cap) {
  if (!correct) return 0;
  return 0.5 + 0.5 * std::min(speedup, cap) + 0.5 * CoverageTerm(coverage);
}

double DrKernelPaperReward(bool correct, double speedup, std::optional<double> coverage,
                           double cap) {
  return correct ? 1 + std::min(speedup, cap) + CoverageTerm(coverage) : 0;
}

double KevinReward(bool correct, double speedup) {
  constexpr double kCorrectnessWeight = 0.3;
  return correct ? kCorrectnessWeight + speedup : 0;
}

BaselineSpeedups SpeedupsOf(const Evaluation& evaluation) {
  BaselineSpeedups over;
  const auto read = [&](std::string_view baseline, double median) {
    if (baseline == "eager") over.eager = median;
    if (baseline == "compile") over.compile = median;
  };
  const auto further = evaluation.evidence.find("speedups");
  if (further != evaluation.evidence.end() && further->is_array()) {
    for (const json& one : *further) {
      if (!one.is_object() || !one.value("baseline", json()).is_string() ||
          !one.value("median", json()).is_number())
        continue;
      read(one["baseline"].get<std::string>(), one["median"].get<double>());
    }
  }
  if (evaluation.speedup) read(evaluation.speedup->baseline, evaluation.speedup->median);
  return over;
}

double MilestoneReward(bool correct, const BaselineSpeedups& over) {
  if (!correct) return -1;
  if (!(over.eager.value_or(0) > kMilestoneMargin)) return 1;
  return over.compile.value_or(0) > kMilestoneMargin ? 3 : 2;
}

}  // namespace davinci
