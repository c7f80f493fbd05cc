#include "davinci/synth/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "davinci/base/json_text.h"
#include "davinci/synth/render.h"

namespace davinci::synth {
namespace {

constexpr size_t kChunk = 2048;
constexpr int kBuildTries = 12;
constexpr std::string_view kMixedLong = "mixed_long";  // a family of patterns
constexpr double kLongWeight = 5;                      // of a long pattern; of another mixed one 1
// Candidates without one acceptance after which the grammar counts as exhausted.
constexpr size_t kExhausted = 200000;

struct Candidate {
  std::optional<SampledTask> task;
  fingerprint::Signature signature{};
  bool contaminated = false;
  uint64_t structure = 0;
  std::vector<std::string> rejected;
};

template <typename T>
const T* Draw(const std::vector<std::pair<const T*, double>>& from, SplitMix64* rng) {
  double total = 0;
  for (const auto& [item, weight] : from) total += weight;
  double at = rng->Uniform() * total;
  for (const auto& [item, weight] : from) {
    at -= weight;
    if (at <= 0) return item;
  }
  return from.back().first;
}

class Sampler {
 public:
  Sampler(const Grammar& grammar, const StyleBook& book, const SampleOptions& options)
      : grammar_(grammar), book_(book), options_(options) {
    for (const auto& [name, pattern] : grammar_.patterns) {
      const bool held = grammar_.held_out_families.contains(pattern.family);
      if (options_.pattern.empty()
              ? pattern.weight > 0 && held == (options_.split == SplitKind::kFamily)
              : name == options_.pattern)
        patterns_.emplace_back(&pattern, std::max(pattern.weight, 1e-6));
      if (pattern.family == kMixedFamily) mixed_.emplace_back(&pattern, 1.0);
      if (pattern.family == kMixedLong) mixed_.emplace_back(&pattern, kLongWeight);
    }
    for (const Style& style : book_.styles)
      if (style.held_out == (options_.split == SplitKind::kStyle))
        styles_.emplace_back(&style, style.weight);
  }

  Result<SampleCounts> Run(const std::function<Status(const SampledTask&)>& take) {
    if (patterns_.empty() || styles_.empty())
      return InvalidArgument(fmt::format("no pattern or no style belongs to split {}{}",
                                         SplitName(options_.split),
                                         options_.pattern.empty() ? "" : " and has that name"));
    if (options_.mixed > 0 && (mixed_.empty() || options_.split == SplitKind::kFamily))
      return InvalidArgument(
          mixed_.empty() ? "the grammar has no pattern of family mixed"
                         : "no mixed pattern belongs to a held-out family; leave out --mixed");
    size_t since = 0;
    std::vector<Candidate> chunk;
    for (uint64_t begin = options_.first; counts_.accepted < options_.count;
         begin += chunk.size()) {
      // No more than are still wanted: nothing is made in vain by one thread.
      const size_t wanted = options_.count - counts_.accepted;
      chunk.assign(options_.threads > 1 ? kChunk : std::min(wanted, kChunk), {});
      std::atomic<size_t> next = 0;
      const auto work = [&] {
        for (size_t i; (i = next.fetch_add(1)) < chunk.size();) chunk[i] = Make(begin + i);
      };
      std::vector<std::thread> threads;
      for (int t = 1; t < options_.threads; ++t) threads.emplace_back(work);
      work();
      for (std::thread& thread : threads) thread.join();
      for (Candidate& candidate : chunk) {
        ++counts_.tried;
        for (const std::string& reason : candidate.rejected) ++counts_.rejected[reason];
        if (!Accept(candidate)) {
          if (++since > kExhausted) return Exhausted();
          continue;
        }
        since = 0;
        DAVINCI_RETURN_IF_ERROR(take(candidate.task.value()));
        if (counts_.accepted == options_.count) break;
      }
      if (options_.progress) options_.progress(counts_.accepted, counts_.tried);
    }
    return std::move(counts_);
  }

