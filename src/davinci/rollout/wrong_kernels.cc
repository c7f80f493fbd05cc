#include "davinci/rollout/wrong_kernels.h"

#include <algorithm>
#include <utility>

#include "davinci/agent/python_statements.h"
#include "davinci/data/turn_facts.h"

namespace davinci::rollout {
namespace {

std::string WhyOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
      return "with it the answer has other values";
    case Outcome::kCompileError:
      return "with it the reply does not compile";
    default:
      return "with it the call fails";
  }
}

}  // namespace

bool MayBeOneKernels(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kCompileError:
    case Outcome::kLaunchError:
    case Outcome::kRuntimeError:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
      return true;
    case Outcome::kCompileOnly:
      return evaluation.correct == false;  // not decided is not wrong
    default:
      return false;
  }
}

WrongKernels::WrongKernels(const std::vector<std::string>& kernels, const Evaluation& whole)
    : kernels_(kernels), why_(WhyOf(whole.outcome)) {
  Group named, others;
  for (const std::string& kernel : kernels)
    (agent::HasName(whole.message, kernel) ? named : others).kernels.push_back(kernel);
  if (named.kernels.empty() || others.kernels.empty()) {
    groups_.push_back({kernels, true});
    Split();
    return;
  }
  others.tells_of_other = true;
  groups_.push_back(std::move(named));
  groups_.push_back(std::move(others));
}

void WrongKernels::Split() {
  while (!groups_.empty() && groups_.back().wrong) {
    const std::vector<std::string> kernels = std::move(groups_.back().kernels);
    groups_.pop_back();
    if (kernels.size() <= 1) continue;
    const auto middle = kernels.begin() + static_cast<std::ptrdiff_t>(kernels.size() / 2);
    groups_.push_back({{middle, kernels.end()}});
    groups_.push_back({{kernels.begin(), middle}, false, true});
  }
}

std::optional<std::set<std::string>> WrongKernels::Next() const {
  if (groups_.empty()) return std::nullopt;
  std::set<std::string> asked = right_;
  asked.insert(groups_.back().kernels.begin(), groups_.back().kernels.end());
  return asked;
}

bool WrongKernels::Learn(const Evaluation& verdict) {
  Group& group = groups_.back();
  if (!IsAccepted(verdict)) {
    group.wrong = true;
    Split();
    return false;
  }
  right_.insert(group.kernels.begin(), group.kernels.end());
  const bool other_is_wrong = group.tells_of_other;
  groups_.pop_back();
  if (other_is_wrong) groups_.back().wrong = true;
  Split();
  return true;
}

std::vector<agent::LeftOut> WrongKernels::Others(const std::set<std::string>& kept) const {
  std::vector<agent::LeftOut> others;
  for (const std::string& kernel : kernels_)
    if (!kept.contains(kernel)) others.push_back({kernel, why_});
  return others;
}

}  // namespace davinci::rollout
