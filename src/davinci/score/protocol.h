// Protocols: one stored log, scored by the rules of each paper. The front header of this module.
//
// Input: trajectories with the judge's verdicts. Output: a ScoreReport: the protocol's metrics,
// over all tasks and per level, each with its interval, and what could not be reproduced in
// `notes`. Never: measures anything, changes a verdict, reads a file. Each rule is one file
// rule_<name>.cc that names the source of its definition.
//
// A rescoring is not a re-run: tolerances, input seeds, GPU and timing statistics are those of the
// log. The rules decide what counts as an answer, which answer, which comparison and which average.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/score/attempt.h"
#include "davinci/score/metrics.h"

namespace davinci::score {

struct RunShape {
  int max_turns = 0;
  int most_samples = 0;  // of a task
};

struct Protocol {
  std::string name;
  std::string title;
  std::string definition;  // one paragraph: what counts, for the head of a report
  AttemptRule rule = nullptr;
  std::vector<Metric> (*metrics)(const RunShape& shape) = nullptr;
  std::vector<std::string> notes;  // what differs from the paper
};

// "bench" (ours, the default), "kernelbench", "drkernel", "kevin", "cuda-agent", "davinci".
const std::vector<Protocol>& Protocols();
// InvalidArgument with the nearest name otherwise.
Result<const Protocol*> ProtocolByName(std::string_view name);

// What is scored. The lookup is only needed by rules that look at sources.
struct ScoreInput {
  std::vector<Trajectory> trajectories;
  std::map<std::string, std::optional<int>> levels;  // of every task of the run
  SourceLookup sources;
};

struct MetricValue {
  std::string key;
  std::string title;
  Scale scale = Scale::kRate;
  Estimate estimate;
};

struct ScoreSection {
  std::string title;         // "all tasks", "level 1", "no level"
  std::optional<int> level;  // of a level's section
  int num_tasks = 0;
  int num_samples = 0;
  std::vector<MetricValue> metrics;  // those that are defined
};

struct ScoreReport {
  std::string protocol;
  std::string title;
  std::string definition;
  std::vector<ScoreSection> sections;  // all tasks first, then levels if there are at least two
  std::vector<std::string> notes;      // of the protocol and of this log
  int num_unfinished = 0;              // samples that were ended early (CollectedRun)
};

ScoreReport Score(const ScoreInput& input, const Protocol& protocol,
                  const BootstrapOptions& options = {});

// Rows are metrics, columns sections: "71.3 % [60.1, 80.2]".
std::string ScoreTable(const ScoreReport& report, bool color = false, size_t max_width = 0);
// Schema "davinci.score/1".
nlohmann::json ToJson(const ScoreReport& report);
// "71.3 %", "1.43x": the value of a metric as text, without its interval.
std::string FormatValue(Scale scale, double value);

// One per file rule_<name>.cc.
Protocol BenchProtocol();
Protocol KernelBenchProtocol();
Protocol DrKernelProtocol();
Protocol KevinProtocol();
Protocol CudaAgentProtocol();
Protocol DavinciProtocol();

}  // namespace davinci::score
