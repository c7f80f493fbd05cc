#include "report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "davinci/base/json_text.h"
#include "davinci/data/shown_interval.h"

namespace davinci::app {
namespace {

// Is `status` about what the user gave us, rather than a failure of ours?
bool IsBadInput(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kPermissionDenied:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string RenderEvaluation(const Evaluation& evaluation, const judge::JobFiles& job, bool color) {
  const bool good = evaluation.outcome == Outcome::kOk;
  // Neither good nor bad: nothing was timed, and perhaps nothing could be compared.
  const bool unproven = evaluation.outcome == Outcome::kCompileOnly;
  const char* tint = !color ? "" : good ? "\033[1;32m" : unproven ? "\033[1;33m" : "\033[1;31m";
  const char* dim = color ? "\033[2m" : "";
  const char* plain = color ? "\033[0m" : "";
  std::string text;
  auto row = [&](std::string_view key, const std::string& value) {
    text += fmt::format("  {}{:<10}{} {}\n", dim, key, plain, value);
  };
  text += fmt::format("{}{}{}  {} against {}\n", tint, OutcomeName(evaluation.outcome), plain,
                      job.candidate_path, job.reference_path);
  row("correct", evaluation.correct ? (*evaluation.correct ? "yes" : "no")
                 : unproven         ? "not decided"
                                    : "not compared");
  if (evaluation.speedup) {
    const Speedup& s = *evaluation.speedup;
    row("speedup", SpeedupText(s));
  }
  const auto all = evaluation.evidence.find("speedups");
  for (size_t i = 1; all != evaluation.evidence.end() && i < all->size(); ++i) {
    const nlohmann::json& one = (*all)[i];
    const std::string name = one.value("baseline", "");
    if (one.contains("error"))
      row("", fmt::format("{}: {}", LabelText(Label::kNotTimedAgainst, {name}),
                          one.value("error", "")));
    else
      row("", SpeedupText(SpeedupFromJson(one)));
  }
  if (evaluation.candidate_time && evaluation.baseline_time)
    row("time",
        fmt::format("{:.4g} ms, {} {:.4g} ms (median of {} paired calls)",
                    evaluation.candidate_time->median_ms,
                    evaluation.speedup ? evaluation.speedup->baseline : "baseline",
                    evaluation.baseline_time->median_ms, evaluation.candidate_time->num_calls));
  const auto clock = [&](std::string_view name, const std::optional<ClockTimes>& times) {
    if (!times) return;
    row(name, fmt::format("{:.4g} ms, {} {:.4g} ms: {} ({})", times->candidate.median_ms,
                          times->speedup.baseline, times->baseline.median_ms,
                          FigureText(times->speedup), BoundsText(Shown(times->speedup))));
  };
  if (const auto hot = evaluation.times.find("hot_ms"); hot != evaluation.times.end())
    row("hot loop",
        fmt::format("{:.4g} ms, baseline {:.4g} ms: {:.3g}x (one input again and again; "
                    "no part of the speedup)",
                    hot->value("candidate", 0.0), hot->value("baseline", 0.0),
                    hot->value("baseline", 0.0) / hot->value("candidate", 1.0)));
  clock("device", evaluation.device);
  clock("latency", evaluation.latency);
  if (!evaluation.labels.empty())
    row("labels", fmt::format("{}", fmt::join(evaluation.labels, "; ")));
  if (!evaluation.message.empty() && !good) row(unproven ? "note" : "because", evaluation.message);
  if (const auto total = evaluation.times.find("total_ms"); total != evaluation.times.end())
    row("judged in", fmt::format("{:.2f} s", 1e-3 * total->get<double>()));
  return text;
}

Evaluation FailedEvaluation(const Status& status) {
  Evaluation failed;
  failed.outcome = Outcome::kJudgeError;
  failed.message = status.message();
  failed.evidence["kind"] = IsBadInput(status) ? "bad_input" : "internal";
  failed.evidence["code"] = StatusCodeName(status.code());
  return failed;
}

void PrintErrorDocument(std::string_view command, const Status& status, int exit_status) {
  const nlohmann::json document = {
      {"schema", "davinci.error/1"},
      {"command", command},
      {"error", {{"code", StatusCodeName(status.code())}, {"message", status.message()}}},
      {"exit_status", exit_status}};
  fmt::print("{}\n", JsonText(document, 2));
}

int ExitStatus(const Status& status) {
  return IsBadInput(status) || status.code() == StatusCode::kFailedPrecondition ? 2 : 3;
}

int FailCommand(std::string_view command, const Status& status, bool json) {
  fmt::print(stderr, "davinci {}: {}\n", command, status.ToString());
  const int exit_status = ExitStatus(status);
  if (json) PrintErrorDocument(command, status, exit_status);
  return exit_status;
}

}  // namespace davinci::app
