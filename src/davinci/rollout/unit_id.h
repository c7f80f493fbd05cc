// UnitId: the name under which a unit of work stands in the journal, and the seed it draws from.
//
// The text is a key: it is compared, never parsed. Everything that identifies a unit is a field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davinci/data/rollout.h"

namespace davinci::rollout {

enum class UnitKind {
  kDrawn,          // which tasks a step of training works on
  kRefused,        // a task that training leaves out, and why
  kProbe,          // the reference judged against itself: can the task be judged at all?
  kSelection,      // one Selection call
  kSchemes,        // what was chosen, and the rollouts that come of it
  kGeneration,     // one Policy call (llm reply); with a sample, one about a part (part_replies.h)
  kCandidate,      // the file that a delta reply stands for
  kJudgement,      // the verdict about it (Evaluation)
  kTrajectory,     // a rollout is over, and why
  kConfirmation,   // the verdict about a finalist under the full protocol
  kPayment,        // a turn judged again before it is paid for, or for the audit
  kTrigger,        // is there something to summarise?
  kSummary,        // one Summary call
  kProposals,      // which proposals the library could take: only those are tried
  kSample,         // one generation of a verification arm
  kSampleVerdict,  // the verdict about it
  kVerification,   // admitted or refused
  kTask,           // a task's step is over
  kFlush,          // what a step learned entered the library
  kCertification,  // a winner judged again in fresh processes
  kStep,           // a step is over, with the sums of its segment
  kSession,        // a process that worked on the run ended: times and shares
};
std::string_view UnitKindName(UnitKind kind);

// Fields that a kind does not need stay as they are here.
struct UnitId {
  UnitKind kind = UnitKind::kSession;
  int step = 0;
  std::string task;
  int scheme = -1;
  int rollout = -1;
  int turn = -1;
  int summary = -1;
  int proposal = -1;
  int sample = -1;
  std::string variant;  // baseline of a certification, arm of a sample

  // "generation step=0 softmax_rows scheme=1 rollout=0 turn=2"
  std::string ToString() const;
};

// Where the run store keeps it: the segment of its step, or the run's own for what is read at every
// start (flushes, steps, sessions) and for certifications, which come after a step is closed.
int SegmentOf(const UnitId& id);

UnitId UnitOf(UnitKind kind, int step, const TurnId& turn);
UnitId UnitOf(UnitKind kind, int step, const RolloutId& rollout);
UnitId UnitOf(UnitKind kind, int step, std::string_view task);

// The sampling seed of a model call: fixed by the run's seed, the task and the indices given. It
// leaves the scheme out on purpose: rollouts that differ only in their skills share their seeds, so
// that what is compared differs in the skills alone. 31 bits, which every endpoint accepts.
int64_t CallSeed(int64_t run_seed, int step, std::string_view task, std::string_view purpose,
                 int index, int turn);

}  // namespace davinci::rollout
