#include "davinci/agent/measurement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"

namespace davinci::agent {
namespace {

using nlohmann::json;

constexpr size_t kMaxKernelName = 60;

// The member at `path`, or null: evidence comes from processes that may have said anything.
const json* Find(const json& document, std::initializer_list<const char*> path) {
  const json* at = &document;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::optional<double> Number(const json& document, std::initializer_list<const char*> path) {
  const json* found = Find(document, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string Text(const json& object, const char* key) {
  const json* found = Find(object, {key});
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::string Percent(double share) {
  return fmt::format("{:.0f} %", 100 * std::clamp(share, 0.0, 1.0));
}

// "_fused_kernel" stays, a template's hundred characters do not; no table is broken by a bar.
std::string ShortName(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '|' || c == '\n' || c == '`'; }, ' ');
  return name.size() <= kMaxKernelName ? name : name.substr(0, kMaxKernelName - 3) + "...";
}

// Do the times of this evaluation carry a number? What was not compared has nothing against it.
bool HasNumber(const Evaluation& evaluation) {
  return !evaluation.speedup || IsNarrow(Shown(*evaluation.speedup));
}

struct Row {
  std::string name;
  double ms = 0;
  int launches = 0;
  std::string whose;
};

std::string Table(std::vector<Row> rows, double total_ms, int max_rows) {
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.ms > b.ms; });
  std::string text = "| kernel | launches | ms | share | code |\n|---|---|---|---|---|";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(max_rows));
  for (const Row& row : std::span(rows).first(shown))
    text += fmt::format("\n| `{}` | {} | {:.3g} | {} | {} |", row.name, row.launches, row.ms,
                        Percent(total_ms > 0 ? row.ms / total_ms : 0), row.whose);
  if (rows.size() > shown) text += fmt::format("\n({} more)", rows.size() - shown);
  return text;
}

}  // namespace

std::string OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "is correct on every check";
    case Outcome::kCompileOnly:
      return "compiles and passes the checks that need no device; it was not timed";
    case Outcome::kParseError:
      return "is not a valid Python file, or lacks the class";
    case Outcome::kCompileError:
      return "does not compile";
    case Outcome::kLoadError:
      return "cannot be loaded: importing the file or constructing the class failed";
    case Outcome::kLaunchError:
      return "was refused by the device: the launch configuration is not possible";
    case Outcome::kRuntimeError:
      return "failed while forward was running";
    case Outcome::kTimeout:
      return "took too long and was stopped";
    case Outcome::kOutOfMemory:
      return "ran out of memory";
    case Outcome::kWrongShape:
      return "returns another shape or structure than the reference";
    case Outcome::kWrongDtype:
      return "returns another dtype than the reference";
    case Outcome::kMismatch:
      return "returns wrong values";
    case Outcome::kNondeterministic:
      return "answers the same inputs differently: a race, or memory read before it is written";
    case Outcome::kInvalidTiming:
      return "was not timed: work went on outside the call, or was skipped";
    case Outcome::kPolicyViolation:
      return "broke a rule";
    case Outcome::kJudgeError:
      return "could not be judged, which is not its fault";
  }
  return "";
}

std::string TimesAsFast(const Speedup& speedup) {
  const SpeedFigure figure = FigureOf(speedup);
  switch (figure.kind) {
    case SpeedFigure::Kind::kMedian:
      return fmt::format("{:.2f} times as fast as the reference", figure.value);
    case SpeedFigure::Kind::kAtLeast:
      return fmt::format("at least {:.2f} times as fast as the reference", figure.value);
    case SpeedFigure::Kind::kAtMost:
      return fmt::format("at most {:.2f} times as fast as the reference", figure.value);
    case SpeedFigure::Kind::kNone:
      break;
  }
  return "correct; the machine was too busy to measure its speed";
}

