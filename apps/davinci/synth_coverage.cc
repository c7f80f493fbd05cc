#include "synth_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "davinci/teacher/teacher.h"
#include "report.h"
#include "synth_flags.h"

namespace davinci::app {
namespace {

using teacher::Language;
using teacher::Level;

constexpr Language kLanguages[] = {Language::kTriton, Language::kCpp, Language::kCuda};
constexpr Level kLevels[] = {Level::kNaive, Level::kBetter, Level::kBest};

// Vendor libraries are the right tool for these; the teacher fuses around them.
bool IsVendor(const std::string& family) {
  return family == "conv" || family == "matmul" || family == "recurrent";
}

struct Share {
  size_t tasks = 0;
  std::map<std::pair<Language, Level>, size_t> own;  // candidates with an own kernel
  std::map<Language, size_t> whole;  // best: nothing but vendor operators stays with PyTorch
};

struct Reason {
  size_t tasks = 0, alone = 0;  // alone: of tasks without an own kernel
};

class Coverage {
 public:
  explicit Coverage(SampleFlags flags) : flags_(std::move(flags)) {}

  Status Run() {
    DAVINCI_ASSIGN_OR_RETURN(const auto folder, GrammarFolder(flags_));
    DAVINCI_ASSIGN_OR_RETURN(const auto options, SampleOptionsOf(flags_));
    DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto made, teacher::Teacher::Load(folder));
    auto counts = synth::SampleTasks(grammar, styles, options, [&](const synth::SampledTask& task) {
      Count(made, task);
      return Status::Ok();
    });
    if (!counts.ok()) return counts.status();
    Print();
    return Status::Ok();
  }

 private:
  void Count(const teacher::Teacher& made, const synth::SampledTask& task) {
    const std::string& family = task.graph.pattern->family;
    for (Share* share : {&shares_[family], &shares_["all"]}) ++share->tasks;
    for (const Language language : kLanguages) {
      for (const Level level : kLevels) {
        const auto candidate =
            made.Write(task.graph, task.text, language, teacher::RuleSet::Of(level, language));
        std::set<std::string> why;
        bool whole = candidate.ok();
        if (!candidate.ok()) {
          why.insert(candidate.status().message());
        } else {
          for (const auto& left : candidate->left) {
            if (IsVendor(left.family)) continue;
            whole = false;
            why.insert(fmt::format("{}: {}", left.op, left.why));
          }
        }
        const bool own = candidate.ok() && candidate->own_kernels > 0;
        if (!own && why.empty()) why.insert("vendor operators and views alone");
        for (Share* share : {&shares_[family], &shares_["all"]}) {
          share->own[{language, level}] += own;
          if (level == Level::kBest) share->whole[language] += whole;
        }
        if (level != Level::kBest) continue;
        for (const std::string& reason : why) {
          ++reasons_[language][reason].tasks;
          reasons_[language][reason].alone += !own;
        }
      }
    }
  }

  static std::string Percent(size_t part, size_t whole) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  }

  void Print() const {
    fmt::print("| family | tasks |");
    for (const Language language : kLanguages) {
      for (const Level level : kLevels)
        fmt::print(" {} {} |", teacher::LanguageName(language), teacher::LevelName(level));
      fmt::print(" {} whole |", teacher::LanguageName(language));
    }
    fmt::print("\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const auto& [family, share] : shares_) {
      fmt::print("| {} | {} |", family, share.tasks);
      for (const Language language : kLanguages) {
        for (const Level level : kLevels)
          fmt::print(" {} |", Percent(share.own.at({language, level}), share.tasks));
        fmt::print(" {} |", Percent(share.whole.at(language), share.tasks));
      }
      fmt::print("\n");
    }
    for (const Language language : kLanguages) {
      const auto found = reasons_.find(language);
      if (found == reasons_.end()) continue;
      fmt::print(
          "\n| {}: operator and why it stays with PyTorch | tasks | of these without an own "
          "kernel |\n|---|---|---|\n",
          teacher::LanguageName(language));
      std::vector<std::pair<std::string, Reason>> order(found->second.begin(), found->second.end());
      std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.second.tasks > b.second.tasks;
      });
      for (const auto& [why, reason] : order)
        fmt::print("| {} | {} | {} |\n", why, reason.tasks, reason.alone);
    }
  }

  SampleFlags flags_;
  std::map<std::string, Share> shares_;
  std::map<Language, std::map<std::string, Reason>> reasons_;
};

}  // namespace

void AddSynthCoverage(CLI::App* synth, int* exit_code) {
  auto* coverage = synth->add_subcommand(
      "coverage",
      "tables of the tasks for which the teacher writes kernels, and why not for others");
  auto flags = std::make_shared<SampleFlags>();
  flags->count = 1000;
  AddSampleFlags(coverage, flags.get());
  coverage->footer(
      "A candidate counts when it has a kernel of its own; \"whole\" when, at level best, only\n"
      "convolutions, matrix products and recurrent layers stay PyTorch calls.\n"
      "Example:\n"
      "  davinci synth coverage --count 1000 --seed 100");
  coverage->callback([flags, exit_code] {
    const Status status = Coverage(*flags).Run();
    if (!status.ok()) *exit_code = FailCommand("synth", status);
  });
}

}  // namespace davinci::app