 private:
  Status Exhausted() const {
    std::string why;
    for (const auto& [reason, count] : counts_.rejected)
      why += fmt::format(" {} {}", count, reason);
    return ResourceExhausted(fmt::format(
        "{} tasks accepted, then none among {} candidates; rejected:{}. Ask for fewer, or add "
        "patterns, operators or styles",
        counts_.accepted, kExhausted, why));
  }

  Candidate Make(uint64_t index) const {
    Candidate candidate;
    SplitMix64 rng(
        HashBytes(fmt::format("{}:{}", static_cast<int>(options_.split), index), options_.seed));
    const Style* style = Draw(styles_, &rng);
    const Pattern* pattern = Draw(patterns_, &rng);
    if (options_.pattern.empty() && options_.mixed > 0 && rng.Uniform() < options_.mixed)
      pattern = Draw(mixed_, &rng);
    BuildOptions build;
    const double precision = rng.Uniform();
    build.precision = precision < 0.90   ? Precision::kFp32
                      : precision < 0.95 ? Precision::kFp16
                                         : Precision::kBf16;
    if (options_.split != SplitKind::kFamily) {
      build.allowed = [this](const Operator& op) {
        return !grammar_.held_out_families.contains(op.family);
      };
    }
    bool same = false;  // the same choices again, with smaller sizes
    for (int attempt = 0; attempt < kBuildTries; ++attempt) {
      const uint64_t fresh = rng.Next();
      if (!same) build.seed = fresh;
      BuildOutcome outcome = BuildGraph(grammar_, *pattern, build);
      if (!outcome.graph) {
        candidate.rejected.push_back(outcome.rejected);
        if (outcome.rejected == "budget_cuda") build.reach *= 0.75;
        if (outcome.rejected == "budget_cpu") build.reach_cpu *= 0.5;
        same = outcome.rejected == "budget_cuda" || outcome.rejected == "budget_cpu";
        if (outcome.rejected == "half") build.precision = Precision::kFp32;
        continue;
      }
      const auto split = SplitOf(grammar_, *outcome.graph, *style);
      if (options_.pattern.empty() && split != options_.split) {
        candidate.rejected.push_back("split");
        same = false;
        continue;
      }
      if (options_.most_operators > 0 &&
          outcome.graph->OperatorSequence().size() > options_.most_operators) {
        candidate.rejected.push_back("operators");
        same = false;
        continue;
      }
      candidate.structure = outcome.graph->StructureHash();
      SampledTask task;
      task.text = RenderTask(*outcome.graph, grammar_, book_, *style, rng.Next());
      const Binding on_device = task.text.fixed_sizes ? Binding::kCpu : Binding::kCuda;
      if (outcome.graph->Elements(on_device) < options_.least_elements) {
        candidate.rejected.push_back("elements");
        same = false;
        continue;
      }
      task.graph = std::move(*outcome.graph);
      task.style = style;
      task.split = split;
      task.text.sidecar = fmt::format("split = \"{}\"\n{}", SplitName(split), task.text.sidecar);
      candidate.signature =
          fingerprint::SignatureOf(task.text.source, fingerprint::TokenRule::kKeepNames);
      candidate.contaminated =
          options_.contamination != nullptr && options_.contamination->size() > 0 &&
          options_.contamination->Nearest(fingerprint::SignatureOf(
              task.text.source, fingerprint::TokenRule::kPlainNames)) >= options_.contaminated;
      task.id = fmt::format("{}-{:x}-{:07d}", pattern->name, options_.seed, index);
      candidate.task = std::move(task);
      break;
    }
    return candidate;
  }

  bool Accept(const Candidate& candidate) {
    if (!candidate.task) return false;
    const SampledTask& task = *candidate.task;
    if (candidate.contaminated) {
      ++counts_.rejected["contaminated"];
      return false;
    }
    if (structures_[candidate.structure] >= options_.most_per_structure) {
      ++counts_.rejected["same_structure"];
      return false;
    }
    if (seen_.Nearest(candidate.signature) >= options_.near_duplicate) {
      ++counts_.rejected["near_duplicate"];
      return false;
    }
    seen_.Add(candidate.signature);
    ++structures_[candidate.structure];
    ++counts_.accepted;
    ++counts_.families[task.graph.pattern->family];
    ++counts_.patterns[task.graph.pattern->name];
    ++counts_.styles[task.style->name];
    ++counts_.precisions[std::string(PrecisionText(task.graph.precision))];
    for (const std::string& op : task.graph.OperatorSequence()) ++counts_.operators[op];
    return true;
  }

