// JudgePool: the Judges of this machine. A Judge for each device, started when it is first needed.
//
// Evaluate() gives a request to the device it names, else to the one with the
// fewest evaluations under way; candidates of one
// task to one device while that keeps none waiting, because its processes then serve them all.
// Requests for cpu go to the first. A judge whose fork server died is replaced at the next
// evaluation. A request `afresh` gets a judge of its own, which ends with it: no process that has
// seen earlier candidates takes part.
//
// Threads: any number may evaluate.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/judge/judge.h"
#include "davinci/judge/service.h"

namespace davinci::judge {

class JudgePool : public Judges {
 public:
  // `devices`: uuids (gpu/visible_devices.h). None: one judge of options.device. `identity`: as
  // Judges::Identity(); may be empty where no cache is used.
  JudgePool(JudgeOptions options, const std::vector<std::string>& devices,
            std::string identity = "");

  // As Judge::Evaluate(), or why no judge could be started.
  Result<Evaluation> Evaluate(const EvaluationRequest& request, const CancelToken& cancel) override;
  std::string Identity() override { return identity_; }
  // As Judge::Trace().
  Result<nlohmann::json> Trace(const std::shared_ptr<const task::Task>& task, Target target);

  // Of every judge that was started.
  void Settle();
  void LetGo();

  // Ends the judges; call when no evaluation is under way.
  void Close();

 private:
  struct Seat {
    std::string device;
    std::shared_ptr<Judge> judge;  // null before the first evaluation, and after the last one died
    int under_way = 0;
  };
  Seat* Take(const EvaluationRequest& request);
  Result<std::shared_ptr<Judge>> JudgeOf(Seat* seat);
  std::vector<std::shared_ptr<Judge>> Started();

  const JudgeOptions options_;
  const std::string identity_;
  Mutex mutex_;
  std::vector<Seat> seats_ DAVINCI_GUARDED_BY(mutex_);  // of constant number
};

}  // namespace davinci::judge
