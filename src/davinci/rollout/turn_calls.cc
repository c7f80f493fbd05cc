#include "davinci/rollout/turn_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/agent/sound_kernels.h"
#include "davinci/rollout/joined_note.h"
#include "davinci/rollout/unit_id.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

// Returns what the judged candidate left out of the turn's reply. It is the one among those of the
// turn's judgements that has the judged text.
Result<std::vector<agent::LeftOut>> LeftOutOf(const Turn& turn, UnitLog& log) {
  UnitId id = UnitOf(UnitKind::kCandidate, turn.id.rollout.step, turn.id);
  for (id.sample = -1;; ++id.sample) {
    DAVINCI_ASSIGN_OR_RETURN(const json unit, log.Find(id));
    if (unit.is_null() && id.sample >= 0) return std::vector<agent::LeftOut>();
    if (unit.is_object() && unit.value("source", "") == turn.code_hash)
      return agent::LeftOutFromJson(unit.value("left_out", json()));
  }
}

}  // namespace

Result<std::vector<TurnCall>> CallsOf(const Turn& turn, UnitLog& log) {
  const std::string name = ToString(turn.id);
  const UnitId whole = UnitOf(UnitKind::kGeneration, turn.id.rollout.step, turn.id);
  std::optional<JoinedNote> joined;
  if (turn.trace_hash.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const json unit, log.Find(whole));
    if (unit.is_object()) joined = JoinedNoteFromJson(unit.value("note", json()));
  }
  if (!joined) return std::vector<TurnCall>{{name, 0, turn.trace_hash, 1}};
  DAVINCI_ASSIGN_OR_RETURN(const auto left_out, LeftOutOf(turn, log));
  std::vector<TurnCall> calls;
  for (size_t i = 0; i < joined->parts.size(); ++i) {
    const auto& [asked, kernels] = joined->parts[i];
    if (asked != turn.id.turn) continue;
    UnitId id = whole;
    id.sample = static_cast<int>(i);
    DAVINCI_ASSIGN_OR_RETURN(const json unit, log.Find(id));
    TurnCall& call = calls.emplace_back();
    call.part = static_cast<int>(i) + 1;
    call.id = fmt::format("{} part {}", name, call.part);
    if (!unit.is_object())
      return Internal(fmt::format("{}: the run's journal lacks the call", call.id));
    if (unit.contains("trace")) call.trace_hash = unit["trace"].value("blob", "");
    const auto stayed = std::ranges::count_if(kernels, [&](const std::string& kernel) {
      return std::ranges::find(left_out, kernel, &agent::LeftOut::kernel) == left_out.end();
    });
    call.stayed =
        kernels.empty() ? 0 : static_cast<double>(stayed) / static_cast<double>(kernels.size());
  }
  return calls;
}

}  // namespace davinci::rollout
