#include "davinci/score/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "davinci/base/rng.h"
#include "davinci/base/table.h"

namespace davinci::score {
namespace {

using nlohmann::json;

constexpr size_t kMaxExactFlips = 20;

// A metric's value on one task, on the scale where differences make sense.
std::optional<double> ValueOn(const Metric& metric, const TaskSamples& task) {
  const Contribution found = metric.of(task);
  if (!(found.weight > 0)) return std::nullopt;
  return found.sum / found.weight;
}

MetricComparison CompareMetric(const Metric& metric,
                               const std::vector<std::pair<double, double>>& values,
                               const BootstrapOptions& options) {
  MetricComparison result;
  result.key = metric.key;
  result.title = metric.title;
  result.scale = metric.scale;
  std::vector<Contribution> contributions;
  std::vector<double> differences;
  const auto n = static_cast<double>(values.size());
  for (const auto& [first, second] : values) {
    const double difference = second - first;
    result.first += first / n;
    result.second += second / n;
    result.better += difference > 0 ? 1 : 0;
    result.worse += difference < 0 ? 1 : 0;
    contributions.push_back({difference, 1});
    differences.push_back(difference);
  }
  // A difference of rates lies in [-1, 1]: no rate itself.
  const bool geometric = metric.scale == Scale::kGeometric;
  result.difference =
      EstimateOver(contributions, geometric ? Scale::kGeometric : Scale::kMean, options).value();
  if (geometric) {
    result.first = std::exp(result.first);
    result.second = std::exp(result.second);
  }
  result.sign_p = SignTest(result.better, result.worse);
  result.permutation_p = SignFlipTest(differences);
  return result;
}

// How far the interval reaches below the median; the smaller, the more is known.
double Width(const Attempt& attempt) { return attempt.speedup / attempt.speedup_low; }

bool IsComparable(const Attempt& a, const Attempt& b) {
  const bool same_baseline = a.baseline == b.baseline || a.baseline.empty() || b.baseline.empty();
  return a.protocol == b.protocol && same_baseline;
}

// Gives comparable attempts with the same code the same verdict. Returns whether both tasks have
// the same codes.
bool ShareVerdicts(TaskSamples* first, TaskSamples* second) {
  struct Holders {
    std::vector<Attempt*> attempts;  // of the first task, then of the second
    bool in_first = false;
    bool in_second = false;
  };
  std::map<std::string, Holders> by_code;
  for (TaskSamples* task : {first, second})
    for (Sample& sample : task->samples)
      for (Attempt& attempt : sample.attempts) {
        Holders& holders = by_code[attempt.code_hash];
        holders.attempts.push_back(&attempt);
        (task == first ? holders.in_first : holders.in_second) = true;
      }
  bool same = true;
  for (auto& [code, holders] : by_code) {
    const bool shared = holders.in_first && holders.in_second;
    same = same && shared;
    if (!shared || code.empty()) continue;
    Attempt verdict = *holders.attempts.front();
    for (const Attempt* other : holders.attempts) {
      const bool timed = verdict.speedup_low > 0 && other->speedup_low > 0;
      if (timed && IsComparable(verdict, *other) && Width(*other) < Width(verdict))
        verdict = *other;
    }
    for (Attempt* attempt : holders.attempts) {
      if (!IsComparable(verdict, *attempt)) continue;
      verdict.turn = attempt->turn;
      *attempt = verdict;
    }
  }
  return same;
}

// The logarithm of the gamma function of x > 0; std::lgamma also writes a global variable.
double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace

double SignTest(int wins, int losses) {
  const int n = wins + losses;
  const int fewer = std::min(wins, losses);
  // Binomial tail in logarithms, so that hundreds of tasks do not underflow.
  double tail = 0;
  for (int i = 0; i <= fewer; ++i)
    tail +=
        std::exp(LogGamma(n + 1.0) - LogGamma(i + 1.0) - LogGamma(n - i + 1.0) - n * std::log(2.0));
  return std::min(1.0, 2 * tail);
}

double SignFlipTest(std::span<const double> differences, const PermutationOptions& options) {
  std::vector<double> sizes;
  double observed = 0;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    observed += difference;
  }
  if (sizes.empty()) return 1;
  // Sums of the same numbers in another order differ in the last bits; those are ties.
  double total = 0;
  for (const double size : sizes) total += size;
  const double limit = std::abs(observed) - 1e-12 * total;

  if (sizes.size() <= kMaxExactFlips) {
    const uint64_t all = uint64_t{1} << sizes.size();
    uint64_t extreme = 0;
    for (uint64_t signs = 0; signs < all; ++signs) {
      double sum = 0;
      for (size_t i = 0; i < sizes.size(); ++i) sum += (signs >> i & 1) != 0 ? sizes[i] : -sizes[i];
      if (std::abs(sum) >= limit) ++extreme;
    }
    return static_cast<double>(extreme) / static_cast<double>(all);
  }
  SplitMix64 rng(options.seed);
  int extreme = 0;
  for (int round = 0; round < options.num_permutations; ++round) {
    double sum = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i % 64 == 0) bits = rng.Next();
      sum += (bits & 1) != 0 ? sizes[i] : -sizes[i];
      bits >>= 1;
    }
    if (std::abs(sum) >= limit) ++extreme;
  }
  return (extreme + 1.0) / (options.num_permutations + 1.0);
}

