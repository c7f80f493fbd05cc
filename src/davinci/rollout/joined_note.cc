#include "davinci/rollout/joined_note.h"

namespace davinci::rollout {

using nlohmann::json;

json ToJson(const JoinedNote& note) {
  json turns = json::array(), kernels = json::array();
  for (const JoinedNote::Part& part : note.parts) {
    turns.push_back(part.turn);
    kernels.push_back(part.kernels);
  }
  return {{"parts", note.parts.size()}, {"turns", turns}, {"kernels", kernels}};
}

json NoteOfChosen() { return {{"parts", 1}}; }

bool StandsForOthers(const json& note) { return note.is_object() && note.contains("parts"); }

std::optional<JoinedNote> JoinedNoteFromJson(const json& note) {
  if (!StandsForOthers(note) || !note.contains("kernels")) return std::nullopt;
  JoinedNote read;
  for (size_t i = 0; i < note["parts"].get<size_t>(); ++i)
    read.parts.push_back({note.at("turns").at(i).get<int>(),
                          note.at("kernels").at(i).get<std::vector<std::string>>()});
  return read;
}

}  // namespace davinci::rollout