  const Grammar& grammar_;
  const StyleBook& book_;
  const SampleOptions& options_;
  std::vector<std::pair<const Pattern*, double>> patterns_;
  std::vector<std::pair<const Pattern*, double>> mixed_;
  std::vector<std::pair<const Style*, double>> styles_;
  fingerprint::SignatureIndex seen_;
  std::map<uint64_t, size_t> structures_;
  SampleCounts counts_;
};

}  // namespace

fingerprint::SignatureIndex ContaminationOf(const std::vector<std::string>& texts) {
  fingerprint::SignatureIndex index;
  for (const std::string& text : texts)
    index.Add(fingerprint::SignatureOf(text, fingerprint::TokenRule::kPlainNames));
  return index;
}

std::optional<SplitKind> ParseSplit(std::string_view name) {
  for (const SplitKind split : {SplitKind::kTrain, SplitKind::kCombination, SplitKind::kFamily,
                                SplitKind::kStyle, SplitKind::kReinforcement})
    if (SplitName(split) == name) return split;
  return std::nullopt;
}

std::string_view SplitName(SplitKind split) {
  switch (split) {
    case SplitKind::kTrain:
      return "train";
    case SplitKind::kCombination:
      return "combination";
    case SplitKind::kFamily:
      return "family";
    case SplitKind::kStyle:
      return "style";
    case SplitKind::kReinforcement:
      return "reinforcement";
  }
  return "";
}

std::string_view SplitName(std::optional<SplitKind> split) {
  return split ? SplitName(*split) : "several";
}

std::optional<SplitKind> SplitOf(const Grammar& grammar, const Graph& graph, const Style& style) {
  bool family = grammar.held_out_families.contains(graph.pattern->family);
  std::set<std::string> distinct;
  for (const Node& node : graph.nodes) {
    family = family || grammar.held_out_families.contains(node.op->family);
    if (!node.op->view) distinct.insert(node.op->name);
  }
  const auto part = static_cast<int>(graph.CombinationHash() % 100);
  const bool held_out = !family && distinct.size() >= 2 &&
                        part < grammar.combination_percent + grammar.reinforcement_percent;
  if (family + held_out + style.held_out > 1) return std::nullopt;
  if (family) return SplitKind::kFamily;
  if (held_out)
    return part < grammar.combination_percent ? SplitKind::kCombination : SplitKind::kReinforcement;
  return style.held_out ? SplitKind::kStyle : SplitKind::kTrain;
}

Result<SampleCounts> SampleTasks(const Grammar& grammar, const StyleBook& book,
                                 const SampleOptions& options,
                                 const std::function<Status(const SampledTask&)>& take) {
  return Sampler(grammar, book, options).Run(take);
}

nlohmann::json ToJson(const SampledTask& task) {
  return {{"id", task.id},
          {"source", task.text.source},
          {"sidecar", task.text.sidecar},
          {"synth",
           {{"split", SplitName(task.split)},
            {"family", task.graph.pattern->family},
            {"pattern", task.graph.pattern->name},
            {"style", task.style->name},
            {"operators", task.graph.OperatorSequence()},
            {"precision", PrecisionText(task.graph.precision)},
            {"fixed_sizes", task.text.fixed_sizes},
            {"structure", fmt::format("{:016x}", task.graph.StructureHash())}}}};
}

nlohmann::json ToJson(const SampleCounts& counts) {
  return {{"accepted", counts.accepted},     {"tried", counts.tried},
          {"families", counts.families},     {"patterns", counts.patterns},
          {"styles", counts.styles},         {"operators", counts.operators},
          {"precisions", counts.precisions}, {"rejected", counts.rejected}};
}

}  // namespace davinci::synth
