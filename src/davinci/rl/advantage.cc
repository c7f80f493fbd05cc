#include "davinci/rl/advantage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace davinci::rl {
namespace {

constexpr double kGrpoEpsilon = 1e-6;
constexpr double kCrossSchemeEpsilon = 1e-8;

constexpr std::array<std::pair<AdvantageKind, std::string_view>, 5> kAdvantageNames = {{
    {AdvantageKind::kTrloo, "trloo"},
    {AdvantageKind::kRloo, "rloo"},
    {AdvantageKind::kGrpo, "grpo"},
    {AdvantageKind::kDrGrpo, "dr-grpo"},
    {AdvantageKind::kReinforce, "reinforce"},
}};

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

std::vector<double> LeaveOneOut(std::span<const double> returns) {
  if (returns.size() == 1) return {returns[0]};
  const auto n = static_cast<double>(returns.size());
  const double mean = Mean(returns);
  std::vector<double> advantages;
  for (const double g : returns) advantages.push_back(n / (n - 1) * (g - mean));
  return advantages;
}

std::vector<double> Centred(std::span<const double> returns) {
  const double mean = Mean(returns);
  std::vector<double> advantages;
  for (const double g : returns) advantages.push_back(g - mean);
  return advantages;
}

// Standard deviation of what Centred() returns, which has at least two values.
double DeviationOf(std::span<const double> centred) {
  double squares = 0;
  for (const double a : centred) squares += a * a;
  return std::sqrt(squares / static_cast<double>(centred.size() - 1));
}

std::vector<double> Standardised(std::span<const double> returns) {
  if (returns.size() == 1) return {0};
  std::vector<double> advantages = Centred(returns);
  const double deviation = DeviationOf(advantages);
  for (double& a : advantages) a /= deviation + kGrpoEpsilon;
  return advantages;
}

}  // namespace

std::string_view AdvantageKindName(AdvantageKind kind) {
  for (const auto& [value, name] : kAdvantageNames)
    if (value == kind) return name;
  return "?";
}

Result<AdvantageKind> ParseAdvantageKind(std::string_view name) {
  std::string known;
  for (const auto& [value, text] : kAdvantageNames) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return InvalidArgument(fmt::format("unknown advantage \"{}\"; known are {}", name, known));
}

std::vector<double> GroupAdvantages(std::span<const double> returns, AdvantageKind kind) {
  if (returns.empty()) return {};
  switch (kind) {
    case AdvantageKind::kTrloo:
    case AdvantageKind::kRloo:
      return LeaveOneOut(returns);
    case AdvantageKind::kGrpo:
      return Standardised(returns);
    case AdvantageKind::kDrGrpo:
      return Centred(returns);
    case AdvantageKind::kReinforce:
      return {returns.begin(), returns.end()};
  }
  return {};
}

std::vector<double> GroupAdvantages(std::span<const double> returns, const std::vector<bool>& decoy,
                                    AdvantageKind kind) {
  std::vector<double> honest;
  for (size_t i = 0; i < returns.size(); ++i)
    if (!decoy[i]) honest.push_back(returns[i]);
  if (honest.size() == returns.size()) return GroupAdvantages(returns, kind);
  std::vector<double> advantages(returns.size());
  if (honest.empty()) return advantages;
  const std::vector<double> of_honest = GroupAdvantages(honest, kind);
  const double baseline = kind == AdvantageKind::kReinforce ? 0 : Mean(honest);
  const double scale =
      kind == AdvantageKind::kGrpo ? DeviationOf(Centred(returns)) + kGrpoEpsilon : 1;
  size_t next = 0;
  for (size_t i = 0; i < returns.size(); ++i)
    advantages[i] = decoy[i] ? std::min(0.0, (returns[i] - baseline) / scale) : of_honest[next++];
  return advantages;
}

std::vector<double> ScaleAcrossSchemes(std::span<const double> advantages,
                                       std::span<const int64_t> num_tokens) {
  double magnitude = 0;
  double tokens = 0;
  for (size_t i = 0; i < advantages.size(); ++i) {
    magnitude += std::abs(advantages[i]) * static_cast<double>(num_tokens[i]);
    tokens += static_cast<double>(num_tokens[i]);
  }
  std::vector<double> scaled(advantages.begin(), advantages.end());
  if (tokens == 0) return scaled;
  for (double& a : scaled) a /= magnitude / tokens + kCrossSchemeEpsilon;
  return scaled;
}

std::vector<std::optional<double>> SelectionAdvantages(std::span<const SchemeReturn> schemes,
                                                       double weight, bool with_null) {
  double sum = 0;
  int members = 0;
  for (const SchemeReturn& scheme : schemes) {
    if (!scheme.value || (scheme.null_scheme && !with_null)) continue;
    sum += *scheme.value;
    ++members;
  }
  std::vector<std::optional<double>> advantages;
  for (const SchemeReturn& scheme : schemes) {
    if (!scheme.value || scheme.null_scheme) {
      advantages.emplace_back();
      continue;
    }
    const double others = members > 1 ? (sum - *scheme.value) / (members - 1) : 0;
    advantages.emplace_back(weight * (*scheme.value - others));
  }
  return advantages;
}

std::optional<double> SchemeValue(std::span<const std::vector<std::optional<double>>> rollouts,
                                  PerRollout per_rollout) {
  std::vector<double> values;
  for (const auto& rewards : rollouts) {
    std::vector<double> judged;
    for (const auto& reward : rewards)
      if (reward) judged.push_back(*reward);
    if (judged.empty()) continue;
    switch (per_rollout) {
      case PerRollout::kBest:
        values.push_back(*std::max_element(judged.begin(), judged.end()));
        break;
      case PerRollout::kMean:
        values.push_back(Mean(judged));
        break;
      case PerRollout::kFirst:
        values.push_back(judged.front());
        break;
    }
  }
  if (values.empty()) return std::nullopt;
  return Mean(values);
}

}  // namespace davinci::rl
