// The results of a batch of judge jobs (judge/batch_job.h): one record a job, and the file that
// keeps them. With a file a batch can be started again: it is a journal (store/journal.h), so every
// verdict is durable before it is shown, and jobs whose verdict it holds need no evaluation.
//
// Records of our own failures and of bad input are no verdicts; the last record of an id counts.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/batch_job.h"
#include "davinci/store/journal.h"

namespace davinci::runs {

// True where the job itself was wrong (evidence.kind "bad_input").
bool IsFaultOfInput(const Evaluation& evaluation);

// The evaluation with "id" and "job". `attempts`: evaluations it took, 0: none of its own;
// `same_as`: the job whose evaluation this is, or "".
nlohmann::json BatchRecord(const judge::BatchEntry& entry, const Evaluation& evaluation,
                           int attempts, const std::string& same_as);

class BatchResults {
 public:
  struct Verdict {
    std::string id;  // of the job that was judged
    Evaluation evaluation;
  };

  // Keeps nothing, and knows nothing.
  BatchResults() = default;
  // InvalidArgument where `results` is the job file, or holds something else than results.
  static Result<BatchResults> Open(const std::filesystem::path& jobs,
                                   const std::filesystem::path& results);

  bool keeps() const { return journal_ != nullptr; }
  // The verdict of an earlier run on an entry's hash; null without one.
  const Verdict* Find(const std::string& hash) const;
  // Did an earlier run record that verdict for this job?
  bool IsFinished(const std::string& id, const std::string& hash) const;
  // Durable when it returns. A fault of the input that an earlier run recorded in the same words is
  // not written again. Any thread.
  Status Append(const nlohmann::json& record);

 private:
  std::unique_ptr<store::Journal> journal_;                 // null: nothing is kept
  std::map<std::string, Verdict> verdicts_;                 // by hash
  std::set<std::pair<std::string, std::string>> finished_;  // id, hash
  std::set<std::string> reported_;                          // faults of the input
};

// The last evaluation of each job, by its id, from a file of results.
Result<std::map<std::string, nlohmann::json>> ReadVerdicts(const std::filesystem::path& results);

}  // namespace davinci::runs
