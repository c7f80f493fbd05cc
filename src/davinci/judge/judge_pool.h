// JudgePool: a Judge for each device, started when it is first needed.
//
// Evaluate() gives a job to the device with the fewest evaluations under way; candidates of one
// task to one device while that keeps none waiting, because its processes then serve them all. Jobs
// for cpu go to the first. A judge whose fork server died is replaced at the next evaluation.
//
// Threads: any number may evaluate.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/judge.h"

namespace davinci::judge {

// The place of a job whose task belongs to place `home`: that, unless it has more than one
// evaluation more under way than the idlest place, which is then the answer.
size_t PlaceFor(const std::vector<int>& under_way, size_t home);

class JudgePool {
 public:
  // `devices`: uuids (gpu/visible_devices.h). None: one judge of options.device.
  JudgePool(JudgeOptions options, const std::vector<std::string>& devices);

  // As Judge::Evaluate(), or why no judge could be started.
  Result<Evaluation> Evaluate(const Job& job);

  // Ends the judges; call when no evaluation is under way.
  void Close();

 private:
  struct Seat {
    std::string device;
    std::shared_ptr<Judge> judge;  // null before the first evaluation, and after the last one died
    int under_way = 0;
  };
  Seat* Take(const Job& job);
  Result<std::shared_ptr<Judge>> JudgeOf(Seat* seat);

  const JudgeOptions options_;
  std::mutex mutex_;         // guards seats_
  std::vector<Seat> seats_;  // of constant number
};

}  // namespace davinci::judge
