// EvaluationRequest: everything an evaluation depends on, apart from the judge and its machine.
//
// Texts of task and candidate are read once, here: what is hashed is what runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/lane.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"
#include "davinci/task/task.h"

namespace davinci::judge {

// Stage names as they begin: "loading", "checking", "timing", …; for progress display.
using Progress = std::function<void(std::string_view stage)>;

struct ServiceReply;  // service.h

struct EvaluationRequest {
  std::shared_ptr<const task::Task> task;  // with the shapes that are checked besides its own
  std::string candidate;                   // text
  // Names the candidate in messages.
  std::string candidate_path = "candidate.py";
  // The candidate comes with files of its own: those it imports from beside its path can be seen.
  bool candidate_has_neighbours = false;
  Target target = Target::kCpu;
  Language language = Language::kAuto;
  std::string protocol = "davinci";
  std::string baseline = "eager";  // or several, the first of record: "eager,compile" (baselines.h)
  // Which measurement of the same this is: a repetition is another request.
  int repetition = 0;

  // How it is served; not part of what it is.
  std::string device;   // cuda: uuid of the GPU; empty: the service chooses
  bool afresh = false;  // by a judge started for it alone, and never taken over from another one
  Urgency urgency = Urgency::kNewWork;
  int64_t order = 0;  // among requests of one urgency: small first
  Progress progress;
  // The text of the candidate's export, made of a correct evaluation. Where it is set, the export
  // is called once, and evidence.export says whether its kernel ran (check_export.cc).
  std::function<std::string(const Evaluation&)> export_of;
  // Called with the evaluation of this request, unless it is taken over from an identical one under
  // way, before those that wait for it are answered.
  std::function<void(const ServiceReply&)> on_judged;

  // The text that is judged: the candidate's, without comments where the protocol leaves them out.
  std::string Text() const;
  // Content hash of the task and of every option that can change the verdict.
  std::string Hash() const;
};

// A request as users write it: by files.
struct JobFiles {
  std::string id;
  std::string reference_path;
  std::string candidate_path;
  bool candidate_has_neighbours = false;
  Target target = Target::kCpu;
  Language language = Language::kAuto;
  std::string protocol = "davinci";
  std::string baseline = "eager";
  // Further shapes to check, besides those of the sidecar, as ParseShape() reads them.
  std::vector<std::string> shapes;
};

// Reads the candidate, and the task unless `task` is given (then without the job's shapes). A
// missing file or a broken task is kNotFound or kInvalidArgument with the remedy.
Result<EvaluationRequest> ReadRequest(const JobFiles& job,
                                      std::shared_ptr<const task::Task> task = nullptr);

}  // namespace davinci::judge
