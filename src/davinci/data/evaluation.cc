#include "davinci/data/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace davinci {
namespace {

using nlohmann::json;

json SummaryJson(const std::optional<TimeSummary>& time) {
  if (!time) return nullptr;
  return {{"median_ms", time->median_ms},
          {"min_ms", time->min_ms},
          {"max_ms", time->max_ms},
          {"calls", time->num_calls}};
}

std::optional<TimeSummary> SummaryFromJson(const json& document) {
  if (!document.is_object()) return std::nullopt;
  return TimeSummary{document.value("median_ms", 0.0), document.value("min_ms", 0.0),
                     document.value("max_ms", 0.0), document.value("calls", 0)};
}

}  // namespace

void Evaluation::AddLabel(Label label, const std::vector<std::string>& values) {
  std::string text = LabelText(label, values);
  if (std::find(labels.begin(), labels.end(), text) == labels.end())
    labels.push_back(std::move(text));
}

bool Evaluation::HasLabel(Label label) const {
  return std::ranges::any_of(labels, [&](const std::string& text) { return IsLabel(text, label); });
}

std::optional<Rule> BrokenRule(const Evaluation& evaluation) {
  if (!evaluation.evidence.is_object()) return std::nullopt;
  const auto rule = evaluation.evidence.find("rule");
  if (rule == evaluation.evidence.end() || !rule->is_string()) return std::nullopt;
  return ParseRule(rule->get_ref<const std::string&>());
}

std::string DeviceName(const Evaluation& evaluation) {
  const json device = evaluation.provenance.is_object()
                          ? evaluation.provenance.value("device", json::object())
                          : json::object();
  const auto name = device.find("name");
  return name != device.end() && name->is_string() ? name->get<std::string>() : "";
}

std::optional<double> AttainableMs(const Evaluation& evaluation) {
  if (!evaluation.evidence.is_object()) return std::nullopt;
  const auto roofline = evaluation.evidence.find("roofline");
  if (roofline == evaluation.evidence.end() || !roofline->is_object()) return std::nullopt;
  // Documents without the first have the second: runs they belong to decided by it.
  for (const char* key : {"attainable_ms", "floor_ms"})
    if (const auto ms = roofline->find(key);
        ms != roofline->end() && ms->is_number() && ms->get<double>() > 0)
      return ms->get<double>();
  return std::nullopt;
}

int ExitCode(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kOk:
      return 0;
    case Outcome::kCompileOnly:
      if (!evaluation.correct) return 4;
      return *evaluation.correct ? 0 : 1;
    case Outcome::kJudgeError:
      return 3;
    default:
      return 1;
  }
}

json ToJson(const Speedup& s) {
  json document = {{"median", s.median},
                   {"low", s.low},
                   {"high", std::isfinite(s.high) ? json(s.high) : json(nullptr)},
                   {"significant", s.significant},
                   {"baseline", s.baseline}};
  if (s.decided_low > 0 || std::isfinite(s.decided_high)) {
    document["decided_low"] = s.decided_low;
    document["decided_high"] = std::isfinite(s.decided_high) ? json(s.decided_high) : json(nullptr);
  }
  return document;
}

namespace {

double NumberOrInfinity(const json& s, const char* name, double missing) {
  // Too few samples bound nothing from above; JSON has no infinity and says null.
  if (!s.contains(name)) return missing;
  return s[name].is_null() ? std::numeric_limits<double>::infinity() : s[name].get<double>();
}

}  // namespace

Speedup SpeedupFromJson(const json& s) {
  return {s.value("median", 0.0),
          s.value("low", 0.0),
          NumberOrInfinity(s, "high", 0),
          s.value("significant", false),
          s.value("baseline", ""),
          s.value("decided_low", 0.0),
          NumberOrInfinity(s, "decided_high", std::numeric_limits<double>::infinity())};
}

namespace {

json ReadingJson(const ClockTimes& reading) {
  return {{"candidate", SummaryJson(reading.candidate)},
          {"baseline", SummaryJson(reading.baseline)},
          {"speedup", ToJson(reading.speedup)}};
}

std::optional<ClockTimes> ReadingFromJson(const json& document, const char* clock) {
  const json reading = document.value(clock, json(nullptr));
  if (!reading.is_object()) return std::nullopt;
  return ClockTimes{
      SummaryFromJson(reading.value("candidate", json(nullptr))).value_or(TimeSummary{}),
      SummaryFromJson(reading.value("baseline", json(nullptr))).value_or(TimeSummary{}),
      SpeedupFromJson(reading.value("speedup", json::object()))};
}

}  // namespace

json ToJson(const Evaluation& evaluation) {
  json document;
  document["schema"] = kEvaluationSchema;
  document["status"] = OutcomeName(evaluation.outcome);
  document["correct"] = evaluation.correct ? json(*evaluation.correct) : json(nullptr);
  document["speedup"] = evaluation.speedup ? ToJson(*evaluation.speedup) : json(nullptr);
  if (evaluation.device) document["device"] = ReadingJson(*evaluation.device);
  if (evaluation.latency) document["latency"] = ReadingJson(*evaluation.latency);
  document["labels"] = evaluation.labels;
  document["message"] = evaluation.message;
  json times = evaluation.times;
  times["candidate"] = SummaryJson(evaluation.candidate_time);
  times["baseline"] = SummaryJson(evaluation.baseline_time);
  document["times"] = std::move(times);
  document["evidence"] = evaluation.evidence;
  document["provenance"] = evaluation.provenance;
  return document;
}

namespace {

// Throws json::exception for members of the wrong type.
Result<Evaluation> ReadDocument(const json& document) {
  if (!document.is_object() || document.value("schema", "") != kEvaluationSchema)
    return InvalidArgument(fmt::format("not a {} document", kEvaluationSchema));
  Evaluation evaluation;
  const std::string status = document.value("status", "");
  const auto outcome = ParseOutcome(status);
  if (!outcome) return InvalidArgument(fmt::format("unknown status \"{}\"", status));
  evaluation.outcome = *outcome;
  if (const json& correct = document.value("correct", json(nullptr)); correct.is_boolean())
    evaluation.correct = correct.get<bool>();
  if (const json& s = document.value("speedup", json(nullptr)); s.is_object())
    evaluation.speedup = SpeedupFromJson(s);
  evaluation.device = ReadingFromJson(document, "device");
  evaluation.latency = ReadingFromJson(document, "latency");
  evaluation.labels = document.value("labels", std::vector<std::string>{});
  evaluation.message = document.value("message", "");
  evaluation.times = document.value("times", json::object());
  evaluation.candidate_time = SummaryFromJson(evaluation.times.value("candidate", json(nullptr)));
  evaluation.baseline_time = SummaryFromJson(evaluation.times.value("baseline", json(nullptr)));
  evaluation.times.erase("candidate");
  evaluation.times.erase("baseline");
  evaluation.evidence = document.value("evidence", json::object());
  evaluation.provenance = document.value("provenance", json::object());
  for (const json* object : {&evaluation.times, &evaluation.evidence, &evaluation.provenance}) {
    if (!object->is_object())
      return InvalidArgument("times, evidence and provenance must be objects");
  }
  return evaluation;
}

}  // namespace

Result<Evaluation> EvaluationFromJson(const json& document) {
  try {
    return ReadDocument(document);
  } catch (const json::exception& error) {
    return InvalidArgument(
        fmt::format("not a valid {} document: {}", kEvaluationSchema, error.what()));
  }
}

}  // namespace davinci
