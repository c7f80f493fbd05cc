// The model calls of a turn: its own, or one about each part that was asked for in it
// (part_replies.h). Training reads what each of them drew.
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/rollout/unit_log.h"

namespace davinci::rollout {

struct TurnCall {
  std::string id;          // the turn's, and " part 3" behind it
  int part = 0;            // from 1; 0: the whole turn
  std::string trace_hash;  // as Turn::trace_hash
  // The share of the reply's kernels that the judged candidate launches; the others cannot work or
  // were found wrong or slow (agent/sound_kernels.h, reply_verdict.h). It is 0 of a part without
  // kernels, and 1 of a whole turn, whose verdict is about nothing else.
  double stayed = 1;
};

// In order of parts. Internal where the run's journal lacks a part's call.
Result<std::vector<TurnCall>> CallsOf(const Turn& turn, UnitLog& log);

}  // namespace davinci::rollout
