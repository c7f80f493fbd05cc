// Notes of replies that stand for others, each a unit of its own, as the journal has them in the
// generation's unit: one that joins the replies to a turn's parts (part_replies.h),
//   {"parts": 3, "turns": [1, 2, 1], "kernels": [["f1"], [], ["f1_2", "f2"]]}
// and one that was chosen among several about the whole turn (sound_reply.h), {"parts": 1}. Pure.
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

nlohmann::json NoteOfChosen();

// Were the calls behind the reply paid for as units of their own?
bool StandsForOthers(const nlohmann::json& note);

// Nothing: the note is none of a joined reply.
std::optional<JoinedNote> JoinedNoteFromJson(const nlohmann::json& note);

}  // namespace davinci::rollout
