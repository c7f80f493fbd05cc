#include "davinci/rollout/unit_id.h"

#include <fmt/format.h>

#include <cstdlib>

#include "davinci/base/hash.h"
#include "davinci/store/run_store.h"

namespace davinci::rollout {

std::string_view UnitKindName(UnitKind kind) {
  switch (kind) {
    case UnitKind::kDrawn:
      return "drawn";
    case UnitKind::kRefused:
      return "refused";
    case UnitKind::kProbe:
      return "probe";
    case UnitKind::kSelection:
      return "selection";
    case UnitKind::kSchemes:
      return "schemes";
    case UnitKind::kGeneration:
      return "generation";
    case UnitKind::kCandidate:
      return "candidate";
    case UnitKind::kJudgement:
      return "judgement";
    case UnitKind::kTrajectory:
      return "trajectory";
    case UnitKind::kConfirmation:
      return "confirmation";
    case UnitKind::kPayment:
      return "payment";
    case UnitKind::kTrigger:
      return "trigger";
    case UnitKind::kSummary:
      return "summary";
    case UnitKind::kProposals:
      return "proposals";
    case UnitKind::kSample:
      return "sample";
    case UnitKind::kSampleVerdict:
      return "sample_verdict";
    case UnitKind::kVerification:
      return "verification";
    case UnitKind::kTask:
      return "task";
    case UnitKind::kFlush:
      return "flush";
    case UnitKind::kCertification:
      return "certification";
    case UnitKind::kStep:
      return "step";
    case UnitKind::kSession:
      return "session";
  }
  std::abort();
}

int SegmentOf(const UnitId& id) {
  switch (id.kind) {
    case UnitKind::kFlush:
    case UnitKind::kCertification:
    case UnitKind::kStep:
    case UnitKind::kSession:
      return store::kRunSegment;
    default:
      return id.step;
  }
}

std::string UnitId::ToString() const {
  std::string text = fmt::format("{} step={}", UnitKindName(kind), step);
  if (!task.empty()) text += fmt::format(" task={}", task);
  const std::pair<const char*, int> indices[] = {
      {"scheme", scheme},   {"rollout", rollout},   {"turn", turn},
      {"summary", summary}, {"proposal", proposal}, {"sample", sample},
  };
  for (const auto& [name, index] : indices)
    if (index >= 0) text += fmt::format(" {}={}", name, index);
  if (!variant.empty()) text += fmt::format(" {}", variant);
  return text;
}

UnitId UnitOf(UnitKind kind, int step, const TurnId& turn) {
  UnitId id = UnitOf(kind, step, turn.rollout);
  id.turn = turn.turn;
  return id;
}

UnitId UnitOf(UnitKind kind, int step, const RolloutId& rollout) {
  UnitId id = UnitOf(kind, step, std::string_view(rollout.task));
  id.scheme = rollout.scheme;
  id.rollout = rollout.rollout;
  return id;
}

UnitId UnitOf(UnitKind kind, int step, std::string_view task) {
  UnitId id;
  id.kind = kind;
  id.step = step;
  id.task = std::string(task);
  return id;
}

int64_t CallSeed(int64_t run_seed, int step, std::string_view task, std::string_view purpose,
                 int index, int turn) {
  const auto digest = Sha256()
                          .Field(std::to_string(run_seed))
                          .Field(std::to_string(step))
                          .Field(task)
                          .Field(purpose)
                          .Field(std::to_string(index))
                          .Field(std::to_string(turn))
                          .Finish();
  uint32_t seed = 0;
  for (size_t i = 0; i < sizeof(seed); ++i) seed = seed << 8 | digest[i];
  return seed & 0x7fffffff;
}

}  // namespace davinci::rollout