RunComparison CompareRuns(const ScoreInput& first, const ScoreInput& second,
                          const Protocol& protocol, SameCode same_code,
                          const BootstrapOptions& options) {
  CollectedRun a = Collect(first.trajectories, first.levels, protocol.rule, first.sources);
  CollectedRun b = Collect(second.trajectories, second.levels, protocol.rule, second.sources);
  std::map<std::string_view, TaskSamples*> of_b;
  int with_samples_b = 0;
  for (TaskSamples& task : b.tasks) {
    if (task.samples.empty()) continue;
    of_b[task.task] = &task;
    ++with_samples_b;
  }
  RunComparison comparison;
  comparison.protocol = protocol.name;
  std::vector<std::pair<const TaskSamples*, const TaskSamples*>> common;
  if (same_code == SameCode::kOneVerdict) comparison.num_same_code = 0;
  for (TaskSamples& task : a.tasks) {
    if (task.samples.empty()) continue;
    const auto found = of_b.find(task.task);
    if (found == of_b.end()) {
      ++comparison.only_first;
      continue;
    }
    if (comparison.num_same_code && ShareVerdicts(&task, found->second))
      ++*comparison.num_same_code;
    common.emplace_back(&task, found->second);
  }
  comparison.num_common = static_cast<int>(common.size());
  comparison.only_second = with_samples_b - comparison.num_common;

  const RunShape shape{std::max(a.max_turns, b.max_turns),
                       static_cast<int>(std::max(a.most_samples, b.most_samples))};
  for (const Metric& metric : protocol.metrics(shape)) {
    std::vector<std::pair<double, double>> values;
    for (const auto& [one, other] : common) {
      const auto x = ValueOn(metric, *one);
      const auto y = ValueOn(metric, *other);
      if (x && y) values.emplace_back(*x, *y);
    }
    if (!values.empty()) comparison.metrics.push_back(CompareMetric(metric, values, options));
  }
  return comparison;
}

std::string ComparisonTable(const RunComparison& comparison, bool color, size_t max_width) {
  Table table({{"metric", Align::kLeft},
               {"first", Align::kRight},
               {"second", Align::kRight},
               {"second vs first", Align::kRight},
               {"better/worse", Align::kRight},
               {"p sign", Align::kRight},
               {"p permutation", Align::kRight}});
  for (const MetricComparison& metric : comparison.metrics) {
    const bool geometric = metric.scale == Scale::kGeometric;
    const double factor = metric.scale == Scale::kRate ? 100 : 1;
    const int digits = metric.scale == Scale::kRate ? 1 : 2;
    const Estimate& difference = metric.difference;
    std::string change = geometric ? fmt::format("{:.2f}x", difference.value)
                                   : fmt::format("{:+.{}f}", factor * difference.value, digits);
    if (difference.low && difference.high)
      change += fmt::format(" [{:.{}f}, {:.{}f}]", factor * *difference.low, digits,
                            factor * *difference.high, digits);
    table.AddRow({metric.title, FormatValue(metric.scale, metric.first),
                  FormatValue(metric.scale, metric.second), change,
                  fmt::format("{}/{}", metric.better, metric.worse),
                  fmt::format("{:.3g}", metric.sign_p),
                  fmt::format("{:.3g}", metric.permutation_p)});
  }
  std::string text = table.Render({color, max_width, ""});
  text += fmt::format(
      "{} tasks in both runs, {} only in the first, {} only in the second. Differences are paired "
      "by "
      "task; brackets are\n95 % bootstrap intervals; with many metrics some p below 0.05 are "
      "luck.\n",
      comparison.num_common, comparison.only_first, comparison.only_second);
  if (comparison.num_same_code)
    text += fmt::format("Same code in both runs for {} of {} tasks: one verdict counts for both.\n",
                        *comparison.num_same_code, comparison.num_common);
  return text;
}

json ToJson(const RunComparison& comparison) {
  const auto bound = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? json(*value) : json(nullptr);
  };
  json metrics = json::object();
  for (const MetricComparison& metric : comparison.metrics)
    metrics[metric.key] = {{"title", metric.title},
                           {"first", metric.first},
                           {"second", metric.second},
                           {"difference", metric.difference.value},
                           {"low", bound(metric.difference.low)},
                           {"high", bound(metric.difference.high)},
                           {"is_ratio", metric.scale == Scale::kGeometric},
                           {"tasks", metric.difference.num_tasks},
                           {"better", metric.better},
                           {"worse", metric.worse},
                           {"sign_p", metric.sign_p},
                           {"permutation_p", metric.permutation_p}};
  json document = {{"schema", "davinci.comparison/1"},      {"protocol", comparison.protocol},
                   {"common_tasks", comparison.num_common}, {"only_first", comparison.only_first},
                   {"only_second", comparison.only_second}, {"metrics", std::move(metrics)}};
  if (comparison.num_same_code) document["same_code"] = *comparison.num_same_code;
  return document;
}

}  // namespace davinci::score
