// A tally counts what became of the jobs of a batch. It is not synchronised.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/data/evaluation.h"

namespace davinci::runs {

class BatchTally {
 public:
  explicit BatchTally(int num_jobs) : num_jobs_(num_jobs) {}

  // An answer of this run. `attempts` and `same_as` as in BatchRecord().
  void AddRecorded(const std::string& id, const Evaluation& evaluation, int attempts,
                   const std::string& same_as);
  // An answer that an earlier run recorded for this job.
  void AddResumed(const std::string& id, const Evaluation& evaluation);
  // Jobs whose condition is not correct.
  void AddLeftOut(int count) { num_left_out_ += count; }

  // Nothing: the job has no answer yet.
  std::optional<bool> IsCorrect(const std::string& id) const;

  int num_answered() const { return num_recorded_ + num_resumed_ + num_left_out_; }
  int num_missing() const { return num_jobs_ - num_answered(); }
  int num_judged() const { return num_judged_; }
  int num_ok() const;

  // Exit status of the command: 0 every job was judged, 2 some line was bad input, 3 anything else.
  // `troubled`: the batch itself failed.
  int ExitStatus(bool troubled) const;
  // Lines for people: outcomes, what was not judged in this run, speedups, pace, what was left out.
  std::vector<std::string> Summary(double seconds) const;
  // "" without bad input.
  std::string BadInputLine() const;

 private:
  void Count(const std::string& id, const Evaluation& evaluation);
  std::string OutcomesText() const;

  const int num_jobs_;
  std::map<Outcome, int> outcomes_;
  std::map<std::string, bool> correct_;  // by job
  std::vector<double> speedups_;         // those that a person is shown as a number
  int num_significant_ = 0;
  int num_recorded_ = 0;
  int num_judged_ = 0;  // by an evaluation of this run
  int num_resumed_ = 0;
  int num_repeated_ = 0;  // same question as another job
  int num_left_out_ = 0;
  int num_bad_input_ = 0;
  int num_ours_ = 0;  // failures of the judge
};

}  // namespace davinci::runs
