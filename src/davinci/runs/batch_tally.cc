#include "davinci/runs/batch_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/base/plural.h"
#include "davinci/data/shown_interval.h"
#include "davinci/runs/batch_results.h"

namespace davinci::runs {

void BatchTally::Count(const std::string& id, const Evaluation& evaluation) {
  correct_[id] = evaluation.correct.value_or(false);
  ++outcomes_[evaluation.outcome];
  if (IsFaultOfInput(evaluation))
    ++num_bad_input_;
  else if (evaluation.outcome == Outcome::kJudgeError)
    ++num_ours_;
  if (evaluation.outcome == Outcome::kOk && evaluation.speedup && evaluation.speedup->median > 0) {
    if (const SpeedFigure figure = FigureOf(*evaluation.speedup);
        figure.kind != SpeedFigure::Kind::kNone)
      speedups_.push_back(figure.value);
    if (evaluation.speedup->significant) ++num_significant_;
  }
}

void BatchTally::AddRecorded(const std::string& id, const Evaluation& evaluation, int attempts,
                             const std::string& same_as) {
  ++num_recorded_;
  if (attempts > 0) ++num_judged_;
  if (!same_as.empty()) ++num_repeated_;
  Count(id, evaluation);
}

void BatchTally::AddResumed(const std::string& id, const Evaluation& evaluation) {
  ++num_resumed_;
  Count(id, evaluation);
}

std::optional<bool> BatchTally::IsCorrect(const std::string& id) const {
  const auto known = correct_.find(id);
  return known == correct_.end() ? std::optional<bool>() : known->second;
}

int BatchTally::num_ok() const {
  const auto found = outcomes_.find(Outcome::kOk);
  return found == outcomes_.end() ? 0 : found->second;
}

int BatchTally::ExitStatus(bool troubled) const {
  if (troubled || num_missing() > 0 || num_ours_ > 0) return 3;
  return num_bad_input_ > 0 ? 2 : 0;
}

std::string BatchTally::OutcomesText() const {
  std::string counts;
  for (const auto& [outcome, count] : outcomes_)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, OutcomeName(outcome));
  return counts.empty() ? "none judged" : counts;
}

std::vector<std::string> BatchTally::Summary(double seconds) const {
  std::vector<std::string> lines = {
      fmt::format("{}: {}", Counted(num_jobs_, "job"), OutcomesText())};
  if (num_resumed_ + num_repeated_ > 0)
    lines.push_back(fmt::format("{} were done by an earlier run, {} repeat another job",
                                num_resumed_, num_repeated_));
  if (!speedups_.empty()) {
    double sum = 0;
    for (const double speedup : speedups_) sum += std::log(speedup);
    lines.push_back(fmt::format(
        "geometric mean speedup of the {} correct: {:.3g}x ({} of them significantly off 1)",
        speedups_.size(), std::exp(sum / static_cast<double>(speedups_.size())), num_significant_));
  }
  lines.push_back(fmt::format("{} judged in {:.1f} s, {:.1f} candidates per minute", num_judged_,
                              seconds, 60 * num_judged_ / std::max(seconds, 1e-3)));
  if (num_left_out_ > 0)
    lines.push_back(fmt::format("{} left out: what they vary is not correct", num_left_out_));
  return lines;
}

std::string BatchTally::BadInputLine() const {
  if (num_bad_input_ == 0) return "";
  return fmt::format("{} bad input: see message of each record", num_bad_input_);
}

}  // namespace davinci::runs