std::string TimingText(const Evaluation& evaluation) {
  if (!evaluation.speedup) return "";
  const Speedup& speedup = *evaluation.speedup;
  if (!HasNumber(evaluation)) {
    const ShownInterval shown = Shown(speedup);
    const bool sure = FindingOf(speedup) != SpeedFinding::kNotDecided;
    return fmt::format(
        "{} The {} interval of the speedup over {} is {}.",
        sure ? fmt::format("It is {}; the machine was too busy to say more.", TimesAsFast(speedup))
             : "The machine was too busy to measure the speed.",
        shown.level, speedup.baseline, BoundsText(shown));
  }
  std::string text;
  if (evaluation.candidate_time && evaluation.baseline_time)
    text = fmt::format("{:.3g} ms per call; {} takes {:.3g} ms. ",
                       evaluation.candidate_time->median_ms, speedup.baseline,
                       evaluation.baseline_time->median_ms);
  text += fmt::format("Speedup {:.2f}, 95 % interval {:.2f} to ", speedup.median, speedup.low);
  text += std::isfinite(speedup.high) ? fmt::format("{:.2f}.", speedup.high) : "unbounded.";
  if (!speedup.significant) text += " The measurement does not tell the two apart.";
  const auto candidate = Number(evaluation.times, {"device_ms", "candidate"});
  const auto baseline = Number(evaluation.times, {"device_ms", "baseline"});
  if (candidate && baseline)
    text += fmt::format(" The device itself was busy for {:.3g} ms ({}: {:.3g} ms).", *candidate,
                        speedup.baseline, *baseline);
  return text;
}

std::string KernelsText(const Evaluation& evaluation, int max_rows) {
  std::map<std::string, size_t> place;
  std::vector<Row> rows;
  double total = 0;
  const auto add = [&](const std::string& name, double ms, int launches, std::string whose) {
    const auto [found, is_new] = place.try_emplace(ShortName(name), rows.size());
    if (is_new) rows.push_back({found->first, 0, 0, std::move(whose)});
    rows[found->second].ms += ms;
    rows[found->second].launches += launches;
    total += ms;
  };
  if (const json* kernels = Find(evaluation.evidence, {"profile", "device", "list"});
      kernels != nullptr && kernels->is_array()) {
    for (const json& kernel : *kernels) {
      const json* custom = Find(kernel, {"custom"});
      add(Text(kernel, "name"), Number(kernel, {"ms"}).value_or(0), 1,
          custom != nullptr && custom->is_boolean() && !custom->get<bool>() ? "library" : "yours");
    }
    return rows.empty() ? "" : Table(std::move(rows), total, max_rows);
  }
  const json* operators = Find(evaluation.evidence, {"profile", "operators"});
  if (operators == nullptr || !operators->is_array()) return "";
  for (const json& op : *operators) {
    const json* compute = Find(op, {"compute"});
    if (compute == nullptr || !compute->is_boolean() || !compute->get<bool>()) continue;
    add(Text(op, "op"), Number(op, {"ms"}).value_or(0),
        static_cast<int>(Number(op, {"calls"}).value_or(0)), "library");
  }
  if (rows.empty()) return "";
  if (evaluation.candidate_time) total = std::max(total, evaluation.candidate_time->median_ms);
  return Table(std::move(rows), total, max_rows);
}

std::string CoverageText(const Evaluation& evaluation) {
  const auto coverage = Coverage(evaluation);
  if (!coverage) return "";
  if (Find(evaluation.evidence, {"profile", "device"}) != nullptr)
    return fmt::format("{} of the device time is spent in your own kernels.", Percent(*coverage));
  return fmt::format("{} of the time is spent in PyTorch's operators.", Percent(1 - *coverage));
}

std::string RooflineText(const Evaluation& evaluation) {
  const auto attainable_ms = AttainableMs(evaluation);
  if (!attainable_ms || !evaluation.candidate_time || !(evaluation.candidate_time->median_ms > 0) ||
      !HasNumber(evaluation))
    return "";
  const bool arithmetic = Text(*Find(evaluation.evidence, {"roofline"}), "bound") == "compute";
  return fmt::format(
      "At this device's measured rates a perfect kernel takes {:.3g} ms (bound by {}); you reach "
      "{} of that speed.",
      *attainable_ms, arithmetic ? "arithmetic" : "memory",
      Percent(*attainable_ms / evaluation.candidate_time->median_ms));
}

}  // namespace davinci::agent
