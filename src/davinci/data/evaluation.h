// Evaluation: the record of judging one candidate.
//
// The outcome is a closed enum. Which fields exist depends on it: `correct` is
// known as soon as outputs were compared, `speedup` only when the outcome is kOk and the timing was
// trusted. A wrong kernel is a value of this type; a judge that could not do its work yields
// kJudgeError, which is retried and never becomes a reward.
//
// JSON: ToJson() writes the published document, schema "davinci.evaluation/1"
// (docs/evaluation.schema.json). Additive changes keep the number; anything else raises it.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/label.h"
#include "davinci/data/language.h"
#include "davinci/data/outcome.h"
#include "davinci/data/rule.h"

namespace davinci {

inline constexpr std::string_view kEvaluationSchema = "davinci.evaluation/1";

// A ratio of times, baseline over candidate (> 1: candidate is faster), with its 95 % interval.
struct Speedup {
  double median = 0;
  double low = 0;
  double high = 0;           // infinite when too few pairs were taken to bound it; null in JSON
  bool significant = false;  // the 99.9 % interval below lies outside [0.98, 1.02]
  std::string baseline;      // "eager", "compile", …
  // The 99.9 % interval, which significance is decided with and people are shown; [0, inf] where it
  // is not known. `low` and `high` above are the 95 % interval.
  double decided_low = 0;
  double decided_high = std::numeric_limits<double>::infinity();  // null or absent in JSON
};

// A distribution of per-call times in milliseconds.
struct TimeSummary {
  double median_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
  int num_calls = 0;
};

// What one clock says of both sides.
struct ClockTimes {
  TimeSummary candidate;
  TimeSummary baseline;
  Speedup speedup;
};

struct Evaluation {
  Outcome outcome = Outcome::kJudgeError;
  std::optional<bool> correct;     // null: never compared
  std::optional<Speedup> speedup;  // only with kOk
  std::string message;             // bounded text fit for a model: what is wrong, where, what to do
  std::vector<std::string> labels;  // what a reader of the number must know
  std::optional<TimeSummary> candidate_time;
  std::optional<TimeSummary> baseline_time;
  // cuda, with kOk: time of the device for a call in a full queue, and latency, of a call from an
  // idle one. `speedup` and the two times above are one of them, as the protocol has it.
  std::optional<ClockTimes> device;
  std::optional<ClockTimes> latency;
  nlohmann::json times = nlohmann::json::object();     // further clocks and per-stage seconds
  nlohmann::json evidence = nlohmann::json::object();  // measurements behind the outcome
  nlohmann::json provenance =
      nlohmann::json::object();  // hashes, seeds, device, toolchain, protocol

  // `values`: as LabelText() takes them. A label that is there already stays alone.
  void AddLabel(Label label, const std::vector<std::string>& values = {});
  bool HasLabel(Label label) const;
};

// Process exit status for a single judgement: 0 correct, 1 the candidate failed, 3 the judge
// failed, 4 checked without a device as far as that goes, and not known to be correct.
int ExitCode(const Evaluation& evaluation);

// What it was measured on ("NVIDIA H200"); empty where that was not recorded.
std::string DeviceName(const Evaluation& evaluation);

// Time of a perfect kernel on the device (evidence.roofline), milliseconds, above 0; nothing where
// it is not known.
std::optional<double> AttainableMs(const Evaluation& evaluation);

// The rule that evidence.rule names; nothing where none was broken.
std::optional<Rule> BrokenRule(const Evaluation& evaluation);

nlohmann::json ToJson(const Evaluation& evaluation);
nlohmann::json ToJson(const Speedup& speedup);
Speedup SpeedupFromJson(const nlohmann::json& document);
// Strict inverse of ToJson; unknown outcome names or a foreign schema are errors.
Result<Evaluation> EvaluationFromJson(const nlohmann::json& document);

}  // namespace davinci
