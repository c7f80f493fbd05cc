// The judges of a command: made of its installation and flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/lane.h"
#include "davinci/judge/judge_pool.h"
#include "davinci/judge/service.h"
#include "installation.h"

namespace davinci::app {

// How a command judges. Flags of the command set further fields of `options`.
struct JudgeSetup {
  judge::JudgeOptions options;
  std::vector<std::string> devices;  // uuids of the GPUs that judge; empty: options.device
};

// The judge of `installation` on the GPUs that `devices` names (gpu::ChooseDevices()). Empty: the
// first visible one.
Result<JudgeSetup> SetUpJudges(const Installation& installation, std::string_view devices);

// Judges of the command alone, behind a queue: `in_flight` evaluations at a time. Their processes
// end with it.
class OwnJudges final : public judge::EvaluationService {
 public:
  explicit OwnJudges(const JudgeSetup& setup, int in_flight = 1);

  Result<judge::ServiceReply> Evaluate(const judge::EvaluationRequest& request,
                                       const CancelToken& cancel = {}) override;
  // As JudgePool::LetGo().
  void LetGo();

 private:
  judge::JudgePool pool_;
  Lane lane_;
  judge::LocalService service_;
};

}  // namespace davinci::app
