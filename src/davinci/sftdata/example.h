// From a recorded model call to rows. The messages are those of the request as it was sent, which
// the run's store keeps (rollout/model_calls.h): prompts are never rendered a second time. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/sftdata/row.h"

namespace davinci::sftdata {

// What stands in a request's JSON (llm::ToJson) as a row without a reply: messages (earlier replies
// of the assistant are context), tools and the thinking switch. InvalidArgument: not such JSON.
Result<Row> RowOfRequest(const nlohmann::json& request);

// The reply as the model has to write it: thinking apart from the text.
RowMessage MessageOfReply(const llm::Reply& reply, double weight);

// One turn of a conversation as it was asked and answered.
struct RecordedTurn {
  Row prompt;  // RowOfRequest
  llm::Reply reply;
  double weight = 1;  // 0: context only
};

// A conversation as few rows: where a turn's prompt continues the one before verbatim (its messages
// and its reply as it was), they share a row; where history was shortened or rewritten, the turn
// begins a row of its own. A row ends with its last trained reply; one without any is left out.
// `last_turns` gets the index of each row's last turn.
std::vector<Row> RowsOfConversation(const std::vector<RecordedTurn>& turns,
                                    std::vector<size_t>* last_turns);

// What is wrong with a call of a tool as training data, or "".
struct ToolExample {
  Row row;
  std::string problem;  // "bad_schema: …"; the row is not to be used
};

// The reply of the selection agent in the canonical form: one call of select_skills with the names
// that were shown, in the model's order. A reply with unknown or repeated names, or too many, is a
// problem: it would teach what the parser has to drop.
ToolExample SelectionExample(Row prompt, const llm::Reply& reply,
                             const std::vector<std::string>& shown, int max_skills);

// The reply of the summary agent with only the proposals in `kept` (indices), as one call of
// update_skill_library.
ToolExample SummaryExample(Row prompt, const llm::Reply& reply, const std::vector<size_t>& kept,
                           int max_skills);

}  // namespace davinci::sftdata
