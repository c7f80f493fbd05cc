// The note of a reply that joins the replies to a turn's parts (part_replies.h), as the journal has
// it in the generation's unit:
//   {"parts": 3, "turns": [1, 2, 1], "kernels": [["f1"], [], ["f1_2", "f2"]]}
// Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace davinci::rollout {

struct JoinedNote {
  struct Part {
    int turn = 0;                      // that it was asked in
    std::vector<std::string> kernels;  // of its reply, in the names of the joined one
  };
  std::vector<Part> parts;
};

nlohmann::json ToJson(const JoinedNote& note);

// Nothing: the note is none of a joined reply.
std::optional<JoinedNote> JoinedNoteFromJson(const nlohmann::json& note);

}  // namespace davinci::rollout
