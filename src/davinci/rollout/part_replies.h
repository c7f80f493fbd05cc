// A turn about steps that are too many for one reply (agent/step_parts.h): the model is asked for
// each part of the plan, and what it says of all parts is the turn's reply. A later turn asks again
// for the parts whose kernels the judge found wrong or slow, and keeps the others.
//
// Each call is a unit of its own, the generation's with `sample` counted from 0, so that none is
// paid for twice (further ones: sound_reply.h); the turn's unit has the joined reply and a note
// which says of each part the turn that it was asked in and its kernels (joined_note.h). A part
// whose reply has no code has none: PyTorch computes its steps. A joined reply has no token trace;
// its calls have (turn_calls.h). Each is a conversation of its own, in an append-only one as well.
#pragma once

#include <optional>
#include <vector>

#include "davinci/agent/sound_kernels.h"
#include "davinci/agent/step_parts.h"
#include "davinci/rollout/joined_note.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {

// The last turn of the trajectory, where there is one.
struct TurnBefore {
  int turn = 0;
  std::optional<JoinedNote> joined;      // nothing: it was asked about as a whole
  std::vector<agent::LeftOut> left_out;  // of its reply
};

// The parts that a turn about the task is asked in; empty: it is asked about as a whole.
std::vector<agent::StepPart> PartsOfTurn(const StepRun& run, const TaskRun& task,
                                         const search::TurnPlan& plan, const TurnBefore& before);

// The reply to all parts.
Result<ModelCall> CallForParts(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                               const TurnId& turn, const std::vector<agent::StepPart>& parts,
                               const TurnBefore& before);

}  // namespace davinci::rollout
